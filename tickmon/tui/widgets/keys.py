"""The key line: as many keys as fit, the needed ones first; each can be clicked."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tickmon.tui.actions import Action
from tickmon.tui.rows import Piece, Row, width_of
from tickmon.tui.view import View

_PAIRS = (
    ("go(1)", "←→", "CPU", 1),
    ("speed(-1)", "< >", "speed", 1),
    ("step(-1)", ", .", "step", 5),
    ("window(1)", "+ -", "window", 3),
)
"""Two actions that share a place in the line."""
_ON_HOLD = {"step(-1)": 1, "worst": 1, "cpus": 4, "window(1)": 4}
"""Other ranks while the picture is on hold."""


def draw_keys(view: View, width: int, _height: int) -> list[Row]:
    """One row."""
    return [_key_line(view.actions, width, view.paused)]


@lru_cache(maxsize=4)
def _key_line(actions: tuple[Action, ...], width: int, paused: bool) -> Row:
    entries = []
    for action in actions:
        rank = _ON_HOLD.get(action.name) if paused else None
        pair = next((pair for pair in _PAIRS if pair[0] == action.name), None)
        if pair:
            entries.append((rank or pair[3], key_entry(pair[1], pair[2], f"app.{action.name}")))
        elif action.word:
            word = "go on" if action.name == "pause" and paused else action.word
            entries.append(
                (rank or action.rank, key_entry(action.shown.split()[0], word, f"app.{action.name}"))
            )
    return tuple(piece for entry in fitting(entries, width) for piece in entry)


def fitting(entries: Sequence[tuple[int, Row]], width: int) -> list[Row]:
    """As many of ``entries`` as ``width`` columns hold, the lowest ranks first, in their own order."""
    kept: set[int] = set()
    for _, number in sorted((rank, number) for number, (rank, _) in enumerate(entries)):
        if width_of(entries[number][1]) <= width:
            kept.add(number)
            width -= width_of(entries[number][1])
    return [entry for number, (_, entry) in enumerate(entries) if number in kept]


def key_entry(keys: str, word: str, action: str = "") -> Row:
    """A key and what it does; a click does that too."""
    return (Piece(f" {keys}", "key", action), Piece(f" {word} ", "label", action))
