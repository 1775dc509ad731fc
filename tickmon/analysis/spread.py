"""How some lengths are spread: exact while every one is known, by bins once some are not."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import BINS, bin_edges_cycles, compact, count_bins

KEEP_VALUES = 4_000_000
"""So many lengths are kept one by one (32 MB); a longer run goes on with bins alone."""

BEYOND = 10
"""A percentile is said only when so many values lie beyond it: fewer would make it one event's luck."""

_EDGES_CYCLES = bin_edges_cycles()


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a recording says of lengths that it does not hold one by one."""

    exact: bool
    """They were all known when it was said."""
    at_cycles: Mapping[float, int | None]
    """Percentiles by their share, the median's being 0.5."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spread:
    """The lengths of some interruptions, in cycles."""

    n: int
    sum_cycles: int
    min_cycles: int | None
    """None when there are none, or when the shortest is not known."""
    max_cycles: int | None
    """None when there are none, or when the longest is not known."""
    counts: NDArray[np.int64] = field(repr=False)
    """By bin, shape ``(BINS,)``; they add up to ``n``."""
    pieces: tuple[NDArray[np.int64], ...] | None = field(repr=False)
    """All ``n`` lengths, in no order and in few arrays; None when some are not known any more."""
    said: Said | None = field(default=None, repr=False)
    """Goes before what the bins say; a sum has none."""

    @property
    def exact(self) -> bool:
        """Percentiles are values that occurred, not the middle of a bin."""
        return self.pieces is not None or (self.said is not None and self.said.exact)

    @property
    def mean_cycles(self) -> float | None:
        """None when there are none."""
        return self.sum_cycles / self.n if self.n else None

    @property
    def median_cycles(self) -> int | None:
        """The middle one by nearest rank; None when there are none."""
        if self.said is not None and 0.5 in self.said.at_cycles:
            return self.said.at_cycles[0.5]
        return self._ranked(0.5) if self.n else None

    def percentile_cycles(self, share: float) -> int | None:
        """The length that ``share`` (0 to 1) of all do not exceed, by nearest rank.

        None when fewer than ``BEYOND`` lie beyond it.
        """
        if self.said is not None and share in self.said.at_cycles:
            return self.said.at_cycles[share]
        return self._ranked(share) if self.n - self._rank(share) >= BEYOND else None

    @property
    def p99_cycles(self) -> int | None:
        """The 99th percentile."""
        return self.percentile_cycles(0.99)

    def binned(self) -> Spread:
        """The same without its single lengths."""
        return replace(self, pieces=None)

    def remembered(self) -> Spread:
        """The same in little memory: without its single lengths, but the usual percentiles as they were."""
        counts = compact(self.counts)
        if self.pieces is None:
            return replace(self, counts=counts)
        at_cycles: dict[float, int | None] = dict.fromkeys((0.5, 0.9, 0.99, 0.999))
        if self.n:
            beyond = (share for share in (0.9, 0.99, 0.999) if self.n - self._rank(share) >= BEYOND)
            places = {share: self._rank(share) - 1 for share in (0.5, *beyond)}
            # All at once: for each of them alone the values would be copied and parted anew.
            values = np.partition(np.concatenate(self.pieces), list(places.values()))
            at_cycles |= {share: int(values[place]) for share, place in places.items()}
        return replace(self, counts=counts, pieces=None, said=Said(exact=self.exact, at_cycles=at_cycles))

    def overhead_cycles(self, baseline_cycles: int | None) -> int:
        """What interruptions of these lengths took: their gaps without a read of ``baseline_cycles`` each."""
        return overhead_cycles(self.sum_cycles, self.n, baseline_cycles)

    def _rank(self, share: float) -> int:
        # The tiny step down keeps 0.99 * 100 from becoming rank 100 by a rounding of the product.
        return max(1, math.ceil(share * self.n - 1e-9))

    def _ranked(self, share: float) -> int:
        rank = self._rank(share)
        if self.pieces is not None:
            values = np.concatenate(self.pieces)
            return int(np.partition(values, rank - 1)[rank - 1])
        bin_ = int(np.searchsorted(np.cumsum(self.counts), rank))
        middle = (_EDGES_CYCLES[bin_] + _EDGES_CYCLES[min(bin_ + 1, BINS - 1)]) / 2
        return int(middle if self.max_cycles is None else min(middle, self.max_cycles))


def overhead_cycles(gap_sum_cycles: int, n: int, baseline_cycles: int | None) -> int:
    """What ``n`` interruptions took: their gaps less what an undisturbed read costs, once each."""
    return gap_sum_cycles - n * (baseline_cycles or 0)


def gap_sum_cycles(overhead_cycles: int, n: int, baseline_cycles: int | None) -> int:
    """The gaps of ``n`` interruptions that took ``overhead_cycles``."""
    return overhead_cycles + n * (baseline_cycles or 0)


def spread_of(gap_cycles: NDArray[np.int64], *, counts: NDArray[np.int64] | None = None) -> Spread:
    """The spread of these lengths (shape ``(n,)``, cycles). ``counts`` by bin may be known already."""
    return Spread(
        n=len(gap_cycles),
        sum_cycles=int(gap_cycles.sum()),
        min_cycles=int(gap_cycles.min()) if len(gap_cycles) else None,
        max_cycles=int(gap_cycles.max()) if len(gap_cycles) else None,
        counts=count_bins(gap_cycles) if counts is None else counts,
        pieces=(gap_cycles,),
    )


def sum_of(spreads: Sequence[Spread]) -> Spread:
    """The spread of all lengths of ``spreads`` together: exact while they are all known and fit."""
    n = sum(spread.n for spread in spreads)
    pieces: tuple[NDArray[np.int64], ...] | None = None
    if n <= KEEP_VALUES and all(spread.pieces is not None for spread in spreads):
        pieces = _few([piece for spread in spreads for piece in spread.pieces or ()])
    return Spread(
        n=n,
        sum_cycles=sum(spread.sum_cycles for spread in spreads),
        min_cycles=_extreme(min, [spread.min_cycles for spread in spreads if spread.n]),
        max_cycles=_extreme(max, [spread.max_cycles for spread in spreads if spread.n]),
        counts=sum((spread.counts for spread in spreads), start=np.zeros(BINS, np.int64)),
        pieces=pieces,
    )


def _extreme(of: Callable[[Iterable[int]], int], values: Sequence[int | None]) -> int | None:
    """None when one of ``values`` is not known, or when there are none."""
    known = [value for value in values if value is not None]
    return of(known) if known and len(known) == len(values) else None


def _few(pieces: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], ...]:
    """The same values in pieces each of which is at least twice as long as the next.

    So there are no more than the logarithm of how many values there are; and as in a binary counter, where
    what is added mostly changes the last digits, a value that was added to a long sum is hardly ever copied.
    """
    groups: list[list[NDArray[np.int64]]] = []
    sizes: list[int] = []
    for piece in pieces:
        group, size = [piece], len(piece)
        while sizes and sizes[-1] < 2 * size:
            group = [*groups.pop(), *group]
            size += sizes.pop()
        if size:
            groups.append(group)
            sizes.append(size)
    return tuple(group[0] if len(group) == 1 else np.concatenate(group) for group in groups)


NOTHING = spread_of(np.zeros(0, np.int64))
"""The spread of no lengths at all."""
