"""The live histogram: three strips, each with its own count scale, on one logarithmic axis of lengths."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import BINS, bin_edges_cycles
from tickmon.analysis.readings import Analysis, Source
from tickmon.analysis.spread import Spread
from tickmon.tui.pinning import Against
from tickmon.tui.plots import (
    Axis,
    axis_labels,
    bars,
    binned_column_counts,
    column_counts,
    decades,
    fit_axis,
    spread_over_columns,
)
from tickmon.tui.rows import Ink, Piece, Row, heading, row
from tickmon.tui.view import Reading, View
from tickmon.tui.widgets.message import RESTART
from tickmon.tui.words import short_count, why_ended, window_text
from tickmon.units import count_text, counted, cycles_to_ns, duration_text
from tickmon.windows import Method

_LABEL = 21
_CYCLES = (("Gcy", 1e9), ("Mcy", 1e6), ("kcy", 1e3), ("cy", 0.0))
"""Units of an axis of cycles."""
_WAS, _WAS_LITTLE = "░", "·"
"""Where the pinned reading's bars stand higher than the live ones: at least half a cell, or less."""
_WAS_LEAST = 0.5
"""What came more seldom than this in a window of its length is not to be expected in the one on show."""
_BEYOND = 10
"""Columns for what lies beyond the axis."""


_GAP_STRIPS: dict[Ink, str] = {"tick": "kernel tick", "train": "other trains", "rest": "the rest"}
_LOOP_STRIPS: dict[Ink, str] = {"tick": "with a tick", "rest": "the others"}


@dataclass(frozen=True, slots=True, eq=False)
class _Strip:
    name: str
    ink: Ink
    spreads: tuple[Spread, ...]

    @property
    def n(self) -> int:
        return sum(spread.n for spread in self.spreads)


def axis_for(reading: Reading, axis: Axis | None) -> Axis:
    """The axis on which the reading is shown: ``axis`` as long as that will do."""
    analysis = reading.analysis
    segment = analysis.window.segment
    shortest = segment.threshold_cycles or analysis.window.min_cycles or segment.step_cycles
    edges, counts = bin_edges_cycles(), analysis.spread.counts

    def beyond(length_ns: float) -> int:
        return int(counts[edges * 1e9 / analysis.tsc_hz >= length_ns].sum())

    return fit_axis(axis, shortest_ns=cycles_to_ns(max(shortest, 1), analysis.tsc_hz), beyond=beyond)


def draw_histogram(view: View, width: int, height: int) -> list[Row]:
    """A heading, the strips, and the axis; the strips share the rows between."""
    reading, axis = view.reading, view.axis
    columns = width - _LABEL - _BEYOND
    if reading is None or axis is None or columns < 1:
        return [heading("interruptions by length", width), *_instead(view, width)]
    strips = _strips(reading.analysis)
    per_strip, spare = divmod(height - 2, len(strips))
    gap = 1 if per_strip >= 4 else 0
    places = [
        (c, _length(length, view)) for c, length in decades(axis, columns, unit_ns=_unit_ns(view, reading))
    ]
    marks = [column for column, _ in places if 0 < column < columns]
    rows = [heading("interruptions by length", width, *_notes(view, reading))]
    for index, strip in enumerate(strips):
        tall = per_strip + (1 if index < spare else 0)
        rows += [()] * gap
        was = _was(strip, view.against, reading, axis, columns)
        rows += _strip_rows(strip, reading.analysis, axis, columns, tall - gap, marks, was)
    return [*rows, _axis_row(places, axis, view, reading, columns)]


def _notes(view: View, reading: Reading) -> tuple[str, ...]:
    """Of which window these are and how many; the same in short, and shorter."""
    length = (
        f"the first {reading.length_s:.1f} s of a window"
        if reading.analysis.window.provisional
        # Joined with others, or cut late, a window is longer than was asked for.
        else f"one window of {window_text(float(f'{reading.length_s:.2g}'))}"
    )
    n = reading.analysis.spread.n
    loop = view.settings.method is Method.LOOP
    number = counted(n, "sample") if loop else f"{count_text(n)} in all"
    notes = (f"{length}: {number}", number)
    if view.against is None or view.against.unlike:
        return notes
    return (f"{_WAS} pinned · {notes[0]}", f"{_WAS} pinned · {number}", f"{_WAS} pinned")


def _instead(view: View, width: int) -> list[Row]:
    """Why nothing is to be seen, in full, where the message line above has room for its beginning only."""
    if view.reading is not None or width < _LABEL:
        return []
    why, room = view.status, width - 1
    if view.ended is not None:
        why, room = why_ended(view.ended), width - len(RESTART) - 2
    hidden = len(why) > room or view.open_gap is not None
    return [row(f" {line}") for line in wrap(why, width - 2)] if hidden else []


def _strips(analysis: Analysis) -> list[_Strip]:
    names = _LOOP_STRIPS if analysis.window.segment.method is Method.LOOP else _GAP_STRIPS
    spreads: dict[Ink, list[Spread]] = {ink: [] for ink in names}
    for source in analysis.sources:
        ink = strip_of(source)
        spreads[ink if ink in spreads else "rest"].append(source.spread)
    return [_Strip(name, ink, tuple(spreads[ink])) for ink, name in names.items()]


