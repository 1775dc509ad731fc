"""What holds for every test: no sampler and no injector is left behind."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

PATIENCE_MS = 5000
"""For a process that was told to end; one that nobody told stays longer than that."""


HEEDED: dict[signal.Signals, Callable[[int, FrameType | None], Any] | signal.Handlers] = {
    signal.SIGHUP: signal.SIG_DFL,
    signal.SIGINT: signal.default_int_handler,
    signal.SIGQUIT: signal.SIG_DFL,
}


def parent_of(pid: int) -> int | None:
    """None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name before it may hold blanks and brackets.
    return int(stat.rpartition(")")[2].split()[1])


def is_ours(pid: int | None) -> bool:
    """This process or one below it; also one that is gone: whoever worked for it should be gone too."""
    while pid is not None and pid not in (os.getpid(), 0):
        pid = parent_of(pid)
    return pid != 0


def samplers() -> list[int]:
    """The samplers and injectors that this test run started, or that nobody can stop any more."""
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            name = comm.read_text()
            if name not in ("tickmon-sampler\n", "tickmon-injecto\n"):
                continue
            arguments = (comm.parent / "cmdline").read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        pid = int(comm.parent.name)
        # A process that has ended and was not waited for has no arguments any more.
        place = 2 if name == "tickmon-sampler\n" else 5
        known = len(arguments) > place
        owner = int(arguments[place].removeprefix("for pid ")) if known else parent_of(pid)
        if is_ours(owner):
            found.append(pid)
    return found


def await_end(pid: int) -> None:
    """Returns when the process has ended, or is still there after PATIENCE_MS."""
    try:
        end = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    poll = select.poll()
    poll.register(end, select.POLLIN)
    poll.poll(PATIENCE_MS)
    os.close(end)


@pytest.fixture(autouse=True, scope="session")
def signals_are_heeded() -> Iterator[None]:
    """Whoever runs the tests in the background of a shell or under nohup has some of them ignored, and every
    program that a test starts would inherit that."""
    ignored = [number for number in HEEDED if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, HEEDED[number])
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.fixture(autouse=True)
def no_sampler_is_left() -> Iterator[None]:
    """Before and after every test."""
    assert not samplers()
    yield
    for pid in samplers():
        await_end(pid)
    assert not samplers()
