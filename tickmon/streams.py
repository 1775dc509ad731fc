"""A run as a stream of text, in each format: what to write for every window, and at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import Summary
from tickmon.formats import lines, seed, table
from tickmon.formats.lines import Header, text_of
from tickmon.formats.members import Line
from tickmon.report import comparison_text, reading_text
from tickmon.units import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came out of one CPU's part of a run."""

    summary: Summary
    windows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """How a run ended."""

    at: datetime
    outcomes: Sequence[Outcome]
    """Of every CPU with a finished window, in the order of CPUs."""
    note: str | None
    """None when it came to its end; else one line that says what ended it."""
    orderly: bool
    """Everything that was measured is in ``outcomes``."""


class Stream(Protocol):
    """Text of a run, in the order in which it is to be written."""

    def window(self, analysis: Analysis) -> str:
        """What there is to write as soon as a window is finished."""

    def missed(self, analysis: Analysis) -> None:
        """What ``window`` gave for it could not be written."""

    def end(self, end: End) -> str:
        """What there is to write after the last window, if there was one."""


class JsonLines:
    """An object a line, as it comes."""

    def __init__(self, header: Header, *, events: bool) -> None:
        self._opening: list[Line] = [lines.header_line(header)]
        self._events = events
        self._segments: set[int] = set()
        self._missed = self._missed_before = 0

    def window(self, analysis: Analysis) -> str:
        """The window's line and, in front, that of a segment which it begins."""
        written, self._opening = self._opening, []
        segment = analysis.window.segment
        if self._missed:
            message = f"{counted(self._missed, 'window', 'windows')} before this could not be written"
            written.append(lines.note_line(analysis.window.started_at, message))
        self._missed_before, self._missed = self._missed, 0
        if segment.segment not in self._segments:
            self._segments.add(segment.segment)
            written.append(lines.segment_line(segment))
        written.append(lines.window_line(analysis, events=self._events))
        if self._events:
            written += lines.event_lines(analysis)
        return "".join(map(text_of, written))

    def missed(self, analysis: Analysis) -> None:
        """Its segment is said again with the next one, and that it is missing."""
        self._segments.discard(analysis.window.segment.segment)
        # What this window would have said of those before it is missing too.
        self._missed = self._missed_before + 1

    def end(self, end: End) -> str:
        """A note of what ended it early, and the summaries when it ended orderly."""
        written = [] if end.note is None else [lines.note_line(end.at, end.note)]
        if end.orderly:
            written += [lines.summary_line(o.summary, windows=o.windows) for o in end.outcomes]
        return "".join(map(text_of, written))


class JsonObject:
    """One object, written as it comes: windows first, since segments and summaries are known last."""

    def __init__(self, header: Header, *, events: bool) -> None:
        self._before = f'{{"header":{_element(lines.header_line(header))},"windows":['
        self._events = events
        self._segments: dict[int, Line] = {}

    def window(self, analysis: Analysis) -> str:
        """One element more of ``windows``."""
        segment = analysis.window.segment
        self._segments.setdefault(segment.segment, lines.segment_line(segment))
        line = lines.window_line(analysis, events=self._events)
        if self._events:
            line["events"] = lines.event_members(analysis, slice(None))
        before, self._before = self._before, ","
        return f"{before}\n{_element(line)}"

    def missed(self, analysis: Analysis) -> None:
        """Its number shows that it is missing."""

    def end(self, end: End) -> str:
        """The rest of the object. ``summary`` is that of the only CPU, ``summaries`` has one of each."""
        summaries = []
        if end.orderly:
            summaries = [_element(lines.summary_line(o.summary, windows=o.windows)) for o in end.outcomes]
        notes = [] if end.note is None else [_element(lines.note_line(end.at, end.note))]
        return (
            f'\n],\n"segments":[{",".join(map(_element, self._segments.values()))}],\n'
            f'"notes":[{",".join(notes)}],\n'
            f'"summary":{summaries[0] if len(summaries) == 1 else "null"},\n'
            f'"summaries":[{",".join(summaries)}]}}\n'
        )


class Csv:
    """A row a window or, with ``events``, a row an interruption."""

    def __init__(self, *, events: bool) -> None:
        self._opening = table.event_columns() if events else table.window_columns()
        self._rows = table.event_rows if events else table.window_row

    def window(self, analysis: Analysis) -> str:
        """Its row or rows."""
        opening, self._opening = self._opening, ""
        return opening + self._rows(analysis)

    def missed(self, analysis: Analysis) -> None:
        """Its number shows that it is missing."""

    def end(self, end: End) -> str:
        """Nothing: a table has no other rows."""
        return ""


class Text:
    """Nothing but the summary at the end; several CPUs side by side first."""

    def __init__(self, header: Header) -> None:
        self._header = header

    def window(self, analysis: Analysis) -> str:
        """Nothing yet."""
        return ""

    def missed(self, analysis: Analysis) -> None:
        """Nothing was to be written."""

    def end(self, end: End) -> str:
        """A block for each CPU."""
        blocks = [reading_text(self._header, o.summary, windows=o.windows) for o in end.outcomes]
        if len(blocks) > 1:
            blocks.insert(0, comparison_text([o.summary for o in end.outcomes]))
        return "\n\n".join(blocks)


class Seed:
    """The 2004 program's output: the smallest sample is known at the end, and a new segment begins anew."""

    def __init__(self) -> None:
        self._segment: int | None = None
        self._samples_cycles: list[NDArray[np.int64]] = []

    def window(self, analysis: Analysis) -> str:
        """Nothing yet."""
        window = analysis.window
        if window.segment.segment != self._segment:
            self._segment, self._samples_cycles = window.segment.segment, []
        self._samples_cycles.append(window.details["gap_cycles"])
        return ""

    def missed(self, analysis: Analysis) -> None:
        """Nothing was to be written."""

    def end(self, end: End) -> str:
        """All samples of the last segment."""
        return seed.seed_text(np.concatenate(self._samples_cycles))


def stream_of(form: str, header: Header, *, events: bool) -> Stream:
    """The stream of a format of ``tickmon sample``."""
    makers: dict[str, Callable[[], Stream]] = {
        "json": lambda: JsonObject(header, events=events),
        "jsonl": lambda: JsonLines(header, events=events),
        "csv": lambda: Csv(events=events),
        "text": lambda: Text(header),
        "seed": Seed,
    }
    return makers[form]()


def seed_words(outcome: Outcome, *, left_out: int) -> str:
    """Words beside the 2004 output: the ticks that must have happened, and the samples that are not in it."""
    analysis = outcome.summary.analysis
    window = analysis.window
    tick = window.segment.kernel_tick
    words = seed.elapsed_text(
        window.length_cycles, tsc_hz=analysis.tsc_hz, kernel_hz=tick.hz if tick else None
    )
    if window.lost:
        missing = counted(window.lost, "sample is", "samples are")
        words += f"{missing} missing: details were dropped\n"
    if left_out:
        words += f"{counted(left_out, 'sample is', 'samples are')} left out: time jumped after them\n"
    return words


def _element(line: Line) -> str:
    """A line's object inside another: what it is, its place says."""
    return text_of({name: value for name, value in line.items() if name != "line"}).rstrip("\n")
