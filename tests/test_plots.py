"""Numbers become rows of text: bars, axes, time lines."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickmon.analysis.histogram import bin_edges_cycles, count_bins
from tickmon.tui.plots import (
    BLOCKS,
    Axis,
    axis_labels,
    bars,
    binned_column_counts,
    column_counts,
    decades,
    fit_axis,
    large,
    nice_bottom,
    nice_top,
    sweep,
)

AXIS = Axis(low_ns=100.0, high_ns=1e7)


def test_one_interruption_is_drawn_beside_thousands() -> None:
    (row,) = bars(np.array([0, 1, 100_000]), height=1, top=100_000)
    assert row == " ▁▇"


def test_the_tallest_bar_leaves_an_eighth_free_so_that_strips_do_not_touch() -> None:
    assert bars(np.array([7.0]), height=3, top=7.0) == ["▇", "█", "█"]


def test_no_columns_are_rows_without_text() -> None:
    assert bars(np.zeros(0), height=2, top=1.0) == ["", ""]


def test_a_value_above_the_top_is_drawn_at_the_top() -> None:
    assert bars(np.array([9.0]), height=1, top=3.0) == ["▇"]


def test_nothing_is_drawn_where_nothing_came() -> None:
    assert bars(np.zeros(4), height=2, top=0.0) == ["    ", "    "]


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.integers(1, 8))
def test_bars_are_as_high_as_their_values_say(values: list[int], height: int) -> None:
    counts = np.array(values)
    rows = bars(counts, height=height, top=max(values))
    eighths = [sum(BLOCKS.index(row[column]) for row in rows) for column in range(len(values))]
    assert all((value > 0) == (level > 0) for value, level in zip(values, eighths, strict=True))
    order = np.argsort(counts, kind="stable")
    assert np.all(np.diff(np.array(eighths)[order]) >= 0)


@pytest.mark.parametrize(
    ("value", "top"), [(0.7, 1.0), (1.0, 1.0), (1.1, 2.0), (2.3, 5.0), (6.0, 10.0), (0.02, 0.02)]
)
def test_a_scale_ends_at_a_round_number_not_below_the_value(value: float, top: float) -> None:
    assert nice_top(value) == pytest.approx(top)


@pytest.mark.parametrize(
    ("value", "bottom"), [(0.7, 0.5), (200.0, 200.0), (199.9, 200.0), (190.0, 100.0), (6.0, 5.0)]
)
def test_an_axis_begins_at_a_round_number_not_above_the_shortest(value: float, bottom: float) -> None:
    assert nice_bottom(value) == pytest.approx(bottom)


def test_an_axis_stays_as_it_is_while_it_will_do() -> None:
    axis = fit_axis(None, shortest_ns=200.0, beyond=lambda _ns: 0)
    assert axis == Axis(200.0, 1e7)
    assert fit_axis(axis, shortest_ns=250.0, beyond=lambda _ns: 9) == axis


def test_an_axis_grows_by_decades_once_ten_interruptions_lie_beyond_it() -> None:
    axis = fit_axis(AXIS, shortest_ns=200.0, beyond=lambda ns: 10 if ns < 3e8 else 3)
    assert axis == Axis(100.0, 1e9)


def test_an_axis_reaches_down_to_the_shortest_length() -> None:
    assert fit_axis(AXIS, shortest_ns=30.0, beyond=lambda _ns: 0).low_ns == pytest.approx(20.0)


@given(st.lists(st.floats(1.0, 1e12), max_size=100))
def test_every_length_is_counted_in_some_column(lengths: list[float]) -> None:
    assert column_counts(np.array(lengths), AXIS, 50).sum() == len(lengths)


def test_what_lies_beyond_the_axis_has_a_column_of_its_own() -> None:
    counts = column_counts(np.array([9.9e6, 1e7, 5e9]), AXIS, 50)
    assert counts[-1] == 2
    assert counts[-2] == 1


def test_what_is_too_short_for_the_axis_stands_in_its_first_column() -> None:
    assert column_counts(np.array([3.0]), AXIS, 50)[0] == 1


def test_bins_give_the_same_columns_as_the_lengths_themselves_within_a_bins_width() -> None:
    cycles = np.array([300, 25_000, 26_000, 4_600_000, 40_000_000])
    exact = column_counts(cycles * 0.5, AXIS, 10)
    assert (
        binned_column_counts(count_bins(cycles), bin_edges_cycles() * 0.5, AXIS, 10).tolist()
        == exact.tolist()
    )


def test_powers_of_ten_stand_at_equal_distances() -> None:
    assert decades(AXIS, 50, unit_ns=1.0) == [
        (0, 100.0),
        (10, 1e3),
        (20, 1e4),
        (30, 1e5),
        (40, 1e6),
        (50, 1e7),
    ]


def test_powers_of_ten_of_another_unit_stand_where_they_belong() -> None:
    # 2 cycles a ns: 1,000 cycles are 500 ns.
    assert decades(AXIS, 50, unit_ns=0.5)[0] == (AXIS.column(500.0, 50), 1e3)


def test_a_label_that_would_run_into_the_next_mark_is_left_out() -> None:
    assert axis_labels([(0, "200 ns"), (4, "1 µs"), (12, "10 µs")], 16) == "╵   ╵1 µs   ╵   "
    assert axis_labels([(0, "1 µs"), (5, "10 µs")], 11) == "╵1 µs╵10 µs"


def test_a_time_line_changes_in_two_places_only() -> None:
    before = sweep([float(n) for n in range(50)], total=50, width=20)
    after = sweep([float(n) for n in range(51)], total=51, width=20)
    changed = ~((before == after) | (np.isnan(before) & np.isnan(after)))
    assert np.flatnonzero(changed).tolist() == [10, 11]


def test_the_place_after_the_newest_value_is_free() -> None:
    places = sweep([1.0, 2.0, 3.0], total=23, width=5)
    assert places[22 % 5] == 3.0
    assert np.isnan(places[23 % 5])


def test_a_time_line_that_just_began_is_empty_to_the_right() -> None:
    places = sweep([4.0, 5.0], total=2, width=6)
    assert places[:2].tolist() == [4.0, 5.0]
    assert np.isnan(places[2:]).all()


@pytest.mark.parametrize("ascii_only", [False, True])
def test_large_digits_have_three_rows_of_one_width(ascii_only: bool) -> None:
    rows = large("0.123456789 %–", ascii_only=ascii_only)
    assert not ascii_only or "".join(rows).isascii()
    assert len(rows) == 3
    assert len({len(row) for row in rows}) == 1
