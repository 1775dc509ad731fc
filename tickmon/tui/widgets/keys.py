"""The key line: as many keys as fit, the needed ones first; each can be clicked."""

from __future__ import annotations

from tickmon.tui.actions import ACTIONS
from tickmon.tui.rows import Piece, Row, width_of
from tickmon.tui.view import View

_PAIRS = (("go(1)", "← →", "CPU", 1), ("step(-1)", ", .", "step", 5), ("window(1)", "+ -", "window", 2))
"""Two actions that share a place in the line."""
_ON_HOLD = {"step(-1)": 1, "worst": 1, "cpus": 4, "window(1)": 4}
"""Other ranks while the picture is on hold."""


def draw_keys(view: View, width: int, _height: int) -> list[Row]:
    """One row."""
    paused = view.paused_age_s is not None
    entries = []
    for action in ACTIONS:
        rank = _ON_HOLD.get(action.name) if paused else None
        pair = next((pair for pair in _PAIRS if pair[0] == action.name), None)
        if pair:
            entries.append((rank or pair[3], _entry(pair[1], pair[2], action.name)))
        elif action.word:
            word = "go on" if action.name == "pause" and paused else action.word
            entries.append((rank or action.rank, _entry(action.shown.split()[0], word, action.name)))
    for left_out in range(9, -1, -1):
        line = tuple(piece for rank, entry in entries if rank <= left_out for piece in entry)
        if width_of(line) <= width:
            return [line]
    return [line]


def _entry(key: str, word: str, action: str) -> Row:
    return (Piece(f" {key}", "key", f"app.{action}"), Piece(f" {word} ", "label", f"app.{action}"))
