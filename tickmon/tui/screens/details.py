"""All warnings, all sources, and what the figures rest on: what the main screen has no room for."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from tickmon.counted import counted_lines
from tickmon.tui.rows import Row
from tickmon.tui.view import View
from tickmon.tui.widgets.figures import fact_row, facts
from tickmon.tui.widgets.sources import draw_sources
from tickmon.tui.words import ended_words


class Details(Screen[None]):
    """Shows what is known about the window that was on show when it was opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,exclamation_mark", "close", "back", show=False)
    ]

    def __init__(self, view: View) -> None:
        super().__init__()
        self._view = view

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Static(" Warnings and details", id="list-title", markup=False)
        with VerticalScroll():
            yield Static(details_text(self._view), markup=False)
        yield Static(" ↑↓ scroll · Esc back", id="list-keys", markup=False)

    def action_close(self) -> None:
        """Back."""
        self.dismiss()


def details_text(view: View) -> str:
    """Everything that the page says of ``view``."""
    reading = view.reading
    ended = [] if view.ended is None else [ended_words(view.ended)]
    if reading is None:
        return "".join(ended) or "There is no reading yet."
    analysis = reading.analysis
    warnings = enumerate(analysis.warnings, 1)
    lines = [*ended, ""] if ended else []
    lines += [f"{n}. {warning.message}" for n, warning in warnings] or ["No warnings."]
    if analysis.baseline_verdict:
        lines += ["", f"The baseline: {analysis.baseline_verdict.reason}"]
    lines += ["", *(plain(line) for line in draw_sources(view, 78, len(analysis.sources) + 1))]
    counted = counted_lines(analysis.window)
    if counted:
        lines += ["", "Counted by the kernel, at moments that are not known:", *counted]
    lines += ["", *(plain(fact_row(fact, 400)) for fact in facts(reading, view))]
    return "\n".join(lines)


def plain(line: Row) -> str:
    """A row without its inks."""
    return "".join(piece.text for piece in line).rstrip()
