"""One CPU of the overview as a row of text: its figures, or why there are none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tickmon.analysis.readings import Check
from tickmon.tui.board import CpuRow
from tickmon.tui.plots import BLOCKS, sweep
from tickmon.tui.rows import Ink, Piece, Row, fit
from tickmon.tui.words import clock_text
from tickmon.units import duration_text, share_text, significant

_TIME_FROM = 104
_WHAT_FROM = 132
"""Columns from which on there is room for the time of day of a reading, and for what the CPU is."""

_WIDTHS = (("CPU", 6), ("overhead", 10), ("ticks/s", 15), ("one tick", 10), ("worst", 9))
_VERDICT = 12
_TIME = 10
_WHAT = 28

_LOWEST_SHARE = 1e-4
_STEPS_A_DECADE = 2
"""Of the time line: from 0.01 % to 30 % a step each √10, so that every CPU can have the same scale."""
WRITE_MARK = "│"


def heading_text(width: int) -> str:
    """The names of the columns."""
    text = " " + "".join(name.rjust(size) for name, size in _WIDTHS) + "  check".ljust(_VERDICT)
    if width >= _TIME_FROM:
        text += "at".ljust(_TIME)
    if width >= _WHAT_FROM:
        text += "what it is".ljust(_WHAT)
    room = width - len(text) - 1
    names = ("overhead of each window, 0.01 to 30 % and more", "overhead, 0.01 to 30 %", "overhead")
    return text + next((name for name in names if len(name) <= room), "")


def draw_cpu(row: CpuRow, *, bracket: str, what: str, width: int) -> Row:
    """``width`` columns. ``bracket`` joins the CPUs of a core; ``what`` says what the CPU is."""
    name = (
        Piece("■" if row.sampled else " ", "good"),
        Piece(bracket, "faint"),
        Piece(f"{row.cpu:>5}", "value" if row.sampled else "plain"),
    )
    if not row.measured:
        words, ink = why_not(row)
        return fit((*name, Piece(f"  {words}", ink)), width)
    reading = row.reading
    assert reading is not None
    check, ink = verdict_words(reading.check)
    texts = (
        share_text(reading.overhead_share),
        rate_words(reading.check),
        duration_text(reading.tick_median_ns),
        duration_text(row.worst_ns),
    )
    pieces = [Piece(text.rjust(size)) for text, (_, size) in zip(texts, _WIDTHS[1:], strict=True)]
    pieces.append(Piece(f"  {check}".ljust(_VERDICT), ink))
    if width >= _TIME_FROM:
        pieces.append(Piece(clock_text(reading.ended_at).ljust(_TIME), "label"))
    if width >= _WHAT_FROM:
        pieces.append(Piece(what[: _WHAT - 2].ljust(_WHAT), "label"))
    used = sum(len(piece.text) for piece in (*name, *pieces))
    return (*name, *pieces, *_time_line(row.shares, row.windows, width - used - 1))


def rate_words(check: Check) -> str:
    """How many of the ticks that are due in a second come, by the newest window: ``250 of 250``."""
    if not check.expected or check.seen is None or check.hz is None:
        return "–"
    return f"{significant(check.hz * check.seen / check.expected, 3)} of {check.hz:g}"


def verdict_words(check: Check) -> tuple[str, Ink]:
    """The elapsed-tick check in at most ten characters, and how good that is."""
    match check.verdict:
        case "ok":
            return ("regular" if check.basis == "measured" else "ok"), "good"
        case "missing":
            return "missing", "bad"
        case "extra":
            return "extra", "bad"
        case "stopped":
            return "stopped", "good"
    return "unknown", "label"


def why_not(row: CpuRow) -> tuple[str, Ink]:
    """Why a CPU has no figures, in words."""
    if row.offline:
        return "offline", "warn"
    if row.sampled:
        return "being measured …", "label"
    if row.failed:
        return f"not measured: {row.failed}", "bad"
    if row.spared:
        return "left to tickmon's own screen", "label"
    if row.busy:
        return f"left alone: {row.busy}", "label"
    return "…", "label"


def _time_line(shares: Sequence[float], total: int, width: int) -> Row:
    """The overhead of the newest windows; a write mark moves through it."""
    if width < 4:
        return ()
    levels = [_level(share) for share in shares]
    places = sweep(levels, total=total, width=width)
    text = "".join(BLOCKS[int(level)] for level in np.nan_to_num(places))
    mark = total % width
    return (Piece(text[:mark], "line"), Piece(WRITE_MARK, "faint"), Piece(text[mark + 1 :], "older"))


def _level(share: float) -> int:
    """From 0, nothing, to 8, a third of the CPU or more."""
    if share <= 0:
        return 0
    return min(max(math.floor(math.log10(share / _LOWEST_SHARE) * _STEPS_A_DECADE) + 1, 1), 8)
