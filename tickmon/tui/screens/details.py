"""All warnings, all sources, and what the figures rest on: what the main screen has no room for."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Static

from tickmon.analysis.aftermath import AFTERMATH, AFTERMATH_WORDS
from tickmon.analysis.kernel_causes import UNSEEN
from tickmon.analysis.readings import Analysis, Source, Worst
from tickmon.counted import counted_lines
from tickmon.tui.rows import Row
from tickmon.tui.screens.page import Page
from tickmon.tui.view import View
from tickmon.tui.widgets.figures import fact_row, facts
from tickmon.tui.widgets.sources import basis_words, draw_sources
from tickmon.tui.words import clock_text, ended_words, length_text
from tickmon.units import counted

_MARGINS = 4
"""Columns for the margins and the scroll bar."""
_WIDTH = 76
"""A table is no wider: its columns would lie far apart."""

_WORST = 10
"""So many of the longest interruptions are told one by one."""


class Details(Page[None]):
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
            yield Static(id="details", markup=False)
        yield Static(" ↑↓ scroll · Esc or q back", id="list-keys", markup=False)

    def on_resize(self) -> None:
        """Breaks the lines anew."""
        self.query_one("#details", Static).update(details_text(self._view, self.size.width - _MARGINS))

    def action_close(self) -> None:
        """Back."""
        self.dismiss()


def details_text(view: View, width: int = 80 - _MARGINS) -> str:
    """Everything that the page says of ``view``; tables are ``width`` columns wide at most."""
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
    lines += [
        "",
        *(plain(line) for line in draw_sources(view, min(width, _WIDTH), len(analysis.sources) + 1)),
    ]
    by_kernel = counted_lines(analysis.window)
    if by_kernel:
        lines += ["", "Counted by the kernel, at moments that are not known:", *by_kernel]
    if (traced := analysis.traced) is not None:
        lines += [
            "",
            f"{counted(traced.events, 'event')} of the kernel's trace, {traced.outside:,} outside of",
        ]
        lines[-1] += f" interruptions, {traced.lost:,} lost. {UNSEEN}: the host or the hardware."
    lines += ["", *(source_text(source) for source in analysis.sources)]
    lines += ["", *(_worst_text(worst, analysis, view) for worst in analysis.worst[:_WORST])]
    lines += ["", *(plain(fact_row(fact, 400)) for fact in facts(reading, view))]
    return "\n".join(lines)


def source_text(source: Source) -> str:
    """How a source is known, and what else lies in its interruptions."""
    also = [part for part in source.parts if part != source.name]
    within = f"; also in them: {', '.join(also)}" if also else ""
    known = AFTERMATH_WORDS if source.name == AFTERMATH else basis_words(source)
    return f"{source.name}: {known}{within}"


def _worst_text(worst: Worst, analysis: Analysis, view: View) -> str:
    length = length_text(worst.gap_cycles, analysis.tsc_hz, in_cycles=view.in_cycles)
    name = "" if worst.source is None else analysis.sources[worst.source].name
    return f"{length:>8} at {clock_text(worst.at)}  {worst.causes or name}"


def plain(line: Row) -> str:
    """A row without its inks."""
    return "".join(piece.text for piece in line).rstrip()
