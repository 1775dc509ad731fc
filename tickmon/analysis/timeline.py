"""From cycles of the counter to time: straight lines through the clock readings of a window."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.clocks import Clocks
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
    """Ascending, one for each of the window's details."""
    ends_ns: NDArray[np.float64] = field(repr=False)
    ns_per_cycle: float
    zero_ns: float
    """The time of cycle 0 of the segment."""

    def at_ns(self, cycles: NDArray[np.int64] | int) -> NDArray[np.float64]:
        """The time of ``cycles`` (from the segment's origin)."""
        return np.asarray(cycles * self.ns_per_cycle + self.zero_ns, np.float64)


def timeline(window: Window, clocks: Clocks) -> Timeline:
    """``window`` on the time of its segment; ``clocks`` must be those of that segment."""
    segment = window.segment
    first, second = window.clocks
    if segment.counter_synchronised:
        cycles = second.cycles - first.cycles
        passed_ns = second.monotonic_ns - first.monotonic_ns
        ns_per_cycle = passed_ns / cycles if cycles > 0 < passed_ns else NS_PER_S / segment.tsc_hz
        # In whole numbers as long as they are large: an uptime of months has no ns left in a double.
        since_ns = first.monotonic_ns - clocks.epoch_ns
        zero_ns = since_ns - (first.cycles - segment.origin_cycles) * ns_per_cycle
    else:
        ns_per_cycle, zero_ns = NS_PER_S / segment.tsc_hz, 0.0
    starts_ns = window.details["start_cycles"] * ns_per_cycle + zero_ns
    return Timeline(
        start_ns=window.start_cycles * ns_per_cycle + zero_ns,
        end_ns=window.end_cycles * ns_per_cycle + zero_ns,
        starts_ns=starts_ns,
        ends_ns=starts_ns + window.details["gap_cycles"] * ns_per_cycle,
        ns_per_cycle=ns_per_cycle,
        zero_ns=zero_ns,
    )
