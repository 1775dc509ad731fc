"""Asks before something is taken from somebody."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tickmon.machine.busy import CpuUse
from tickmon.tui.screens.page import Page


class Question(ModalScreen[bool], Page[bool]):
    """Asks for consent; True is yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes", show=False),
        Binding("n,escape,q", "answer(False)", "no", show=False),
    ]

    def __init__(self, title: str, words: str, *, yes: str, no: str) -> None:
        """``yes`` and ``no`` say what these answers do."""
        super().__init__()
        self._title = title
        self._words = words
        self._yes = yes
        self._no = no

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        with Vertical(classes="box"):
            yield Static(self._title, markup=False, classes="strong")
            yield Static(f"{self._words}\n", markup=False)
            yield Static(f"y  {self._yes}\nn  {self._no}", markup=False)

    def action_answer(self, answer: bool) -> None:
        """Closes the question."""
        self.dismiss(answer)


def about_busy(use: CpuUse, *, nohz_full: bool) -> Question:
    """Whether tickmon may take time from what runs on a CPU."""
    tick = ", and its tick would come back" if nohz_full else ""
    return Question(
        f"CPU {use.cpu} is busy: it {use.text}.",
        f"Measuring means spinning there: that work would get about half of the CPU{tick}.",
        yes="measure there all the same",
        no="leave it alone",
    )
