"""The readings of each CPU that a file holds, made ready to be compared."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tickmon.analysis.alike import Taken, taken, taken_alike
from tickmon.analysis.compare import WINDOWS_FEW
from tickmon.analysis.readings import Analysis
from tickmon.analysis.stretches import Stretch, stretch_of
from tickmon.errors import TickmonError
from tickmon.formats.lines import Header
from tickmon.loading.files import name_of
from tickmon.loading.read import Item, Remark, read
from tickmon.loading.runs import can_be_read_twice

RECENT = 60
"""So many windows are held with their interruptions, to be cut into parts beside a short reading."""


@dataclass(slots=True, kw_only=True)
class Reading:
    """All windows of one CPU that were taken alike: those of the last way, where a file has several."""

    header: Header
    taken: Taken
    started_at: datetime
    stretches: list[Stretch] = field(default_factory=list)
    """One of each window."""
    recent: deque[Analysis] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The last ones, with their interruptions if those were read."""
    left_out: int = 0
    """Windows before that were taken in another way."""

    @property
    def short(self) -> bool:
        """Its windows are too few to be compared as wholes."""
        return len(self.stretches) < WINDOWS_FEW

    @property
    def length_s(self) -> float:
        """Without what is excluded."""
        return sum(stretch.length_s for stretch in self.stretches)


@dataclass(slots=True, kw_only=True)
class Recording:
    """A file."""

    path: Path
    readings: dict[int, Reading]
    """By CPU."""
    remarks: tuple[str, ...]


def load(paths: tuple[Path, Path]) -> tuple[Recording, Recording]:
    """Both files; TickmonError when one cannot be read, or holds no window.

    Interruptions are read only where one of the readings is short, so hours of them cost little.
    """
    first, second = (_loaded(path, events=not can_be_read_twice(path)) for path in paths)
    if any(reading.short for each in (first, second) for reading in each.readings.values()):
        first, second = (
            _loaded(each.path, events=True) if can_be_read_twice(each.path) else each
            for each in (first, second)
        )
    return first, second


def _loaded(path: Path, *, events: bool) -> Recording:
    recording = _gathered(path, read(path, events=events))
    if not recording.readings:
        raise TickmonError(f"{name_of(path)} has no finished window yet: there is nothing to compare")
    return recording


def _gathered(path: Path, items: Iterable[Item]) -> Recording:
    header: Header | None = None
    readings: dict[int, Reading] = {}
    remarks: deque[str] = deque(maxlen=10)
    for item in items:
        if isinstance(item, Header):
            header = item
        elif isinstance(item, Remark):
            remarks.append(item.message)
        elif isinstance(item, Analysis) and header is not None:
            _add(readings, header, item)
    return Recording(path=path, readings=readings, remarks=tuple(remarks))


def _add(readings: dict[int, Reading], header: Header, analysis: Analysis) -> None:
    how = taken(analysis)
    reading = readings.get(how.cpu)
    if reading is None or not taken_alike(reading.taken, how):
        before = 0 if reading is None else reading.left_out + len(reading.stretches)
        reading = Reading(header=header, taken=how, started_at=analysis.window.started_at, left_out=before)
        readings[how.cpu] = reading
    reading.header, reading.taken = header, how
    reading.stretches.append(stretch_of(analysis))
    reading.recent.append(analysis)
