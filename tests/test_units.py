"""Numbers to and from the text that people read."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickmon.errors import UsageError
from tickmon.units import (
    count_text,
    counted,
    cycles_to_ns,
    duration_text,
    parse_duration_s,
    share_text,
    significant,
    tick_period_ns,
)


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "–"),
        (0.0, "0 ns"),
        (9.81, "9.81 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (12_345.0, "12.3 µs"),
        (999_600.0, "1.00 ms"),
        (60e9, "60.0 s"),
        (-1_210.0, "-1.21 µs"),
    ],
)
def test_duration_is_told_in_the_unit_that_fits(ns: float | None, text: str) -> None:
    assert duration_text(ns) == text


@given(st.floats(1e-3, 1e12))
def test_duration_never_reads_a_thousand_of_its_unit(ns: float) -> None:
    number = float(duration_text(ns).split()[0])
    assert number < 1000 or ns >= 999.5e9


@given(st.floats(1e-6, 1e9), st.integers(2, 6))
def test_significant_digits_say_the_value_within_their_last_digit(value: float, digits: int) -> None:
    said = float(significant(value, digits))
    assert math.isclose(said, value, rel_tol=0.51 * 10.0 ** (1 - digits))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90.0), ("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0), ("1d", 86400.0), (".5", 0.5)],
)
def test_duration_is_read_with_and_without_its_unit(text: str, seconds: float) -> None:
    assert parse_duration_s(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "1e3", "5 minutes", "1h30m", "s", "9" * 400])
def test_what_is_no_duration_is_wrong_usage(text: str) -> None:
    with pytest.raises(UsageError, match="no duration"):
        parse_duration_s(text)


def test_share_and_count_are_told_as_people_read_them() -> None:
    assert share_text(0.00123) == "0.123 %"
    assert share_text(None) == count_text(None) == "–"
    assert count_text(14_500) == "14,500"


def test_tick_period_is_rounded_as_the_kernel_does() -> None:
    assert [tick_period_ns(hz) for hz in (100, 250, 300, 1000, 1024)] == [
        10_000_000,
        4_000_000,
        3_333_333,
        1_000_000,
        976_563,
    ]


def test_cycles_become_nanoseconds_by_the_counters_frequency() -> None:
    assert cycles_to_ns(21, 2.1e9) == pytest.approx(10.0)


def test_one_is_singular_and_everything_else_is_not() -> None:
    assert [counted(n, "tick") for n in (0, 1, 2, 1_500)] == ["0 ticks", "1 tick", "2 ticks", "1,500 ticks"]
    assert counted(1, "sample is", "samples are") == "1 sample is"
    assert counted(2, "sample is", "samples are") == "2 samples are"
    assert counted(None, "tick") == "– ticks"
