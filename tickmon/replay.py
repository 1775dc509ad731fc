"""A recording played back: its windows, where it stands and how fast it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.formats.lines import Header
from tickmon.loading.files import name_of
from tickmon.loading.read import Remark, read

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
"""Seconds of the recording in one of the viewer's."""

NORMAL = SPEEDS.index(1.0)

WINDOWS_MAX = 3_600
"""So many are held at once, some 60 kB each; of a longer recording the last ones are played."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tape:
    """All windows of a recording, of one run, in their order."""

    name: str
    header: Header
    windows: tuple[Analysis, ...]
    """As they were recorded, at least one; without their single interruptions, which no picture needs."""
    remarks: tuple[str, ...]
    """What the viewer should know of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a tape stands. Every move gives another position; none leaves the tape."""

    at: int
    """The place of the window on show, from 0."""
    length: int
    """Of the tape, in windows."""
    speed: int = NORMAL
    """Place in SPEEDS."""
    playing: bool = True

    @property
    def at_end(self) -> bool:
        """No window follows."""
        return self.at == self.length - 1

    @property
    def times(self) -> float:
        """How many seconds of the recording pass in one."""
        return SPEEDS[self.speed]

    def toggled(self) -> Position:
        """Held, or going on; from the end it begins anew."""
        if self.playing:
            return replace(self, playing=False)
        return replace(self, playing=True, at=0 if self.at_end else self.at)

    def stepped(self, by: int) -> Position:
        """So many windows on, or back; held there."""
        return self.sought(self.at + by)

    def sought(self, at: int) -> Position:
        """At a place, or the nearest there is; held there."""
        return replace(self, at=min(max(at, 0), self.length - 1), playing=False)

    def next(self) -> Position:
        """What follows while it plays; it stops at the end."""
        if self.at_end:
            return replace(self, playing=False)
        return replace(self, at=self.at + 1)

    def faster(self, by: int) -> Position:
        """So many steps faster, or slower when negative."""
        return replace(self, speed=min(max(self.speed + by, 0), len(SPEEDS) - 1))


def load_tape(path: Path) -> Tape:
    """A recording or snapshot to be played. TickmonError when it cannot be read or has no window.

    Where recordings were joined it is the last of them that has a window.
    """
    header: Header | None = None
    found: tuple[Header, list[Analysis]] | None = None
    remarks: list[str] = []
    passed = 0
    for item in read(path, events=False):
        match item:
            case Header():
                header = item
            case Analysis() if header is not None:
                if found is None or found[0] is not header:
                    found = (header, [])
                found[1].append(item)
                if len(found[1]) > WINDOWS_MAX:
                    del found[1][0]
                    passed += 1
            case Remark():
                remarks.append(item.message)
    if found is None:
        raise TickmonError(f"{name_of(path)} has no finished window: there is nothing to replay")
    if passed:
        remarks.append(f"the first {passed:,} windows are left out: {WINDOWS_MAX:,} are played")
    return Tape(name=name_of(path), header=found[0], windows=tuple(found[1]), remarks=tuple(remarks))


def pause_s(before: Analysis, after: Analysis, times: float) -> float:
    """How long to wait from one window to the next: as long as that one took, and at most two seconds."""
    length_s = (after.window.end_cycles - after.window.start_cycles) / after.tsc_hz
    passed_s = (after.window.started_at - before.window.started_at).total_seconds()
    # Of several CPUs the windows come at the same time.
    return min(max(min(length_s, passed_s), 0.0) / times, 2.0)
