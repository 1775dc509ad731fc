"""A straight line through points of which many may be wrong, and how sure its slope is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_POINTS = 2000
"""All pairs of so many fit into 16 MB."""

_Z99 = 2.5758
"""Of the normal distribution, for an interval of 99 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """y = intercept + slope * x, with 99 % intervals."""

    slope: float
    low: float
    high: float
    intercept: float
    n: int


def theil_sen(x: NDArray[np.float64], y: NDArray[np.float64]) -> Slope | None:
    """The median of the slopes of all pairs of points; None when too few points differ in ``x``.

    29 % of the points may be anywhere (Theil 1950), so a host that takes the CPU now and then moves it
    little, while something that happens in proportion to ``x`` moves it all. The interval holds for errors of
    any one distribution: the ranks of the pairs' slopes that Kendall's tau gives (P. K. Sen, Estimates of the
    regression coefficient based on Kendall's tau, JASA 63, 1968, p. 1379).
    """
    thin = slice(None, None, -(-max(len(x), 1) // MOST_POINTS))
    x, y = x[thin], y[thin]
    one, other = np.triu_indices(len(x), 1)
    apart = x[other] - x[one]
    differ = apart != 0
    slopes = np.sort((y[other] - y[one])[differ] / apart[differ])
    n = len(x)
    if n < 10 or not len(slopes):
        return None
    # Pairs of equal x say nothing: Sen's variance without the groups of ties.
    _, ties = np.unique(x, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - float(np.sum(ties * (ties - 1) * (2 * ties + 5)))) / 18
    reach = _Z99 * math.sqrt(max(variance, 0.0))
    low = max(math.floor((len(slopes) - reach) / 2), 0)
    high = min(math.ceil((len(slopes) + reach) / 2), len(slopes) - 1)
    slope = float(np.median(slopes))
    return Slope(
        slope=slope,
        low=float(slopes[low]),
        high=float(slopes[high]),
        intercept=float(np.median(y - slope * x)),
        n=n,
    )
