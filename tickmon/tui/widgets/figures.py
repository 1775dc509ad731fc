"""The figures: overhead in large digits, what one tick costs, baseline, the tick check, the worst."""

from __future__ import annotations

from tickmon.analysis.readings import Analysis
from tickmon.tui.plots import large
from tickmon.tui.rows import Piece, Row, row, width_of
from tickmon.tui.view import Reading, View
from tickmon.tui.words import check_words, clock_text, kernel_row_words, length_text
from tickmon.units import count_text, significant
from tickmon.windows import Method

_LEFT = 21
_LABEL = 15
_FACTS_FROM = 116
"""Columns from which on there is room for the facts behind the figures."""


def draw_figures(view: View, width: int, height: int) -> list[Row]:
    """Five rows: the overhead at the left, the other figures beside it, and on wide screens the facts."""
    left = _overhead(view)
    right = _figures(view) if view.reading else [()] * 5
    known = facts(view) if view.reading and width >= _FACTS_FROM else [()] * 5
    rows = []
    for big, figures, fact in zip(left, right, known, strict=True):
        line = (*_padded(big, _LEFT), *figures)
        if fact:
            line = (*_padded(line, width - 40), *fact)
        rows.append(line)
    return rows[:height]


def _padded(pieces: Row, width: int) -> Row:
    return (*pieces, Piece(" " * max(width - width_of(pieces), 0)))


def _overhead(view: View) -> list[Row]:
    share = view.reading.analysis.overhead_share if view.reading else None
    text = "–" if share is None else f"{_percent(share)} %"
    note = f"of CPU {view.settings.cpu} is taken" if share is not None else ""
    return [
        row((" overhead", "label")),
        *(row((f" {line}", "large")) for line in large(text)),
        row((f" {note}", "label")),
    ]


def _percent(share: float) -> str:
    """Always four characters or so: what jumps in width cannot be read while it changes."""
    percent = share * 100
    return significant(percent, 3) if percent >= 0.0995 else f"{percent:.3f}"


def _figures(view: View) -> list[Row]:
    reading = view.reading
    assert reading is not None
    cost = _loop_cost(view, reading) if view.settings.method is Method.LOOP else _tick_cost(view, reading)
    return [*cost, _baseline(view, reading), _check(reading.analysis), _worst(view, reading)]


def _text(view: View, reading: Reading, cycles: float | None) -> str:
    return length_text(cycles, reading.analysis.tsc_hz, in_cycles=view.in_cycles)


def _tick_cost(view: View, reading: Reading) -> list[Row]:
    spread = reading.trend.recent_tick
    pairs = (("median", spread.median_cycles), ("99th", spread.p99_cycles), ("worst", spread.max_cycles))
    pieces = [_label("one tick costs")]
    for name, cycles in pairs:
        pieces += [Piece(_text(view, reading, cycles).rjust(8), "value"), Piece(f" {name}  ", "label")]
    note = f"{count_text(spread.n)} ticks in the last {reading.trend.recent_tick_s:.0f} s"
    return [tuple(pieces), row(_label(""), (note, "label"))]


def _loop_cost(view: View, reading: Reading) -> list[Row]:
    spread = reading.analysis.spread
    pairs = (("median", spread.median_cycles), ("99th", spread.p99_cycles), ("worst", spread.max_cycles))
    pieces = [_label("one sample is")]
    for name, cycles in pairs:
        pieces += [Piece(_text(view, reading, cycles).rjust(8), "value"), Piece(f" {name}  ", "label")]
    note = f"{count_text(spread.n)} samples of {count_text(view.settings.loop_size)} turns"
    return [tuple(pieces), row(_label(""), (note, "label"))]


def _baseline(view: View, reading: Reading) -> Row:
    analysis, trend = reading.analysis, reading.trend
    text = _text(view, reading, analysis.baseline_cycles)
    pieces = [_label("min-baseline"), Piece(text.rjust(8), "value")]
    verdict = analysis.baseline_verdict
    if verdict is not None:
        words = {True: "holds", False: "DOES NOT HOLD", None: "cannot be judged"}[verdict.holds]
        return (*pieces, Piece(f"  {words}: {verdict.reason}", "warn" if verdict.holds is False else "label"))
    low, high = trend.baseline_low_cycles, trend.baseline_high_cycles
    drift = f"{_text(view, reading, low)} to {_text(view, reading, high)}" if low != high else "none"
    threshold = _text(view, reading, analysis.window.segment.threshold_cycles)
    return (
        *pieces,
        *row(("  drift ", "label"), drift, ("  threshold ", "label"), threshold),
    )


def _check(analysis: Analysis) -> Row:
    counted, verdict, ink = check_words(analysis.check)
    kernel = kernel_row_words(analysis.check)
    return row(
        _label("elapsed ticks"), f"{counted}: ", (verdict, ink), (f" · {kernel}" if kernel else "", "label")
    )


def _worst(view: View, reading: Reading) -> Row:
    worst = reading.trend.worst
    if worst is None:
        return row(_label("worst so far"), ("nothing has interrupted yet", "label"))
    return row(
        _label("worst so far"),
        (_text(view, reading, worst.gap_cycles).rjust(8), "value"),
        (" at ", "label"),
        clock_text(worst.at),
        (" · ", "label"),
        reading.trend.worst_source,
    )


def _label(text: str) -> Piece:
    return Piece(text.ljust(_LABEL), "label")


def facts(view: View) -> list[Row]:
    """What the figures rest on, for whoever compares two of them."""
    reading = view.reading
    assert reading is not None
    analysis = reading.analysis
    segment, window = analysis.window.segment, analysis.window
    tick = segment.kernel_tick
    since = clock_text(reading.trend.since or window.started_at)
    typical = _text(view, reading, analysis.typical_cycles)
    return [
        _fact("counter", f"{analysis.tsc_hz / 1e6:,.3f} MHz ({segment.tsc_hz_source})"),
        _fact("tick", f"{tick.hz:g} Hz ({tick.source})" if tick else "HZ not known"),
        _fact("reads", f"{significant(window.reads / reading.length_s / 1e6, 3)} M/s, {typical} each"),
        _fact("details lost", count_text(window.lost)),
        _fact("windows", f"{count_text(reading.trend.windows)} since {since}"),
    ]


def _fact(name: str, text: str) -> Row:
    return row((f"{name:<14}", "label"), text)
