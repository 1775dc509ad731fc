"""What windows, or parts of them, come to in a few numbers, so that hours of them can be compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.causes import train_name
from tickmon.analysis.histogram import count_bins
from tickmon.analysis.readings import Analysis, Source
from tickmon.analysis.rows import SAME_TRAIN_SHARE

KERNEL_TICK = "kernel tick"
"""What the source that is the tick is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Interruptions of one kind."""

    n: int
    overhead_ns: float
    median_ns: float | None
    """Of their gaps; None when there are none, or where it is not asked for."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretch:
    """A stretch of time on one CPU."""

    length_s: float
    """Without what is excluded."""
    interruptions: int
    overhead_ns: float
    median_ns: float | None
    worst_ns: float | None
    tick: Cost | None
    """Of interruptions that hold one tick and no known preemption."""
    tick_bins: tuple[NDArray[np.intp], NDArray[np.int64]] = field(repr=False)
    """Their gaps by bin: the bins that hold any, and how many."""
    tick_gaps_cycles: NDArray[np.int64] | None = field(repr=False)
    """All of their gaps, where they are known."""
    tsc_hz: float
    step_ns: float
    """Nothing finer than this is told apart by the counter."""
    sources: Mapping[str, Cost]
    """By name. Only those that keep time have a median."""
    trains_hz: Mapping[str, float]
    """The rate of those that keep time, by the name of the source."""


def stretch_of(analysis: Analysis) -> Stretch:
    """A whole window, as far as its analysis says."""
    window, tick = analysis.window, analysis.tick
    gaps_cycles = None
    if tick is not None and tick.spread.pieces is not None:
        gaps_cycles = np.concatenate((*tick.spread.pieces, _NO_GAPS))
    trains_hz = _trains_hz(analysis)
    spread = analysis.spread
    return _stretch(
        analysis,
        length_cycles=window.watched_cycles,
        whole=(spread.n, spread.sum_cycles, spread.median_cycles),
        worst_cycles=spread.max_cycles if spread.n else 0,
        tick=None if tick is None else (tick.spread.n, tick.spread.sum_cycles, tick.spread.median_cycles),
        tick_counts=None if tick is None else tick.spread.counts,
        tick_gaps_cycles=gaps_cycles,
        sources=[
            (
                source.spread.n,
                source.spread.sum_cycles,
                source.spread.median_cycles if source.name in trains_hz else None,
            )
            for source in analysis.sources
        ],
    )


def can_be_cut(analysis: Analysis) -> bool:
    """Whether each of its interruptions is known, and nothing else took time."""
    window = analysis.window
    return window.lost == 0 and len(window.details) == window.interruptions and not window.excluded


def parts_of(analysis: Analysis, parts: int) -> Iterator[Stretch]:
    """A window in equal parts of its time; an interruption belongs to the one that it begins in.

    Each interruption must be known (``can_be_cut``).
    """
    window = analysis.window
    edges_cycles = window.start_cycles + np.arange(parts + 1) * (window.length_cycles / parts)
    bounds = np.searchsorted(window.details["start_cycles"], edges_cycles[1:-1]).tolist()
    gaps_cycles = np.ascontiguousarray(window.details["gap_cycles"])
    preemptions = [i for i, source in enumerate(analysis.sources) if source.kind == "preemption"]
    single = (analysis.ticks == 1) & ~np.isin(analysis.source_of, preemptions)
    trains_hz = _trains_hz(analysis)
    known = len(analysis.source_of) == len(gaps_cycles)
    for first, last in zip([0, *bounds], [*bounds, len(gaps_cycles)], strict=True):
        mine = gaps_cycles[first:last]
        ticks = mine[single[first:last]] if analysis.tick is not None else _NO_GAPS
        of = analysis.source_of[first:last] if known else np.zeros(0, np.int32)
        counts = np.bincount(of, minlength=len(analysis.sources)).tolist()
        sums = np.bincount(of, weights=mine if known else None, minlength=len(analysis.sources)).tolist()
        yield _stretch(
            analysis,
            length_cycles=window.length_cycles / parts,
            whole=_sums_of(mine),
            worst_cycles=int(mine.max(initial=0)),
            tick=None if analysis.tick is None else _sums_of(ticks),
            tick_counts=None,
            tick_gaps_cycles=ticks,
            sources=[
                (n, total, _median(mine[of == i]) if source.name in trains_hz else None)
                for i, (n, total, source) in enumerate(zip(counts, sums, analysis.sources, strict=True))
            ],
        )


_NO_GAPS = np.zeros(0, np.int64)

_Sums = tuple[int, float, int | None]
"""How many, their gaps added up, and the middle one."""


