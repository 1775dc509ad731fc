"""Which device interrupts are sent to a CPU, and where new ones go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.cpulist import read_cpu_list
from tickmon.machine.files import folders_in, read_word
from tickmon.machine.interrupts import Row


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """An interrupt line that is, or may be, sent to the CPU: Documentation/core-api/irq/irq-affinity.rst."""

    irq: int
    name: str
    """Of the devices; empty for a line that nobody uses."""
    count: int
    """How often it came to this CPU since boot."""
    effective: bool
    """It is sent to this CPU now; else it only may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Routing:
    """Where device interrupts go, seen from one CPU."""

    routes: tuple[Route, ...] | None
    """None when none can be read."""
    default_here: bool | None
    """New interrupts may be sent to this CPU; None when that cannot be read."""


def read_routing(cpu: int, rows: Mapping[str, Row], root: Path = Path("/")) -> Routing:
    """``rows`` are those of this CPU in /proc/interrupts."""
    folder = root / "proc/irq"
    folders = [entry for entry in folders_in(folder) if entry.name.isdecimal()]
    routes = []
    readable = False
    for entry in sorted(folders, key=lambda entry: int(entry.name)):
        allowed = read_cpu_list(entry / "smp_affinity_list")
        effective = read_cpu_list(entry / "effective_affinity_list")
        readable |= allowed is not None or effective is not None
        # Kernels without the second file, and lines that were never started, have nothing but the mask.
        if cpu not in (effective or allowed or ()):
            continue
        row = rows.get(entry.name, Row("", 0))
        here = bool(effective) or (allowed is not None and allowed == frozenset({cpu}))
        routes.append(Route(irq=int(entry.name), name=row.name, count=row.count, effective=here))
    mask = read_word(folder / "default_smp_affinity")
    return Routing(
        routes=tuple(routes) if readable else None,
        default_here=None if mask is None else mask_holds(mask, cpu),
    )


def mask_holds(mask: str, cpu: int) -> bool | None:
    """Whether a mask like ``ff,ffffffff`` holds ``cpu``; None when it is none."""
    try:
        return bool(int(mask.replace(",", ""), 16) >> cpu & 1)
    except ValueError:
        return None
