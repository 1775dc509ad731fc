"""The title line: which CPU and what it is, method, window, and whether this is live."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.tui.rows import Ink, Piece, Row, row, spread_apart, width_of
from tickmon.tui.view import Replayed, View
from tickmon.tui.words import clock_text, window_text
from tickmon.units import size_text


def draw_title(view: View, width: int, _height: int) -> list[Row]:
    """One row; when it is narrow the program's name gives way first, then what the CPU is."""
    state = (*_recorded(view), *_state(view))
    ink: Ink = "paused" if view.paused else "bar"
    room = width - width_of(state) - 1
    text = next((text for text in _texts(view) if len(text) <= room), f" CPU {view.settings.cpu}")
    return [spread_apart(row((text, ink)), state, width)]


def _texts(view: View) -> Iterator[str]:
    """What stands at the left, in full and then with less and less."""
    settings = view.settings
    window = window_text(settings.window_s)
    words = view.cpu_words.split(" · ") if view.cpu_words else []
    cpu = f"CPU {settings.cpu}"
    if view.replayed is not None and view.reading is not None:
        cpu = f"REPLAY of {view.replayed.host} · {cpu}"
        words = [f"{view.reading.ended_at.astimezone():%Y-%m-%d}"]
    trace = _trace_words(view)
    long = (f"{settings.method} method", f"{window} window", *trace)
    yield " · ".join((f" tickmon  {cpu}", *words, *long))
    for kept in range(len(words), -1, -1):
        yield " · ".join((f" {cpu}", *words[:kept], *long))
        yield " · ".join((f" {cpu}", *words[:kept], settings.method, window, *trace))


def _trace_words(view: View) -> tuple[str, ...]:
    """Whether the kernel traces that CPU, where that was asked for."""
    if not view.settings.trace:
        return ()
    if view.reading is None or view.reading.analysis.traced is not None:
        return ("trace on",)
    refused = any(warning.code == "not_traced" for warning in view.reading.analysis.warnings)
    # Without such a warning it is a window from before the trace was turned on.
    return ("no trace: ! says why" if refused else "not traced",)


def _recorded(view: View) -> Row:
    """That a recording runs and how long its file is, or what is wrong with it."""
    recorded = view.recorded
    if recorded is None:
        return ()
    words = recorded.trouble.upper() or size_text(recorded.size_bytes)
    return (Piece(f" REC {words} ", "bad", "app.record"),)


def _state(view: View) -> Row:
    reading = view.reading
    if view.ended is not None:
        return row((" STOPPED ", "paused"))
    if reading is None:
        return row((" STARTING ", "bar"))
    at = clock_text(reading.ended_at)
    if view.replayed is not None:
        return _replay_state(view.replayed, at, playing=not view.paused)
    if view.paused:
        return row((f" PAUSED {at} ", "paused"))
    window = reading.analysis.window
    if window.provisional:
        return row((f" LIVE {reading.length_s:.1f} of {window_text(window.segment.window_s)} ", "live"))
    return row((f" LIVE {at} ", "live"))


def _replay_state(replayed: Replayed, at: str, *, playing: bool) -> Row:
    place = f"{at} · {replayed.at} of {replayed.windows}"
    if playing:
        return row((f" ×{replayed.times:g} {place} ", "live"))
    return row((f" PAUSED {place} ", "paused"))
