"""Rows of inked text: what every part of the screen is drawn as, before it meets colours."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

Ink = Literal[
    "plain",  # ordinary words
    "label",  # what a figure is called, and its unit
    "faint",  # rules, grid lines
    "value",  # a figure
    "head",  # the heading of a part
    "large",  # the overhead
    "tick",  # the kernel's tick
    "train",  # other trains
    "rest",  # everything else
    "line",  # the time lines' newer part
    "older",  # their part from before
    "good",
    "warn",
    "bad",
    "bar",  # the title line
    "live",  # in the title line
    "paused",  # the same, while paused
    "key",  # a key in the key line
]
"""What a piece of text is; the theme says what that looks like."""


class Piece(NamedTuple):
    """Some text of one ink; a click on it does ``action``."""

    text: str
    ink: Ink = "plain"
    action: str = ""


Row = tuple[Piece, ...]


def row(*pieces: Piece | str | tuple[str, Ink]) -> Row:
    """A row of pieces; a bare text is plain."""
    return tuple(Piece(piece) if isinstance(piece, str) else Piece(*piece) for piece in pieces)


def width_of(pieces: Iterable[Piece]) -> int:
    """The columns that the pieces take."""
    return sum(len(piece.text) for piece in pieces)


def spread_apart(left: Row, right: Row, width: int) -> Row:
    """``left`` and ``right`` at the two ends of ``width`` columns; the left one gives way."""
    room = max(width - width_of(right), 0)
    left = fit(left, room)
    return (*left, Piece(" " * (room - width_of(left)), left[-1].ink if left else "plain"), *right)


def fit(pieces: Row, width: int) -> Row:
    """``pieces`` cut to ``width`` columns, with an ellipsis where something was cut."""
    if width_of(pieces) <= width:
        return pieces
    kept: list[Piece] = []
    room = width
    for piece in pieces:
        if len(piece.text) >= room:
            kept.append(piece._replace(text=(piece.text[: room - 1] + "…") if room > 0 else ""))
            break
        kept.append(piece)
        room -= len(piece.text)
    return tuple(kept)


def heading(title: str, note: str, width: int) -> Row:
    """The line that begins a part of the screen: its name, a rule, and a note at the right end."""
    left = row(("─ ", "faint"), (f"{title} ", "head"))
    right = row((f" {note} ", "label"), ("─", "faint")) if note else row(("─", "faint"))
    if width_of(left) + width_of(right) + 1 > width:
        right = row(("─", "faint"))
    rule = max(width - width_of(left) - width_of(right), 0)
    return (*left, Piece("─" * rule, "faint"), *right)


def changed_spans(old: Row, new: Row) -> list[tuple[int, int]]:
    """Columns (first, one past the last) of ``new`` in which a piece differs from what ``old`` has there."""
    before: dict[int, Piece] = {}
    column = 0
    for piece in old:
        before[column] = piece
        column += len(piece.text)
    end_before = column
    spans: list[tuple[int, int]] = []
    column = 0
    for piece in new:
        end = column + len(piece.text)
        if before.get(column) != piece and end > column:
            if spans and spans[-1][1] == column:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((column, end))
        column = end
    if end_before > column:
        spans.append((column, end_before))
    return spans
