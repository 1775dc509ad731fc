"""From cycles of the counter to time: the interruptions of a window on one line with those before."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.clocks import Clocks
from tickmon.analysis.knots import knots_of, straight
from tickmon.units import NS_PER_S
from tickmon.windows import Method, Window

AWAY_NS = 200.0
"""Time between two samples of a loop that is so much longer than most was taken: the least default
threshold of the gap method."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """The interruptions of a window in ns since the epoch of its segment.

    For the kernel's ticks this is CLOCK_MONOTONIC less ``Clocks.epoch_ns``, so that a double holds it to
    a fraction of a nanosecond. Where no CLOCK_MONOTONIC time can be had, because reads on two CPUs
    cannot be compared, it is the sampled CPU's own counter at the frequency that the segment began with.
    """

    start_ns: float
    end_ns: float
    starts_ns: NDArray[np.float64] = field(repr=False)
    """One for each of the window's details, never descending, also where the counter went back a little."""
    ends_ns: NDArray[np.float64] = field(repr=False)
    """None before its start. Where the counter went back, one may lie that little after the next start."""
    ns_per_cycle: float
    """At the window's end."""
    unwatched_ns: NDArray[np.float64] = field(repr=False)
    """From and until, shape ``(n, 2)``: time that nobody watched, for each exclusion of the window and, with
    the loop method, wherever an interruption came between two samples."""


def timeline(window: Window, clocks: Clocks) -> Timeline:
    """``window`` on the time of its segment; ``clocks`` must be those of that segment."""
    segment = window.segment
    if segment.counter_synchronised:
        opened = window.clocks[0]
        jumps = [
            (segment.origin_cycles + e.start_cycles, segment.origin_cycles + e.start_cycles + e.cycles)
            for e in window.excluded
            if e.code == "jump" and e.cycles
        ]
        knots = knots_of(window.clocks, jumps, ns_per_cycle=NS_PER_S / clocks.tsc_hz)
        zero_cycles = opened.cycles - segment.origin_cycles
        zero_ns = float(opened.monotonic_ns - clocks.epoch_ns)
    else:
        knots = straight(NS_PER_S / segment.tsc_hz)
        zero_cycles = window.start_cycles
        zero_ns = zero_cycles * knots.ns_per_cycle

    def at_ns(cycles: NDArray[np.int64]) -> NDArray[np.float64]:
        return knots.ns_at(cycles - zero_cycles) + zero_ns

    starts_cycles = window.details["start_cycles"]
    starts_ns = at_ns(starts_cycles)
    ends_ns = at_ns(starts_cycles + window.details["gap_cycles"])
    if any(exclusion.code == "backwards" for exclusion in window.excluded):
        # Each step is smaller than an interruption, but several may follow one.
        starts_ns = np.maximum.accumulate(starts_ns)
        ends_ns = np.maximum(ends_ns, starts_ns)
    between_cycles = np.zeros((0, 2), np.int64)
    if segment.method is Method.LOOP:
        between_cycles = _away_between_cycles(window, least_cycles=AWAY_NS / knots.ns_per_cycle)
    start_ns, end_ns = at_ns(np.array([window.start_cycles, window.end_cycles])).tolist()
    return Timeline(
        start_ns=start_ns,
        end_ns=end_ns,
        starts_ns=starts_ns,
        ends_ns=ends_ns,
        ns_per_cycle=knots.ns_per_cycle,
        unwatched_ns=at_ns(np.concatenate([_unwatched_cycles(window), between_cycles])),
    )


def _unwatched_cycles(window: Window) -> NDArray[np.int64]:
    """From and until, shape ``(n, 2)``, of each exclusion."""
    origin_cycles = window.segment.origin_cycles
    stretches = []
    for exclusion in window.excluded:
        start_cycles = exclusion.start_cycles
        # Where the counter went back nobody knows how long that took; no time lies between the two reads.
        end_cycles = start_cycles + (0 if exclusion.code == "backwards" else exclusion.cycles)
        if exclusion.code == "jump" and not exclusion.cycles:
            # Somewhere before the next reading of the clocks.
            later = (reading.cycles - origin_cycles for reading in window.clocks)
            end_cycles = min((at for at in later if at > start_cycles), default=start_cycles)
        stretches.append((start_cycles, end_cycles))
    return np.array(stretches, np.int64).reshape(-1, 2)


def _away_between_cycles(window: Window, *, least_cycles: float) -> NDArray[np.int64]:
    """From and until, shape ``(n, 2)``, of the times between two samples that are no mere bookkeeping.

    A sample ends with a read of the counter and the next begins with another. What comes in between them
    is in no sample; where samples were lost it is not known what they held.
    """
    details = window.details
    from_cycles = np.append(window.start_cycles, details["start_cycles"] + details["gap_cycles"])
    until_cycles = np.append(details["start_cycles"], window.end_cycles)
    lengths_cycles = until_cycles - from_cycles
    away = lengths_cycles >= np.median(lengths_cycles) + max(least_cycles, window.segment.step_cycles)
    return np.column_stack([from_cycles[away], until_cycles[away]])
