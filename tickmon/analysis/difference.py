"""Whether two series of numbers, each from neighbouring stretches of time, are of the same kind.

Nothing is assumed of how the numbers are spread. When nothing has changed it is chance which of them were
taken before and which after, so the difference must look like one of those that other divisions of the same
numbers give: a permutation test. What is compared is the difference in units of its own uncertainty (Welch's
t), so that a change of spread alone is not taken for one of the mean (Janssen, Statistics & Probability
Letters 36, 1997; Chung & Romano, Annals of Statistics 41, 2013).

That needs numbers that do not depend on their neighbours. So neighbours are first put together into ever
longer blocks, until the blocks are seen to be independent (the method of batch means: Law & Carson,
Operations Research 27, 1979).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCKS_LEAST = 6
"""With fewer on a side no division of them is rare enough to mean something."""

PERMUTATIONS = 4_000
"""So the least probability that can be had is 1/4001; Holm's method asks for 0.05/40 at most 40 figures."""

TESTED_MOST = 200
"""Of more blocks so many, evenly spaced, stand for all when divisions are drawn."""

_SEED = 20041215
"""The same recordings give the same answer each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How the mean of one series differs from another's."""

    before: float
    after: float
    uncertain: float
    """Half the width of the 95 % interval of ``after - before``."""
    p: float
    """How probable a difference as large as this is when nothing has changed."""


def correlation(series: Sequence[NDArray[np.float64]]) -> float:
    """How much neighbours in each of ``series`` (shape ``(n,)`` each) are alike, -1 to 1; 0 where all are.

    Its standard error is 1/sqrt(n) where they are not (Bartlett 1946). A drift makes neighbours alike too.
    """
    products = squares = 0.0
    for values in series:
        off = values - values.mean()
        products += float(off[1:] @ off[:-1])
        squares += float(off @ off)
    return products / squares if squares > 0 else 0.0


def are_independent(series: Sequence[NDArray[np.float64]], *, errors: float = 1.0) -> bool:
    """Whether the correlation of neighbours stays within so many of its standard ``errors``."""
    return correlation(series) <= errors / math.sqrt(sum(map(len, series)))


def difference(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    *,
    resolution: float,
    known: dict[tuple[int, int], NDArray[np.float64]],
) -> Difference | None:
    """How ``after`` differs from ``before``; None when either has fewer than ``BLOCKS_LEAST`` values.

    The values (shape ``(n,)`` and ``(m,)``) are in equal steps of time and as good as independent. Each is
    known to ``resolution`` (above 0) and no better, and no smaller difference is one. ``known`` keeps the
    divisions that were drawn, by the numbers of values: a dict that several calls share.
    """
    if min(len(before), len(after)) < BLOCKS_LEAST:
        return None
    rounding = resolution**2 / 12
    # What is left of it makes each mean less certain (of an AR(1) series: Bartlett 1935).
    alike = min(max(correlation((before, after)), 0.0), 0.9)
    off = float(after.mean() - before.mean())
    error = math.sqrt(_variance(before, rounding) + _variance(after, rounding))
    error *= math.sqrt((1 + alike) / (1 - alike))
    tested = _spaced(before), _spaced(after)
    size = len(tested[0]), len(tested[1])
    if size not in known:
        known[size] = _divisions(*size)
    chances = _chances(*tested, rounding, known[size])
    # Equal by all but a rounding counts as equal.
    reached = int(np.count_nonzero(chances >= abs(off) / error * (1 - 1e-9)))
    return Difference(
        before=float(before.mean()),
        after=float(after.mean()),
        uncertain=max(float(np.quantile(chances, 0.95)) * error, resolution),
        # The division at hand is one of those that may come.
        p=1.0 if abs(off) <= resolution else (1 + reached) / (1 + len(chances)),
    )


def holm(probabilities: Sequence[float]) -> list[float]:
    """Each probability as it counts beside all the others: below 0.05 none is wrong in 95 of 100 cases.

    Holm, Scandinavian Journal of Statistics 6, 1979.
    """
    order = sorted(range(len(probabilities)), key=lambda index: probabilities[index])
    adjusted = [1.0] * len(probabilities)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, probabilities[index] * (len(probabilities) - rank)))
        adjusted[index] = least
    return adjusted


def _variance(values: NDArray[np.float64], rounding: float) -> float:
    """Of the mean of ``values``."""
    return (float(values.var(ddof=1)) + rounding) / len(values)


def _spaced(values: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(values) <= TESTED_MOST:
        return values
    return values[np.linspace(0, len(values) - 1, TESTED_MOST).astype(np.intp)]


def _chances(
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    rounding: float,
    first: NDArray[np.float64],
) -> NDArray[np.float64]:
    """|t| of divisions of all values into as many before and after."""
    n, m = len(before), len(after)
    together = np.concatenate([before, after])
    # Small numbers, so that their squares keep their digits.
    together = together - together.mean()
    squares = together**2
    sum_first, square_first = first @ together, first @ squares
    mean_first, mean_second = sum_first / n, (together.sum() - sum_first) / m
    spread_first = square_first - n * mean_first**2
    spread_second = squares.sum() - square_first - m * mean_second**2
    error = np.sqrt(
        (np.maximum(spread_first, 0) / (n - 1) + rounding) / n
        + (np.maximum(spread_second, 0) / (m - 1) + rounding) / m
    )
    return np.asarray(np.abs(mean_second - mean_first) / error)


def _divisions(n: int, m: int) -> NDArray[np.float64]:
    """Which of ``n + m`` values are the first ``n``, shape ``(PERMUTATIONS, n + m)``, each row one way."""
    rng = np.random.default_rng(_SEED)
    order = rng.random((PERMUTATIONS, n + m), dtype=np.float32)
    taken = np.zeros((PERMUTATIONS, n + m))
    np.put_along_axis(taken, np.argpartition(order, n - 1, axis=1)[:, :n], 1.0, axis=1)
    return taken
