"""One reading of a table for all CPUs that ask at about the same moment."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.trees import plant
from tickmon.machine.shared import SharedFiles


class Watch:
    """A clock that stands until it is set."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def test_many_at_one_moment_have_one_reading(tmp_path: Path) -> None:
    watch = Watch()
    files = SharedFiles(plant(tmp_path, {"proc/interrupts": "first"}), now_s=watch)
    together = threading.Barrier(8)

    def ask(number: int) -> str:
        together.wait()
        text = files.text("interrupts", fresh_s=0.1)
        # A second reading would show this.
        plant(tmp_path, {"proc/interrupts": f"changed by {number}"})
        return text

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {"first"}
    watch.now_s = 0.2
    assert files.text("interrupts", fresh_s=0.1).startswith("changed")


def test_tables_are_kept_apart_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    files = SharedFiles(plant(tmp_path, {"proc/stat": "cpu0"}))
    assert (files.text("stat", fresh_s=60.0), files.text("softirqs", fresh_s=60.0)) == ("cpu0", "")
