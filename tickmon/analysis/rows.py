"""The trains and sources of a run: those of its windows, each one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from tickmon.analysis.causes import train_name
from tickmon.analysis.costs import overhead_share
from tickmon.analysis.kernel_causes import OTHERS
from tickmon.analysis.readings import Analysis, Source, Train
from tickmon.analysis.spread import sum_of
from tickmon.windows import Window

SOURCES = 64
"""So many are told apart in a run."""

SAME_TRAIN_SHARE = 1e-3
"""Foreign trains whose rates differ by less are one: its fit gets finer from window to window, and only a
fine one tells a host's tick."""


def joined_rows(
    parts: Sequence[Analysis], window: Window
) -> tuple[tuple[Train, ...], tuple[Source, ...], list[int]]:
    """The trains and the sources of all ``parts``, which follow each other and make up ``window``.

    Also where the sources are now, those of one part after those of the other.
    """
    trains: list[list[Train]] = []
    sources: list[Source] = []
    for part in parts:
        renamed = _add_trains(trains, part.trains)
        if renamed:
            # A name that another train has, or had, stays with that one.
            taken = {_source_of(same[-1]) for same in trains}
            names = {(source.kind, source.name) for source in sources}
            renamed = {old: new for old, new in renamed.items() if old not in taken and new not in names}
            sources = _renamed_sources(sources, renamed)
        sources += part.sources
    joined, places = _joined_sources(sources, window.min_cycles)
    return tuple(_joined_train(same, window) for same in trains), joined, places


def _add_trains(known: list[list[Train]], trains: Sequence[Train]) -> dict[tuple[str, str], tuple[str, str]]:
    """Puts each of ``trains`` behind the one of ``known`` that it is, or beside them all.

    Trains nearest to each other are one, and each is one with at most one. What foreign ones were called, and
    are called now, is returned, by kind and name.
    """
    apart = sorted(
        (abs(same[-1].hz / train.hz - 1), i, j)
        for i, same in enumerate(known)
        for j, train in enumerate(trains)
        if (same[-1].origin == "kernel") == (train.origin == "kernel")
    )
    renamed: dict[tuple[str, str], tuple[str, str]] = {}
    known_of: dict[int, int] = {}
    for off_share, i, j in apart:
        if off_share < SAME_TRAIN_SHARE and i not in known_of.values() and j not in known_of:
            known_of[j] = i
            if trains[j].origin != "kernel":
                renamed[_source_of(known[i][-1])] = _source_of(trains[j])
    for j, train in enumerate(trains):
        if j in known_of:
            known[known_of[j]].append(train)
        else:
            known.append([train])
    return renamed


def _source_of(train: Train) -> tuple[str, str]:
    return train.origin, train_name(train.hz, train.origin)


def _renamed_sources(
    sources: Sequence[Source], renamed: Mapping[tuple[str, str], tuple[str, str]]
) -> list[Source]:
    """``sources`` under their new names, in their places."""
    names = {old: new for (_, old), (_, new) in renamed.items()}
    moved = []
    for source in sources:
        kind, name = renamed.get((source.kind, source.name), (source.kind, source.name))
        parts = tuple(names.get(part, part) for part in source.parts)
        moved.append(replace(source, kind=kind, name=name, parts=parts))
    return moved


def _joined_train(same: Sequence[Train], window: Window) -> Train:
    latest = same[-1]
    spread = latest.spread if len(same) == 1 else sum_of([train.spread for train in same])
    return replace(
        latest,
        jitter_ns=running_mean((train.jitter_ns, train.seen) for train in same),
        expected=sum(train.expected for train in same),
        seen=sum(train.seen for train in same),
        spread=spread,
        overhead_share=overhead_share(window, spread),
    )


def _joined_sources(
    sources: Sequence[Source], baseline_cycles: int | None
) -> tuple[tuple[Source, ...], list[int]]:
    """The sources without repetition, the first ones in their places; and where each of them is now.

    Any number of tasks may take turns on a CPU in a long run: the cheapest of a kind become one.
    """
    keys = [(source.kind, source.name, source.basis) for source in sources]
    if len(set(keys)) > SOURCES:
        cheapest = sorted(range(len(sources)), key=lambda index: sources[index].overhead_cycles)
        # With some to spare, so that this does not come again with each window.
        for index in cheapest[: len(sources) - SOURCES // 2]:
            kind, name, basis = keys[index]
            keys[index] = (kind, OTHERS.get(kind, name) if basis == "trace" else name, basis)
    place = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    joined: list[list[Source]] = [[] for _ in place]
    for key, source in zip(keys, sources, strict=True):
        joined[place[key]].append(source)
    return tuple(
        _joined_source(name, together, baseline_cycles)
        for (_, name, _), together in zip(place, joined, strict=True)
    ), [place[key] for key in keys]


def _joined_source(name: str, sources: Sequence[Source], baseline_cycles: int | None) -> Source:
    spread = sum_of([source.spread for source in sources])
    parts = dict.fromkeys(part for source in sources for part in source.parts)
    return replace(
        sources[0],
        name=name,
        parts=tuple(parts)[:SOURCES],
        spread=spread,
        overhead_cycles=spread.overhead_cycles(baseline_cycles),
    )


def weighted_mean(*parts: tuple[float | None, int]) -> float | None:
    """The mean of the values that exist, each with its weight."""
    known = [(value, weight) for value, weight in parts if value is not None]
    weights = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / weights if weights else None


def running_mean(parts: Iterable[tuple[float | None, int]]) -> float | None:
    """The same, one after the other: what is the mean of some already can be the first of others."""
    return reduce(lambda mean, part: (weighted_mean(mean, part), mean[1] + part[1]), parts)[0]
