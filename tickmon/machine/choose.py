"""Which CPU is measured when nobody named one, and whether one that was named can be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from tickmon.errors import TickmonError, UsageError
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpulist import cpu_list_text
from tickmon.machine.cpus import Cpus, cpus_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A CPU that nobody named."""

    cpu: int
    reason: str
    """In words: ``isolated and idle`` or ``the highest idle CPU``."""


def default_cpu(cpus: Cpus, look: Callable[[Collection[int]], Mapping[int, CpuUse]]) -> Choice:
    """An idle CPU: an isolated or nohz_full one first, else the highest; of several such the highest.

    ``look`` is asked once about every CPU in question: see ``tickmon.machine.busy.look``. The CPU that this
    process runs on may be chosen, since its threads can move to another usable one. TickmonError when there
    is no other, or none is idle: tickmon takes no CPU from somebody's work unasked.
    """
    if len(cpus.usable) == 1:
        (only,) = cpus.usable
        raise TickmonError(only_cpu_text(only))
    uses = look(sorted(_candidates(cpus)))
    idle = [cpu for cpu, use in uses.items() if use.idle]
    if not idle:
        busy = [f"CPU {cpu} {uses[cpu].text}" for cpu in sorted(uses)]
        more = [f"{len(busy) - 4} more are busy too"] if len(busy) > 4 else []
        raise TickmonError(
            f"no CPU is idle ({'; '.join(busy[:4] + more)}): name the one to measure with --cpu"
        )
    cpu = max(idle, key=lambda cpu: (cpu in cpus.quiet, cpu))
    if cpu not in cpus.quiet:
        return Choice(cpu=cpu, reason="the highest idle CPU")
    words = [word for word, of in (("isolated", cpus.isolated), ("nohz_full", cpus.nohz_full)) if cpu in of]
    return Choice(cpu=cpu, reason=f"{', '.join(words)} and idle")


def only_cpu_text(only: int) -> str:
    """What there is to do where one CPU is all there is."""
    return (
        f"only CPU {only} can be used here, and tickmon itself needs one: "
        f"tickmon watch --cpu {only} measures it all the same"
    )


def check_cpus(cpus: Cpus, asked: Collection[int], *, keep_one_free: bool = False) -> None:
    """UsageError, naming the first CPU of ``asked`` that cannot be measured here and why.

    ``keep_one_free``: at least one usable CPU must remain for this process itself.
    """
    if not asked:
        raise UsageError(f"--cpu names no CPU: usable are {cpu_list_text(cpus.usable)}")
    for cpu in sorted(asked):
        if cpu not in cpus.possible | cpus.online:
            raise UsageError(f"there is no CPU {cpu} here: usable are {cpu_list_text(cpus.usable)}")
        if cpu not in cpus.online:
            raise UsageError(f"CPU {cpu} is offline: usable are {cpu_list_text(cpus.usable)}")
        if cpu not in cpus.usable:
            usable = cpu_list_text(cpus.usable)
            raise UsageError(
                f"CPU {cpu} is outside the cpuset that this process runs in, which holds {usable}"
            )
    if keep_one_free and len(cpus.usable) == 1:
        (only,) = cpus.usable
        raise UsageError(only_cpu_text(only))
    if keep_one_free and cpus.usable <= set(asked):
        raise UsageError(
            f"one of {cpus_text(cpus.usable)} must stay free for tickmon itself: leave one out of --cpu"
        )


def _candidates(cpus: Cpus) -> frozenset[int]:
    """The usable CPUs, less what an inherited affinity mask leaves out.

    A mask that lacks nothing but isolated CPUs is what the kernel gives to every process when it boots with
    ``isolcpus``: it is nobody's wish, and would hide just the CPUs that are looked for.
    """
    if cpus.usable - cpus.isolated <= cpus.allowed:
        return cpus.usable
    return (cpus.usable & cpus.allowed) or cpus.usable
