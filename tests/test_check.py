from __future__ import annotations

import pytest

from tickmon.analysis.check import timer_count, verdict_of
from tickmon.windows import RowChange


def verdict(expected: int, seen: int, **changes: object) -> str:
    facts: dict[str, object] = {"lost": 0, "chance_share": 0.01, "may_stop": False, "faster": False}
    return verdict_of(expected=expected, seen=seen, **(facts | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(("expected", "seen"), [(250, 250), (250, 248), (15_000, 14_970)])
def test_two_ticks_or_two_in_a_thousand_may_be_missing(expected: int, seen: int) -> None:
    assert verdict(expected, seen) == "ok"


@pytest.mark.parametrize(("expected", "seen"), [(250, 247), (15_000, 14_969), (250, 0)])
def test_more_than_that_are_missing_where_the_tick_may_not_stop(expected: int, seen: int) -> None:
    assert verdict(expected, seen) == "missing"


def test_few_ticks_where_the_kernel_may_stop_them_are_a_stopped_tick() -> None:
    assert verdict(250, 1, may_stop=True) == "stopped"
    assert verdict(250, 100, may_stop=True) == "stopped"
    assert verdict(250, 200, may_stop=True) == "missing"
    assert verdict(250, 250, may_stop=True) == "ok"


def test_slots_held_by_chance_do_not_hide_a_stopped_tick() -> None:
    assert verdict(250, 200, may_stop=True, chance_share=0.79) == "stopped"


def test_a_lost_detail_may_have_been_a_tick() -> None:
    assert verdict(250, 200, lost=49) == "missing"
    assert verdict(250, 200, lost=50) == "unknown"
    assert verdict(250, 249, lost=50) == "ok"


def test_a_faster_train_is_extra_whatever_else_is_seen() -> None:
    assert verdict(100, 100, faster=True) == "extra"
    assert verdict(100, 50, faster=True) == "extra"


def test_a_window_without_a_slot_says_nothing() -> None:
    assert verdict(0, 0) == "unknown"


def kernel(*rows: tuple[str, int, str | None]) -> tuple[int | None, str | None]:
    return timer_count([RowChange(row=row, name="", count=count, timer=timer) for row, count, timer in rows])


def test_the_kernels_count_is_the_change_of_the_platforms_timer_row() -> None:
    assert kernel(("RES", 700, None), ("LOC", 251, "LOC")) == (251, "LOC")
    assert kernel(("48", 252, "timer0")) == (252, "timer0")


def test_of_several_timer_rows_the_one_that_moved_most_counts() -> None:
    assert kernel(("LOC", 3, "LOC"), ("HVS", 250, "HVS")) == (250, "HVS")


def test_a_timer_row_that_did_not_move_counted_nothing() -> None:
    assert kernel(("LOC", 0, "LOC")) == (0, "LOC")


def test_without_a_timer_row_the_kernels_count_is_not_known() -> None:
    assert kernel(("RES", 7, None)) == (None, None)
    assert kernel() == (None, None)
