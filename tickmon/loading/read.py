"""A recording as a series of values, one line after the other."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NoReturn

from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import Summary
from tickmon.errors import TickmonError
from tickmon.formats.lines import FORMAT, VERSION, Header
from tickmon.loading.events import EVENTS_MAX, Columns, columns_of, samples_of, with_events
from tickmon.loading.files import damaged, lines_of, name_of, opened
from tickmon.loading.members import BadMemberError, Members
from tickmon.loading.objects import with_object_as_line
from tickmon.loading.segments import header_of, segment_of
from tickmon.loading.values import analysis_of, summary_of
from tickmon.windows import Segment

SEGMENTS_KEPT = 4096
"""A file may have more; windows follow their segment soon."""

IDLE_MAX = 100_000
"""So many lines in a row may hold no measurement. Packed, more could go on for hours in a small file."""

_NOTE_LIMIT = 300

_CLOSING = ("header", "segment", "window", "summary")
"""After such a line no more interruptions of the window before it follow."""

_MEASURED = ("window", "events", "summary")
"""Kinds of lines that hold some measurement."""

_PASSED_EVENTS = b'{"line":"events"'
_PASSED_WINDOW = b'{"line":"window"'
"""Lines that begin like this need not even be looked into: that is what makes a long file short."""

_RECORD = "record it again, or give another file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """What the reader of a recording should be told about the file."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What the recording says of itself."""

    at: datetime
    message: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summed:
    """What the recording says of all ``windows`` of one CPU."""

    summary: Summary
    windows: int


Item = Header | Segment | Analysis | Summed | Note | Remark
"""What a recording is made of."""


def read(
    path: Path,
    *,
    windows: bool = True,
    events: bool = True,
    worst_above_cycles: Callable[[int], int] = lambda _cpu: -1,
) -> Iterator[Item]:
    """Everything in the file, or in standard input for ``-``, in its order and in bounded memory.

    A ``Header`` comes first, and again where recordings were joined: windows and segments begin anew
    there. Each ``Analysis`` is a window as it was recorded; with ``events`` its window holds the
    interruptions again where the file does, else none. Without ``windows`` (and so without events) their
    lines are passed over unread. So are the worst of a window in which nothing took longer than
    ``worst_above_cycles``, which is asked at each window with its CPU: then it has none. ``Summed`` comes for
    each CPU at the end of a run that ended orderly.

    TickmonError, which names the line, when the file is not what it should be. A cut end is only remarked.
    """
    with opened(path) as file:
        reading = _Reading(
            path, windows=windows, events=windows and events, worst_above_cycles=worst_above_cycles
        )
        for number, line, whole in with_object_as_line(path, lines_of(path, file)):
            yield from reading.line(number, line, whole)
        yield from reading.end()


def _refuse(name: str) -> NoReturn:
    """For NaN and Infinity."""
    raise ValueError(f"{name} is no JSON")


_JSON = json.JSONDecoder(parse_constant=_refuse)


