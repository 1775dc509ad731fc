"""The table of trains and other sources: how often, how long, and what share of the CPU they take."""

from __future__ import annotations

from tickmon.analysis.readings import Source
from tickmon.tui.rows import Piece, Row, row, width_of
from tickmon.tui.view import Reading, View
from tickmon.tui.widgets.histogram import strip_of
from tickmon.tui.words import length_text, rate_text
from tickmon.units import share_text

_CELL = 11
_BASIS = {"phase": "its phase", "switch": "task switch", "trace": "kernel trace", "counter": "a counter"}


def draw_sources(view: View, width: int, height: int) -> list[Row]:
    """A heading and a row for each source, the tick first, then other trains, then the rest by overhead."""
    wide = width >= 96
    columns = ["per second", "median", "99th", "worst", "of CPU", *(["known by"] if wide else [])]
    name_width = width - _CELL * 5 - (16 if wide else 1)
    rows = [_heading(columns, name_width, width)]
    reading = view.reading
    if reading is None:
        return rows
    order = ["tick", "train", "rest"]
    sources = sorted(reading.analysis.sources, key=lambda source: order.index(strip_of(source)))
    room = height - 1
    shown = sources if len(sources) <= room else sources[: room - 1]
    rows += [_source(source, view, reading, name_width, wide) for source in shown]
    if len(shown) < len(sources):
        rest = sum(source.overhead_cycles for source in sources[len(shown) :])
        share = share_text(rest / reading.analysis.window.length_cycles)
        rows.append(row((f" {len(sources) - len(shown)} more, {share} of the CPU: ! shows all", "label")))
    return rows


def _heading(columns: list[str], name_width: int, width: int) -> Row:
    left = (Piece("─ ", "faint"), Piece("sources ", "head"))
    labels = "".join(name.rjust(_CELL) if name != "known by" else f"   {name} " for name in columns)
    rule = Piece("─" * (name_width - width_of(left)), "faint")
    line = (*left, rule, Piece(labels, "label"), Piece(" ", "faint"))
    return (*line, Piece("─" * max(width - width_of(line), 0), "faint"))


def _source(source: Source, view: View, reading: Reading, name_width: int, wide: bool) -> Row:
    spread, window = source.spread, reading.analysis.window
    cells = [
        rate_text(spread.n, reading.length_s) + " /s",
        *(
            length_text(cycles, reading.analysis.tsc_hz, in_cycles=view.in_cycles)
            for cycles in (spread.median_cycles, spread.p99_cycles, spread.max_cycles)
        ),
        share_text(source.overhead_cycles / window.length_cycles),
    ]
    pieces = [Piece(f" ■ {source.name}"[:name_width].ljust(name_width), strip_of(source))]
    pieces += [Piece(cell.rjust(_CELL), "label" if cell == "–" else "plain") for cell in cells]
    if wide:
        pieces.append(Piece(f"   {_BASIS.get(source.basis, source.basis) if source.parts else '–'}", "label"))
    return tuple(pieces)
