"""One window and what is known of its segment, to everything that can be said of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.causes import causes_of, origin_of, preempted_of, rest_of
from tickmon.analysis.caveats import caveats
from tickmon.analysis.check import check_of
from tickmon.analysis.clocks import Clocks, follow
from tickmon.analysis.loop import baseline_verdict, disturbed, mode_cycles
from tickmon.analysis.readings import Analysis, Tick, Train, Worst
from tickmon.analysis.sources import Shares, share_out
from tickmon.analysis.spread import Spread, spread_of
from tickmon.analysis.ticks import Ticks, kernel_ticks, measured_ticks
from tickmon.analysis.timeline import Timeline, timeline
from tickmon.analysis.trains import FoundTrain, follow_trains
from tickmon.units import cycles_to_ns
from tickmon.windows import KernelTick, Method, Window

WORST = 100
"""So many of the longest interruptions are named."""


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
    preempted = preempted_of(window)
    loop = window.segment.method is Method.LOOP
    among = np.ones(len(gaps_cycles), bool)
    if loop:
        among = disturbed(
            gaps_cycles, cycles_per_ns=clocks.tsc_hz / 1e9, step_cycles=window.segment.step_cycles
        )

    ticks, found, clocks = _clocks_found(window, line, clocks, among=among, preempted=preempted)
    held = np.bincount(ticks.holders, minlength=len(gaps_cycles)).astype(np.int32)
    single = (held == 1) & ~preempted & ticks.credible
    tick = _tick(window, line, ticks, gaps_cycles, single) if ticks.credible else None
    causes = causes_of(
        window, ticks_hz=ticks.hz if tick else None, held=held > 0, preempted=preempted, trains=found
    )
    shares = share_out(window, gaps_cycles, causes, rest=rest_of(window, among))
    overhead_cycles = window.gap_sum_cycles - window.interruptions * (window.min_cycles or 0)
    analysis = Analysis(
        window=window,
        tsc_hz=clocks.tsc_hz,
        baseline_cycles=window.min_cycles,
        typical_cycles=None if loop else _typical_cycles(window),
        mode_cycles=mode_cycles(gaps_cycles) if loop else None,
        baseline_verdict=baseline_verdict(gaps_cycles, single) if loop else None,
        overhead_cycles=overhead_cycles,
        overhead_share=overhead_cycles / max(window.length_cycles, 1),
        spread=Spread(
            n=window.interruptions,
            sum_cycles=window.gap_sum_cycles,
            max_cycles=window.max_cycles if window.interruptions else None,
            counts=window.counts,
            pieces=None if window.lost else (gaps_cycles,),
        ),
        tick=tick,
        check=check_of(
            window.interrupts,
            expected=ticks.expected,
            seen=ticks.seen,
            basis=ticks.basis,
            verdict=ticks.verdict,
        ),
        trains=() if loop else _trains(window, line, ticks, tick, found, shares),
        sources=shares.sources,
        ticks=held,
        source_of=shares.source_of,
        worst=_worst(window, gaps_cycles, shares, clocks.tsc_hz),
        warnings=caveats(window, ticks, tick, tsc_hz=clocks.tsc_hz),
    )
    return analysis, clocks


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
        # What keeps the kernel's time is left out, but only once that is known.
        period_ns = tick.period_ns if ticks.credible else None
        found, clocks = _follow_trains(window, line, clocks, free, period_ns)
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
        start_ns=line.start_ns,
        end_ns=line.end_ns,
        kernel_period_ns=kernel_period_ns,
        state=clocks.trains,
    )
    return found, replace(clocks, trains=trains)


def _tick(
    window: Window,
    line: Timeline,
    ticks: Ticks,
    gaps_cycles: NDArray[np.int64],
    single: NDArray[np.bool_],
) -> Tick:
    """What a tick costs, from the interruptions that hold just one and nothing else that is known."""
    spread = spread_of(gaps_cycles[single])
    alone = single[ticks.holders]
    late_ns = np.maximum(line.starts_ns[ticks.holders[alone]] - ticks.slots_ns[alone], 0.0)
    jitter_ns = float(np.subtract(*np.quantile(late_ns, [0.95, 0.05]))) if len(late_ns) else None
    return Tick(
        hz=ticks.hz or math.nan,
        phase_ns=ticks.phase_ns,
        jitter_ns=jitter_ns,
        spread=spread,
        overhead_share=_overhead_share(window, spread),
    )


def _trains(
    window: Window,
    line: Timeline,
    ticks: Ticks,
    tick: Tick | None,
    found: Sequence[FoundTrain],
    shares: Shares,
) -> tuple[Train, ...]:
    """The kernel's own train, then the foreign ones; each with the cost of the source that it is."""
    of_trains = shares.of_causes[len(shares.of_causes) - len(found) :]
    trains = [
        Train(
            hz=train.hz,
            phase_ns=(train.phase_ns - line.start_ns) % (1e9 / train.hz),
            jitter_ns=train.jitter_ns,
            expected=train.expected,
            seen=train.seen,
            origin=origin_of(train, guest=window.segment.guest),
            spread=spread,
            overhead_share=_overhead_share(window, spread),
        )
        for train, spread in zip(found, of_trains, strict=True)
    ]
    if tick is not None and ticks.seen:
        spread = shares.of_causes[-len(found) - 1]
        own = Train(
            hz=tick.hz,
            phase_ns=tick.phase_ns,
            jitter_ns=tick.jitter_ns,
            expected=ticks.expected or 0,
            seen=ticks.seen,
            origin="kernel",
            spread=spread,
            overhead_share=_overhead_share(window, spread),
        )
        trains.insert(0, own)
    return tuple(trains)


def _worst(
    window: Window, gaps_cycles: NDArray[np.int64], shares: Shares, tsc_hz: float
) -> tuple[Worst, ...]:
    count = min(WORST, len(gaps_cycles))
    longest = np.argpartition(gaps_cycles, -count)[-count:] if count else np.zeros(0, np.int64)
    longest = longest[np.lexsort((longest, -gaps_cycles[longest]))]
    starts_cycles = window.details["start_cycles"][longest].tolist()
    return tuple(
        Worst(
            start_cycles=start_cycles,
            gap_cycles=int(gaps_cycles[index]),
            source=int(shares.source_of[index]),
            at=window.started_at
            + timedelta(microseconds=cycles_to_ns(start_cycles - window.start_cycles, tsc_hz) / 1e3),
        )
        for index, start_cycles in zip(longest, starts_cycles, strict=True)
    )


def _typical_cycles(window: Window) -> float | None:
    """The mean of the reads that nothing interrupted; None when there are none."""
    undisturbed = window.reads - window.interruptions
    # A move is time between two reads that is no read's; where the counter went back, the time is missing.
    lost_cycles = sum(e.cycles if e.code == "moved" else -e.cycles for e in window.excluded)
    if undisturbed <= 0:
        return None
    return (window.length_cycles - window.gap_sum_cycles - lost_cycles) / undisturbed


def _overhead_share(window: Window, spread: Spread) -> float:
    overhead_cycles = spread.sum_cycles - spread.n * (window.min_cycles or 0)
    return overhead_cycles / max(window.length_cycles, 1)
