"""Before anything is measured: which CPUs, and this process out of their way.

Loads no numpy, whose threads must not start where it will be measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from tickmon.errors import TickmonError
from tickmon.machine.affinity import keep_away
from tickmon.machine.busy import look
from tickmon.machine.choose import check_cpus, default_cpu
from tickmon.machine.cpulist import parse_cpu_list
from tickmon.machine.cpus import Cpus, read_cpus
from tickmon.machine.limits import priority_refusal
from tickmon.options import MeasureOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Everything that was settled."""

    cpus: Cpus
    named: tuple[int, ...]
    """What the user named, in that order; empty when that was left to us."""
    chosen: tuple[int, ...]
    """``named``, or the one that was chosen."""
    reason: str
    """Why that one was chosen, in words; empty when it was named."""
    nearness: str | None
    """Why this process may disturb the reading all the same, in words; None when it does not."""


def get_ready(measure: MeasureOptions, *, all_at_once: bool) -> Ready:
    """Chooses, and moves this process off what is measured first: with ``all_at_once`` that is every CPU.

    TickmonError when what was asked for is not to be had here.
    """
    if measure.priority and (refusal := priority_refusal()):
        raise TickmonError(refusal)
    cpus = read_cpus()
    named: tuple[int, ...] = ()
    if measure.cpus is not None:
        named = parse_cpu_list(measure.cpus, highest=max(cpus.possible))
        check_cpus(cpus, named, keep_one_free=all_at_once)
    chosen, reason = named, ""
    if not named:
        choice = default_cpu(cpus, look)
        chosen, reason = (choice.cpu,), choice.reason
    nearness = keep_away(chosen if all_at_once else chosen[:1], cpus)
    return Ready(cpus=cpus, named=named, chosen=chosen, reason=reason, nearness=nearness)