class _Reading:
    """What must be remembered from line to line."""

    def __init__(
        self, path: Path, *, windows: bool, events: bool, worst_above_cycles: Callable[[int], int]
    ) -> None:
        self._path = path
        self._events = events
        self._passed: tuple[bytes, ...] = () if events else (_PASSED_EVENTS,)
        if not windows:
            self._passed += (_PASSED_WINDOW,)
        self._windows = windows
        self._worst_above_cycles = worst_above_cycles
        self._begun = False
        self._idle = 0
        self._segments: dict[int, Segment] = {}
        self._open: Analysis | None = None
        self._open_at = 0
        """The number of its line."""
        self._parts: list[Columns] = []
        self._too_many = False

    def line(self, number: int, line: bytes, whole: bool) -> Iterator[Item]:
        """What one line comes to, and what it shows to be complete."""
        if whole and self._begun and line.startswith(self._passed) and line.rstrip().endswith(b"}"):
            self._idle = 0
            return
        try:
            values = _JSON.decode(line.decode())
        except (ValueError, RecursionError) as error:
            if not whole and self._begun:
                yield Remark(
                    message=f"{name_of(self._path)} is cut in line {number}: what is before it is whole"
                )
                return
            raise self._unreadable(number, line, error) from None
        try:
            yield from self._taken(Members(values), number)
        except BadMemberError as error:
            raise damaged(self._path, number, str(error)) from None

    def end(self) -> Iterator[Item]:
        """What was still open."""
        if not self._begun:
            raise TickmonError(f"cannot read {name_of(self._path)}: it is empty; {_RECORD}")
        yield from self._closed(last=True)

    def _taken(self, line: Members, number: int) -> Iterator[Item]:
        if not self._begun and not line.has("line") and line.has("header"):
            yield from self._object(line, number)
            return
        kind = line.text_or_none("line")
        if not self._begun and kind != "header":
            raise self._no_recording(number)
        self._idle = 0 if kind in _MEASURED else self._idle + 1
        if self._idle > IDLE_MAX:
            raise BadMemberError(f"is one more than {IDLE_MAX:,} in a row that hold no measurement")
        if kind == "events":
            if self._events:
                self._add_events(line)
            return
        if kind in _CLOSING:
            yield from self._closed(last=False)
        if kind == "header":
            yield self._header(line, number)
        elif kind == "segment":
            yield self._segment(line)
        elif kind == "window" and self._windows:
            self._begin_window(line, number)
        elif kind == "note":
            yield Note(at=line.when("at"), message=line.text("message", _NOTE_LIMIT))
        elif kind == "summary":
            yield self._summed(line)

    def _header(self, line: Members, number: int) -> Header:
        if line.text_or_none("format") != FORMAT:
            raise self._no_recording(number)
        version = line.whole("version", least=1)
        if version > VERSION:
            raise TickmonError(
                f"cannot read {name_of(self._path)}: it has version {version} of the format, "
                f"and this tickmon reads versions up to {VERSION}; use a newer tickmon"
            )
        self._begun = True
        self._segments.clear()
        return header_of(line)

    def _segment(self, line: Members) -> Segment:
        segment = segment_of(line)
        self._segments.pop(segment.segment, None)
        self._segments[segment.segment] = segment
        if len(self._segments) > SEGMENTS_KEPT:
            del self._segments[next(iter(self._segments))]
        return segment

    def _begin_window(self, line: Members, number: int) -> None:
        self._open_at = number
        segment = self._segment_of(line)
        above_cycles = self._worst_above_cycles(segment.cpu)
        analysis = analysis_of(line, segment, worst_above_cycles=above_cycles)
        self._open = samples_of(line, analysis) if self._events else analysis

    def _summed(self, line: Members) -> Summed:
        summary = summary_of(line, self._segment_of(line))
        return Summed(summary=summary, windows=summary.analysis.window.window)

    def _segment_of(self, line: Members) -> Segment:
        number = line.whole("segment")
        if number not in self._segments:
            raise BadMemberError(f"is of segment {number}, which the file has not said")
        return self._segments[number]

    def _add_events(self, line: Members) -> None:
        analysis = self._open
        if analysis is None or line.whole("window") != analysis.window.window:
            raise BadMemberError("has events that do not follow their window")
        window = analysis.window
        if window.interruptions - window.lost > EVENTS_MAX:
            self._too_many = True
            return
        self._parts.append(columns_of(line, analysis))
        if sum(len(part[0]) for part in self._parts) > window.interruptions - window.lost:
            raise BadMemberError("has more events than its window has interruptions")

    def _closed(self, *, last: bool) -> Iterator[Item]:
        """The open window, with its interruptions if they are all there."""
        if self._open is None:
            return
        analysis, parts = self._open, self._parts
        self._open, self._parts = None, []
        try:
            whole = with_events(analysis, parts)
        except BadMemberError as error:
            # It is the window that is wrong, and what shows it may be the end of the file.
            raise damaged(self._path, self._open_at, str(error)) from None
        number = analysis.window.window
        if whole is None:
            if not last:
                raise BadMemberError(f"ends the events of window {number}, of which some are missing")
            yield Remark(
                message=f"the interruptions of the last window, {number}, are not complete: left out"
            )
        elif self._too_many:
            self._too_many = False
            yield Remark(message=f"window {number} has more than {EVENTS_MAX:,} interruptions: left out")
        yield whole or analysis

    def _object(self, whole: Members, number: int) -> Iterator[Item]:
        """The one object of ``--format json``, in the order of lines."""
        yield self._header(whole.part("header"), number)
        for segment in whole.parts("segments"):
            yield self._segment(segment)
        for window in whole.parts("windows", most=10_000_000) if self._windows else ():
            self._begin_window(window, number)
            events = window.part_or_none("events")
            if events is not None and self._events and self._open is not None:
                self._parts.append(columns_of(events, self._open))
            yield from self._closed(last=False)
        for note in whole.parts("notes"):
            yield Note(at=note.when("at"), message=note.text("message", _NOTE_LIMIT))
        for summary in whole.parts("summaries" if whole.has("summaries") else "none"):
            yield self._summed(summary)

    def _unreadable(self, number: int, line: bytes, error: Exception) -> TickmonError:
        if not self._begun:
            return self._no_recording(number)
        if isinstance(error, UnicodeDecodeError):
            return damaged(self._path, number, f"is not UTF-8 (at its byte {error.start + 1})")
        if isinstance(error, json.JSONDecodeError):
            return damaged(self._path, number, f"is no JSON (at its character {error.pos + 1})")
        return damaged(self._path, number, "holds what no recording holds")

    def _no_recording(self, number: int) -> TickmonError:
        return TickmonError(
            f"cannot read {name_of(self._path)}: line {number} is not the header that a recording of tickmon "
            "begins with; give a file that tickmon sample --output or the key s wrote"
        )
