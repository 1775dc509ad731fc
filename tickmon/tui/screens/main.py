"""The main screen: one CPU, live."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import Screen

from tickmon.tui.actions import ACTIONS, Action
from tickmon.tui.rows import Row, row
from tickmon.tui.view import View
from tickmon.tui.widgets.against import draw_against
from tickmon.tui.widgets.figures import draw_figures
from tickmon.tui.widgets.histogram import draw_histogram
from tickmon.tui.widgets.keys import draw_keys
from tickmon.tui.widgets.message import draw_message
from tickmon.tui.widgets.panel import Panel
from tickmon.tui.widgets.sources import draw_sources
from tickmon.tui.widgets.timelines import draw_overhead_line, draw_worst_line, entry_at
from tickmon.tui.widgets.title import draw_title

LEAST_WIDTH = 60
LEAST_HEIGHT = 14
FULL_WIDTH = 80
"""From here on no figure is left out for want of columns."""
WIDE = 150
"""From here on the sources stand beside the histogram."""


def bindings_of(actions: Sequence[Action]) -> list[BindingType]:
    """The keys of some actions."""
    return [
        *(Binding(action.keys, f"app.{action.name}", action.sentence, show=False) for action in actions),
        Binding("escape", "app.close_notice", "close a notice", show=False),
    ]


class MainScreen(Screen[None]):
    """Lays out the parts; has nothing that takes the focus, so that every key is an action."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(ACTIONS),
        *(Binding(str(digit), f"app.digit({digit})", f"CPU {digit}", show=False) for digit in range(10)),
    ]
    # Textual declares these two as instance variables.
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"),
        (LEAST_WIDTH, "-slim"),
        (FULL_WIDTH, "-normal"),
        (WIDE, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-flat"),
        (LEAST_HEIGHT, "-low"),
        (19, "-short"),
        (24, "-tall"),
        (34, "-high"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._view: View | None = None
        self._panels: Sequence[Panel] = ()

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Panel(draw_title, id="title")
        yield Panel(draw_figures, id="figures")
        yield Panel(draw_against, id="against")
        yield Panel(draw_message, id="message")
        with Container(id="body"):
            yield Panel(draw_histogram, id="histogram")
            with Container(id="side"):
                yield Panel(draw_sources, id="sources")
                with Container(id="times"):
                    yield Panel(draw_overhead_line, id="overhead", pick=_pick_window)
                    yield Panel(draw_worst_line, id="worst", pick=_pick_window)
        yield Panel(self._draw_hidden, id="hidden")
        yield Panel(draw_keys, id="keys")
        yield Panel(_draw_too_small, id="small")

    def on_mount(self) -> None:
        """Gives the parts what came before there were any."""
        self._panels = [*self.query(Panel)]
        if self._view is not None:
            self.show(self._view)

    def show(self, view: View) -> None:
        """Shows ``view`` in every part."""
        self._view = view
        self.set_class(view.paused, "-paused")
        self.set_class(view.against is not None, "-pinned")
        for panel in self._panels:
            panel.show(view)

    def _draw_hidden(self, _view: View, _width: int, height: int) -> list[Row]:
        return [row((f" {hidden_words(*self.size)}", "label"))] * height


def _pick_window(view: View, column: int, width: int) -> str:
    entry = entry_at(view, column, width)
    return "" if entry is None else f"show_window({entry.number})"


def hidden_words(width: int, height: int) -> str:
    """What a terminal of this size does not show, and at what size it does; empty for nothing."""
    wide = width >= WIDE
    rows = 19 if wide else 24
    left_out = ["time lines"] if height < rows else []
    left_out += ["sources"] if height < 19 and not wide else []
    left_out += ["99th", "threshold"] if width < FULL_WIDTH else []
    if width >= FULL_WIDTH:
        need = f"{rows} rows"
    else:
        need = f"{FULL_WIDTH}×{rows}" if height < rows else f"{FULL_WIDTH} columns"
    return f"not shown: {', '.join(left_out)} ({need})" if left_out else ""


def _draw_too_small(_view: View, width: int, height: int) -> list[Row]:
    words = (
        f"tickmon needs {LEAST_WIDTH} columns and {LEAST_HEIGHT} rows; make this terminal larger, or press q."
    )
    lines: list[str] = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) + 1 > width:
            lines.append("")
        lines[-1] += f" {word}"
    return [row(line[:width]) for line in lines]
