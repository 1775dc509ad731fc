"""What the kernel counts of one CPU and of the task on it, for every user: how much, never when."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.cgroups import under
from tickmon.machine.files import read_text
from tickmon.machine.quota import CpuGroups
from tickmon.text import harmless
from tickmon.windows import Counters, SoftirqCount


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The counters at one moment; what cannot be read is None."""

    run_delay_ns: int | None
    steal_ns: int | None
    throttled_ns: int | None
    throttled_count: int | None
    softirqs: dict[str, int] | None


def read_counters(
    cpu: int,
    pid: int,
    groups: CpuGroups | None,
    root: Path = Path("/"),
    *,
    table: Callable[[str], str] | None = None,
) -> Counted:
    """Of CPU ``cpu``, and of the process ``pid`` on it in these control ``groups``. Interrupts nobody.

    ``table`` gives the text of a file in /proc that holds all CPUs; None: it is read here.
    """
    if table is None:

        def table(name: str) -> str:
            return read_text(root / "proc" / name) or ""

    throttled_ns, throttled_count = _read_throttled(groups, root)
    return Counted(
        run_delay_ns=_read_run_delay(pid, root),
        steal_ns=_read_steal(cpu, table("stat")),
        throttled_ns=throttled_ns,
        throttled_count=throttled_count,
        softirqs=_read_softirqs(cpu, table("softirqs")),
    )


def counters_between(before: Counted, after: Counted) -> Counters:
    """What was counted meanwhile."""
    softirqs: tuple[SoftirqCount, ...] | None = None
    if before.softirqs is not None and after.softirqs is not None:
        changes = ((name, n - before.softirqs.get(name, 0)) for name, n in after.softirqs.items())
        softirqs = tuple(SoftirqCount(name=name, count=n) for name, n in changes if n > 0)
    return Counters(
        run_delay_ns=_change(before.run_delay_ns, after.run_delay_ns),
        steal_ns=_change(before.steal_ns, after.steal_ns),
        throttled_ns=_change(before.throttled_ns, after.throttled_ns),
        throttled_count=_change(before.throttled_count, after.throttled_count),
        softirqs=softirqs,
    )


def _change(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else max(0, after - before)


def _read_run_delay(pid: int, root: Path) -> int | None:
    """The second figure: ns spent waiting for the CPU (Documentation/scheduler/sched-stats.rst)."""
    return _whole((read_text(root / f"proc/{pid}/schedstat") or "").split(), 1)


def _read_steal(cpu: int, stat: str) -> int | None:
    """The eighth figure of the CPU's line, in ticks of USER_HZ (proc_stat(5))."""
    for line in stat.splitlines():
        if line.startswith(f"cpu{cpu} "):
            ticks = _whole(line.split(), 8)
            return None if ticks is None else ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return None


def _read_softirqs(cpu: int, text: str) -> dict[str, int] | None:
    """The CPU's column of ``/proc/softirqs``, whose first line names the columns."""
    header, *rows = text.splitlines() or [""]
    if f"CPU{cpu}" not in header.split():
        return None
    column = header.split().index(f"CPU{cpu}")
    counts: dict[str, int] = {}
    for row in rows:
        name, _, figures = row.partition(":")
        count = _whole(figures.split(), column)
        if count is not None:
            counts[harmless(name.strip())] = count
    return counts


def _read_throttled(groups: CpuGroups | None, root: Path) -> tuple[int | None, int | None]:
    """For how long and how often the CPU limits of these control groups stopped their tasks, as ``cpu.stat``
    says: version 2 in microseconds, version 1 in ns (Documentation/scheduler/sched-bwc.rst). A limit counts
    in the group that has it, and holds for those below."""
    known: list[tuple[int | None, int]] = []
    for folder in groups.folders if groups else ():
        rows = (row.split() for row in (read_text(under(root, folder) / "cpu.stat") or "").splitlines())
        figures = {row[0]: row[1:] for row in rows if row}
        count = _whole(figures.get("nr_throttled", []), 0)
        if count is not None:
            microseconds = _whole(figures.get("throttled_usec", []), 0)
            ns = _whole(figures.get("throttled_time", []), 0)
            known.append((microseconds * 1000 if microseconds is not None else ns, count))
    lengths_ns = [ns for ns, _ in known if ns is not None]
    if not known:
        return None, None
    return sum(lengths_ns) if len(lengths_ns) == len(known) else None, sum(count for _, count in known)


def _whole(figures: list[str], at: int) -> int | None:
    return int(figures[at]) if at < len(figures) and figures[at].isascii() and figures[at].isdigit() else None
