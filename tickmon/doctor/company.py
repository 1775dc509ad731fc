"""Findings: who else is on the CPU: tasks, interrupts, the core's other threads, a hypervisor, firmware."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.doctor.facts import Facts
from tickmon.doctor.findings import Finding, Level
from tickmon.doctor.isolation import apart, elsewhere
from tickmon.machine.busy import IDLE_SHARE, SAMPLER_NAME, CpuUse
from tickmon.machine.cpus import cpus_text
from tickmon.machine.routing import Route
from tickmon.units import count_text, share_text

_ISOLATION = "Documentation/admin-guide/cpu-isolation.rst"
_AFFINITY = "Documentation/core-api/irq/irq-affinity.rst"
_STOLEN = 0.01
"""A hundredth of the CPU's time is more than all that a quiet kernel takes."""


def company(facts: Facts) -> Iterator[Finding]:
    """All of them."""
    yield _tasks(facts)
    yield _core(facts)
    yield from _interrupts(facts)
    yield _hypervisor(facts)
    if facts.x86 is not False:
        yield _firmware(facts)


def _tasks(facts: Facts) -> Finding:
    use = facts.uses[facts.cpu]
    level, change = _busy_level(facts, use), None
    what = f"CPU {facts.cpu} {use.text}"
    if use.occupants:
        what += ", seen within a fifth of a second"
        own = [occupant for occupant in use.occupants if not occupant.kernel]
        movable = [occupant for occupant in own if occupant.name != SAMPLER_NAME]
        if own and not movable:
            change = "end the other tickmon, which measures there   (or measure another CPU)"
        if movable:
            change = f"taskset -acp {elsewhere(facts)} {movable[0].pid}   (or measure another CPU)"
    elif level == "ok":
        what = f"CPU {facts.cpu} is idle" if not facts.sampled else "tickmon's sampler runs there alone"
    elif level == "warning":
        what += ", by whom does not show"
        change = "as root, outside of containers: tickmon doctor names who runs there"
    return Finding(
        code="tasks",
        level=level,
        what=what,
        where=("/proc/stat", "/proc/*/task/*/stat"),
        why="Who shares a CPU with the sampler takes turns with it, for milliseconds each.",
        change=change,
        doc=_ISOLATION,
    )


def _busy_level(facts: Facts, use: CpuUse) -> Level:
    if use.occupants:
        return "warning" if all(occupant.kernel for occupant in use.occupants) else "bad"
    if use.idle_share is None:
        return "ok" if facts.sampled and use.cpu == facts.cpu else "unknown"
    return "ok" if use.idle_share >= IDLE_SHARE else "warning"


def _core(facts: Facts) -> Finding:
    siblings = facts.cpus.siblings.get(facts.cpu, frozenset())
    busy = [facts.uses[cpu] for cpu in sorted(siblings) if cpu in facts.uses and not facts.uses[cpu].idle]
    names = cpus_text(siblings) if siblings else ""
    level: Level
    if not facts.core_known:
        level, what = "unknown", f"whether CPU {facts.cpu} shares its core cannot be read"
    elif not siblings:
        level, what = "ok", f"CPU {facts.cpu} has its core for itself, as far as this kernel sees"
    elif busy:
        level, what = "bad", f"the core is shared: {'; '.join(f'CPU {use.cpu} {use.text}' for use in busy)}"
    else:
        level, what = "note", f"the core is shared with {names}, idle now"
    first = min(siblings, default=0)
    return Finding(
        code="smt",
        level=level,
        what=what,
        where=(f"/sys/devices/system/cpu/cpu{facts.cpu}/topology/thread_siblings_list",),
        why="Two threads of one core take each other's time without any interruption: the typical read gets "
        "slower, and interruptions last longer.",
        change=f"echo 0 > /sys/devices/system/cpu/cpu{first}/online   (or boot with nosmt)"
        if siblings
        else None,
        doc="Documentation/admin-guide/cputopology.rst",
    )


