"""What the benchmarks share: running programs in a terminal, and figures over paired turns."""

from __future__ import annotations

import os
import queue
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.pseudo_terminal import PseudoTerminal
from tickmon.machine.facts import Machine
from tickmon.sampling.collector import Collector
from tickmon.windows import Ended, Event, Settings, Window


def tickmon_command() -> str:
    """The installed script that belongs to this interpreter."""
    beside = Path(sys.executable).with_name("tickmon")
    found = str(beside) if beside.exists() else shutil.which("tickmon")
    if found is None:
        raise SystemExit("tickmon is not installed for this interpreter")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a program in a terminal did during a stretch of time."""

    seconds: float
    bytes_sent: int
    cpu_s: float

    @property
    def bytes_per_s(self) -> float:
        """What went over the line."""
        return self.bytes_sent / self.seconds

    @property
    def cpu_share(self) -> float:
        """Of one core."""
        return self.cpu_s / self.seconds


def watch_program(
    argv: Sequence[str], *, columns: int, rows: int, settle_s: float, seconds: float, keys: str = ""
) -> Turn:
    """Runs ``argv`` in a terminal, lets it settle, types ``keys``, and measures it for ``seconds``."""
    env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": ""}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    with PseudoTerminal(argv, columns=columns, rows=rows, env=env) as terminal:
        terminal.read(settle_s)
        if keys:
            terminal.send(keys)
            terminal.read(1.0)
        before = (len(terminal.output), cpu_time_s(terminal.process.pid), time.monotonic())
        terminal.read(seconds)
        after = (len(terminal.output), cpu_time_s(terminal.process.pid), time.monotonic())
    return Turn(bytes_sent=after[0] - before[0], cpu_s=after[1] - before[1], seconds=after[2] - before[2])


def collect(settings: Settings, machine: Machine, *, seconds: float) -> list[Window]:
    """The windows of so long a measurement; exits with a line when there are none."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    source = Collector(settings, machine, duration_s=seconds, looks=False)
    source.start(events.put)
    windows = []
    while not isinstance(event := events.get(), Ended):
        windows += [event] if isinstance(event, Window) else []
    source.stop()
    if event.error is not None or not windows:
        raise SystemExit(event.error or "nothing was measured")
    return windows


def cpu_time_s(pid: int) -> float:
    """Time that a process (without its children) has run."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def median_interval(values: Sequence[float], *, seed: int = 1) -> tuple[float, float, float]:
    """The median and the bounds of its 90 % interval by bootstrap: each bound is a one-sided 95 % one."""
    sample: NDArray[np.float64] = np.asarray(values, np.float64)
    rng = np.random.default_rng(seed)
    medians = np.median(rng.choice(sample, (10_000, len(sample))), axis=1)
    low, high = np.quantile(medians, [0.05, 0.95])
    return float(np.median(sample)), float(low), float(high)
