"""Readings as CSV: a header row, then a row a window, or a row an interruption.

Columns are named and measured as in JSON Lines; what lies inside another member has that one's name in
front (``tick.median_cycles`` is ``tick_median_cycles``). A value that does not exist is an empty field.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from tickmon.analysis.readings import Analysis
from tickmon.analysis.spread import overhead_cycles
from tickmon.formats.lines import window_line
from tickmon.formats.members import Line
from tickmon.units import cycles_to_ns

_MEMBERS = [
    "window",
    "segment",
    "cpu",
    "started_at",
    "start_cycles",
    "end_cycles",
    "tsc_hz",
    "reads",
    "interruptions",
    "lost",
    "baseline_cycles",
    "typical_cycles",
    "gap_sum_cycles",
    "overhead_cycles",
    "overhead_share",
    "min_cycles",
    "median_cycles",
    "p90_cycles",
    "p99_cycles",
    "p999_cycles",
    "max_cycles",
    "percentiles",
    "tick.hz",
    "tick.n",
    "tick.median_cycles",
    "tick.p99_cycles",
    "tick.max_cycles",
    "tick.overhead_share",
    "check.expected",
    "check.seen",
    "check.kernel",
    "check.verdict",
]

_IN_NS = [
    "baseline_cycles",
    "median_cycles",
    "p99_cycles",
    "max_cycles",
    "tick.median_cycles",
    "tick.p99_cycles",
    "tick.max_cycles",
]
"""Once more in nanoseconds, for those who only want to plot."""

_EVENT_COLUMNS = [
    "window",
    "cpu",
    "start_s",
    "start_cycles",
    "gap_cycles",
    "gap_ns",
    "overhead_ns",
    "ticks",
    "source",
]


def window_columns() -> str:
    """The header row of a table of windows."""
    names = [*_MEMBERS, *(path.removesuffix("_cycles") + "_ns" for path in _IN_NS)]
    return _text([[name.replace(".", "_") for name in names]])


def window_row(analysis: Analysis) -> str:
    """One window as a row."""
    line = window_line(analysis)
    in_ns = [_ns(_member(line, path), analysis.tsc_hz) for path in _IN_NS]
    return _text([[*(_member(line, path) for path in _MEMBERS), *in_ns]])


def event_columns() -> str:
    """The header row of a table of interruptions.

    ``start_s`` counts from the segment's origin, ``start_cycles`` from the window's start; ``ticks`` is how
    many tick slots the interruption holds, ``source`` what it was.
    """
    return _text([_EVENT_COLUMNS])


def event_rows(analysis: Analysis) -> str:
    """Every interruption of the window whose detail is known as a row, in the order of time."""
    window, hz = analysis.window, analysis.tsc_hz
    names = [source.name for source in analysis.sources]
    starts_cycles = window.details["start_cycles"].tolist()
    gaps_cycles = window.details["gap_cycles"].tolist()
    return _text(
        [
            window.window,
            window.segment.cpu,
            f"{start / hz:.9f}",
            start - window.start_cycles,
            gap,
            f"{cycles_to_ns(gap, hz):.1f}",
            f"{cycles_to_ns(overhead_cycles(gap, 1, analysis.baseline_cycles), hz):.1f}",
            ticks,
            names[source],
        ]
        for start, gap, ticks, source in zip(
            starts_cycles, gaps_cycles, analysis.ticks.tolist(), analysis.source_of.tolist(), strict=True
        )
    )


def _member(line: Line, path: str) -> object:
    value: object = line
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _ns(cycles: object, tsc_hz: float) -> str | None:
    return f"{cycles_to_ns(cycles, tsc_hz):.1f}" if isinstance(cycles, int) else None


def _text(rows: Iterable[Iterable[object]]) -> str:
    """Comma-separated, quoted only where it must be; None becomes an empty field."""
    into = io.StringIO()
    csv.writer(into, lineterminator="\n").writerows(rows)
    return into.getvalue()
