"""Everything that is read once, before anything is sampled."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tickmon.machine.clock import ClockSource, read_clock_source
from tickmon.machine.cpuinfo import read_cpuinfo
from tickmon.machine.cpus import Cpus, read_cpus
from tickmon.machine.host import Host, read_host


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the machine says of itself, as far as it stays true while tickmon runs."""

    cpus: Cpus
    host: Host
    clock: ClockSource


def with_clock_of_now(machine: Machine) -> Machine:
    """``machine`` with the clocksource that the kernel has come to; like ``read_machine`` to be called while
    no sampler runs."""
    return replace(machine, clock=read_clock_source(read_cpuinfo()))


def read_machine(root: Path = Path("/")) -> Machine:
    """To be called before the first sampler runs: /proc/cpuinfo interrupts other CPUs on older kernels."""
    cpuinfo = read_cpuinfo(root)
    return Machine(
        cpus=read_cpus(root), host=read_host(cpuinfo, root), clock=read_clock_source(cpuinfo, root)
    )
