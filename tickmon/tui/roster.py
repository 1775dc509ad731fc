"""In which order an overview lists CPUs: by number or the worst first, in groups or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tickmon.machine.cpus import Cpus, cpus_text
from tickmon.tui.board import CpuRow


class Line(NamedTuple):
    """One line of the list: a CPU, or the heading of a node."""

    cpu: int | None
    text: str
    """A heading's words; a CPU's mark of the core that it shares, else a blank."""


def lines_of(rows: Mapping[int, CpuRow], cpus: Cpus, *, by_worst: bool, grouped: bool) -> tuple[Line, ...]:
    """All lines, from the top. What was never measured comes last when the worst come first.

    In groups the CPUs of a core stay together below their node's heading; a group stands where its first
    member would stand. A single node has no heading.
    """

    order = sorted(rows)
    if by_worst:
        order.sort(key=lambda cpu: -(rows[cpu].worst_ns or 0.0))
    if not grouped:
        return tuple(Line(cpu, " ") for cpu in order)
    nodes: dict[int | None, dict[int, list[int]]] = {}
    for cpu in order:
        core = min(cpu, *cpus.siblings.get(cpu, ()), cpu)
        nodes.setdefault(cpus.nodes.get(cpu), {}).setdefault(core, []).append(cpu)
    lines: list[Line] = []
    for node, cores in nodes.items():
        if len(nodes) > 1:
            members = frozenset(cpu for core in cores.values() for cpu in core)
            name = "no node" if node is None else f"node {node}"
            lines.append(Line(None, f"{name} · {cpus_text(members)}"))
        for core_cpus in cores.values():
            lines += [Line(cpu, _bracket(n, len(core_cpus))) for n, cpu in enumerate(sorted(core_cpus))]
    return tuple(lines)


def _bracket(place: int, count: int) -> str:
    if count == 1:
        return " "
    return "╭" if place == 0 else "╰" if place == count - 1 else "│"
