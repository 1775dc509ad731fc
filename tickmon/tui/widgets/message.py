"""The message line: the gravest thing to know before believing what stands above and below it."""

from __future__ import annotations

from tickmon.recorder import Recorded
from tickmon.text import harmless
from tickmon.tui.rows import Piece, Row, row, spread_apart, width_of
from tickmon.tui.view import View
from tickmon.tui.widgets.banner import BANNER_ROWS, draw_banner
from tickmon.tui.words import clock_text, why_ended
from tickmon.units import duration_text

RESTART = " r starts it again "
"""Behind the reason why nothing comes."""


def draw_message(view: View, width: int, height: int) -> list[Row]:
    """One row: why nothing comes, else an open gap, else the first warning and how many there are.

    On hold there are three where there is room, and say that large.
    """
    if view.paused and height >= BANNER_ROWS:
        return draw_banner(view, width)
    if view.ended is not None:
        again = (Piece(RESTART[:2], "key", "app.restart"), Piece(RESTART[2:], "label", "app.restart"))
        return [spread_apart(row((f" {why_ended(view.ended)} ", "bad")), again, width)]
    line, doctor = _message(view), _doctor(view)
    if view.recorded is not None:
        return [spread_apart(line, _recorded(view.recorded, width), width)]
    if not doctor or width_of(line) + width_of(doctor) >= width:
        return [line]
    return [spread_apart(line, doctor, width)]


def _recorded(recorded: Recorded, width: int) -> Row:
    """Where the recording goes; of a name that leaves too little room the end is told, which has the time."""
    name = harmless(str(recorded.path), 4096)
    room = width * 5 // 8
    return row((" to ", "label"), (name if len(name) <= room else f"…{name[1 - room :]}", "value"), " ")


def _doctor(view: View) -> Row:
    """What the doctor would say; it has its own key, so it stands here only where there is room."""
    if not view.doctor:
        return ()
    return (
        Piece("doctor: ", "label", "app.doctor"),
        Piece(view.doctor, "warn", "app.doctor"),
        Piece(" · ", "label", "app.doctor"),
        Piece("d ", "key", "app.doctor"),
    )


def _message(view: View) -> Row:
    if view.open_gap is not None and not view.paused:
        gap = duration_text(view.open_gap.gap_s * 1e9, digits=2)
        since = clock_text(view.open_gap.since)
        return row((f" CPU {view.settings.cpu}: not running for {gap} ", "bad"), (f" since {since}", "label"))
    if view.reading is None:
        return row((f" {view.status}", "value"))
    if view.remark:
        return row((f" {view.remark[0]}", "value"), f" {view.remark[1]}")
    warnings = view.reading.analysis.warnings
    if not warnings:
        return row((" no warnings", "label"))
    return (
        Piece(f" ! 1 of {len(warnings)} " if len(warnings) > 1 else " ! ", "warn", "app.warnings"),
        Piece(f" {warnings[0].message}", "plain", "app.warnings"),
    )
