"""Findings: what the kernel was told to keep away from the CPU."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.doctor.facts import Facts
from tickmon.doctor.findings import Finding, Level
from tickmon.machine.cmdline import boot_cpus
from tickmon.machine.cpulist import cpu_list_text
from tickmon.machine.kernelconfig import config_value
from tickmon.text import harmless

_PARAMETERS = "Documentation/admin-guide/kernel-parameters.txt"
_CPU = "/sys/devices/system/cpu"


def apart(facts: Facts) -> Level:
    """How grave it is that something of the kernel's may run there: only where it was to be kept away."""
    return "warning" if facts.cpu in facts.cpus.quiet else "note"


def elsewhere(facts: Facts) -> str:
    """The CPUs that are left for everything else, as a list; the boot CPU when there is no other."""
    return cpu_list_text(facts.cpus.online - facts.cpus.quiet - {facts.cpu}) or "0"


def isolation(facts: Facts) -> Iterator[Finding]:
    """All of them."""
    yield _scheduler(facts)
    yield _tick(facts)
    yield _callbacks(facts)
    yield _workqueues(facts)
    yield from _cpuset(facts)


def _scheduler(facts: Facts) -> Finding:
    cpu = facts.cpu
    isolated = cpu in facts.cpus.isolated
    return Finding(
        code="isolation",
        level="ok" if isolated else "warning",
        what=f"CPU {cpu} is isolated: the scheduler moves no task there by itself"
        if isolated
        else f"CPU {cpu} is not isolated: the scheduler may move any task there",
        where=(f"{_CPU}/isolated", "/proc/cmdline", "the cpusets"),
        why="A task that wakes there preempts the sampler, and its time is counted as overhead.",
        change=None
        if isolated
        else f"boot with isolcpus=domain,managed_irq,{cpu}; without a boot, on cgroup v2: a cpuset with "
        f"cpuset.cpus={cpu} and cpuset.cpus.partition=isolated",
        doc=_PARAMETERS if isolated else "Documentation/admin-guide/cgroup-v2.rst",
    )


def _tick(facts: Facts) -> Finding:
    cpu = facts.cpu
    may_stop = cpu in facts.cpus.nohz_full
    built = facts.config is None or config_value(facts.config, "NO_HZ_FULL") == "y"
    change = f"boot with nohz_full={cpu}, if the tick shall stop there"
    if not built:
        change = f"a kernel built with CONFIG_NO_HZ_FULL=y, booted with nohz_full={cpu}"
    return Finding(
        code="nohz_full",
        level="ok" if may_stop else "note",
        what=f"CPU {cpu} is nohz_full: the tick may stop while one task runs there"
        if may_stop
        else f"the tick of CPU {cpu} does not stop"
        + ("" if built else " (this kernel is built without CONFIG_NO_HZ_FULL)"),
        where=(f"{_CPU}/nohz_full", "/proc/cmdline"),
        why="A second runnable task, a POSIX timer of the process or idle=poll brings the tick back; "
        "about one "
        "a second remains on older kernels."
        if may_stop
        else "The tick is what is measured; a program that must not be interrupted wants it stopped.",
        change=None if may_stop else change,
        doc="Documentation/timers/no_hz.rst",
    )


def _callbacks(facts: Facts) -> Finding:
    cpu = facts.cpu
    why = "Callbacks of RCU run in softirqs right after an interrupt, and make some ticks dearer than others."
    doc = _PARAMETERS
    if cpu in facts.cpus.nohz_full:
        what = f"RCU's callbacks of CPU {cpu} run elsewhere: nohz_full implies it"
        where = (f"{_CPU}/nohz_full",)
        return Finding(code="rcu_nocbs", level="ok", what=what, where=where, why=why, doc=doc)
    if facts.boot is None:
        what = "whether RCU's callbacks run elsewhere cannot be read"
        where = ("/proc/cmdline",)
        return Finding(code="rcu_nocbs", level="unknown", what=what, where=where, why=why, doc=doc)
    offloaded = cpu in boot_cpus(facts.boot, "rcu_nocbs")
    return Finding(
        code="rcu_nocbs",
        level="ok" if offloaded else apart(facts),
        what=f"RCU's callbacks of CPU {cpu} run {'elsewhere' if offloaded else 'on it'}",
        where=("/proc/cmdline",),
        why=why,
        change=None if offloaded else f"boot with rcu_nocbs={cpu}",
        doc=doc,
    )


def _workqueues(facts: Facts) -> Finding:
    here = facts.tunables.workqueues_here
    path = "/sys/devices/virtual/workqueue/cpumask"
    words = {True: "may run", False: "does not run", None: "cannot be read to run or not"}[here]
    return Finding(
        code="workqueues",
        level="unknown" if here is None else apart(facts) if here else "ok",
        what=f"kernel work that is bound to no CPU {words} on CPU {facts.cpu}",
        where=(path,),
        why="A kworker that is woken there preempts the sampler for some 5 to 50 µs.",
        change=f"as root: write the mask of CPUs {elsewhere(facts)} to {path}" if here else None,
        doc="Documentation/core-api/workqueue.rst",
    )


def _cpuset(facts: Facts) -> Iterator[Finding]:
    cpus = facts.cpus
    if cpus.usable == cpus.online:
        return
    yield Finding(
        code="cpuset",
        level="note",
        what=f"the cpuset of this process holds CPUs {cpu_list_text(cpus.usable)} of "
        f"{harmless(cpu_list_text(cpus.online))}",
        where=("/proc/self/cgroup", "cpuset.cpus.effective"),
        why="Other CPUs cannot be measured from here, and what runs in other containers may be hidden.",
        change="start tickmon outside the container, or give it a cpuset with the CPUs that matter",
        doc="Documentation/admin-guide/cgroup-v2.rst",
    )
