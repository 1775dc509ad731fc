"""Time jumps: the counter and the kernel's clock say different things of how long it was.

After a suspend or the migration of a guest one of them stood still. To the sampler that is one long gap, but
nobody took that time from a program, and cycles before and after it cannot be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tickmon.analysis.histogram import bins_of
from tickmon.units import cycles_to_ns
from tickmon.windows import ClockReading, Exclusion, Window

_STEP_NS = 1_000_000
"""No reading of the clocks is wrong by so much."""

_STEERED_SHARE = 0.001
"""The kernel steers CLOCK_MONOTONIC by at most 500 ppm (adjtimex(2)); the counter is known far better."""


def find_jumps(
    clocks: Sequence[ClockReading], *, counter_hz: float
) -> list[tuple[ClockReading, ClockReading]]:
    """The neighbours among ``clocks`` between which time jumped. ``counter_hz`` must be measured."""
    return [pair for pair in pairwise(clocks) if _is_jump(*pair, counter_hz=counter_hz)]


def exclude_jump(window: Window, before: ClockReading, after: ClockReading) -> Window:
    """``window`` without the longest of its interruptions between the two readings, which is the jump.

    Where that has no detail the jump is told all the same, without a length.
    """
    origin = window.segment.origin_cycles
    starts, gaps = window.details["start_cycles"], window.details["gap_cycles"]
    between = np.flatnonzero((starts + gaps > before.cycles - origin) & (starts < after.cycles - origin))
    if not len(between):
        jump = Exclusion(code="jump", start_cycles=before.cycles - origin, cycles=0)
        return replace(window, excluded=(*window.excluded, jump), excluded_count=window.excluded_count + 1)
    index = between[np.argmax(gaps[between])]
    gap_cycles = int(gaps[index])
    details = np.delete(window.details, index)
    counts = window.counts.copy()
    counts[bins_of(gaps[index : index + 1])] -= 1
    # Below the threshold the longest is not known one by one.
    floor_cycles = window.segment.threshold_cycles or window.min_cycles or 0
    return replace(
        window,
        interruptions=window.interruptions - 1,
        gap_sum_cycles=window.gap_sum_cycles - gap_cycles,
        max_cycles=int(details["gap_cycles"].max(initial=floor_cycles)),
        counts=counts,
        details=details,
        excluded=(
            *window.excluded,
            Exclusion(code="jump", start_cycles=int(starts[index]), cycles=gap_cycles),
        ),
        excluded_count=window.excluded_count + 1,
    )


def _is_jump(before: ClockReading, after: ClockReading, *, counter_hz: float) -> bool:
    counter_ns = cycles_to_ns(after.cycles - before.cycles, counter_hz)
    clock_ns = after.monotonic_ns - before.monotonic_ns
    return abs(clock_ns - counter_ns) > _STEP_NS + _STEERED_SHARE * min(abs(clock_ns), abs(counter_ns))
