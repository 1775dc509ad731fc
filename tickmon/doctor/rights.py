"""Findings: which rights tickmon lacks here, and what each costs."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.doctor.facts import Facts
from tickmon.doctor.findings import Finding, Level

_PERF = "Documentation/admin-guide/perf-security.rst"
_LOCKED_BYTES = 6 * 2**20
"""The sampler's ring of 4 MiB, its text and its stack."""
_DATED_UP_TO = 2
"""``perf_event_paranoid`` up to which every user may watch his own process without the kernel's part."""


def rights(facts: Facts) -> Iterator[Finding]:
    """All of them."""
    yield _memory(facts)
    yield _priority(facts)
    yield _switches(facts)
    yield _trace(facts)


def _held(facts: Facts, *names: str) -> bool:
    return bool((facts.rights.capabilities or frozenset()) & set(names))


def _memory(facts: Facts) -> Finding:
    limit = facts.rights.memlock_bytes
    level: Level = "ok"
    what = "the sampler's memory may be locked"
    if not _held(facts, "ipc_lock"):
        if limit is None:
            level, what = "unknown", "whether memory may be locked cannot be read"
        elif limit < _LOCKED_BYTES:
            level, what = (
                "warning",
                f"only {limit / 1024:,.0f} KiB of memory may be locked, the sampler has more",
            )
    return Finding(
        code="memlock",
        level=level,
        what=what,
        where=("/proc/self/limits", "/proc/self/status"),
        why="Pages that are not locked may be taken away and come back as page faults: interruptions of "
        "tickmon's own making.",
        change="ulimit -l 8192   (as root, or a line 'USER - memlock 8192' in /etc/security/limits.conf)"
        if level == "warning"
        else None,
        doc="Documentation/admin-guide/cpu-isolation.rst",
    )


def _priority(facts: Facts) -> Finding:
    most = facts.rights.priority_max
    granted = _held(facts, "sys_nice") or bool(most)
    level: Level = "ok" if granted else "unknown" if facts.rights.capabilities is None else "note"
    group = ", but this cgroup grants it no time" if granted and facts.grants.rt_runtime_us == 0 else ""
    words = {
        "ok": f"a real-time priority may be used{group}",
        "note": "no real-time priority may be used",
        "unknown": "whether a real-time priority may be used cannot be read",
    }
    return Finding(
        code="priority",
        level=level,
        what=words[level],
        where=("/proc/self/limits", "/proc/self/status"),
        why="With --priority ordinary tasks do not preempt the sampler, which shows interrupts alone. "
        "Without it "
        "the reading is that of an ordinary program.",
        change="as root, or a line 'USER - rtprio 10' in /etc/security/limits.conf"
        if level == "note"
        else None,
        doc="Documentation/scheduler/sched-rt-group.rst",
    )


def _switches(facts: Facts) -> Finding:
    paranoid = facts.tunables.paranoid
    level: Level = "ok"
    what = "preemptions of the sampler can be dated"
    if paranoid is None:
        level, what = "unknown", "whether preemptions can be dated does not show (no perf_event_paranoid)"
    elif paranoid > _DATED_UP_TO and not _held(facts, "perfmon", "sys_admin"):
        level, what = "warning", f"preemptions cannot be dated: perf_event_paranoid is {paranoid}"
    elif facts.rights.filtered:
        level, what = "unknown", "preemptions can be dated unless this container's seccomp filter refuses it"
    return Finding(
        code="switch_dating",
        level=level,
        what=what,
        where=("/proc/sys/kernel/perf_event_paranoid", "/proc/self/status"),
        why="Without it, time of other tasks cannot be told from the tick's own cost, and a warning says so.",
        change="sysctl kernel.perf_event_paranoid=2" if level == "warning" else None,
        doc=_PERF,
    )


def _trace(facts: Facts) -> Finding:
    lacking = []
    if facts.rights.capabilities is None:
        return Finding(
            code="trace",
            level="unknown",
            what="whether the kernel's trace may be read does not show",
            where=("/proc/self/status",),
            why="With it every interruption gets its cause by name.",
            doc=_PERF,
        )
    if not _held(facts, "perfmon", "sys_admin") and (facts.tunables.paranoid or 0) > -1:
        lacking.append("perf events on a CPU (CAP_PERFMON)")
    # The sampler's side mounts a tracefs of its own, where nobody else sees it.
    if facts.rights.tracefs is None and not _held(facts, "sys_admin"):
        lacking.append("the ids of trace points (tracefs, CAP_SYS_ADMIN)")
    if not facts.rights.addresses:
        lacking.append("names of functions (kallsyms, CAP_SYSLOG)")
    blind = len(lacking) > (not facts.rights.addresses)
    return Finding(
        code="trace",
        level="note" if lacking else "ok",
        what=f"of the kernel's trace may not be read: {', '.join(lacking)}"
        if lacking
        else "the kernel's own trace may be read",
        where=(
            "/proc/self/status",
            "/proc/sys/kernel/perf_event_paranoid",
            "/sys/kernel/tracing",
            "/proc/kallsyms",
        ),
        why="With the trace every interruption has its cause by name. Without it ticks and trains are "
        "told by "
        "their moments, preemptions by their dates, and the rest stays unexplained."
        if blind or not lacking
        else "Ticks are then told by their moments instead of by the timer's function; everything else "
        "is named.",
        change="run tickmon as root, where causes by name are wanted" if lacking else None,
        doc=_PERF,
    )
