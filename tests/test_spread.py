from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickmon.analysis import spread as spread_module
from tickmon.analysis.histogram import BINS, bin_edges_cycles, bins_of, count_bins
from tickmon.analysis.spread import NOTHING, Spread, spread_of, sum_of

LENGTHS = st.lists(st.integers(0, 10**12), min_size=1, max_size=300)


def spread_from(values: list[int]) -> Spread:
    return spread_of(np.array(values, np.int64))


def binned(values: list[int]) -> Spread:
    gaps = np.array(values, np.int64)
    return Spread(
        n=len(gaps),
        sum_cycles=int(gaps.sum()),
        min_cycles=int(gaps.min()),
        max_cycles=int(gaps.max()),
        counts=count_bins(gaps),
        pieces=None,
    )


@given(LENGTHS)
def test_the_median_is_the_value_at_the_nearest_rank(values: list[int]) -> None:
    assert spread_from(values).median_cycles == sorted(values)[(len(values) + 1) // 2 - 1]


def test_a_percentile_is_the_value_that_its_share_of_all_do_not_exceed() -> None:
    spread = spread_from(list(range(1, 1001)))
    assert spread.p99_cycles == 990
    assert spread.percentile_cycles(0.9) == 900


def test_a_percentile_with_fewer_than_ten_values_beyond_it_is_none() -> None:
    assert spread_from(list(range(1, 1001))).p99_cycles == 990
    assert spread_from(list(range(1, 1000))).p99_cycles is None
    assert spread_from(list(range(1, 101))).percentile_cycles(0.9) == 90


@pytest.mark.parametrize("n", [0, 1, 19, 20, 99, 100, 999, 1000, 1001, 9_999, 10_000, 10_001])
def test_what_is_remembered_says_the_percentiles_that_all_the_values_said(n: int) -> None:
    values = np.random.default_rng(n).integers(1, 10**6, n)
    whole = sum_of([spread_of(values[: n // 3]), spread_of(values[n // 3 :])])
    for share in (0.5, 0.9, 0.99, 0.999):
        assert whole.remembered().percentile_cycles(share) == (
            whole.median_cycles if share == 0.5 else whole.percentile_cycles(share)
        )
    assert whole.remembered().median_cycles == whole.median_cycles
    assert whole.remembered().exact


def test_nothing_has_neither_median_nor_mean_nor_maximum() -> None:
    assert NOTHING.n == 0
    assert (NOTHING.median_cycles, NOTHING.mean_cycles, NOTHING.max_cycles, NOTHING.p99_cycles) == (None,) * 4
    assert sum_of([NOTHING, NOTHING]).median_cycles is None


@given(LENGTHS, LENGTHS)
def test_a_sum_of_spreads_is_the_spread_of_all_values(first: list[int], second: list[int]) -> None:
    added, whole = sum_of((spread_from(first), spread_from(second))), spread_from(first + second)
    assert (added.n, added.sum_cycles) == (whole.n, whole.sum_cycles)
    assert (added.min_cycles, added.max_cycles) == (whole.min_cycles, whole.max_cycles)
    assert added.counts.tolist() == whole.counts.tolist()
    for share in (0.5, 0.9, 0.99):
        assert added.percentile_cycles(share) == whole.percentile_cycles(share)
    assert added.median_cycles == whole.median_cycles
    assert added.exact


def test_nothing_added_changes_nothing() -> None:
    spread = spread_from([5, 7, 9])
    assert sum_of((spread, NOTHING)).median_cycles == 7
    assert sum_of((NOTHING, spread)).max_cycles == 9


@given(LENGTHS)
def test_a_binned_median_lies_in_the_bin_of_the_exact_one(values: list[int]) -> None:
    exact, rough = spread_from(values).median_cycles, binned(values).median_cycles
    assert exact is not None
    assert rough is not None
    assert bins_of(np.array([rough])) == bins_of(np.array([exact]))
    assert rough <= max(values)


def test_one_binned_part_makes_the_sum_binned_and_keeps_maximum_and_sum_exact() -> None:
    added = sum_of((spread_from([10, 20]), binned([1_000_003])))
    assert not added.exact
    assert (added.n, added.sum_cycles, added.max_cycles) == (3, 1_000_033, 1_000_003)
    assert added.counts.sum() == 3


def test_more_values_than_are_kept_go_on_in_bins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread_module, "KEEP_VALUES", 3)
    assert sum_of((spread_from([1, 2]), spread_from([3]))).exact
    assert not sum_of((spread_from([1, 2]), spread_from([3, 4]))).exact


def test_a_value_in_the_last_bin_has_a_percentile() -> None:
    counts = np.zeros(BINS, np.int64)
    counts[-1] = 1
    spread = Spread(n=1, sum_cycles=2**62, min_cycles=None, max_cycles=None, counts=counts, pieces=None)
    assert spread.median_cycles == int(bin_edges_cycles()[-1])


def test_an_extreme_that_one_part_does_not_know_is_not_known_of_the_sum() -> None:
    known, rough = spread_from([10, 20]), replace(binned([15]), min_cycles=None, max_cycles=None)
    for added in (sum_of((known, rough)), sum_of((rough, known))):
        assert (added.min_cycles, added.max_cycles) == (None, None)
    assert (sum_of((known, NOTHING)).min_cycles, sum_of((NOTHING, known)).max_cycles) == (10, 20)


def test_values_of_ever_so_many_sums_lie_in_few_pieces_and_are_seldom_copied() -> None:
    total, copied, rng = NOTHING, 0, np.random.default_rng(1)
    for _ in range(3_000):
        before = total.pieces or ()
        total = sum_of((total, spread_of(rng.integers(1, 1000, rng.integers(0, 8)))))
        assert total.pieces is not None
        copied += sum(len(piece) for piece in total.pieces if all(piece is not old for old in before))
        assert len(total.pieces) <= math.log2(max(total.n, 1)) + 1
    assert sum(len(piece) for piece in total.pieces or ()) == total.n
    assert copied <= total.n * (math.log2(total.n) + 1)


def test_a_small_sum_is_not_begun_by_copying_a_large_piece() -> None:
    large = spread_from(list(range(1000)))
    assert large.pieces is not None
    added = sum_of((sum_of((large, spread_from([1]))), spread_from([2])))
    assert added.pieces is not None
    assert added.pieces[0] is large.pieces[0]


def test_a_spread_without_its_single_lengths_has_the_same_sums() -> None:
    spread = spread_from([10, 20, 1_000_000])
    rough = spread.binned()
    assert not rough.exact
    assert (rough.n, rough.sum_cycles, rough.min_cycles, rough.max_cycles) == (3, 1_000_030, 10, 1_000_000)


def test_what_is_remembered_counts_the_same_in_fewer_bytes_and_adds_up_exactly() -> None:
    spread = spread_of(np.full(30_000, 1_000, np.int64))
    remembered = spread.remembered()
    assert remembered.counts.tolist() == spread.counts.tolist()
    assert remembered.counts.nbytes < spread.counts.nbytes
    assert sum_of([remembered] * 3).counts.max() == 90_000
