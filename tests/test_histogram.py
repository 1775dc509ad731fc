from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tickmon.analysis.histogram import BINS, bin_edges_cycles, bins_of, count_bins


@given(st.integers(0, 2**53 - 1))
def test_every_length_lies_between_the_edges_of_its_bin(cycles: int) -> None:
    edges = np.append(bin_edges_cycles(), np.inf)
    bin_ = int(bins_of(np.array([cycles]))[0])
    assert edges[bin_] <= cycles < edges[bin_ + 1]


def test_an_edge_begins_its_own_bin_and_the_length_before_it_ends_the_last() -> None:
    exact = bin_edges_cycles()
    edges = exact[exact < 2**53].astype(np.int64)
    assert bins_of(edges).tolist() == list(range(len(edges)))
    assert bins_of(edges[1:] - 1).tolist() == list(range(len(edges) - 1))


def test_a_bin_is_never_wider_than_an_eighth_of_its_lengths() -> None:
    edges = bin_edges_cycles()
    assert np.all(np.diff(edges) <= np.maximum(edges[:-1] / 8, 1))


def test_a_gap_of_a_minute_has_a_bin_of_its_own_octave() -> None:
    minute_cycles = 60 * 3_000_000_000
    edges = bin_edges_cycles()
    bin_ = int(bins_of(np.array([minute_cycles]))[0])
    assert bin_ < BINS - 1
    assert edges[bin_] > minute_cycles * 8 / 9


def test_counts_hold_every_length_once_even_when_there_are_none() -> None:
    assert count_bins(np.array([3, 3, 500, 10**9])).sum() == 4
    assert count_bins(np.array([3, 3, 500]))[3] == 2
    assert count_bins(np.zeros(0, np.int64)).tolist() == [0] * BINS
