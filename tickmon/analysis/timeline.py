"""From cycles of the counter to time: the interruptions of a window on one line with those before."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.clocks import Clocks
from tickmon.analysis.knots import knots_of, straight
from tickmon.units import NS_PER_S
from tickmon.windows import Window


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
    """From and until, shape ``(n, 2)``: for each exclusion of the window the time that nobody watched."""


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
    start_ns, end_ns = at_ns(np.array([window.start_cycles, window.end_cycles])).tolist()
    return Timeline(
        start_ns=start_ns,
        end_ns=end_ns,
        starts_ns=starts_ns,
        ends_ns=ends_ns,
        ns_per_cycle=knots.ns_per_cycle,
        unwatched_ns=at_ns(_unwatched_cycles(window)),
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
