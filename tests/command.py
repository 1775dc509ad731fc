"""Runs the command as users do, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tickmon.machine.cpus import read_cpus

COMMAND = [sys.executable, "-m", "tickmon"]

WAIT_S = 60.0
"""Far longer than anything takes: a test fails by it only when nothing comes at all."""


def finished(*arguments: str, **how: Any) -> subprocess.CompletedProcess[str]:
    """The command, run to its end."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.run(
        [*COMMAND, *arguments], stdin=subprocess.DEVNULL, text=True, timeout=WAIT_S, check=False, **how
    )


@contextmanager
def running(*arguments: str, **how: Any) -> Iterator[subprocess.Popen[str]]:
    """The command while it runs; killed if the test fails to end it."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    with subprocess.Popen([*COMMAND, *arguments], stdin=subprocess.DEVNULL, text=True, **how) as process:
        try:
            yield process
        finally:
            process.kill()


def interpreted(code: str) -> subprocess.CompletedProcess[str]:
    """Python code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=WAIT_S, check=False
    )


def children(pid: int) -> list[int]:
    """The processes that a process started and that have not ended."""
    lists = (task / "children" for task in Path(f"/proc/{pid}/task").iterdir())
    return [int(child) for children in lists for child in children.read_text().split()]


def exists(pid: int) -> bool:
    """Whether there is such a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def spare_cpu() -> int:
    """A CPU that a test may measure; skips the test where there is only one."""
    usable = read_cpus().usable
    if len(usable) < 2:
        pytest.skip("one CPU alone cannot be measured: another must stay free")
    return max(usable)
