"""Help: the keys, and what each figure is, how it comes about and when to distrust it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tickmon.tui.actions import Action
from tickmon.tui.screens.page import Page

_FIGURES = (
    (
        "overhead",
        "Share of the window that interruptions took, each less the "
        "baseline: time, not speed. Distrust it while a warning stands.",
    ),
    (
        "one tick costs",
        "Gaps that hold one tick and no switch of tasks; the 99th needs "
        "1,000 of them. Distrust: in a guest the host's work is in it.",
    ),
    (
        "min-baseline",
        "The smallest gap, one undisturbed read of the counter; drift: "
        "its range so far. Distrust a drift of more than a few cycles.",
    ),
    (
        "elapsed ticks",
        "Moments at which a tick was due, and those at which something "
        "came. The kernel's row beside it counts all timers, not ticks.",
    ),
    (
        "worst so far",
        "The longest gap since the start or r, and its first cause. "
        "Distrust: one event is no rate; see whether it comes again.",
    ),
    (
        "histogram",
        "Interruptions by length, each strip on its own count scale. A "
        "single one draws the lowest block; the last bar has no end.",
    ),
    (
        "sources",
        "Each interruption counts once, for its first cause; a switch "
        "of tasks wins. Trains keep time with a clock; the rest do not.",
    ),
    (
        "time lines",
        "One column a window, from 0 up. What stands right of the mark "
        "is from the turn before. Compare only windows of one length.",
    ),
)

_PAIRS = {
    "go(-1)": ("← → or [ ]", "previous, next CPU"),
    "cpus": ("c o", "list of CPUs, what each is and does; overview: all are measured"),
    "speed(-1)": ("< >", "slower, faster"),
    "step(-1)": (", .", "one window back, on; pauses (so does a click on a time line)"),
    "oldest": ("Home End", "oldest, newest window that is kept"),
    "worst": ("w W", "the worst one's window, again: the next worst; list of the ten"),
    "restart": ("r R", "start again, the past stays, marked; R: record windows, again: end"),
    "method": ("m k", "method: gaps, or the loop of 2004; kernel trace on and off (root)"),
    "window(1)": ("+ - or = _", "longer, shorter window"),
    "theme": ("t T", "next theme: dark, light, colour-blind safe; T: remember it"),
}
_SECONDS = (
    "go(1)",
    "overview",
    "speed(1)",
    "step(1)",
    "newest",
    "all_worst",
    "record",
    "window(-1)",
    "trace",
    "remember_theme",
)
"""Two actions that share a line."""

_ALL_ROWS = 24
"""So many rows a terminal must have to show either page whole."""

_BLIND = (
    "Only time taken away: not the slower code afterwards (cold caches, TLB), and "
    "not exits from idle: the CPU is kept busy. In a guest its host counts too."
)


class Help(Page[None]):
    """Two pages, each fits 80×24."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "back", show=False),
        Binding(
            "question_mark,h,f1,tab,space,left,right,up,down,pageup,pagedown",
            "turn",
            "other page",
            show=False,
        ),
    ]

    def __init__(self, actions: Sequence[Action], *, figure: str = "") -> None:
        """``figure``: begins with the page of figures and marks that one."""
        super().__init__()
        self._actions = actions
        self._figure = figure
        self._page = 1 if figure else 0

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Static(id="list-title", markup=False)
        with VerticalScroll():
            yield Static(id="help-text")
        yield Static(" ? other page · Esc or q back", id="list-keys", markup=False)

    def on_mount(self) -> None:
        """Shows the first page."""
        self._show()

    def action_turn(self) -> None:
        """The other page."""
        self._page = 1 - self._page
        self._show()

    def action_close(self) -> None:
        """Back."""
        self.dismiss()

    def _show(self) -> None:
        title = (" Help, page 1 of 2: keys", " Help, page 2 of 2: figures")[self._page]
        self.query_one("#list-title", Static).update(title)
        low = self.size.height < _ALL_ROWS
        width = self.size.width - (4 if low else 2)
        self.query_one("#help-text", Static).update(
            keys_page(self._actions, width) if self._page == 0 else figures_page(width, self._figure)
        )
        scroll = "↑↓ scroll · " if low else ""
        self.query_one("#list-keys", Static).update(f" {scroll}? other page · Esc or q back")
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def on_resize(self) -> None:
        """Breaks the lines anew."""
        self._show()


def keys_page(actions: Sequence[Action], width: int = 78) -> Content:
    """Each action, in lines of at most ``width`` columns."""
    lines = [
        _PAIRS.get(action.name, (action.shown, action.sentence))
        for action in actions
        if action.name not in _SECONDS
    ]
    if any(action.name == "cpus" for action in actions):
        lines.insert(1, ("0 to 9", "that CPU; with more than ten CPUs the list, with the digit typed"))
    if any(action.name == "screen.open" for action in actions):
        lines.insert(0, ("↑ ↓", "choose a CPU; also Page Up, Page Down, Home and End, or a click"))
        lines.append(("ctrl+c", "quit"))
    else:
        lines += [
            ("Esc", "back; on the main screen: close a notice; ctrl+c always quits"),
            ("mouse", "a click: words of the bottom line, or a figure to have it explained"),
        ]
    parts: list[str | tuple[str, str]] = []
    for keys, words in lines:
        parts += [(f"{keys:<11}", "bold"), _beside(words, 11, width)]
    return Content.assemble(*parts)


def figures_page(width: int = 78, marked: str = "") -> Content:
    """Two lines for each figure; more where ``width`` columns are too few for that."""
    parts: list[str | tuple[str, str]] = []
    for name, words in _FIGURES:
        parts += [(name, "bold reverse" if name == marked else "bold"), " " * (15 - len(name))]
        parts.append(_beside(words, 15, min(width, 78)))
    parts += [("\nWhat it cannot see\n", "bold"), _beside(_BLIND, 0, min(width, 78))]
    return Content.assemble(*parts)


def _beside(words: str, column: int, width: int) -> str:
    """``words`` as lines that all begin in ``column``, where the first one is written."""
    return f"\n{'':<{column}}".join(wrap(words, max(width - column, 1))) + "\n"