def strip_of(source: Source) -> Ink:
    """In which strip a source's interruptions are: ``tick``, ``train`` or ``rest``."""
    if source.kind == "tick":
        return "tick"
    # A train is among its own parts. What is unexplained may have others': a tick fell into it.
    keeps_time = source.kind == "host" or (source.kind == "unknown" and source.name in source.parts)
    return "train" if keeps_time else "rest"


def _counts(strip: _Strip, analysis: Analysis, axis: Axis, columns: int) -> NDArray[np.int64]:
    total = np.zeros(columns + 1, np.int64)
    ns_per_cycle = 1e9 / analysis.tsc_hz
    for spread in strip.spreads:
        if spread.pieces is None:
            edges_ns = bin_edges_cycles() * ns_per_cycle
            total += binned_column_counts(spread.counts, edges_ns, axis, columns)
        else:
            for piece in spread.pieces:
                total += column_counts(piece * ns_per_cycle, axis, columns)
    return total


def _was(
    strip: _Strip, against: Against | None, reading: Reading, axis: Axis, columns: int
) -> NDArray[np.float64] | None:
    """What was pinned of a strip, as much as in a window as long as the one on show; None for nothing."""
    if against is None or against.unlike:
        return None
    counts, watched_cycles = np.zeros(BINS, np.int64), 0
    for analysis in against.pin.analyses:
        watched_cycles += analysis.window.watched_cycles
        for pinned in _strips(analysis):
            if pinned.ink == strip.ink:
                counts = sum((spread.counts for spread in pinned.spreads), start=counts)
    tsc_hz = against.pin.analyses[-1].tsc_hz
    edges_ns = bin_edges_cycles() * 1e9 / tsc_hz
    share = reading.watched_s * tsc_hz / max(watched_cycles, 1)
    was = spread_over_columns(counts, edges_ns, axis, columns) * share
    return np.where(was >= _WAS_LEAST, was, 0.0)


def _strip_rows(
    strip: _Strip,
    analysis: Analysis,
    axis: Axis,
    columns: int,
    tall: int,
    marks: list[int],
    was: NDArray[np.float64] | None,
) -> list[Row]:
    if tall < 1:
        return []
    counts = _counts(strip, analysis, axis, columns)
    top = int(counts.max())
    if was is not None:
        top = max(top, math.ceil(was.max()))
    texts = bars(counts, height=tall, top=top)
    if was is not None:
        texts = [
            _backed(text, behind) for text, behind in zip(texts, bars(was, height=tall, top=top), strict=True)
        ]
    times = {0: " none", 1: " once"}.get(strip.n, f" {short_count(strip.n)} times")
    names: tuple[tuple[str, Ink], ...] = ((f" {strip.name}", strip.ink), (times, "label"))
    scale = [""] * tall
    if top:
        scale[-1] = "0┤"
        scale[0] = f"{short_count(top)}┤"
    rows = []
    for index, text in enumerate(texts):
        name, ink = names[index] if index < len(names) else ("", strip.ink)
        pieces = [Piece(name, ink), Piece(scale[index].rjust(_LABEL - len(name)), "label")]
        pieces += _with_marks(text[:columns], strip.ink, marks)
        pieces += _inked(f" {text[columns] * 2}", strip.ink)
        if index == len(texts) - 1 and counts[columns]:
            pieces.append(Piece(f" {count_text(int(counts[columns]))}", "label"))
        rows.append(tuple(pieces))
    return rows


def _backed(text: str, behind: str) -> str:
    """A row of bars with what stands higher behind them."""
    return "".join(
        bar if bar != " " or was == " " else _WAS if was >= "▄" else _WAS_LITTLE
        for bar, was in zip(text, behind, strict=True)
    )


def _with_marks(text: str, ink: Ink, marks: list[int]) -> list[Piece]:
    """The bars with a faint line at each mark where no bar stands."""
    pieces = []
    start = 0
    for mark in marks:
        if text[mark] == " ":
            pieces += [*_inked(text[start:mark], ink), Piece("┊", "faint")]
            start = mark + 1
    pieces += _inked(text[start:], ink)
    return pieces


def _inked(text: str, ink: Ink) -> list[Piece]:
    """Bars in their ink, and what is behind them in a quiet one."""
    if _WAS not in text and _WAS_LITTLE not in text:
        return [Piece(text, ink)]
    groups = groupby(text, key=lambda cell: cell in (_WAS, _WAS_LITTLE))
    return [Piece("".join(cells), "label" if behind else ink) for behind, cells in groups]


def _unit_ns(view: View, reading: Reading) -> float:
    return 1e9 / reading.analysis.tsc_hz if view.in_cycles else 1.0


def _length(length: float, view: View) -> str:
    if not view.in_cycles:
        return duration_text(length, digits=1)
    return next(f"{length / (size or 1):g} {unit}" for unit, size in _CYCLES if length >= size)


def _axis_row(places: list[tuple[int, str]], axis: Axis, view: View, reading: Reading, columns: int) -> Row:
    unit_ns = _unit_ns(view, reading)
    inside = [(column, label) for column, label in places if column < columns]
    if not inside or inside[0][0] > 0:
        inside.insert(0, (0, _length(float(f"{axis.low_ns / unit_ns:.2g}"), view)))
    end = _length(float(f"{axis.high_ns / unit_ns:.2g}"), view)
    return row((" " * _LABEL), (axis_labels(inside, columns), "label"), (f" ╵≥{end}", "label"))
