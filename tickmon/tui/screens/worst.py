"""The list of the worst interruptions: when, how long, what; one of them leads to its window."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tickmon.analysis.history import Found, History
from tickmon.tui.lists import Choices
from tickmon.tui.screens.page import Page
from tickmon.tui.words import clock_text, length_text

_HEAD = f"{'':>5}{'at':<10}{'length':>10}  {'CPU':<6}what it was"


class WorstList(Page[int | None]):
    """Ends with the place of one of the worst among all of them, or with None."""

    AUTO_FOCUS: ClassVar[str | None] = "OptionList"
    """The list takes the keys; to be looked for once mounted would fail where the page has closed by then."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,W", "close", "back", show=False)]

    def __init__(self, history: History, *, in_cycles: bool) -> None:
        super().__init__()
        self._history = history
        self._in_cycles = in_cycles

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Static(" The worst interruptions", id="list-title", markup=False)
        yield Static(_HEAD, id="list-head", markup=False)
        yield Choices(*self._options(), id="list", markup=False)
        yield Static(" ↑↓ choose · Enter its window · Esc or q back", id="list-keys", markup=False)

    def _options(self) -> list[Option]:
        history = self._history
        options = [
            Option(self._line(place, found), id=str(place)) for place, found in enumerate(history.all_worst)
        ]
        if history.earlier:
            options.insert(len(history.worst), Option(" before the last new start:", disabled=True))
        return options

    def _line(self, place: int, found: Found) -> str:
        analysis = found.entry.analysis
        rank = place + 1 if place < len(self._history.worst) else place + 1 - len(self._history.worst)
        length = length_text(found.gap_cycles, analysis.tsc_hz, in_cycles=self._in_cycles)
        lost = "" if found.entry.whole else " (cannot be saved any more)"
        cpu = analysis.window.segment.cpu
        return f"{rank:>3}  {clock_text(found.at):<10}{length:>10}  {cpu:<6}{found.name}{lost}"

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click."""
        self.dismiss(int(event.option.id or 0))

    def action_close(self) -> None:
        """Back without a choice."""
        self.dismiss(None)
