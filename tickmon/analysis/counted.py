"""What the kernel only counted: possible causes, none of which can be tied to an interruption."""

from __future__ import annotations

from dataclasses import dataclass

from tickmon.windows import RowChange, Window

_IPIS = {"RES", "CAL", "TLB", "IWI", "IPI0", "IPI1", "IPI2", "IPI3", "IPI4", "IPI5", "IPI6", "IPI7"}
"""Rows of interrupts that one CPU sends another (arch/x86/kernel/irq.c, arch/arm64/kernel/smp.c)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedSource:
    """Something that happened so often on the sampled CPU in a window, at moments that are not known."""

    name: str
    kind: str
    """As of ``tickmon.analysis.readings.Source``; its basis is ``counter``."""
    count: int


def counted_sources(window: Window) -> tuple[CountedSource, ...]:
    """The rows of interrupts that moved, but for the timer's, and the softirqs that ran, commonest first."""
    rows = [_of_row(change) for change in window.interrupts if change.count and not change.timer]
    softirqs = [
        CountedSource(name=f"softirq {softirq.name}", kind="softirq", count=softirq.count)
        for softirq in (window.counters.softirqs or () if window.counters else ())
    ]
    return tuple(sorted((*rows, *softirqs), key=lambda source: -source.count))


def _of_row(change: RowChange) -> CountedSource:
    if change.row.isdigit():
        return CountedSource(name=f"irq {change.row} {change.name}".strip(), kind="irq", count=change.count)
    kind = "ipi" if change.row in _IPIS else "nmi" if change.row in ("NMI", "PMI") else "irq"
    return CountedSource(name=f"{change.row} {change.name}".strip(), kind=kind, count=change.count)
