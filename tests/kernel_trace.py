"""The kernel's own trace of one CPU, for tests that hold the reading against the truth (root only).

The trace is a private tracefs instance with the x86-tsc clock, so its stamps are the sampler's own unit. It
is reached through a mount that lives in the mount namespace of a holder process: nothing of the machine is
mounted or switched, and the mount goes with the holder. The instance itself would survive a killed test, so
stale ones are swept before a new one is made.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import numpy as np
import pytest
from numpy.typing import NDArray

TICK_FUNCTIONS = ("tick_sched_timer", "tick_nohz_highres_handler", "tick_nohz_handler")
"""Who handles the expiry of the tick's timer: kernels to 6.7, 6.8, and from 6.9 on."""

_PREFIX = "tickmon-test-"
_LINE = re.compile(r"\s(\d+): (\w+): ?(.*)$")


class KernelTrace:
    """Records some trace points of one CPU between ``start`` and ``stop``."""

    def __init__(self, cpu: int, events: Sequence[str], *, buffer_kb: int = 16384) -> None:
        self._cpu = cpu
        self._events = events
        self._buffer_kb = buffer_kb
        self._exit = contextlib.ExitStack()

    def __enter__(self) -> KernelTrace:
        with contextlib.ExitStack() as undo:
            tracefs = undo.enter_context(_private_tracefs())
            _sweep(tracefs)
            self._instance = tracefs / "instances" / f"{_PREFIX}{os.getpid()}"
            self._instance.mkdir()
            undo.callback(self._remove)
            self._write("tracing_on", "0")
            self._write("trace_clock", "x86-tsc")
            self._write("buffer_size_kb", str(self._buffer_kb))
            self._write("tracing_cpumask", f"{1 << self._cpu:x}")
            for event in self._events:
                self._write(f"events/{event}/enable", "1")
            self._exit = undo.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._exit.close()

    def start(self) -> None:
        self._write("tracing_on", "1")

    def stop(self) -> list[tuple[int, str, str]]:
        """Everything recorded: (counter value, event, its fields as text), oldest first."""
        self._write("tracing_on", "0")
        folder = self._instance / "per_cpu" / f"cpu{self._cpu}"
        stats = dict(line.split(": ", 1) for line in (folder / "stats").read_text().splitlines())
        assert int(stats["overrun"]) == 0, "the trace's buffer was too small: the truth is not whole"
        found = (_LINE.search(line) for line in (folder / "trace").read_text().splitlines())
        return [(int(match[1]), match[2], match[3]) for match in found if match]

    def _write(self, name: str, text: str) -> None:
        (self._instance / name).write_text(text)

    def _remove(self) -> None:
        self._write("tracing_on", "0")
        self._write("events/enable", "0")
        self._instance.rmdir()


def tick_expiries(records: Sequence[tuple[int, str, str]]) -> NDArray[np.int64]:
    """The counter value of every expiry of the tick's timer among ``records``."""
    return np.array(
        [
            cycles
            for cycles, event, fields in records
            if event == "hrtimer_expire_entry"
            and any(f"function={name} " in fields for name in TICK_FUNCTIONS)
        ],
        np.int64,
    )


def require_kernel_trace() -> None:
    """Skips, with the reason, where the kernel's trace cannot be had."""
    if os.geteuid() != 0:
        pytest.skip("the kernel's trace can only be read by root")
    if "tracefs" not in Path("/proc/filesystems").read_text():
        pytest.skip("this kernel has no tracefs")
    try:
        with _private_tracefs() as tracefs:
            if "x86-tsc" not in (tracefs / "trace_clock").read_text():
                pytest.skip("this kernel's trace has no x86-tsc clock")
            if not (tracefs / "events/timer/hrtimer_expire_entry").is_dir():
                pytest.skip("this kernel has no trace point for expiring timers")
    except PermissionError as error:
        pytest.skip(f"tracefs cannot be mounted here: {error}")


@contextlib.contextmanager
def _private_tracefs() -> Iterator[Path]:
    """A tracefs mount that only a holder process sees; reached through its /proc/PID/root."""
    with tempfile.TemporaryDirectory(prefix="tickmon-tracefs-") as folder:
        script = f"mount -t tracefs nodev {folder} && echo mounted && exec cat"
        holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with holder:
            assert holder.stdin is not None
            assert holder.stdout is not None
            assert holder.stderr is not None
            try:
                if holder.stdout.readline() != "mounted\n":
                    raise PermissionError(holder.stderr.read().strip())
                yield Path(f"/proc/{holder.pid}/root{folder}")
            finally:
                # cat ends with its standard input, also when this process is killed.
                holder.stdin.close()


def _sweep(tracefs: Path) -> None:
    """Removes the instances of tests that were killed."""
    for stale in (tracefs / "instances").glob(f"{_PREFIX}*"):
        if not Path(f"/proc/{stale.name.removeprefix(_PREFIX)}").exists():
            (stale / "events/enable").write_text("0")
            stale.rmdir()
