"""Stretches of time put together into blocks of equal length, and what each block comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import BINS, bin_edges_cycles
from tickmon.analysis.spread import BEYOND
from tickmon.analysis.stretches import Cost, Stretch
from tickmon.units import cycles_to_ns

_EDGES_CYCLES = bin_edges_cycles()


class Series:
    """Stretches in the order of time, each in one of some blocks."""

    def __init__(self, stretches: Sequence[Stretch], *, blocks: int) -> None:
        """A stretch belongs to the block in which its middle lies."""
        self.stretches = stretches
        self.blocks = blocks
        lengths_s = np.array([stretch.length_s for stretch in stretches])
        middles_s = np.cumsum(lengths_s) - lengths_s / 2
        span_s = max(float(lengths_s.sum()), np.finfo(float).tiny)
        self.block_of = np.minimum((middles_s * (blocks / span_s)).astype(np.intp), blocks - 1)
        self.lengths_s = self.summed(lengths_s)

    def summed(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sum of each block, shape ``(blocks,)``, from a value for each stretch."""
        return np.bincount(self.block_of, weights=values, minlength=self.blocks).astype(np.float64)


def rate_values(series: Series, amount: Callable[[Stretch], float]) -> NDArray[np.float64]:
    """So much of it a second in each block; NaN in one without time."""
    amounts = np.array([amount(stretch) for stretch in series.stretches], np.float64)
    return _divided(series.summed(amounts), series.lengths_s)


def mean_values(series: Series, cost: Callable[[Stretch], Cost | None]) -> NDArray[np.float64]:
    """The mean of the medians (ns) in each block, each counting as often as it has lengths.

    NaN where there are none.
    """
    costs = [cost(stretch) for stretch in series.stretches]
    n = np.array([0 if c is None or c.median_ns is None else c.n for c in costs], np.float64)
    medians_ns = np.array([0.0 if c is None or c.median_ns is None else c.median_ns for c in costs])
    return _divided(series.summed(n * medians_ns), series.summed(n))


def worst_values(series: Series) -> NDArray[np.float64]:
    """The longest interruption (ns) of each block; NaN where it is not known."""
    worst_ns = np.zeros(series.blocks)
    values = [np.nan if s.worst_ns is None else s.worst_ns for s in series.stretches]
    with np.errstate(invalid="ignore"):
        np.maximum.at(worst_ns, series.block_of, values)
    return np.where(series.lengths_s > 0, worst_ns, np.nan)


def tick_p99_values(series: Series, *, exact: bool) -> NDArray[np.float64]:
    """The 99th percentile (ns) of the ticks of each block; NaN where fewer than BEYOND lie beyond it.

    ``exact``: from their lengths, all of which are known; else from bins, by a line through the one in
    which it lies.
    """
    groups: list[list[Stretch]] = [[] for _ in range(series.blocks)]
    for block, stretch in zip(series.block_of.tolist(), series.stretches, strict=True):
        if stretch.tick is not None and stretch.tick.n:
            groups[block].append(stretch)
    return np.array([_p99_ns(group, exact=exact) for group in groups])


def _p99_ns(stretches: Sequence[Stretch], *, exact: bool) -> float:
    n = sum(stretch.tick.n for stretch in stretches if stretch.tick is not None)
    rank = int(np.ceil(0.99 * n - 1e-9))
    if n - rank < BEYOND:
        return float("nan")
    if exact:
        gaps_cycles = np.concatenate(
            [s.tick_gaps_cycles for s in stretches if s.tick_gaps_cycles is not None]
        )
        return cycles_to_ns(float(np.partition(gaps_cycles, rank - 1)[rank - 1]), stretches[0].tsc_hz)
    counts = np.zeros(BINS)
    for stretch in stretches:
        bins, held = stretch.tick_bins
        counts[bins] += held
    below = np.cumsum(counts)
    bin_ = int(np.searchsorted(below, rank))
    # Behind the last edge there is none to draw a line to.
    width = _EDGES_CYCLES[min(bin_ + 1, BINS - 1)] - _EDGES_CYCLES[bin_]
    inside = (rank - (below[bin_] - counts[bin_])) / counts[bin_]
    return cycles_to_ns(float(_EDGES_CYCLES[bin_] + inside * width), stretches[0].tsc_hz)


def _divided(values: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    divided = np.full(len(values), np.nan)
    np.divide(values, by, out=divided, where=by > 0)
    return divided
