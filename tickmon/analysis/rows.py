"""The trains and sources of a run: those of its windows, each one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tickmon.analysis.causes import train_name
from tickmon.analysis.costs import overhead_share
from tickmon.analysis.kernel_causes import OTHERS
from tickmon.analysis.readings import Analysis, Source, Train
from tickmon.analysis.spread import sum_of
from tickmon.windows import Window

SOURCES = 64
"""So many are told apart in a run."""

_SAME_TRAIN_SHARE = 1e-3
"""Foreign trains whose rates differ by less are one: its fit gets finer from window to window, and only a
fine one tells a host's tick."""


def joined_trains(
    before: Analysis, after: Analysis, window: Window
) -> tuple[tuple[Train, ...], dict[tuple[str, str], tuple[str, str]]]:
    """The trains of both, which make up ``window``; and what sources of ``before`` are called by now.

    Kind and name to kind and name. Trains nearest to each other are one, and each is one with at most one.
    """
    joined = list(before.trains)
    apart = sorted(
        (abs(known.hz / train.hz - 1), i, j)
        for i, known in enumerate(before.trains)
        for j, train in enumerate(after.trains)
        if (known.origin == "kernel") == (train.origin == "kernel")
    )
    renamed: dict[tuple[str, str], tuple[str, str]] = {}
    known_of: dict[int, int] = {}
    for off_share, i, j in apart:
        if off_share < _SAME_TRAIN_SHARE and i not in known_of.values() and j not in known_of:
            known_of[j] = i
            joined[i] = _joined_train(before.trains[i], after.trains[j])
            if before.trains[i].origin != "kernel":
                renamed[_source_of(before.trains[i])] = _source_of(after.trains[j])
    joined += [train for j, train in enumerate(after.trains) if j not in known_of]
    # A name that another train has, or had, stays with that one.
    taken = {_source_of(train) for train in joined}
    names = {(source.kind, source.name) for source in before.sources}
    renamed = {old: new for old, new in renamed.items() if old not in taken and new not in names}
    return tuple(
        replace(train, overhead_share=overhead_share(window, train.spread)) for train in joined
    ), renamed


def _source_of(train: Train) -> tuple[str, str]:
    return train.origin, train_name(train.hz, train.origin)


def renamed_sources(
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


def _joined_train(before: Train, after: Train) -> Train:
    return replace(
        after,
        jitter_ns=weighted_mean((before.jitter_ns, before.seen), (after.jitter_ns, after.seen)) or 0.0,
        expected=before.expected + after.expected,
        seen=before.seen + after.seen,
        spread=sum_of((before.spread, after.spread)),
    )


def joined_sources(
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
