"""The output of the 2004 program, for ``sort -g | uniq -c``."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUND_CYCLES = 10

ASSUMED_HZ = 1000.0
"""What the program assumed; said when the kernel's HZ is not known."""


def seed_text(sample_cycles: NDArray[np.int64]) -> str:
    """Each sample (shape ``(n,)``, in order) less the smallest, rounded down to 10 cycles, one a line."""
    if not len(sample_cycles):
        return ""
    over_cycles = sample_cycles - sample_cycles.min()
    return "".join(f"{cycles}\n" for cycles in (over_cycles - over_cycles % ROUND_CYCLES).tolist())


def elapsed_text(elapsed_cycles: int, *, tsc_hz: float, kernel_hz: float | None) -> str:
    """How many ticks must have happened in this time, for standard error."""
    hz = kernel_hz or ASSUMED_HZ
    return f"Elapsed time: {int(elapsed_cycles / (tsc_hz / hz))} ticks (assuming Hz = {hz:g})\n"
