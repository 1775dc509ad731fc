"""The grammar of ``--fail-if`` and ``--stop-if``."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readings import loop_window, sum_up, three_windows
from tickmon.errors import UsageError
from tickmon.formats.lines import summary_line
from tickmon.formats.members import Line
from tickmon.limits import MEMBERS, OPERATORS, RATES, names, parse_limit, parse_window_limit


@pytest.mark.parametrize(
    ("text", "name", "operator", "value"),
    [
        ("max_ns>50000", "max_ns", ">", 50_000.0),
        ("max_ns>50us", "max_ns", ">", 50_000.0),
        ("max_ns>50µs", "max_ns", ">", 50_000.0),
        (" max_ns >= 1.5 ms ", "max_ns", ">=", 1_500_000.0),
        ("tick.median_ns<1e3", "tick.median_ns", "<", 1_000.0),
        ("p99_cycles<=.5", "p99_cycles", "<=", 0.5),
        ("overhead_share>0.5%", "overhead_share", ">", 0.005),
        ("overhead_share>0.001", "overhead_share", ">", 0.001),
        ("lost!=0", "lost", "!=", 0.0),
        ("ticks_per_s<249", "ticks_per_s", "<", 249.0),
        ("check!=ok", "check", "!=", "ok"),
        ("check == missing", "check", "==", "missing"),
    ],
)
def test_limit_is_a_name_an_operator_and_a_value(
    text: str, name: str, operator: str, value: float | str
) -> None:
    limit = parse_limit(text)
    assert (limit.name, limit.operator, limit.value) == (name, operator, value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no comparison"),
        ("max_ns", "put it into quotes"),
        ("max_ns>", "is no comparison"),
        ("max_ns=5", "is no comparison"),
        ("max_ns>5 or lost>0", "is no comparison"),
        ("max_ns>5,lost>0", "is no number from 0 on"),
        ("tick_median_ns>5", "there is tick.median_ns, median_ns"),
        ("mx_ns>5us", "there is max_ns"),
        ("__class__>5", "the help has the names under limits"),
        ("max_ns>-5", "is no number from 0 on"),
        ("max_ns>nan", "is no number from 0 on"),
        ("max_ns>1e999", "more than any number"),
        ("max_ns>5h", "which takes ns, us, ms, s"),
        ("max_cycles>5us", "which takes a number without one"),
        ("overhead_share>5ns", "which takes %"),
        ("check>ok", "it takes == or !="),
        ("check!=fine", "is no verdict of the check"),
    ],
)
def test_what_is_no_limit_is_refused_with_a_reason(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace(".", r"\.")):
        parse_limit(text)


def test_member_of_runs_is_no_limit_of_windows() -> None:
    assert parse_limit("p9999_ns>5us").name == "p9999_ns"
    with pytest.raises(UsageError, match="known of whole runs only"):
        parse_window_limit("p9999_ns>5us")


def numbers_in(line: Line) -> set[str]:
    """The names of all numbers that a run's line and its parts hold, but where and when it was measured."""
    found = {name for name, value in line.items() if isinstance(value, int | float)}
    for part in ("tick", "check"):
        values = line[part]
        if isinstance(values, dict):
            found |= {f"{part}.{name}" for name, value in values.items() if isinstance(value, int | float)}
    return found


def test_every_number_of_a_line_is_a_member_and_every_member_is_one() -> None:
    longest = replace(sum_up(three_windows() * 10), p9999_cycles=9_000)
    found = numbers_in(summary_line(longest, windows=30)) | numbers_in(
        summary_line(sum_up([loop_window()]), windows=1)
    )
    where = {"segment", "cpu", "windows", "start_cycles", "end_cycles", "tsc_hz", "samples", "loop_size"}
    assert found - where - {"tick.phase_ns"} == MEMBERS


@given(
    name=st.sampled_from([name for name in names() if name != "check"]),
    operator=st.sampled_from(OPERATORS),
    value=st.floats(min_value=0, max_value=1e300),
    space=st.sampled_from(["", " "]),
)
def test_any_number_comes_back(name: str, operator: str, value: float, space: str) -> None:
    limit = parse_limit(f"{name}{space}{operator}{space}{value!r}")
    assert (limit.name, limit.operator, limit.value) == (name, operator, value)


@given(st.text(max_size=40) | st.text(alphabet="max_nsov>=<! .eE%us0123456789check", max_size=40))
def test_any_text_is_a_limit_or_wrong_usage(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse_limit(text).name in names()


@given(st.integers(0, 10), st.integers(0, 10))
def test_operators_are_those_of_numbers(value: int, bound: int) -> None:
    for operator, holds in {
        ">": value > bound,
        ">=": value >= bound,
        "<": value < bound,
        "<=": value <= bound,
        "==": value == bound,
        "!=": value != bound,
    }.items():
        assert parse_limit(f"lost{operator}{bound}").crossed_by(value) == holds


def test_rates_count_members() -> None:
    assert set(RATES.values()) <= MEMBERS
