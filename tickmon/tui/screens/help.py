"""Help: the keys, and what each figure is, how it comes about and when to distrust it."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from tickmon.tui.actions import ACTIONS

_FIGURES = (
    (
        "overhead",
        "The share of the window that interruptions took, each less the baseline. It is",
        "time, not speed. Distrust it while the line below the figures warns.",
    ),
    (
        "one tick costs",
        "Gaps that hold exactly one tick and nothing else known. The 99th percentile is",
        "said once ten ticks lie beyond it. In a guest the host's work is in it.",
    ),
    (
        "min-baseline",
        "The smallest gap: an undisturbed read of the counter. Drift is how it moved",
        "since the start: with more than a few cycles, clock or core is shared.",
    ),
    (
        "elapsed ticks",
        "Moments of the window at which a tick was due (HZ, CLOCK_MONOTONIC) against",
        "those held by an interruption. The kernel's row counts other timers too.",
    ),
    (
        "worst so far",
        "The longest gap since start or restart, and what it began with. One event,",
        "not a rate: look at the time line whether it came again.",
    ),
    (
        "histogram",
        "Interruptions by length. Each strip has its own count scale; its tallest bar",
        "is printed. One event is the lowest block; the last column has no upper end.",
    ),
    (
        "sources",
        "Each interruption counts once, for its first cause; a task switch wins. Names",
        "known by phase keep time with a clock; 'unknown' keeps time with none.",
    ),
    (
        "time lines",
        "A column for each window, from 0 to the printed top. The mark moves to the",
        "right and begins again at the left; what stands right of it is older.",
    ),
)

_BLIND = (
    "Only time taken away is seen: not the slower code afterwards (cold caches and TLB),",
    "and not exits from idle, since the CPU is kept busy. In a guest, the host's work too.",
)


class Help(Screen[None]):
    """Two pages, each fits 80×24."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "back", show=False),
        Binding("question_mark,h,f1,tab,space,left,right", "turn", "other page", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._page = 0

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Static(id="list-title", markup=False)
        with VerticalScroll():
            yield Static(id="help-text")
        yield Static(" ? other page · Esc back", id="list-keys", markup=False)

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
        title = (" Help 1 of 2: keys", " Help 2 of 2: what the figures mean")[self._page]
        self.query_one("#list-title", Static).update(title)
        self.query_one("#help-text", Static).update(keys_page() if self._page == 0 else figures_page())
        self.query_one(VerticalScroll).scroll_home(animate=False)


def keys_page() -> Content:
    """A line for each action."""
    lines = [(action.shown, action.sentence) for action in ACTIONS]
    lines.insert(2, ("0 to 9", "straight to that CPU; with more than ten CPUs: the list, digit typed"))
    lines += [
        ("ctrl+c", "quit, from everywhere"),
        ("Esc", "back to the main screen"),
        ("mouse", "the words of the bottom line can be clicked; never needed"),
    ]
    parts: list[str | tuple[str, str]] = []
    for keys, words in lines:
        parts += [(f" {keys:<11}", "bold"), f"{words}\n"]
    return Content.assemble(*parts)


def figures_page() -> Content:
    """Two lines for each figure."""
    parts: list[str | tuple[str, str]] = []
    for name, first, second in _FIGURES:
        parts += [(f" {name:<15}", "bold"), f"{first}\n", f"{'':<16}{second}\n"]
    parts += [("\n What it cannot see\n", "bold"), *(f" {line}\n" for line in _BLIND)]
    return Content.assemble(*parts)
