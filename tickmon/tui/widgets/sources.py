"""The table of trains and other sources: how often, how long, and what share of the CPU they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tickmon.analysis.readings import Source
from tickmon.analysis.stretches import KERNEL_TICK
from tickmon.tui.rows import Piece, Row, row, width_of
from tickmon.tui.view import Reading, View
from tickmon.tui.widgets.histogram import strip_of
from tickmon.tui.words import change_ink, change_text, length_text, rate_text
from tickmon.units import share_text

_BASIS = {"phase": "its phase", "switch": "task switch", "trace": "kernel trace", "counter": "a counter"}


def basis_words(source: Source) -> str:
    """What the source is known by; of what no phase explains nothing is known."""
    explained = source.basis == "trace" or (source.parts and source.kind != "unknown")
    return _BASIS.get(source.basis, source.basis) if explained else "–"


def draw_sources(view: View, width: int, height: int) -> list[Row]:
    """A heading and a row for each source, the tick first, then other trains, then the rest by overhead."""
    comparing = view.against is not None and view.against.comparison is not None
    columns = [column for column in (_PINNED if comparing else _COLUMNS) if width >= column.from_width]
    name_width = width - sum(column.width for column in columns) - 1
    rows = [_heading(columns, name_width, width)]
    reading = view.reading
    if reading is None:
        return rows
    order = ["tick", "train", "rest"]
    sources = sorted(reading.analysis.sources, key=lambda source: order.index(strip_of(source)))
    room = height - 1
    shown = sources if len(sources) <= room else sources[: room - 1]
    rows += [_source(source, view, reading, columns, name_width) for source in shown]
    if len(shown) < len(sources):
        rest = sum(source.overhead_cycles for source in sources[len(shown) :])
        share = share_text(rest / max(reading.analysis.window.watched_cycles, 1))
        rows.append(row((f" {len(sources) - len(shown)} more, {share} of the CPU: ! shows all", "label")))
    return rows


class _Column(NamedTuple):
    name: str
    width: int
    from_width: int
    """Shown on screens at least so wide."""


_COLUMNS = (
    _Column("per second", 11, 70),
    _Column("median", 11, 0),
    _Column("99th", 11, 76),
    _Column("worst", 11, 0),
    _Column("of CPU", 11, 0),
    _Column("known by", 15, 96),
)
_PINNED = (
    _Column("per second", 11, 0),
    _Column("median", 11, 0),
    _Column("99th", 11, 100),
    _Column("worst", 11, 86),
    _Column("of CPU", 11, 0),
    _Column("change", 16, 70),
    _Column("known by", 15, 112),
)
"""With a reading to compare with: by how much the share of the CPU changed."""


def _heading(columns: Sequence[_Column], name_width: int, width: int) -> Row:
    left = (Piece("─ ", "faint"), Piece("sources ", "head"))
    rule = Piece("─" * (name_width - width_of(left)), "faint")
    names = "".join(_cell(column.name, column) for column in columns)
    line = (*left, rule, Piece(names.rstrip(), "label"), Piece(" ", "faint"))
    return (*line, Piece("─" * max(width - width_of(line), 0), "faint"))


def _source(source: Source, view: View, reading: Reading, columns: Sequence[_Column], name_width: int) -> Row:
    spread, window = source.spread, reading.analysis.window

    def length(cycles: int | None) -> str:
        return length_text(cycles, reading.analysis.tsc_hz, in_cycles=view.in_cycles)

    texts = {
        "per second": f"{rate_text(spread.n, reading.watched_s)} /s",
        "median": length(spread.median_cycles),
        "99th": length(spread.p99_cycles),
        "worst": length(spread.max_cycles),
        "of CPU": share_text(source.overhead_cycles / max(window.watched_cycles, 1)),
        "known by": _BASIS.get(source.basis, source.basis)
        if source.parts or source.basis == "trace"
        else "–",
    }
    name = KERNEL_TICK if source.name.startswith(KERNEL_TICK) else source.name
    change = view.against.change("source_share", name) if view.against else None
    texts["change"] = (change_text(change) if change is not None else "") or "–"
    pieces = [Piece(f" ■ {source.short_name}"[:name_width].ljust(name_width), strip_of(source))]
    for column in columns:
        text = texts[column.name]
        quiet = text == "–" or column.name == "known by"
        ink = change_ink(change) if column.name == "change" else "label" if quiet else "plain"
        pieces.append(Piece(_cell(text, column), ink))
    return tuple(pieces)


def _cell(text: str, column: _Column) -> str:
    """Figures end where their column ends; words begin where it begins."""
    return f"   {text}".ljust(column.width) if column.name == "known by" else text.rjust(column.width)
