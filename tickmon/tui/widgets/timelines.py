"""The time lines of overhead and of the worst: a column a window, written from left to right in turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from tickmon.tui.plots import bars, nice_top, sweep
from tickmon.tui.rows import Ink, Piece, Row, heading
from tickmon.tui.view import View
from tickmon.tui.words import cycles_text
from tickmon.units import duration_text

WRITE_MARK = "│"
"""Stands where the next window will be drawn."""

_PIECE = 8
"""Columns that are sent together when one of them changes."""


def draw_overhead_line(view: View, width: int, height: int) -> list[Row]:
    """The overhead of each window so far, in per cent from 0."""
    points = view.reading.trend.points if view.reading else ()
    percents = [point.overhead_share * 100 for point in points]
    return _line(view, "overhead", percents, lambda top: f"{top:g} %", width, height)


def draw_worst_line(view: View, width: int, height: int) -> list[Row]:
    """The longest interruption of each window so far, from 0."""
    reading = view.reading
    if reading is None:
        return [heading("worst", "", width)]
    tsc_hz = reading.analysis.tsc_hz
    unit_cycles = 1.0 if view.in_cycles else tsc_hz / 1e9
    lengths = [(point.worst_cycles or 0) / unit_cycles for point in reading.trend.points]

    def scale(top: float) -> str:
        return cycles_text(top) if view.in_cycles else duration_text(top, digits=1)

    return _line(view, "worst", lengths, scale, width, height)


def _line(
    view: View,
    name: str,
    values: Sequence[float],
    scale: Callable[[float], str],
    width: int,
    height: int,
) -> list[Row]:
    top = nice_top(max(values)) if values and max(values) > 0 else 0.0
    note = f"each window, 0 to {scale(top)}" if top else ""
    total = view.reading.trend.windows if view.reading else 0
    places = sweep(values, total=total, width=width - 2)
    mark = total % (width - 2)
    rows = [heading(name, note, width)]
    for text in bars(np.nan_to_num(places), height=height - 1, top=top):
        newer, older = _pieces(text, 0, mark, "line"), _pieces(text, mark + 1, len(text), "older")
        rows.append((Piece(" "), *newer, Piece(WRITE_MARK if total else " ", "faint"), *older))
    return rows


def _pieces(text: str, first: int, end: int, ink: Ink) -> list[Piece]:
    """``text[first:end]`` cut at places that stay the same while the mark moves through it."""
    cuts = [first, *range(first - first % _PIECE + _PIECE, end, _PIECE), end]
    return [Piece(text[a:b], ink) for a, b in pairwise(cuts) if b > a]
