"""The 2004 program's output."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tickmon.formats.seed import elapsed_text, seed_text


def test_samples_are_less_the_smallest_rounded_down_to_ten_in_order() -> None:
    assert seed_text(np.array([6_819, 6_800, 14_809, 6_809, 6_810])) == "10\n0\n8000\n0\n10\n"


@settings(deadline=None)
@given(st.lists(st.integers(0, 2**52), min_size=1))
def test_every_sample_has_its_line_and_the_smallest_is_zero(samples: list[int]) -> None:
    printed = [int(line) for line in seed_text(np.array(samples)).splitlines()]
    assert len(printed) == len(samples)
    assert printed[samples.index(min(samples))] == 0
    for cycles, over in zip(samples, printed, strict=True):
        assert over % 10 == 0
        assert over <= cycles - min(samples) < over + 10


def test_no_samples_print_nothing() -> None:
    assert seed_text(np.zeros(0, np.int64)) == ""


def test_elapsed_ticks_are_those_of_the_first_machine() -> None:
    # 945 ticks of 1000 Hz on a CPU of 332.49 MHz.
    assert (
        elapsed_text(314_300_000, tsc_hz=332_490_000, kernel_hz=1000)
        == "Elapsed time: 945 ticks (assuming Hz = 1000)\n"
    )


def test_unknown_hz_is_assumed_to_be_what_the_first_program_assumed() -> None:
    assert elapsed_text(2_000, tsc_hz=1e6, kernel_hz=None) == "Elapsed time: 2 ticks (assuming Hz = 1000)\n"
