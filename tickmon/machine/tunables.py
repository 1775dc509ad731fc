"""Settings of the kernel that decide how much of its own work runs on a CPU."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.cpulist import read_cpu_list
from tickmon.machine.files import read_word
from tickmon.machine.routing import mask_holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Tunables:
    """Their values; None where the kernel has no such setting or it cannot be read."""

    timer_migration: int | None
    soft_watchdog: int | None
    nmi_watchdog: int | None
    watchdog_here: bool | None
    """The watchdogs look at this CPU."""
    watchdog_s: int | None
    """``watchdog_thresh``: the timer comes every fifth of twice this."""
    numa_balancing: int | None
    stat_interval_s: int | None
    workqueues_here: bool | None
    """Work that is bound to no CPU may run on this one."""
    ksm_run: int | None
    rt_runtime_us: int | None
    rt_period_us: int | None
    paranoid: int | None
    """``perf_event_paranoid``."""
    kptr_restrict: int | None


def read_tunables(cpu: int, root: Path = Path("/")) -> Tunables:
    """The settings as they are, those with a list of CPUs as seen from ``cpu``."""
    kernel = root / "proc/sys/kernel"
    watched = read_cpu_list(kernel / "watchdog_cpumask")
    mask = read_word(root / "sys/devices/virtual/workqueue/cpumask")
    return Tunables(
        timer_migration=_number(kernel / "timer_migration"),
        soft_watchdog=_number(kernel / "soft_watchdog"),
        nmi_watchdog=_number(kernel / "nmi_watchdog"),
        watchdog_here=None if watched is None else cpu in watched,
        watchdog_s=_number(kernel / "watchdog_thresh"),
        numa_balancing=_number(kernel / "numa_balancing"),
        stat_interval_s=_number(root / "proc/sys/vm/stat_interval"),
        workqueues_here=None if mask is None else mask_holds(mask, cpu),
        ksm_run=_number(root / "sys/kernel/mm/ksm/run"),
        rt_runtime_us=_number(kernel / "sched_rt_runtime_us"),
        rt_period_us=_number(kernel / "sched_rt_period_us"),
        paranoid=_number(kernel / "perf_event_paranoid"),
        kptr_restrict=_number(kernel / "kptr_restrict"),
    )


def _number(path: Path) -> int | None:
    try:
        return int(read_word(path) or "")
    except ValueError:
        return None
