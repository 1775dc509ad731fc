"""Time jumps: the counter and the kernel's clock say different things of how long it was.

After a suspend or the migration of a guest one of them stood still. To the sampler that is one long gap, but
nobody took that time from a program, and cycles before and after it cannot be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from tickmon.units import cycles_to_ns
from tickmon.windows import ClockReading

_STEP_NS = 1_000_000
"""No reading of the clocks is wrong by so much."""

_STEERED_SHARE = 0.001
"""The kernel steers CLOCK_MONOTONIC by at most 500 ppm (adjtimex(2)); the counter is known far better."""


def find_jumps(
    clocks: Sequence[ClockReading], *, counter_hz: float
) -> list[tuple[ClockReading, ClockReading]]:
    """The neighbours among ``clocks`` between which time jumped. ``counter_hz`` must be measured."""
    return [pair for pair in pairwise(clocks) if _is_jump(*pair, counter_hz=counter_hz)]


def _is_jump(before: ClockReading, after: ClockReading, *, counter_hz: float) -> bool:
    counter_ns = cycles_to_ns(after.cycles - before.cycles, counter_hz)
    clock_ns = after.monotonic_ns - before.monotonic_ns
    return abs(clock_ns - counter_ns) > _STEP_NS + _STEERED_SHARE * min(abs(clock_ns), abs(counter_ns))
