"""Readers of outside text hold their promise for some input that nobody would write; tests.fuzz has more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import TARGETS, seeds, spoilt

COUNTS = {"recording": 400, "cpulist": 1_000, "interrupts": 4_000, "limit": 4_000}
"""About a second each."""


@pytest.mark.parametrize("name", TARGETS)
def test_spoilt_input_ends_in_values_or_in_one_line(tmp_path: Path, name: str) -> None:
    for data in [*seeds(name), *spoilt(seeds(name), COUNTS[name], seed=1)]:
        try:
            TARGETS[name](data, tmp_path / "a.jsonl")
        except Exception as error:
            raise AssertionError(f"{name} of {data!r}") from error
