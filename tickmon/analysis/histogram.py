"""The logarithmic histogram: the same bins in the sampler's shared memory, in files and on screen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 496
"""As many as a 64-bit number needs: TM_BINS of csrc/api.h."""

_PER_OCTAVE = 8


def bin_edges_cycles() -> NDArray[np.float64]:
    """Where each bin begins, shape ``(BINS,)``; bin i holds ``[edge i, edge i+1)``.

    Below 8 every value has its own bin; above, each octave is cut into eight of equal width, so a bin is
    never wider than an eighth of its values (the layout of HdrHistogram, with three significant bits).
    """
    octaves = np.arange(BINS // _PER_OCTAVE - 1, dtype=np.float64)
    steps = np.arange(_PER_OCTAVE, dtype=np.float64)
    upper = (_PER_OCTAVE + steps) * 2.0 ** octaves[:, np.newaxis]
    return np.concatenate([steps, upper.ravel()])


def bins_of(cycles: NDArray[np.int64]) -> NDArray[np.int64]:
    """The bin of each value of ``cycles`` (any shape, 0 or more): what tm_bin() of csrc/api.h says."""
    values = np.asarray(cycles, dtype=np.int64)
    # frexp gives the octave exactly up to 2**53; no gap is longer than that (41 days at 2.5 GHz).
    octave = np.maximum(np.frexp(values.astype(np.float64))[1] - 4, 0)
    return np.asarray(octave * _PER_OCTAVE + (values >> octave), dtype=np.int64)


def count_bins(cycles: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many of ``cycles`` fall into each bin, shape ``(BINS,)``."""
    return np.bincount(bins_of(cycles), minlength=BINS).astype(np.int64)


def compact(counts: NDArray[np.int64]) -> NDArray[Any]:
    """The same in the narrowest signed integers that hold each: added to int64 they are exact."""
    return counts.astype(np.min_scalar_type(-1 - int(counts.max())))
