"""Ranks of a few values: numpy takes ten times as long as the sorting, since its own are for any shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def median(values: NDArray[np.float64]) -> float:
    """The middle one of at least one value (shape ``(n,)``), or the mean of the two in the middle."""
    ordered, middle = np.sort(values), len(values) // 2
    return float(ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2)


def jitter(values: NDArray[np.float64]) -> float:
    """From the 5th to the 95th percentile of at least one value (shape ``(n,)``), between ranks by a line."""
    last = len(values) - 1
    low, high = np.interp([0.05 * last, 0.95 * last], np.arange(last + 1), np.sort(values))
    return float(high - low)
