"""Everything that the doctor's findings rest on, read once, and nothing that asks the CPU in question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse, look
from tickmon.machine.clock import ClockSource, Discipline, read_clock_source, read_discipline
from tickmon.machine.cmdline import read_cmdline
from tickmon.machine.cpuinfo import read_modalias, runs_x86
from tickmon.machine.cpulist import read_cpu_list
from tickmon.machine.cpus import Cpus, read_cpus, read_online
from tickmon.machine.cputime import CpuTime, read_cpu_time
from tickmon.machine.host import Host, read_host
from tickmon.machine.interrupts import changes, read_rows
from tickmon.machine.kernel import coarse_ns, is_skewed, kernel_tick
from tickmon.machine.kernelconfig import read_config
from tickmon.machine.kernellog import read_clock_log
from tickmon.machine.mounts import read_mounts
from tickmon.machine.power import Power, read_power
from tickmon.machine.quota import Grants, read_grants
from tickmon.machine.rights import Rights, read_rights
from tickmon.machine.routing import Routing, read_routing
from tickmon.machine.threads import own_pid, parent_of
from tickmon.machine.tunables import Tunables, read_tunables
from tickmon.windows import KernelTick, ReadingWarning, RowChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What was seen of one CPU and of what surrounds it."""

    cpu: int
    cpus: Cpus
    core_known: bool
    """Whether it shares its core can be read."""
    x86: bool | None
    """None when it cannot be told."""
    host: Host
    clock: ClockSource
    clock_log: tuple[str, ...] | None
    discipline: Discipline | None
    tick: KernelTick | None
    tick_warnings: tuple[ReadingWarning, ...]
    skewed: bool
    config: str | None
    boot: tuple[str, ...] | None
    uses: Mapping[int, CpuUse]
    """Of this CPU and its siblings, without what tickmon itself runs there."""
    sampled: bool
    """tickmon samples this CPU now, so it is not idle."""
    rows: tuple[RowChange, ...]
    """The interrupts that came to it while it was looked at."""
    rows_known: bool
    time_before: CpuTime | None
    """Its time before it was looked at, and after."""
    time_after: CpuTime | None
    routing: Routing
    power: Power
    tunables: Tunables
    grants: Grants
    rights: Rights


def gather(
    cpu: int,
    *,
    root: Path = Path("/"),
    look_at: Callable[[Collection[int]], Mapping[int, CpuUse]] | None = None,
    period_ns: Callable[[], int | None] = coarse_ns,
    discipline: Callable[[], Discipline | None] = read_discipline,
) -> Facts:
    """Looks at ``cpu`` for a fifth of a second. TickmonError when it went offline meanwhile.

    To be called from a thread that runs elsewhere. No file is opened that makes the kernel interrupt that
    CPU: no /proc/cpuinfo, no ``scaling_cur_freq`` and its like (see tickmon.machine.power), no MSR, no event
    of perf. ``look_at``, ``period_ns`` and ``discipline`` ask the kernel what no file says.
    """
    cpus = read_cpus(root)
    info = read_modalias(root)
    tick, tick_warnings = kernel_tick(cpu, cpus, period_ns=period_ns(), root=root)
    rows_before, time_before = read_rows(cpu, root), read_cpu_time(cpu, root)
    seen = (look_at or partial(look, root=root))({cpu} | cpus.siblings.get(cpu, frozenset()))
    rows_after, time_after = read_rows(cpu, root), read_cpu_time(cpu, root)
    uses, sampled = _without_own(seen, root, cpu)
    core = read_cpu_list(root / f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    facts = Facts(
        cpu=cpu,
        cpus=cpus,
        core_known=core is not None,
        x86=runs_x86(root),
        host=read_host(info, root),
        clock=read_clock_source(info, root),
        clock_log=read_clock_log(root),
        discipline=discipline(),
        tick=tick,
        tick_warnings=tick_warnings,
        skewed=is_skewed(root),
        config=read_config(root),
        boot=read_cmdline(root),
        uses=uses,
        sampled=sampled,
        rows=changes(rows_before, rows_after),
        rows_known=bool(rows_before and rows_after),
        time_before=time_before,
        time_after=time_after,
        routing=read_routing(cpu, rows_after, root),
        power=read_power(cpu, root),
        tunables=read_tunables(cpu, root),
        grants=read_grants(root),
        rights=read_rights(root),
    )
    # Where /sys does not say who is online, all that is left tells where this thread may run: elsewhere.
    online = read_online(root, read_mounts(root))
    if online and cpu not in online:
        raise TickmonError(f"CPU {cpu} went offline while it was being examined")
    return facts


def _without_own(seen: Mapping[int, CpuUse], root: Path, cpu: int) -> tuple[dict[int, CpuUse], bool]:
    """``seen`` without the samplers of this very process, and whether ``cpu`` has one."""
    me = own_pid(root)
    uses = {}
    sampled = False
    for each, use in seen.items():
        others = tuple(o for o in use.occupants if parent_of(o.pid, root) != me)
        if len(others) < len(use.occupants):
            sampled |= each == cpu
            use = CpuUse(cpu=each, idle_share=None, occupants=others)
        uses[each] = use
    return uses, sampled
