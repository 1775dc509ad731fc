"""The time lines of overhead and of the worst: a column a window, written from left to right in turns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tickmon.analysis.history import Entry
from tickmon.analysis.readings import Analysis
from tickmon.tui.plots import bars, nice_top, sweep
from tickmon.tui.rows import Ink, Piece, Row, heading
from tickmon.tui.view import View
from tickmon.tui.words import cycles_text
from tickmon.units import cycles_to_ns, duration_text

WRITE_MARK = "│"
"""Stands where the next window will be drawn."""
BEGIN_MARK = "┊"
"""Stands above the first window after a change of CPU, method or settings, and after a new start."""

_PIECE = 8
"""Columns that are sent together when one of them changes."""
_EDGE = 1
"""Free columns at both ends."""
_FEWEST = 2
"""Columns that a line needs: one for a window and one for the mark."""


def draw_overhead_line(view: View, width: int, height: int) -> list[Row]:
    """The overhead of each window so far, in per cent from 0."""

    def percent(analysis: Analysis) -> float:
        return (analysis.overhead_share or 0.0) * 100

    return _line(view, "overhead", percent, lambda top: f"{top:g} %", width, height)


def draw_worst_line(view: View, width: int, height: int) -> list[Row]:
    """The longest interruption of each window so far, from 0."""

    def length(analysis: Analysis) -> float:
        cycles = analysis.spread.max_cycles or 0
        return cycles if view.in_cycles else cycles_to_ns(cycles, analysis.tsc_hz)

    def scale(top: float) -> str:
        return cycles_text(top) if view.in_cycles else duration_text(top, digits=1)

    return _line(view, "worst", length, scale, width, height)


def entry_at(view: View, column: int, width: int) -> Entry | None:
    """The window that is drawn there; None: none, or one that is not complete."""
    if width - 2 * _EDGE < _FEWEST:
        return None
    visible = _visible(view, width - 2 * _EDGE)
    columns = {place: entry for entry, place in visible.entries}
    return columns.get(column - _EDGE)


@dataclass(frozen=True, slots=True, eq=False)
class _Visible:
    """What has room in a time line."""

    entries: list[tuple[Entry, int]]
    """Oldest first, each with its column."""
    shown: int
    """Number of the last of all that have had a column so far: it says which one is written next."""


def _visible(view: View, columns: int) -> _Visible:
    """The newest windows or, where the cursor stands further back, those of the page that it is on."""
    entries = view.history.entries
    last = len(entries)
    if view.cursor is not None:
        last -= (last - 1 - entries.index(view.cursor)) // (columns - 1) * (columns - 1)
    shown = view.history.windows - (len(entries) - last)
    recent = entries[max(last - (columns - 1), 0) : last]
    return _Visible(
        entries=[(entry, (shown - len(recent) + n) % columns) for n, entry in enumerate(recent)],
        shown=shown,
    )


def _line(
    view: View,
    name: str,
    value: Callable[[Analysis], float],
    scale: Callable[[float], str],
    width: int,
    height: int,
) -> list[Row]:
    columns = width - 2 * _EDGE
    if columns < _FEWEST:
        return [heading(name, width)]
    visible = _visible(view, columns)
    values = [value(entry.analysis) for entry, _ in visible.entries]
    total = visible.shown
    reading = view.reading
    if reading is not None and reading.analysis.window.provisional and view.cursor is None:
        values.append(value(reading.analysis))
        total += 1
    top = nice_top(max(values)) if values and max(values) > 0 else 0.0
    most = max((entry.windows for entry, _ in visible.entries), default=1)
    each = "each window" if most == 1 else f"up to {most} windows a column"
    measure = f"0 to {scale(top)}"
    rows = [heading(name, width, *((f"{each}, {measure}", measure) if top else ()))]
    places = np.nan_to_num(sweep(values, total=total, width=columns))
    mark = total % columns if total else None
    begins = {
        place for entry, place in visible.entries if entry.begins and entry is not visible.entries[0][0]
    }
    cursor = next((place for entry, place in visible.entries if entry is view.cursor), None)
    inks: list[Ink] = ["line" if mark is None or n < mark else "older" for n in range(columns)]
    if mark is not None:
        inks[mark] = "faint"
    if cursor is not None:
        inks[cursor] = "cursor"
    # Cut at places that stay the same while the mark moves through them.
    cuts = {n for n in range(columns) if n % _PIECE == 0 or inks[n] != inks[n - 1]}
    cuts |= {n + side for n in begins for side in (0, 1)}
    spans = list(pairwise(sorted({*cuts, columns})))
    for text in bars(places, height=height - 1, top=top):
        pieces = [Piece(text[first:end], inks[first]) for first, end in spans]
        for place, (first, _) in enumerate(spans):
            if inks[first] == "faint":
                pieces[place] = Piece(WRITE_MARK, "faint")
            elif first in begins and text[first] == " " and first != cursor:
                pieces[place] = Piece(BEGIN_MARK, "label")
        rows.append((Piece(" "), *pieces))
    return rows
