"""Findings: how much CPU time the scheduler grants the sampler."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from tickmon.doctor.facts import Facts
from tickmon.doctor.findings import Finding
from tickmon.machine.quota import Quota
from tickmon.text import harmless
from tickmon.units import duration_text, share_text

_BANDWIDTH = "Documentation/scheduler/sched-bwc.rst"
_REAL_TIME = "Documentation/scheduler/sched-rt-group.rst"


def limits(facts: Facts) -> Iterator[Finding]:
    """All of them."""
    yield _ordinary(facts)
    yield _real_time(facts)
    yield from _group(facts)


def _ordinary(facts: Facts) -> Finding:
    grants = facts.grants
    why = "A cgroup that has used up its share is stopped until the next period: holes of many milliseconds."
    if grants.version is None:
        return Finding(
            code="cfs_quota",
            level="unknown",
            what="whether a cgroup limits the CPU time of this process cannot be read",
            where=("/proc/self/cgroup", "/proc/self/mountinfo"),
            why=why,
            doc=_BANDWIDTH,
        )
    files = ("cpu.max",) if grants.version == 2 else ("cpu.cfs_quota_us", "cpu.cfs_period_us")
    if not grants.quotas:
        what = f"no cgroup limits the CPU time of this process (v{grants.version})"
        return Finding(code="cfs_quota", level="ok", what=what, where=files, why=why, doc=_BANDWIDTH)
    tight = min(grants.quotas, key=lambda quota: quota.quota_us / max(quota.period_us, 1))
    enough = tight.quota_us >= 2 * tight.period_us
    no_limit = "max" if grants.version == 2 else "-1"
    return Finding(
        code="cfs_quota",
        level="note" if enough else "bad",
        what=f"this process's cgroup may run {_quota_text(tight)}, with everything else that is in it",
        where=tuple(_shown(quota.path) for quota in grants.quotas),
        why=why + (" The sampler alone uses one CPU whole." if not enough else ""),
        change=f"as root: echo {no_limit} > {quote(_shown(tight.path))}"
        "   (or start tickmon outside that cgroup)",
        doc=_BANDWIDTH,
    )


def _shown(path: str) -> str:
    """A path in which somebody named a cgroup."""
    return harmless(path, 500)


def _quota_text(quota: Quota) -> str:
    return f"{duration_text(quota.quota_us * 1e3)} in every {duration_text(quota.period_us * 1e3)}"


def _real_time(facts: Facts) -> Finding:
    runtime_us, period_us = facts.tunables.rt_runtime_us, facts.tunables.rt_period_us
    where = ("/proc/sys/kernel/sched_rt_runtime_us", "/proc/sys/kernel/sched_rt_period_us")
    if runtime_us is None or period_us is None or period_us <= 0:
        return Finding(
            code="rt_throttling",
            level="unknown",
            what="the kernel's limit on real-time tasks cannot be read",
            where=where,
            why="tickmon refuses --priority without that limit: a sampler that never sleeps could hang "
            "the machine.",
            doc=_REAL_TIME,
        )
    if runtime_us < 0 or runtime_us >= period_us:
        return Finding(
            code="rt_throttling",
            level="note",
            what=f"the kernel does not limit real-time tasks (sched_rt_runtime_us is {runtime_us})",
            where=where,
            why="tickmon refuses --priority then: a sampler that never sleeps could hang the machine.",
            change="sysctl kernel.sched_rt_runtime_us=950000, if --priority is wanted",
            doc=_REAL_TIME,
        )
    hole_us = period_us - runtime_us
    return Finding(
        code="rt_throttling",
        level="note",
        what=f"real-time tasks may run {share_text(runtime_us / period_us)} of the time",
        where=where,
        why=f"With --priority the sampler may be stopped for {duration_text(hole_us * 1e3)} in every "
        f"{duration_text(period_us * 1e3)}; without it nothing of this matters, but other real-time "
        f"tasks do.",
        doc=_REAL_TIME,
    )


def _group(facts: Facts) -> Iterator[Finding]:
    if facts.grants.rt_runtime_us != 0:
        return
    path = _shown(facts.grants.rt_path or "")
    yield Finding(
        code="rt_group",
        level="note",
        what="the cgroup of this process grants real-time tasks no time (RT_GROUP_SCHED)",
        where=(path,),
        why="--priority is refused by the kernel in this cgroup, whoever asks.",
        change=f"as root: echo 950000 > {quote(path)}   (or start tickmon in the topmost cgroup)",
        doc=_REAL_TIME,
    )
