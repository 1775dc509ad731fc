"""What is said while the picture is on hold: PAUSED and the time of day of what is shown, large."""

from __future__ import annotations

from tickmon.tui.plots import large
from tickmon.tui.rows import Piece, Row, fit, row
from tickmon.tui.view import View
from tickmon.tui.words import clock_text, why_ended

BANNER_ROWS = 3

_WIDE = 72
"""Columns from which on the letters stand apart."""


def draw_banner(view: View, width: int) -> list[Row]:
    """Three rows: the word and the time at the left, and beside them why this window, and what goes on."""
    if view.reading is None:
        return []
    word = "P A U S E D" if width >= _WIDE else "PAUSED"
    letters = large(f"{word}   {clock_text(view.reading.ended_at)}", ascii_only=view.ascii_only)
    room = width - len(letters[0]) - 4
    return [
        (*row((f" {text} ", "paused")), Piece("  "), *fit(beside, room))
        for text, beside in zip(letters, _beside(view), strict=True)
    ]


def _beside(view: View) -> tuple[Row, Row, Row]:
    if view.ended is not None:
        going_on = row((why_ended(view.ended), "bad"))
    else:
        going_on = (
            Piece("space", "key", "app.pause"),
            Piece(_going_on(view), "label", "app.pause"),
        )
    return *_why(view), going_on


def _why(view: View) -> tuple[Row, Row]:
    """Which of the worst it is and what that was; else how many windows it joins, and its gravest warning."""
    if view.remark is not None:
        return row((view.remark[0], "value")), row(view.remark[1])
    joined = view.cursor.windows if view.cursor is not None else 1
    warnings = view.reading.analysis.warnings if view.reading is not None else ()
    return (
        row(f"{joined} windows as one, for their age") if joined > 1 else (),
        (Piece("! ", "warn", "app.warnings"), Piece(warnings[0].message, "plain", "app.warnings"))
        if warnings
        else (),
    )


def _going_on(view: View) -> str:
    if view.replayed is None:
        return ": live; sampling goes on"
    again = " anew" if view.replayed.at == view.replayed.windows else " on"
    return f": plays{again}, ×{view.replayed.times:g}"
