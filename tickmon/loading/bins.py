"""Counts by length, from a line back into the bins of tickmon.analysis.histogram."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import BINS, bin_edges_cycles
from tickmon.formats.members import NUMBER_MOST
from tickmon.loading.members import BadMemberError, Members

_EDGES_CYCLES = bin_edges_cycles()


def histogram_counts(part: Members, interruptions: int) -> NDArray[np.int64]:
    """A window's histogram; what its two open bins hold goes to their borders."""
    edges_cycles, given = part.whole_list("edges_cycles"), part.whole_numbers("counts")
    if not edges_cycles or len(given) != len(edges_cycles) + 1:
        raise BadMemberError("says a histogram that has not one count more than edges")
    counts = counts_of(_places(tuple(edges_cycles)), given)
    if int(counts.sum()) != interruptions:
        raise BadMemberError("says a histogram that does not hold all interruptions")
    return counts


def spread_counts(part: Members) -> NDArray[np.int64]:
    """Those bins of a tick's, a train's or a source's lengths that hold something."""
    from_cycles, given = part.whole_numbers("from_cycles"), part.whole_numbers("counts")
    if len(from_cycles) != len(given):
        raise BadMemberError("says bins in lists of different lengths")
    return counts_of(_bins_of(from_cycles), given)


def _bins_of(cycles: NDArray[np.int64]) -> NDArray[np.int64]:
    """As ``tickmon.analysis.histogram.bins_of``, but faster for few values."""
    return _EDGES_CYCLES.searchsorted(cycles, "right") - 1


@lru_cache(maxsize=8)
def _places(edges_cycles: tuple[int, ...]) -> NDArray[np.int64]:
    """Where the counts go. All windows of a segment have the same edges, which are looked at once."""
    if not 0 <= min(edges_cycles) <= max(edges_cycles) <= NUMBER_MOST:
        raise BadMemberError(f"says a histogram with an edge that is not from 0 to {NUMBER_MOST}")
    inner = _bins_of(np.array(edges_cycles, np.int64))
    return np.concatenate([[max(int(inner[0]) - 1, 0)], inner])


def counts_of(places: NDArray[np.int64], given: NDArray[np.int64]) -> NDArray[np.int64]:
    """``given`` counts, each in the bin that it has in ``places`` (both of shape ``(n,)``)."""
    counts = np.zeros(BINS, np.int64)
    np.add.at(counts, places, given)
    return counts
