"""Takes out of a window what is no interruption: nobody took that time from a running program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import BINS, bin_edges_cycles, bins_of
from tickmon.windows import INTERRUPTION, Exclusion, Window


def exclude_longest(window: Window, code: str, *, start_cycles: int, end_cycles: int) -> Window:
    """``window`` without the longest of its interruptions in a stretch, given from the segment's origin.

    Where none there has a detail the exclusion is told all the same, without a length.
    """
    starts, gaps = window.details["start_cycles"], window.details["gap_cycles"]
    between = np.flatnonzero((starts + gaps > start_cycles) & (starts < end_cycles))
    if not len(between):
        return _with(window, Exclusion(code=code, start_cycles=start_cycles, cycles=0))
    index = between[np.argmax(gaps[between])]
    gap_cycles = int(gaps[index])
    details = np.delete(window.details, index)
    counts = window.counts.copy()
    counts[bins_of(gaps[index : index + 1])] -= 1
    # Below the threshold the longest is not known one by one; nor are those whose detail was lost.
    floor_cycles = window.segment.threshold_cycles or window.min_cycles or 0
    if window.lost:
        floor_cycles = max(floor_cycles, _longest_by_bins(counts))
    without = replace(
        window,
        interruptions=window.interruptions - 1,
        gap_sum_cycles=window.gap_sum_cycles - gap_cycles,
        max_cycles=int(details["gap_cycles"].max(initial=floor_cycles)),
        counts=counts,
        details=details,
    )
    return _with(without, Exclusion(code=code, start_cycles=int(starts[index]), cycles=gap_cycles))


def _longest_by_bins(counts: NDArray[np.int64]) -> int:
    """What the longest of these interruptions took at least: less than an eighth is missing."""
    return int(bin_edges_cycles()[np.flatnonzero(counts).max(initial=0)])


def exclude_all(window: Window, code: str) -> Window:
    """``window`` as if nobody had watched it."""
    nothing = replace(
        window,
        reads=0,
        interruptions=0,
        lost=0,
        gap_sum_cycles=0,
        min_cycles=None,
        max_cycles=None,
        counts=np.zeros(BINS, np.int64),
        details=np.zeros(0, INTERRUPTION),
        switches=None if window.switches is None else window.switches[:0],
        switch_count=None if window.switch_count is None else 0,
        excluded=(),
        excluded_count=0,
        switches_lost=0,
        trace=None,
    )
    return _with(nothing, Exclusion(code=code, start_cycles=window.start_cycles, cycles=window.length_cycles))


def _with(window: Window, exclusion: Exclusion) -> Window:
    return replace(window, excluded=(*window.excluded, exclusion), excluded_count=window.excluded_count + 1)
