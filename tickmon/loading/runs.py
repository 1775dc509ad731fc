"""Recordings summed up: by their own summary or, where that is missing, from their windows."""

from __future__ import annotations

import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, Total, add, without_details
from tickmon.formats.lines import Header
from tickmon.loading.files import STDIN
from tickmon.loading.read import Item, Note, Remark, Summed, read

AT_ONCE = 64
"""So many windows are added to their total together."""

RUNS_KEPT = 1000
"""So many runs of one file are in memory at once, 100 kB each; of more they are read one after the other."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RecordedRun:
    """One run, of which a file has several where recordings were joined."""

    header: Header
    summed: tuple[Summed, ...]
    """Of every CPU that has a window, in the order of CPUs."""
    ended: bool
    """The run ended orderly: what is summed up here was so then. Else it was now, from the windows."""
    notes: tuple[Note, ...]
    remarks: tuple[Remark, ...]


def runs(path: Path) -> Iterator[RecordedRun]:
    """All runs of a file, in its order; TickmonError as from ``read``.

    A file is gone through once without looking at its windows. Only when a run has no summary, because it
    was killed or goes on, or when there are very many, that is done again with them; a pipe has no second
    time.
    """
    if not can_be_read_twice(path):
        yield from _runs(path, windows=True)
        return
    first: list[RecordedRun] = []
    for run in _runs(path, windows=False):
        if not run.ended or len(first) == RUNS_KEPT:
            yield from _runs(path, windows=True)
            return
        first.append(run)
    yield from first


def can_be_read_twice(path: Path) -> bool:
    """Whether it is a file that will still be there afterwards, and no pipe."""
    try:
        return path != STDIN and stat.S_ISREG(path.stat().st_mode)
    except OSError:
        # To be said where it is opened.
        return False


def _runs(path: Path, *, windows: bool) -> Iterator[RecordedRun]:
    gathered: Gathering | None = None

    def worst_above_cycles(cpu: int) -> int:
        return -1 if gathered is None else gathered.worst_above_cycles(cpu)

    for item in read(path, windows=windows, events=False, worst_above_cycles=worst_above_cycles):
        if isinstance(item, Header):
            if gathered is not None:
                yield gathered.run()
            gathered = Gathering(item)
        elif gathered is not None:
            gathered.take(item)
    if gathered is not None:
        yield gathered.run()


class Gathering:
    """One run of a recording, item by item."""

    def __init__(self, header: Header) -> None:
        """``header`` is the item that the run began with."""
        self._header = header
        self._totals: dict[int, Total] = {}
        self._counts: Counter[int] = Counter()
        self._waiting: dict[int, list[Analysis]] = {}
        self._summed: dict[int, Summed] = {}
        self._notes: list[Note] = []
        self._remarks: list[Remark] = []

    def take(self, item: Item) -> None:
        """The next of its items."""
        match item:
            case Analysis():
                cpu = item.window.segment.cpu
                self._counts[cpu] += 1
                waiting = self._waiting.setdefault(cpu, [])
                waiting.append(without_details(item))
                # What holds its lengths one by one would fill the memory.
                if len(waiting) == AT_ONCE or item.spread.pieces is not None:
                    self._add(cpu)
            case Summed():
                self._summed[item.summary.analysis.window.segment.cpu] = item
            case Note():
                self._notes = [*self._notes[-9:], item]
            case Remark():
                self._remarks = [*self._remarks[-9:], item]

    def worst_above_cycles(self, cpu: int) -> int:
        """What takes no longer is not among the worst of that CPU any more; -1 while anything may be."""
        return self._totals.get(cpu, NO_TOTAL).worst_above_cycles

    def run(self) -> RecordedRun:
        """All of it."""
        for cpu in self._waiting:
            self._add(cpu)
        found = self._summed or {
            cpu: Summed(summary=total.summary(), windows=self._counts[cpu])
            for cpu, total in self._totals.items()
        }
        return RecordedRun(
            header=self._header,
            summed=tuple(found[cpu] for cpu in sorted(found)),
            ended=bool(self._summed),
            notes=tuple(self._notes),
            remarks=tuple(self._remarks),
        )

    def _add(self, cpu: int) -> None:
        self._totals[cpu] = add(self._totals.get(cpu, NO_TOTAL), *self._waiting[cpu])
        self._waiting[cpu].clear()