def _interrupts(facts: Facts) -> Iterator[Finding]:
    here = facts.routing.default_here
    if here is not None:
        yield Finding(
            code="irqaffinity",
            level=apart(facts) if here else "ok",
            what=f"interrupts of new devices may {'' if here else 'not '}be sent to CPU {facts.cpu}",
            where=("/proc/irq/default_smp_affinity", "/proc/cmdline"),
            why="A device that is plugged in, or a driver that starts later, would interrupt there.",
            change=f"boot with irqaffinity={elsewhere(facts)}" if here else None,
            doc=_AFFINITY,
        )
    yield _devices(facts)
    rows = ", ".join(
        f"{row.row}{f' ({row.name})' if row.row.isdecimal() and row.name else ''} +{row.count}"
        for row in facts.rows
        if row.count
    )
    yield Finding(
        code="interrupts",
        level="note" if facts.rows_known else "unknown",
        what=f"within a fifth of a second CPU {facts.cpu} counted {rows or 'no interrupt'}"
        if facts.rows_known
        else f"the interrupts of CPU {facts.cpu} cannot be read",
        where=("/proc/interrupts",),
        why="LOC, HVS or arch_timer are timers, the tick among them; RES, CAL and TLB come from other CPUs; "
        "numbers are devices. An idle CPU lets its tick rest, a measured one does not.",
        doc="Documentation/filesystems/proc.rst",
    )


def _devices(facts: Facts) -> Finding:
    routes = facts.routing.routes
    moved = {change.row: change.count for change in facts.rows}
    used = [route for route in routes or () if route.effective and (route.name or route.count)]
    # Those that come now first, then those that came most.
    used.sort(key=lambda route: (-moved.get(str(route.irq), 0), -route.count))
    busy = [route for route in used if moved.get(str(route.irq))]
    level: Level = "unknown"
    if routes is not None:
        level = "warning" if busy else apart(facts) if used else "ok"
    return Finding(
        code="irqs",
        level=level,
        what="where device interrupts are sent cannot be read"
        if routes is None
        else _routes_text(used, facts.cpu),
        where=("/proc/irq/*/effective_affinity_list", "/proc/irq/*/smp_affinity_list", "/proc/interrupts"),
        why="Each one that comes is an interruption, with the softirqs behind it.",
        change=f"echo {elsewhere(facts)} > /proc/irq/{used[0].irq}/smp_affinity_list   (refused "
        "for interrupts that the kernel manages: boot with isolcpus=managed_irq,…)"
        if used
        else None,
        doc=_AFFINITY,
    )


def _routes_text(used: list[Route], cpu: int) -> str:
    if not used:
        return f"no device interrupt is sent to CPU {cpu}"
    shown = ", ".join(
        f"{route.irq} {route.name or 'unused'} ({count_text(route.count)} since boot)" for route in used[:4]
    )
    more = f" and {len(used) - 4} more" if len(used) > 4 else ""
    return f"sent to CPU {cpu}: {shown}{more}"


def _hypervisor(facts: Facts) -> Finding:
    host = facts.host
    before, after = facts.time_before, facts.time_after
    stolen = after.steal / after.total if after is not None and after.total else None
    just_now = after.steal - before.steal if before is not None and after is not None else 0
    level: Level
    if host.guest:
        kind = f"this kernel runs in a virtual machine ({host.virtualization})"
        since = "how much was stolen cannot be read" if stolen is None else ""
        if stolen is not None:
            since = f"{share_text(stolen)} of CPU {facts.cpu}'s time since boot was stolen, says /proc/stat"
            if just_now > 1:
                since += f", {just_now * 10} ms of it just now"
        what = f"{kind}; {since}"
        level = "bad" if just_now > 1 else "note"
        if stolen is None:
            level = "unknown"
        elif level == "note" and stolen > _STOLEN:
            level = "warning"
    elif facts.x86 is None and not host.virtualization:
        level, what = "unknown", "whether this is a virtual machine cannot be told from here"
    else:
        level, what = "ok", "no sign of a virtual machine"
        if host.virtualization:
            what += f", but a {host.virtualization}"
    return Finding(
        code="virtualization",
        level=level,
        what=what,
        where=("/sys/devices/system/cpu/modalias", "/sys/class/dmi/id", "/proc/stat"),
        why="A guest's figures include what its host does: its ticks, exits to it, other guests. Not every "
        "hypervisor reports what it steals, so 0 is no proof."
        if host.guest
        else "In a guest the figures would include the work of its host.",
        change="on the host: give the virtual CPU a physical one of its own (vcpupin), no overcommitment"
        if host.guest
        else None,
        doc="Documentation/filesystems/proc.rst",
    )


def _firmware(facts: Facts) -> Finding:
    guest = facts.host.guest
    return Finding(
        code="smi",
        level="unknown",
        what="how often firmware interrupts (SMI) is unknown"
        + (": a guest cannot know" if guest else ": reading that counter would interrupt the CPU"),
        where=(),
        why="An SMI stops every CPU unseen by the kernel, often for 100 µs and more; it shows only as an "
        "unexplained interruption.",
        change=None
        if guest
        else "while nothing is measured, as root: turbostat --quiet --show CPU,SMI sleep 60",
        doc=_ISOLATION,
    )
