"""From the kernel's unsteered clock to the counter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tickmon.windows import ClockReading

_BLURRED = 4
"""A reading that is so many times less certain than the best one was interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClockLine:
    """The counter as a function of CLOCK_MONOTONIC_RAW: straight between two readings, and beyond them."""

    raw_ns: NDArray[np.int64]
    """Of the readings, ascending, at least two."""
    cycles: NDArray[np.int64]
    """At the readings, from the origin."""
    uncertain_cycles: int
    """No worse than this between the readings."""

    def cycles_at(self, raw_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The counter at these moments, any shape."""
        piece = np.clip(np.searchsorted(self.raw_ns, raw_ns) - 1, 0, len(self.raw_ns) - 2)
        ratio = np.diff(self.cycles) / np.maximum(1, np.diff(self.raw_ns))
        passed = np.rint((raw_ns - self.raw_ns[piece]) * ratio[piece])
        return np.asarray(self.cycles[piece] + passed.astype(np.int64))


def line_of(readings: Sequence[ClockReading], *, origin_cycles: int) -> ClockLine:
    """The line through ``readings``, in the order of time, without those that were interrupted."""
    best = min(reading.uncertain_cycles for reading in readings)
    sharp = [reading for reading in readings if reading.uncertain_cycles <= _BLURRED * best]
    knots = sharp if len(sharp) > 1 else [readings[0], *readings[-1:]]
    return ClockLine(
        raw_ns=np.array([reading.monotonic_raw_ns for reading in knots], np.int64),
        cycles=np.array([reading.cycles - origin_cycles for reading in knots], np.int64),
        uncertain_cycles=max(reading.uncertain_cycles for reading in knots),
    )
