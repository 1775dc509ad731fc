"""Who took the time: every interruption gets one source, and every source its cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import BINS, bins_of
from tickmon.analysis.readings import Source
from tickmon.analysis.spread import Spread, spread_of
from tickmon.windows import Window


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cause:
    """Something that interrupts, and the interruptions that it lies in."""

    name: str
    kind: str
    basis: str
    inside: NDArray[np.bool_] = field(repr=False)
    """For each of the window's details."""
    begins: NDArray[np.bool_] = field(repr=False)
    """Of those, the ones that may have begun with it: it is to blame for no others."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shares:
    """The sources of a window."""

    sources: tuple[Source, ...]
    """Most overhead first; only such that have interruptions."""
    source_of: NDArray[np.int32] = field(repr=False)
    """For each detail, the index of its source."""
    of_causes: tuple[Spread, ...] = field(repr=False)
    """For each cause, the gaps whose source it is."""


def share_out(
    window: Window, gaps_cycles: NDArray[np.int64], causes: Sequence[Cause], *, rest: Sequence[Cause]
) -> Shares:
    """Gives every interruption of ``window`` to the first of ``causes`` that begins it, else of ``rest``.

    ``rest`` says what interruptions are in which no cause is known, and must leave none out; it is no
    cause, so no source has it among its parts. Interruptions without detail make a source of their own,
    so that counts and overheads add up to the window's. Their ``basis`` is "phase", since no train's phase
    explains them.
    """
    everything = (*causes, *rest)
    label = np.zeros(len(gaps_cycles), np.int64)
    for index in range(len(everything) - 1, -1, -1):
        label[everything[index].begins] = index
    counts = np.bincount(label * BINS + bins_of(gaps_cycles), minlength=len(everything) * BINS)
    counts = counts.reshape(len(everything), BINS)
    parts = [np.bincount(label[cause.inside], minlength=len(everything)) > 0 for cause in causes]
    baseline_cycles = window.min_cycles

    spreads: list[Spread] = []
    found: list[tuple[int, Source]] = []
    for index, cause in enumerate(everything):
        mine = label == index
        spread = spread_of(gaps_cycles[mine], counts=counts[index])
        spreads.append(spread)
        if spread.n:
            names = (c.name for c, lies_in in zip(causes, parts, strict=True) if lies_in[index])
            found.append((index, _source(cause, tuple(dict.fromkeys(names)), spread, baseline_cycles)))
    if window.lost:
        nowhere = np.zeros(len(label), bool)
        lost = Cause(name="detail lost", kind="detail-lost", basis="phase", inside=nowhere, begins=nowhere)
        spread = _lost(window, gaps_cycles, counts.sum(axis=0))
        found.append((len(everything), _source(lost, (), spread, baseline_cycles)))

    found.sort(key=lambda pair: -pair[1].overhead_cycles)
    place = np.zeros(len(everything) + 1, np.int32)
    for position, (index, _) in enumerate(found):
        place[index] = position
    return Shares(
        sources=tuple(source for _, source in found),
        source_of=place[label],
        of_causes=tuple(spreads[: len(causes)]),
    )


def _source(cause: Cause, parts: tuple[str, ...], spread: Spread, baseline_cycles: int | None) -> Source:
    return Source(
        name=cause.name,
        kind=cause.kind,
        basis=cause.basis,
        parts=parts,
        spread=spread,
        overhead_cycles=spread.overhead_cycles(baseline_cycles),
    )


def _lost(window: Window, gaps_cycles: NDArray[np.int64], known_counts: NDArray[np.int64]) -> Spread:
    """What the window's exact sums say about the interruptions whose detail is missing."""
    known = gaps_cycles.max(initial=-1) == window.max_cycles
    return Spread(
        n=window.lost,
        sum_cycles=window.gap_sum_cycles - int(gaps_cycles.sum()),
        min_cycles=None,
        max_cycles=None if known else window.max_cycles,
        counts=np.maximum(window.counts - known_counts, 0),
        pieces=None,
    )