def _sums_of(gaps_cycles: NDArray[np.int64]) -> _Sums:
    return len(gaps_cycles), float(gaps_cycles.sum()), _median(gaps_cycles)


def _median(gaps_cycles: NDArray[np.int64]) -> int | None:
    """By nearest rank, as everywhere."""
    if not len(gaps_cycles):
        return None
    rank = (len(gaps_cycles) + 1) // 2
    return int(np.partition(gaps_cycles, rank - 1)[rank - 1])


def _stretch(
    analysis: Analysis,
    *,
    length_cycles: float,
    whole: _Sums,
    worst_cycles: int | None,
    tick: _Sums | None,
    tick_counts: NDArray[np.int64] | None,
    tick_gaps_cycles: NDArray[np.int64] | None,
    sources: Sequence[_Sums],
) -> Stretch:
    """``sources`` are those of ``analysis``. Bins of ticks are counted where they are not given."""
    ns_a_cycle = 1e9 / analysis.tsc_hz

    def cost(sums: _Sums) -> Cost:
        n, sum_cycles, median_cycles = sums
        return Cost(
            n=n,
            overhead_ns=(sum_cycles - n * (analysis.baseline_cycles or 0)) * ns_a_cycle,
            median_ns=None if median_cycles is None else median_cycles * ns_a_cycle,
        )

    if tick_counts is None:
        tick_counts = count_bins(_NO_GAPS if tick_gaps_cycles is None else tick_gaps_cycles)
    bins = np.flatnonzero(tick_counts)
    trains_hz = _trains_hz(analysis)
    of_whole = cost(whole)
    costs: dict[str, Cost] = {}
    for source, sums in zip(analysis.sources, sources, strict=True):
        name = _name(source)
        costs[name] = added(costs.get(name), cost(sums))
    return Stretch(
        length_s=length_cycles / analysis.tsc_hz,
        interruptions=of_whole.n,
        overhead_ns=of_whole.overhead_ns,
        median_ns=of_whole.median_ns,
        worst_ns=None if worst_cycles is None else worst_cycles * ns_a_cycle,
        tick=None if tick is None else cost(tick),
        tick_bins=(bins, tick_counts[bins]),
        tick_gaps_cycles=tick_gaps_cycles,
        tsc_hz=analysis.tsc_hz,
        step_ns=max(analysis.window.segment.step_cycles, 1) * ns_a_cycle,
        sources=costs,
        trains_hz=trains_hz,
    )


def added(cost: Cost | None, more: Cost) -> Cost:
    """Both as one; the median is that of the first which has one."""
    if cost is None:
        return more
    return Cost(
        n=cost.n + more.n,
        overhead_ns=cost.overhead_ns + more.overhead_ns,
        median_ns=more.median_ns if cost.median_ns is None else cost.median_ns,
    )


def _name(source: Source) -> str:
    """Without the rate of the kernel's tick: another HZ makes no other source of it."""
    return KERNEL_TICK if source.kind == "tick" and source.name.startswith(KERNEL_TICK) else source.name


def _trains_hz(analysis: Analysis) -> dict[str, float]:
    """Without the kernel's own, which is the tick."""
    return {
        train_name(train.hz, train.origin): train.hz for train in analysis.trains if train.origin != "kernel"
    }


def with_same_names(
    before: Sequence[Stretch], after: Sequence[Stretch]
) -> tuple[list[Stretch], list[Stretch]]:
    """The stretches with one name for each train, which fits of it call by slightly different rates."""
    seen: Counter[str] = Counter()
    hz_of: dict[str, float] = {}
    for stretch in (*before, *after):
        for name, hz in stretch.trains_hz.items():
            seen[name] += 1
            hz_of[name] = hz
    called: dict[str, str] = {}
    for name, _ in seen.most_common():
        near = (other for other in called.values() if abs(hz_of[other] / hz_of[name] - 1) < SAME_TRAIN_SHARE)
        called[name] = next(near, name)
    if all(name == new for name, new in called.items()):
        return list(before), list(after)
    return [_renamed(s, called) for s in before], [_renamed(s, called) for s in after]


def _renamed(stretch: Stretch, called: Mapping[str, str]) -> Stretch:
    sources: dict[str, Cost] = {}
    for name, cost in stretch.sources.items():
        new = called.get(name, name)
        # Two of a kind in one window are one that was fitted twice.
        sources[new] = added(sources.get(new), cost)
    trains_hz = {called.get(name, name): hz for name, hz in stretch.trains_hz.items()}
    return replace(stretch, sources=sources, trains_hz=trains_hz)
