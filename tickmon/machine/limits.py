"""What the kernel grants to real-time tasks."""

from __future__ import annotations

import math
from pathlib import Path

from tickmon.machine.files import read_word


def priority_refusal(root: Path = Path("/")) -> str | None:
    """Why no real-time priority must be used here, in one line; None when it may.

    A sampler that never sleeps hangs its CPU for everything else, unless the kernel takes the CPU from
    real-time tasks now and then (Documentation/scheduler/sched-rt-group.rst). Whether this user may have a
    priority at all is for the kernel to say.
    """
    runtime_us, period_us = _real_time_us(root)
    if runtime_us is None:
        limit = "whether the kernel limits real-time tasks cannot be read (sched_rt_runtime_us)"
    elif runtime_us < 0 or (period_us is not None and runtime_us >= period_us):
        limit = f"the kernel does not limit real-time tasks (sched_rt_runtime_us is {runtime_us})"
    else:
        return None
    return f"--priority is refused: {limit}, so the sampler could hang the machine"


def throttle_ns(root: Path = Path("/")) -> float:
    """How long at a time the kernel keeps a real-time task off its CPU when that never sleeps, so that others
    come to run: the rest of the period, for the old throttling and for the fair server of Linux 6.12 on
    (kernel/sched/deadline.c) alike. inf when it does not."""
    runtime_us, period_us = _real_time_us(root)
    if runtime_us is None or period_us is None or not 0 <= runtime_us < period_us:
        return math.inf
    return (period_us - runtime_us) * 1e3


def _real_time_us(root: Path) -> tuple[int | None, int | None]:
    """Of each period (the second) real-time tasks may run so long (the first)."""
    folder = root / "proc/sys/kernel"
    return _number_in(folder / "sched_rt_runtime_us"), _number_in(folder / "sched_rt_period_us")


def _number_in(path: Path) -> int | None:
    try:
        return int(read_word(path) or "")
    except ValueError:
        return None
