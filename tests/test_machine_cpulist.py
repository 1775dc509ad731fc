"""CPU lists, as the kernel reads and prints them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees import plant
from tickmon.errors import UsageError
from tickmon.machine.cpulist import cpu_list_text, parse_cpu_list, read_cpu_list

CPUS = st.sets(st.integers(0, 2000))


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("", ""),
        ("\n", ""),
        ("(null)\n", ""),
        ("3", "3"),
        ("0-4\n", "0-4"),
        ("0-1,4-5,8-9", "0-1,4-5,8-9"),
        ("8,0-2,1", "0-2,8"),
        ("007", "7"),
        (",1,, 3 ,", "1,3"),
        ("0-15:2/4", "0-1,4-5,8-9,12-13"),
        ("9-14:4/10", "9-12"),
        ("1-6:0/2", ""),
        ("0-3:1/4,5", "0,5"),
        ("N", "15"),
        ("10-N", "10-15"),
        ("0-N:1/N", "0,15"),
        ("all", "0-15"),
        ("ALL:1/8", "0,8"),
    ],
)
def test_list_means_what_the_kernel_takes_it_for(text: str, cpus: str) -> None:
    assert cpu_list_text(parse_cpu_list(text, highest=15)) == cpus


def test_list_keeps_the_order_in_which_it_was_written_without_repetition() -> None:
    assert parse_cpu_list("5,2,0-3,5") == (5, 2, 0, 1, 3)


@pytest.mark.parametrize(
    "text",
    ["-1", "1-", "1-2-3", "4-2", "1:1/2", "0-3:1", "0-3:1/0", "0-3:3/2", "0-3:1/2/3", "n", "x", "1;2", "0x1"],
)
def test_malformed_list_is_refused_by_name(text: str) -> None:
    with pytest.raises(UsageError, match="is no CPU list"):
        parse_cpu_list(text)


@pytest.mark.parametrize("text", ["0-99999999999", "65536", "9" * 5000, "0-65536:1/65536"])
def test_list_beyond_every_kernel_is_refused_without_being_built(text: str) -> None:
    with pytest.raises(UsageError, match="beyond 65535"):
        parse_cpu_list(text)


def test_error_about_a_long_list_is_one_short_line() -> None:
    with pytest.raises(UsageError) as caught:
        parse_cpu_list("x\x1b[2J\n" * 1000)
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


@settings(deadline=None)
@given(CPUS)
def test_list_survives_being_written_and_read(cpus: set[int]) -> None:
    assert parse_cpu_list(cpu_list_text(cpus)) == tuple(sorted(cpus))


@settings(deadline=None)
@given(CPUS)
def test_written_list_is_the_shortest(cpus: set[int]) -> None:
    regions = cpu_list_text(cpus).split(",") if cpus else []
    assert len(regions) == len({cpu for cpu in cpus if cpu + 1 not in cpus})


@settings(deadline=None)
@given(st.text() | st.text("0123456789-,:/N al\n"))
def test_any_text_is_a_list_or_wrong_usage(text: str) -> None:
    try:
        cpus = parse_cpu_list(text, highest=300)
    except UsageError:
        return
    assert len(cpus) == len(set(cpus))
    assert all(0 <= cpu <= 300 for cpu in cpus)


def test_missing_or_garbled_file_is_no_list(tmp_path: Path) -> None:
    plant(tmp_path, {"garbled": "zero to three\n", "good": "0,2\n"})
    assert read_cpu_list(tmp_path / "missing") is None
    assert read_cpu_list(tmp_path / "garbled") is None
    assert read_cpu_list(tmp_path) is None
    assert read_cpu_list(tmp_path / "good") == frozenset({0, 2})
