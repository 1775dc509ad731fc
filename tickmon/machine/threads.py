"""The threads of this machine: on which CPU each ran last, whether it runs, and for how long it ran."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tickmon.text import harmless

_PF_KTHREAD = 0x0020_0000
"""Of the flags in ``stat`` (include/linux/sched.h)."""

MOST_THREADS = 20_000
"""More are not looked at: that alone takes half a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """One thread as ``/proc/PID/task/TID/stat`` shows it (fs/proc/array.c, ``do_task_stat()``)."""

    path: str
    """Of its folder in /proc."""
    pid: int
    """Of its process."""
    name: str
    cpu: int
    """Where it runs or ran last."""
    running: bool
    """It runs or waits for the CPU."""
    threads: int
    """Of its process."""
    kernel: bool
    """The kernel's own: others may give themselves such a name, but not this."""


def read_threads(root: Path = Path("/")) -> Iterator[Thread]:
    """The threads that may be seen (``hidepid`` and containers hide others), at most MOST_THREADS.

    One file for each: a process of a single thread has its only thread's figures in its own ``stat``.
    """
    left = MOST_THREADS
    for pid in _numbers(root / "proc"):
        leader = read_thread(f"{root}/proc/{pid}", int(pid))
        if leader is None:
            continue
        if leader.threads <= 1:
            tasks: Iterator[Thread | None] = iter((leader,))
        else:
            folder = f"{root}/proc/{pid}/task"
            tasks = (read_thread(f"{folder}/{tid}", int(pid)) for tid in _numbers(Path(folder)))
        for thread in tasks:
            if left == 0:
                return
            if thread is not None:
                left -= 1
                yield thread


def read_thread(path: str, pid: int) -> Thread | None:
    """The thread whose folder is ``path``; None when it ended."""
    # The name stands in brackets and may hold any, so the last closing one ends it.
    head, _, tail = _read(f"{path}/stat").rpartition(b")")
    fields = tail.split(None, 37)
    try:
        return Thread(
            path=path,
            pid=pid,
            name=harmless(head.partition(b"(")[2].decode("utf-8", "replace"), 24),
            cpu=int(fields[36]),
            running=fields[0] == b"R",
            threads=int(fields[17]),
            kernel=bool(int(fields[6]) & _PF_KTHREAD),
        )
    except (ValueError, IndexError):
        return None


def read_account(thread: Thread) -> tuple[int, ...] | None:
    """Its time on a CPU in ns, its time waiting for one, and how often it got one; None when not counted.

    What was not charged yet is missing: up to a tick, on a nohz_full CPU up to a second
    (Documentation/scheduler/sched-stats.rst). That it got a CPU is counted at once.
    """
    try:
        ran_ns, waited_ns, times = map(int, _read(f"{thread.path}/schedstat").split())
    except ValueError:
        return None
    return ran_ns, waited_ns, times


def own_pid(root: Path = Path("/")) -> int:
    """This process's number as /proc counts, which in a container may not be what getpid() says."""
    try:
        return int(os.readlink(root / "proc/self"))
    except (OSError, ValueError):
        return os.getpid()


def parent_of(pid: int, root: Path = Path("/")) -> int | None:
    """The number of the process that started this one; None when it ended."""
    fields = _read(f"{root}/proc/{pid}/stat").rpartition(b")")[2].split(None, 2)
    return int(fields[1]) if len(fields) == 3 and fields[1].isdigit() else None


def _read(path: str) -> bytes:
    """One read without a file object: there may be thousands, and these files fit into a page."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, 4096)
    except OSError:
        return b""
    finally:
        os.close(file)


def _numbers(folder: Path) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.isdecimal()]
    except OSError:
        return []
