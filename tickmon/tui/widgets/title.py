"""The title line: which CPU and what it is, method, window, and whether this is live."""

from __future__ import annotations

from tickmon.tui.rows import Row, row, spread_apart, width_of
from tickmon.tui.view import View
from tickmon.tui.words import age_text, clock_text, window_text


def draw_title(view: View, width: int, _height: int) -> list[Row]:
    """One row; what the CPU is gives way first when it is narrow."""
    settings = view.settings
    how = f"{settings.method} method · {window_text(settings.window_s)} window"
    state = _state(view)
    short = f"CPU {settings.cpu} · {how}"
    full = f"CPU {settings.cpu} · {view.cpu_words} · {how}" if view.cpu_words else short
    name = " tickmon  "
    text = full if len(name) + len(full) + 2 + width_of(state) <= width else short
    return [spread_apart(row((name, "bar"), (text, "bar")), state, width)]


def _state(view: View) -> Row:
    reading = view.reading
    if view.ended is not None:
        return row((" STOPPED ", "paused"))
    if reading is None:
        return row((" WAIT ", "bar"))
    at = clock_text(reading.ended_at)
    if view.paused_age_s is not None:
        return row((f" PAUSED {at} · {age_text(view.paused_age_s)} ago ", "paused"))
    window = reading.analysis.window
    if window.provisional:
        return row((f" LIVE {at} · first {reading.length_s:.1f} s ", "live"))
    return row((f" LIVE {at} ", "live"))
