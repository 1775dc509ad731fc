"""What the baseline, a tick and a train of one window come to."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.causes import origin_of
from tickmon.analysis.check import timer_count
from tickmon.analysis.ranks import jitter
from tickmon.analysis.readings import Check, Tick, Train
from tickmon.analysis.sources import Cause, Shares
from tickmon.analysis.spread import Spread, spread_of, sum_of
from tickmon.analysis.ticks import Ticks
from tickmon.analysis.timeline import Timeline
from tickmon.analysis.trains import FoundTrain
from tickmon.windows import Window


def overhead_share(window: Window, spread: Spread) -> float | None:
    """What the interruptions of ``spread``, some of ``window``, took of the time watched (0 to 1).

    None where nothing was watched.
    """
    if window.watched_cycles <= 0:
        return None
    return spread.overhead_cycles(window.min_cycles) / window.watched_cycles


def tick_cost(
    window: Window,
    line: Timeline,
    ticks: Ticks,
    gaps_cycles: NDArray[np.int64],
    single: NDArray[np.bool_],
    *,
    basis: str,
) -> Tick:
    """What a tick costs, from the interruptions that hold just one (known by ``basis``) and no other task."""
    spread = spread_of(gaps_cycles[single])
    alone = single[ticks.holders]
    late_ns = np.maximum(line.starts_ns[ticks.holders[alone]] - ticks.slots_ns[alone], 0.0)
    return Tick(
        hz=ticks.hz or math.nan,
        phase_ns=ticks.phase_ns,
        jitter_ns=jitter(late_ns) if len(late_ns) else None,
        basis=basis,
        spread=spread,
        overhead_share=overhead_share(window, spread),
    )


def check_of(window: Window, ticks: Ticks) -> Check:
    """The ticks that were due against those that were seen, beside what the kernel counted itself."""
    kernel, kernel_row = timer_count(window.interrupts)
    return Check(
        expected=ticks.expected,
        seen=ticks.seen,
        kernel=kernel,
        kernel_row=kernel_row,
        basis=ticks.basis,
        verdict=ticks.verdict,
        hz=ticks.hz,
        faster_hz=ticks.faster_hz,
        chance_share=ticks.chance_share,
    )


def trains_of(
    window: Window,
    line: Timeline,
    ticks: Ticks,
    tick: Tick | None,
    found: Sequence[FoundTrain],
    causes: Sequence[Cause],
    shares: Shares,
) -> tuple[Train, ...]:
    """The kernel's own train, then the foreign ``found``; each with the cost of the sources that it is.

    ``causes`` are those of ``shares``, the foreign trains last.
    """
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
            overhead_share=overhead_share(window, spread),
        )
        for train, spread in zip(found, of_trains, strict=True)
    ]
    if tick is not None and ticks.seen:
        spread = sum_of(
            [spread for cause, spread in zip(causes, shares.of_causes, strict=True) if cause.kind == "tick"]
        )
        own = Train(
            hz=tick.hz,
            phase_ns=tick.phase_ns,
            jitter_ns=tick.jitter_ns,
            expected=ticks.expected or 0,
            seen=ticks.seen,
            origin="kernel",
            spread=spread,
            overhead_share=overhead_share(window, spread),
        )
        trains.insert(0, own)
    return tuple(trains)


def typical_cycles(window: Window) -> float | None:
    """The mean of the reads that nothing interrupted; None when there are none."""
    undisturbed = window.reads - window.interruptions
    if undisturbed <= 0:
        return None
    # Where the counter went back, it showed the same time twice.
    back_cycles = sum(e.cycles for e in window.excluded if e.code == "backwards")
    return (window.watched_cycles + back_cycles - window.gap_sum_cycles) / undisturbed
