"""One window and what is known of its segment, to everything that can be said of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.causes import causes_of, rest_of, switched_of, traced_of
from tickmon.analysis.caveats import caveats
from tickmon.analysis.clocks import Clocks, follow
from tickmon.analysis.costs import check_of, overhead_share, tick_cost, trains_of, typical_cycles
from tickmon.analysis.loop import baseline_verdict, disturbed, mode_cycles
from tickmon.analysis.placed import Placed, place
from tickmon.analysis.readings import Analysis
from tickmon.analysis.sources import share_out
from tickmon.analysis.spread import Spread
from tickmon.analysis.ticks import Ticks, kernel_ticks, measured_ticks
from tickmon.analysis.timeline import Timeline, timeline
from tickmon.analysis.trains import FoundTrain, follow_trains
from tickmon.analysis.worst import worst_of
from tickmon.windows import KernelEvent, KernelTick, Method, Window


def analyse(window: Window, clocks: Clocks) -> tuple[Analysis, Clocks]:
    """What ``window`` says, and the clocks as they are known after it.

    ``clocks`` come from the window before of the same segment, ``Clocks()`` at the beginning; those of
    another segment are put aside. Windows that touch, one after the other, judge every tick slot exactly
    once, as if they were one. After a provisional window go on with the clocks from before it: its time
    comes again in the whole window.
    """
    clocks = follow(clocks, window)
    line = timeline(window, clocks)
    if math.isinf(clocks.judged_ns):
        clocks = replace(clocks, judged_ns=line.start_ns)
    gaps_cycles = np.ascontiguousarray(window.details["gap_cycles"])
    placed = place(window)
    preempted, switches = switched_of(window, placed)
    loop = window.segment.method is Method.LOOP
    among = np.ones(len(gaps_cycles), bool)
    if loop:
        among = disturbed(
            gaps_cycles, cycles_per_ns=clocks.tsc_hz / 1e9, step_cycles=window.segment.step_cycles
        )

    ticks, found, clocks = _clocks_found(window, line, clocks, among=among, preempted=preempted)
    held = np.bincount(ticks.holders, minlength=len(gaps_cycles)).astype(np.int32)
    traced = traced_of(window, line, ticks, placed, held)
    single, basis = _single(placed, held)
    single &= ~preempted & ticks.credible
    tick = tick_cost(window, line, ticks, gaps_cycles, single, basis=basis) if ticks.credible else None
    causes = causes_of(window, line, ticks, held=held, preempted=preempted, traced=traced, trains=found)
    rest = rest_of(window, among, placed, causes, cycles_per_ns=clocks.tsc_hz / 1e9)
    shares = share_out(window, gaps_cycles, causes, rest=rest)
    spread = Spread(
        n=window.interruptions,
        sum_cycles=window.gap_sum_cycles,
        min_cycles=int(gaps_cycles.min()) if len(gaps_cycles) and not window.lost else None,
        max_cycles=window.max_cycles if window.interruptions else None,
        counts=window.counts,
        pieces=None if window.lost else (gaps_cycles,),
    )
    analysis = Analysis(
        window=window,
        tsc_hz=clocks.tsc_hz,
        baseline_cycles=window.min_cycles,
        typical_cycles=None if loop else typical_cycles(window),
        mode_cycles=mode_cycles(gaps_cycles) if loop else None,
        baseline_verdict=baseline_verdict(gaps_cycles, among, single) if loop else None,
        overhead_cycles=spread.overhead_cycles(window.min_cycles),
        overhead_share=overhead_share(window, spread),
        spread=spread,
        tick=tick,
        check=check_of(window, ticks),
        switches=switches,
        trains=() if loop else trains_of(window, line, ticks, tick, found, causes, shares),
        sources=shares.sources,
        ticks=held,
        source_of=shares.source_of,
        worst=worst_of(window, gaps_cycles, shares, traced, clocks.tsc_hz),
        warnings=(),
        traced=None if placed is None else placed.counts,
    )
    return replace(analysis, warnings=caveats(analysis)), clocks


def _single(placed: Placed | None, held: NDArray[np.int32]) -> tuple[NDArray[np.bool_], str]:
    """The details that hold just one tick, and how that is known: the kernel's trace knows best."""
    if placed is None or not placed.knows(KernelEvent.TICK):
        return held == 1, "phase"
    return placed.count(KernelEvent.TICK, len(held)) == 1, "trace"


def _clocks_found(
    window: Window,
    line: Timeline,
    clocks: Clocks,
    *,
    among: NDArray[np.bool_],
    preempted: NDArray[np.bool_],
) -> tuple[Ticks, tuple[FoundTrain, ...], Clocks]:
    """The kernel's tick, the foreign trains, and the clocks with both."""
    tick = window.segment.kernel_tick
    free = among & ~preempted
    if tick is not None and window.segment.counter_synchronised:
        if window.segment.method is Method.LOOP and _mostly_ticked(window, tick, line):
            return Ticks(basis=tick.basis), (), clocks
        ticks, clocks = kernel_ticks(window, tick, line, clocks, among=among, preempted=preempted)
        if ticks.credible:
            free[ticks.holders] = False
        found, clocks = _follow_trains(window, line, clocks, free, tick.period_ns)
        return ticks, found, clocks
    found, clocks = _follow_trains(window, line, clocks, free, None)
    ticks, clocks, own = measured_ticks(window, line, clocks, found)
    return ticks, tuple(train for train in found if train is not own), clocks


def _mostly_ticked(window: Window, tick: KernelTick, line: Timeline) -> bool:
    """The samples are so long that most of them hold a tick: then one that does is like the others."""
    samples_cycles = window.details["gap_cycles"]
    return len(samples_cycles) > 0 and 2 * np.median(samples_cycles) * line.ns_per_cycle > tick.period_ns


def _follow_trains(
    window: Window,
    line: Timeline,
    clocks: Clocks,
    free: NDArray[np.bool_],
    kernel_period_ns: int | None,
) -> tuple[tuple[FoundTrain, ...], Clocks]:
    if window.segment.method is Method.LOOP:
        # A sample starts where the one before ended, whatever lies in it: its start keeps nobody's time.
        return (), clocks
    found, trains = follow_trains(
        line.starts_ns,
        line.ends_ns - line.starts_ns,
        free=free,
        unwatched_ns=line.unwatched_ns,
        start_ns=line.start_ns,
        end_ns=line.end_ns,
        kernel_period_ns=kernel_period_ns,
        state=clocks.trains,
    )
    return found, replace(clocks, trains=trains)
