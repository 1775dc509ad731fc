"""Numbers to rows of text: bars, a logarithmic axis, a sweeping time line, large digits. Plain functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

BLOCKS = " ▁▂▃▄▅▆▇█"
"""A cell filled by eighths, from below."""
_BLOCKS = np.array(list(BLOCKS))

_DIGITS = {
    "0": ("╭─╮", "│ │", "╰─╯"),
    "1": ("╶╮ ", " │ ", "╶┴╴"),
    "2": ("╶─╮", "╭─╯", "╰─╴"),
    "3": ("╶─╮", "╶─┤", "╶─╯"),
    "4": ("╷ ╷", "╰─┤", "  ╵"),
    "5": ("╭─╴", "╰─╮", "╶─╯"),
    "6": ("╭─╴", "├─╮", "╰─╯"),
    "7": ("╶─╮", "  │", "  ╵"),
    "8": ("╭─╮", "├─┤", "╰─╯"),
    "9": ("╭─╮", "╰─┤", "╶─╯"),
    "–": ("   ", "╶─╴", "   "),
    ".": (" ", " ", "•"),
    "%": (" ", " ", "%"),
    " ": (" ", " ", " "),
    ":": (" ", "•", "•"),
    "P": ("╭─╮", "├─╯", "╵  "),
    "A": ("╭─╮", "├─┤", "╵ ╵"),
    "U": ("╷ ╷", "│ │", "╰─╯"),
    "S": ("╭─╴", "╰─╮", "╶─╯"),
    "E": ("╭─╴", "├─╴", "╰─╴"),
    "D": ("┬─╮", "│ │", "┴─╯"),
}
"""Digits, and the letters of the one word that is written large."""

_ASCII_DIGITS = {
    "0": (" _ ", "| |", "|_|"),
    "1": ("   ", "  |", "  |"),
    "2": (" _ ", " _|", "|_ "),
    "3": (" _ ", " _|", " _|"),
    "4": ("   ", "|_|", "  |"),
    "5": (" _ ", "|_ ", " _|"),
    "6": (" _ ", "|_ ", "|_|"),
    "7": (" _ ", "  |", "  |"),
    "8": (" _ ", "|_|", "|_|"),
    "9": (" _ ", "|_|", " _|"),
    "–": ("   ", " _ ", "   "),
    ".": (" ", " ", "."),
    ":": (" ", ".", "."),
    "P": (" _ ", "|_|", "|  "),
    "A": (" _ ", "|_|", "| |"),
    "U": ("   ", "| |", "|_|"),
    "S": (" _ ", "|_ ", " _|"),
    "E": (" _ ", "|_ ", "|_ "),
    "D": ("__ ", "| |", "|_|"),
}


def bars(values: NDArray[np.float64] | NDArray[np.int64], *, height: int, top: float) -> list[str]:
    """``values`` (shape ``(width,)``, 0 or more) as bars of ``height`` rows of text, upper row first.

    ``top`` fills all but the last eighth, so that a strip of bars never touches what stands above it.
    Whatever is above 0 is at least the lowest block, so that one event shows beside thousands.
    """
    full = height * 8 - 1
    eighths = np.ceil(np.minimum(values / top, 1.0) * full - 1e-9) if top > 0 else np.zeros(len(values))
    eighths = np.where(np.asarray(values) > 0, np.maximum(eighths, 1), 0).astype(int)
    below = 8 * np.arange(height - 1, -1, -1)
    cells = _BLOCKS[np.clip(eighths - below[:, np.newaxis], 0, 8)]
    return ["".join(row) for row in cells.tolist()]


def nice_top(value: float) -> float:
    """The smallest 1, 2 or 5 times a power of ten that is not below ``value`` (above 0)."""
    decade = 10.0 ** math.floor(math.log10(value))
    return next(step * decade for step in (1, 2, 5, 10) if step * decade >= value * (1 - 1e-9))


def nice_bottom(value: float) -> float:
    """The largest 1, 2 or 5 times a power of ten that is not above ``value`` (above 0) by more than 2 %."""
    decade = 10.0 ** math.floor(math.log10(value * 1.02))
    return next(step * decade for step in (5, 2, 1) if step * decade <= value * 1.02)


@dataclass(frozen=True, slots=True)
class Axis:
    """A logarithmic axis of lengths; what is at or above ``high_ns`` has a place of its own beyond it."""

    low_ns: float
    high_ns: float

    def edges_ns(self, width: int) -> NDArray[np.float64]:
        """Where each of ``width`` columns begins, and where the last one ends: shape ``(width + 1,)``."""
        return _edges(self.low_ns, self.high_ns, width)

    def column(self, length_ns: float, width: int) -> int:
        """In which of ``width`` columns a length lies (below 0 or above ``width - 1``: outside)."""
        share = math.log(length_ns / self.low_ns) / math.log(self.high_ns / self.low_ns)
        return math.floor(share * width + 1e-9)


@lru_cache(maxsize=4)
def _edges(low: float, high: float, columns: int) -> NDArray[np.float64]:
    # The same in each frame, and asked for by each source.
    edges = np.geomspace(low, high, columns + 1)
    edges.flags.writeable = False
    return edges


def fit_axis(axis: Axis | None, *, shortest_ns: float, beyond: Callable[[float], int]) -> Axis:
    """``axis`` unchanged while it will do: a picture whose axis moves cannot be compared with the last.

    It reaches down to ``shortest_ns`` and up to 10 ms, further by decades only while ten or more
    interruptions of the window lie past its end (``beyond(ns)``: how many are at least that long).
    """
    low_ns, high_ns = (axis.low_ns, axis.high_ns) if axis else (math.inf, 1e7)
    if shortest_ns * 1.02 < low_ns:
        low_ns = nice_bottom(shortest_ns)
    while high_ns < 1e11 and beyond(high_ns) >= 10:
        high_ns *= 10
    return Axis(low_ns, high_ns)


def column_counts(lengths_ns: NDArray[np.floating], axis: Axis, width: int) -> NDArray[np.int64]:
    """How many lengths lie in each column of the axis, shape ``(width + 1,)``: the last is what lies beyond.

    What is shorter than the axis is counted in the first column: nothing is dropped.
    """
    columns = np.searchsorted(axis.edges_ns(width), lengths_ns, side="right") - 1
    return np.bincount(np.clip(columns, 0, width), minlength=width + 1).astype(np.int64)


def binned_column_counts(
    counts: NDArray[np.int64], edges_ns: NDArray[np.float64], axis: Axis, width: int
) -> NDArray[np.int64]:
    """The same from bins (``counts[i]`` lengths from ``edges_ns[i]`` to the next edge): by their middles."""
    filled = np.flatnonzero(counts)
    upper = np.append(edges_ns[1:], edges_ns[-1])
    columns = np.searchsorted(axis.edges_ns(width), (edges_ns[filled] + upper[filled]) / 2, side="right") - 1
    return np.bincount(
        np.clip(columns, 0, width), weights=counts[filled].astype(float), minlength=width + 1
    ).astype(np.int64)


def spread_over_columns(
    counts: NDArray[np.int64], edges_ns: NDArray[np.float64], axis: Axis, width: int
) -> NDArray[np.float64]:
    """The same with each bin spread evenly over the columns that it covers, so parts of ones: for a backdrop.

    A bin may be wider than a column, and its count in one column of several would look like a comb.
    """
    below = np.concatenate([[0], np.cumsum(counts)])
    upper = np.append(edges_ns, edges_ns[-1] * 2)
    inner = np.interp(axis.edges_ns(width)[1:], upper, below)
    return np.diff(np.concatenate([[0.0], inner, [float(below[-1])]]))


def decades(axis: Axis, width: int, *, unit_ns: float) -> list[tuple[int, float]]:
    """Column and length (in units of ``unit_ns``) of each power of ten that lies within the axis."""
    low, high = axis.low_ns / unit_ns, axis.high_ns / unit_ns
    first = math.ceil(math.log10(low) - 1e-9)
    last = math.floor(math.log10(high) + 1e-9)
    return [(axis.column(10.0**p * unit_ns, width), 10.0**p) for p in range(first, last + 1)]


def axis_labels(places: Sequence[tuple[int, str]], width: int) -> str:
    """One row with a mark at each place (column, label; ascending) and its label behind the mark.

    A label that would run into the next mark or past ``width`` is left out, and its mark stays.
    """
    line = ""
    inside = [(column, label) for column, label in places if 0 <= column < width]
    for index, (column, label) in enumerate(inside):
        end = inside[index + 1][0] if index + 1 < len(inside) else width
        room = end - column - 1
        line = line.ljust(column) + "╵" + (label if len(label) <= room else "")
    return line.ljust(width)


def sweep(values: Sequence[float], *, total: int, width: int) -> NDArray[np.float64]:
    """The newest of ``values`` (the last of ``total`` so far) in ``width`` places that stay where they are.

    Value n stands at place n modulo ``width``, so a new one changes two places and not all. The place
    after the newest is NaN: there the line is being written. Places never filled are NaN too.
    """
    places = np.full(width, np.nan)
    shown = list(values)[-(width - 1) :] if width > 1 else []
    for back, value in enumerate(reversed(shown)):
        places[(total - 1 - back) % width] = value
    return places


def large(text: str, *, ascii_only: bool = False) -> list[str]:
    """``text`` (digits, point, colon, dash, per cent, spaces, PAUSED) in letters of three rows."""
    shapes = _DIGITS | _ASCII_DIGITS if ascii_only else _DIGITS
    glyphs = [shapes[character] for character in text]
    return ["".join(glyph[row] for glyph in glyphs) for row in range(3)]
