"""The figures: overhead in large digits, what one tick costs, baseline, the tick check, the worst."""

from __future__ import annotations

from typing import NamedTuple

from tickmon.analysis.change import Change
from tickmon.analysis.readings import Analysis
from tickmon.analysis.spread import sum_of
from tickmon.tui.plots import large
from tickmon.tui.rows import Ink, Piece, Row, fit, row, width_of
from tickmon.tui.view import Reading, View
from tickmon.tui.words import (
    change_ink,
    change_text,
    check_words,
    clock_text,
    kernel_row_words,
    length_text,
    range_text,
)
from tickmon.units import count_text, counted, share_text, significant
from tickmon.windows import Method

_LEFT = 17
_ROOMY_FROM = 80
_LEFT_ROOMY = 18
_LEFT_PINNED = 22
"""With room for how the overhead changed."""
_LABEL = 15
_VALUE = 7
_SHORT = {
    "one tick costs": "tick costs",
    "one sample": "sample",
    "min-baseline": "baseline",
    "elapsed ticks": "ticks",
    "worst so far": "worst",
}
_SHORT_LABEL = 11
_LABELS_FROM = 47
"""Columns beside the overhead from which on labels are said in full."""
_MEDIAN_FROM = 5
"""The smallest and largest of so many lie round the true median in 15 of 16 cases; of fewer it is luck."""
_FACTS = 38
_FACTS_FROM = 118
"""Columns from which on there is room for the facts behind the figures."""
_VERDICTS: dict[bool | None, tuple[str, Ink]] = {
    True: ("holds here", "good"),
    False: ("DOES NOT HOLD here", "bad"),
    None: ("cannot be judged", "label"),
}
"""Of the loop method's baseline."""


def draw_figures(view: View, width: int, height: int) -> list[Row]:
    """Five rows: the overhead at the left, the other figures beside it, and on wide screens the facts."""
    wide = width >= _FACTS_FROM
    facts_at = min(width - _FACTS, 100) if wide else width + 1
    comparing = view.against is not None and view.against.comparison is not None
    left_width = _LEFT if width < _ROOMY_FROM else _LEFT_PINNED if comparing else _LEFT_ROOMY
    figures = _figures(view, facts_at - 1 - left_width)
    rows = [
        (*_padded(left, left_width), *right)
        for left, right in zip(_overhead(view, left_width), figures, strict=True)
    ]
    if wide and view.reading is not None:
        rows = [
            (*_padded(fit(row, facts_at - 1), facts_at), *fact_row(fact, width - facts_at))
            for row, fact in zip(rows, facts(view.reading, view), strict=True)
        ]
    return rows[:height]


def _padded(pieces: Row, width: int) -> Row:
    return (*pieces, Piece(" " * max(width - width_of(pieces), 0)))


def _overhead(view: View, room: int) -> list[Row]:
    share = view.reading.analysis.overhead_share if view.reading else None
    text = "–" if share is None else f"{_percent(share)} %"
    note = f"of CPU {view.settings.cpu}" if share is not None else ""
    change = view.against.change("overhead_share") if view.against else None
    title: Row = (Piece(" overhead", "label", "app.explain('overhead')"),)
    if change is not None:
        note = f"was {share_text(change.before)}"
        wordings = (change_text(change).replace(" % ± ", sign) for sign in (" ± ", "±"))
        changed = next((text for text in wordings if width_of(title) + 1 + len(text) < room), "")
        title = (*title, Piece(f" {changed}", change_ink(change)))
    return [
        title,
        *(row((f" {line}", "large")) for line in large(text, ascii_only=view.ascii_only)),
        row((f" {note}", "label")),
    ]


def _percent(share: float) -> str:
    """Always four characters or so: what jumps in width cannot be read while it changes."""
    percent = share * 100
    return significant(percent, 3) if percent >= 0.0995 else f"{percent:.3f}"


def _figures(view: View, room: int) -> list[Row]:
    reading = view.reading
    if reading is None:
        return [()] * 5
    if room < _LABELS_FROM:
        return [(_short(label), *rest) for label, *rest in _rows(view, reading, room + _LABEL - _SHORT_LABEL)]
    return _rows(view, reading, room)


def _rows(view: View, reading: Reading, room: int) -> list[Row]:
    """Each begins with its label."""
    return [
        *_cost(view, reading, room),
        _baseline(view, reading, room),
        _check(reading.analysis, room),
        _worst(view, reading),
    ]


def _cost(view: View, reading: Reading, room: int) -> list[Row]:
    """What one tick costs; of the loop method, what one sample took. Where there is no room, no 99th."""
    if reading.analysis.window.segment.method is Method.LOOP:
        label, spread = "one sample", reading.analysis.spread
        note = f"{counted(spread.n, 'sample')} of {counted(view.settings.loop_size, 'iteration')}"
    else:
        label, spread = "one tick costs", reading.trend.recent_tick
        note = f"{counted(spread.n, 'tick')} in the last {_seconds(reading.trend.recent_tick_s)} s"
    against = view.against
    if against is not None and against.after and label == "one tick costs":
        spread = sum_of([analysis.tick.spread for analysis in against.after if analysis.tick is not None])
        note = f"{counted(spread.n, 'tick')} in the {_seconds(against.span_s)} s since"
    enough = spread.n >= _MEDIAN_FROM
    if spread.n > 0 and not enough:
        note += ": too few for a median"
    pieces = [_label(label)]
    for name, cycles in (
        ("median", spread.median_cycles if enough else None),
        ("99th", spread.p99_cycles),
        ("worst", spread.max_cycles),
    ):
        text = _text(view, reading, cycles)
        pieces += [
            Piece(text.rjust(_VALUE) if len(pieces) == 1 else f"  {text}", "value"),
            Piece(f" {name}", "label"),
        ]
    costs = tuple(pieces)
    if width_of(costs) > room:
        costs = (*costs[:3], *costs[5:])
    return [costs, _cost_before(view, reading, room) or row(_label(""), (note, "label"))]


