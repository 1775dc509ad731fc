"""What an overview knows of each CPU: a survey's events in, frozen rows out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from tickmon.analysis import Clocks, analyse
from tickmon.analysis.readings import Analysis, Check
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpus import Cpus
from tickmon.sampling.survey import Failed, Looked, Sampling, Seen, SurveyEvent, busy_sibling
from tickmon.units import cycles_to_ns
from tickmon.windows import Window

POINTS = 120
"""As many windows of a CPU as the widest time line shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuReading:
    """What one window said of a CPU."""

    analysis: Analysis = field(compare=False, repr=False)
    """All of it, to be saved."""
    ended_at: datetime
    """UTC."""
    overhead_share: float | None
    """None: nothing was watched."""
    check: Check
    tick_median_ns: float | None
    """The gap of a single tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuRow:
    """What is known of one CPU by now."""

    cpu: int
    busy: str = ""
    """Why nobody may spin there: ``runs trader (98 %)``, ``sibling CPU 5 runs …``; empty: it may be."""
    offline: bool = False
    sampled: bool = False
    """A sampler is at work there."""
    spared: bool = False
    """It could be measured, and is left to the screen."""
    failed: str = ""
    """Why the last attempt came to nothing."""
    reading: CpuReading | None = None
    """Of the newest window."""
    worst_ns: float | None = None
    """The longest interruption of all windows; None while there is none."""
    shares: tuple[float, ...] = ()
    """The overhead of the last windows, the newest last."""
    windows: int = 0
    """So many so far."""

    @property
    def measured(self) -> bool:
        """Its figures stand for what it is now: nothing keeps it from being measured again."""
        return self.reading is not None and not self.failed and (self.sampled or not self.busy)


class Board:
    """The rows of a survey; belongs to the thread that the survey tells."""

    def __init__(self, cpus: Cpus, consented: Collection[int] = ()) -> None:
        """``consented``: those that are measured though they, or a sibling, are busy."""
        self.rows = {cpu: CpuRow(cpu=cpu) for cpu in cpus.usable}
        self._cpus = cpus
        self._consented = frozenset(consented)
        self._uses: dict[int, CpuUse] = {}
        self._clocks: dict[int, Clocks] = {}

    def take(self, event: SurveyEvent) -> dict[int, CpuRow]:
        """The rows that ``event`` changed."""
        match event:
            case Looked(uses=uses):
                self._uses |= uses
                changed = {cpu: self._used(self.rows[cpu], use) for cpu, use in uses.items()}
            case Sampling(cpus=cpus, spared=spared):
                changed = {
                    cpu: replace(row, sampled=cpu in cpus, spared=cpu in spared)
                    for cpu, row in self.rows.items()
                    if row.sampled != (cpu in cpus) or row.spared != (cpu in spared)
                }
            case Seen(cpu=cpu, window=window):
                changed = {cpu: self._seen(self.rows[cpu], window)}
            case Failed(cpu=cpu, why=why):
                changed = {cpu: replace(self.rows[cpu], failed=why)}
        changed = {cpu: row for cpu, row in changed.items() if row != self.rows[cpu]}
        self.rows |= changed
        return changed

    def _used(self, row: CpuRow, use: CpuUse) -> CpuRow:
        if use.offline:
            # What comes back under its number may be another: a virtual machine's, or one replaced.
            self._clocks.pop(row.cpu, None)
            return CpuRow(cpu=row.cpu, offline=True)
        busy = ""
        if row.cpu not in self._consented:
            beside = busy_sibling(row.cpu, self._uses, self._cpus)
            if not use.idle:
                busy = busy_words(use)
            elif beside is not None:
                busy = f"sibling CPU {beside.cpu} {busy_words(beside)}"
        return replace(row, busy=busy, offline=False)

    def _seen(self, row: CpuRow, window: Window) -> CpuRow:
        analysis, self._clocks[row.cpu] = analyse(window, self._clocks.get(row.cpu, Clocks()))
        worst = analysis.spread.max_cycles
        worst_ns = None if worst is None else cycles_to_ns(worst, analysis.tsc_hz)
        return replace(
            row,
            failed="",
            reading=_reading(analysis),
            worst_ns=max((ns for ns in (row.worst_ns, worst_ns) if ns is not None), default=None),
            shares=(*row.shares, analysis.overhead_share or 0.0)[-POINTS:],
            windows=row.windows + 1,
        )


def _reading(analysis: Analysis) -> CpuReading:
    window = analysis.window
    median = None if analysis.tick is None else analysis.tick.spread.median_cycles
    return CpuReading(
        analysis=analysis,
        ended_at=window.started_at + timedelta(seconds=window.length_cycles / analysis.tsc_hz),
        overhead_share=analysis.overhead_share,
        check=analysis.check,
        tick_median_ns=None if median is None else cycles_to_ns(median, analysis.tsc_hz),
    )


def busy_words(use: CpuUse) -> str:
    """What a busy CPU does, in whole per cents: a list of many should change only where something does."""
    if not use.occupants:
        return use.text if use.idle_share is None else f"is {(1 - use.idle_share) * 100:.0f} % busy"
    names = (
        who.name if who.share is None else f"{who.name} ({who.share * 100:.0f} %)"
        for who in use.occupants[:2]
    )
    return "runs " + ", ".join(names)
