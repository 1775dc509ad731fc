"""Rows of inked text: what every part of the screen is drawn as, before it meets colours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, compress, count, repeat, starmap, zip_longest
from operator import ne
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
    "cursor",  # the window on show, in the time lines
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
    return sum([len(piece.text) for piece in pieces])


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


def heading(title: str, width: int, *notes: str) -> Row:
    """The line that begins a part of the screen: its name, a rule, and the first note that has room."""
    left = row(("─ ", "faint"), (f"{title} ", "head"))
    room = width - width_of(left) - len("─  ─")
    note = next((note for note in notes if note and len(note) <= room), "")
    right = row((f" {note} ", "label"), ("─", "faint")) if note else row(("─", "faint"))
    rule = max(width - width_of(left) - width_of(right), 0)
    return (*left, Piece("─" * rule, "faint"), *right)


BRIDGE = 8
"""Fewer unchanged columns than this between two changes are sent again: a jump over them costs as much."""


def changed_spans(old: Row, new: Row) -> list[tuple[int, int]]:
    """The columns (first, one past the last) in which ``new`` looks different from ``old``."""
    first = _alike(old, new)
    before, now = old[first:], new[first:]
    last = _alike(before[::-1], now[::-1])
    # What is alike at the end stands where it stood only when what comes before it is as wide as it was.
    if last and width_of(before[:-last]) == width_of(now[:-last]):
        before, now = before[:-last], now[:-last]
    cells = zip_longest(_cells(before), _cells(now))
    differ = compress(count(width_of(new[:first])), starmap(ne, cells))
    spans: list[tuple[int, int]] = []
    for column in differ:
        if spans and column - spans[-1][1] < BRIDGE:
            spans[-1] = (spans[-1][0], column + 1)
        else:
            spans.append((column, column + 1))
    return spans


def _alike(old: Row, new: Row) -> int:
    """With how many equal pieces both begin."""
    return next(compress(count(), map(ne, old, new)), min(len(old), len(new)))


def _cells(pieces: Row) -> Iterator[tuple[str, Ink]]:
    return chain.from_iterable([zip(piece.text, repeat(piece.ink)) for piece in pieces])