def _cost_before(view: View, reading: Reading, room: int) -> Row:
    """What a tick, or a sample, did cost, and by how much that changed; nothing while that is not known."""
    against = view.against
    if against is None:
        return ()
    loop = reading.analysis.window.segment.method is Method.LOOP
    names = (
        (("sample_median_ns", "median"),) if loop else (("tick_median_ns", "median"), ("tick_p99_ns", "99th"))
    )
    pieces: Row = ()
    for name, words in names:
        change = against.change(name)
        text = "" if change is None else change_text(change)
        if change is None or not text:
            continue
        was = _was_text(view, reading, change)
        more = row(
            f"{was:>{_VALUE}}" if not pieces else f"  {was}",
            (f" {words}, ", "label"),
            (text, change_ink(change)),
        )
        if width_of(pieces) + width_of(more) + _LABEL <= room:
            pieces = (*pieces, *more)
    return (_label("was"), *pieces) if pieces else ()


def _was_text(view: View, reading: Reading, change: Change) -> str:
    ns = change.before or 0.0
    return length_text(ns * reading.analysis.tsc_hz / 1e9, reading.analysis.tsc_hz, in_cycles=view.in_cycles)


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= 9.95 else f"{seconds:.1f}"


def _baseline(view: View, reading: Reading, room: int) -> Row:
    """The baseline with its drift or verdict, and the threshold where there is room."""
    analysis, trend = reading.analysis, reading.trend
    value = Piece(_text(view, reading, analysis.baseline_cycles).rjust(_VALUE), "value")
    verdict = analysis.baseline_verdict
    if verdict is not None:
        words, ink = _VERDICTS[verdict.holds]
        line = (_label("min-baseline"), value, *row((" · ", "label"), (words, ink)))
        where = () if verdict.holds else row((": ! says why", ink))
        return (*line, *where) if width_of(line) + width_of(where) <= room else line
    low, high = trend.baseline_low_cycles, trend.baseline_high_cycles
    drift = range_text(_text(view, reading, low), _text(view, reading, high)) if low != high else "none"
    threshold = _text(view, reading, analysis.window.segment.threshold_cycles)
    line = (_label("min-baseline"), value, *row((" · drift ", "label"), drift))
    limit = row((" · threshold ", "label"), threshold)
    return (*line, *limit) if width_of(line) + width_of(limit) <= room else line


def _check(analysis: Analysis, room: int) -> Row:
    counted, verdict, ink = check_words(analysis.check)
    start = row(_label("elapsed ticks"), f"{counted}: ", (verdict, ink))
    notes = (f" · {words}" for words in kernel_row_words(analysis.check))
    note = next((note for note in notes if width_of(start) + len(note) <= room), "")
    return (*start, Piece(note, "label"))


def _worst(view: View, reading: Reading) -> Row:
    worst = reading.trend.worst
    if worst is None:
        return row(_label("worst so far"), ("nothing has interrupted yet", "label"))
    return row(
        _label("worst so far"),
        (_text(view, reading, worst.gap_cycles).rjust(_VALUE), "value"),
        (" at ", "label"),
        clock_text(worst.at),
        (" · ", "label"),
        reading.trend.worst_source,
    )


def _text(view: View, reading: Reading, cycles: float | None) -> str:
    return length_text(cycles, reading.analysis.tsc_hz, in_cycles=view.in_cycles)


def _label(text: str) -> Piece:
    """A click on it explains the figure."""
    return Piece(text.ljust(_LABEL), "label", f"app.explain('{text}')" if text in _SHORT else "")


def _short(label: Piece) -> Piece:
    text = label.text.rstrip()
    return Piece(_SHORT.get(text, text).ljust(_SHORT_LABEL), "label")


class Fact(NamedTuple):
    """Something that figures rest on, and where it is from or what it means."""

    name: str
    value: str
    note: str


def facts(reading: Reading, view: View) -> list[Fact]:
    """What the figures rest on, for whoever compares two of them."""
    analysis = reading.analysis
    segment, window = analysis.window.segment, analysis.window
    tick = segment.kernel_tick
    since = clock_text(reading.trend.since or window.started_at)
    per_s = window.reads / reading.watched_s
    reads = Fact(
        "reads", f"{significant(per_s / 1e6, 3)} M/s", f"{_text(view, reading, analysis.typical_cycles)} each"
    )
    if segment.loop_size is not None:
        reads = Fact("samples", f"{count_text(per_s)} /s", f"{counted(segment.loop_size, 'iteration')} each")
    return [
        Fact("counter", f"{analysis.tsc_hz / 1e6:,.3f} MHz", segment.tsc_hz_source),
        Fact("tick", f"{tick.hz:g} Hz" if tick else "–", tick.source if tick else "HZ is not known"),
        reads,
        Fact("lost", count_text(window.lost), "interruption details"),
        Fact("windows", count_text(reading.trend.windows), f"since {since}"),
    ]


def fact_row(fact: Fact, room: int) -> Row:
    """A fact in at most ``room`` columns; where there is too little the note is left out."""
    short = row((f"{fact.name:<9}", "label"), fact.value)
    full = (*short, Piece(f" · {fact.note}", "label"))
    return full if width_of(full) <= room else short
