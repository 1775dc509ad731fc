"""A recording played back: where it stands, how fast it goes, and a source of windows made from it."""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.formats.lines import Header
from tickmon.loading.files import name_of
from tickmon.loading.read import Remark, read
from tickmon.windows import Event, Window

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

    @property
    def worst(self) -> int:
        """The place of the window with the longest interruption; the first of several."""
        return max(range(len(self.windows)), key=lambda i: self.windows[i].spread.max_cycles or -1)


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


def place_at(windows: Sequence[Analysis], at: datetime) -> int:
    """The place of the window that was open at a time, or the nearest."""
    return max(bisect_right(windows, at, key=lambda analysis: analysis.window.started_at) - 1, 0)


class Replay:
    """A WindowSource that tells a tape's windows, at the tape's speed or as it is moved.

    After each move the window there is told again. ``reading_of`` has its analysis as it was recorded.
    """

    def __init__(self, tape: Tape) -> None:
        self.tape = tape
        self._readings = {(a.window.segment.segment, a.window.window): a for a in tape.windows}
        self._position = Position(at=0, length=len(tape.windows))
        self._changed = threading.Condition()
        self._moved = True
        self._stopping = False
        self._thread: threading.Thread | None = None

    @property
    def position(self) -> Position:
        """Where it stands now."""
        return self._position

    def reading_of(self, window: Window) -> Analysis:
        """What was recorded of one of the tape's windows. KeyError when it is none of them."""
        return self._readings[window.segment.segment, window.window]

    def move(self, change: Callable[[Position], Position]) -> Position:
        """Puts it where ``change`` says, and returns that; from any thread."""
        with self._changed:
            before, self._position = self._position, change(self._position)
            self._moved = self._moved or self._position.at != before.at
            self._changed.notify_all()
            return self._position

    def move_to_worst(self) -> Position:
        """To the window with the longest interruption."""
        worst = self.tape.worst
        return self.move(lambda position: position.sought(worst))

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Begins to tell windows, from a thread of its own; to be called once."""
        self._thread = threading.Thread(target=self._run, args=(on_event,), name="replay", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends it; no window is told after that. May be called twice."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self, on_event: Callable[[Event], None]) -> None:
        while (at := self._next()) is not None:
            on_event(self.tape.windows[at].window)

    def _next(self) -> int | None:
        """Waits for the place of the window to be told next; None when it was stopped."""
        with self._changed:
            while not self._stopping:
                if self._moved:
                    self._moved = False
                    return self._position.at
                if not self._position.playing:
                    self._changed.wait()
                elif self._position.at_end:
                    self._position = self._position.next()
                elif self._waited():
                    self._position = self._position.next()
                    return self._position.at
            return None

    def _waited(self) -> bool:
        """Whether the time to the next window passed without anything else happening."""
        before = self._position
        here, there = self.tape.windows[before.at : before.at + 2]
        due_s = time.monotonic() + pause_s(here, there, before.times)
        while (rest_s := due_s - time.monotonic()) > 0:
            self._changed.wait(rest_s)
            if self._stopping or self._position != before:
                return False
        return True
