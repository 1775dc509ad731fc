"""Findings: work that the kernel does on every CPU unless told otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.doctor.facts import Facts
from tickmon.doctor.findings import Finding, Level
from tickmon.doctor.isolation import apart, elsewhere
from tickmon.units import duration_text

_KERNEL = "Documentation/admin-guide/sysctl/kernel.rst"
_WATCHDOGS = "Documentation/admin-guide/lockup-watchdogs.rst"


def housework(facts: Facts) -> Iterator[Finding]:
    """All of them."""
    yield from _timers(facts)
    yield _watchdogs(facts)
    yield from _scanning(facts)
    yield _statistics(facts)


def _timers(facts: Facts) -> Iterator[Finding]:
    value = facts.tunables.timer_migration
    if value is None:
        return
    yield Finding(
        code="timer_migration",
        level="ok" if value else apart(facts),
        what="timers move away from idle CPUs" if value else "timers stay on the CPU that set them",
        where=("/proc/sys/kernel/timer_migration",),
        why="A timer of somebody else that fires on this CPU is an interruption, and looks like no tick.",
        change=None if value else "sysctl kernel.timer_migration=1",
        doc=_KERNEL,
    )


def _watchdogs(facts: Facts) -> Finding:
    set_ = facts.tunables
    where = tuple(
        f"/proc/sys/kernel/{name}" for name in ("soft_watchdog", "nmi_watchdog", "watchdog_cpumask")
    )
    why = "The soft watchdog wakes a thread of the highest priority on every CPU it watches; the hard "
    why += "one takes "
    why += "an NMI now and then, and a perf counter for good."
    if set_.soft_watchdog is None and set_.nmi_watchdog is None:
        what = "no watchdog shows: the kernel has none, or it cannot be read"
        return Finding(code="watchdog", level="ok", what=what, where=where, why=why, doc=_WATCHDOGS)
    on = [word for word, value in (("soft", set_.soft_watchdog), ("NMI", set_.nmi_watchdog)) if value]
    here = bool(on) and set_.watchdog_here is not False
    what = "the lockup watchdogs are off"
    if on:
        what = f"the {' and '.join(on)} watchdog {'watch' if len(on) > 1 else 'watches'} "
        what = what.replace("watchdog watch ", "watchdogs watch ")
        what += f"CPU {facts.cpu}" if here else "other CPUs only"
    if here and "soft" in on and set_.watchdog_s:
        what += f", every {duration_text(set_.watchdog_s * 2 / 5 * 1e9)}"
    return Finding(
        code="watchdog",
        level=apart(facts) if here else "ok",
        what=what,
        where=where,
        why=why,
        change=f"sysctl kernel.watchdog_cpumask={elsewhere(facts)}   (or boot with nowatchdog)"
        if here
        else None,
        doc=_WATCHDOGS,
    )


def _scanning(facts: Facts) -> Iterator[Finding]:
    set_ = facts.tunables
    if set_.numa_balancing is not None:
        on = bool(set_.numa_balancing)
        yield Finding(
            code="numa_balancing",
            level=apart(facts) if on else "ok",
            what=f"NUMA balancing is {'on' if on else 'off'}",
            where=("/proc/sys/kernel/numa_balancing",),
            why="It unmaps a task's pages to see who uses them: page faults and TLB shootdowns, also here.",
            change="sysctl kernel.numa_balancing=0" if on else None,
            doc=_KERNEL,
        )
    if set_.ksm_run == 1:
        yield Finding(
            code="ksm",
            level=apart(facts),
            what="the kernel merges equal pages (ksmd runs)",
            where=("/sys/kernel/mm/ksm/run",),
            why="Each merge changes page tables: TLB shootdowns on CPUs that use them.",
            change="echo 0 > /sys/kernel/mm/ksm/run",
            doc="Documentation/admin-guide/mm/ksm.rst",
        )


def _statistics(facts: Facts) -> Finding:
    seconds = facts.tunables.stat_interval_s
    level: Level = "unknown" if seconds is None else "ok" if seconds >= 10 else apart(facts)
    return Finding(
        code="stat_interval",
        level=level,
        what="how often memory statistics are folded cannot be read"
        if seconds is None
        else f"each CPU folds its memory statistics every {seconds} s",
        where=("/proc/sys/vm/stat_interval",),
        why="A kworker (vmstat_update) preempts the sampler for it, where there is something to fold: 7 "
        "µs and "
        "more, in a guest up to 50 µs.",
        change="sysctl vm.stat_interval=120" if level in ("note", "warning") else None,
        doc="Documentation/admin-guide/sysctl/vm.rst",
    )
