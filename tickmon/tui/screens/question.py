"""Asks before a busy CPU is entered."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from tickmon.machine.busy import CpuUse


class Question(ModalScreen[bool]):
    """Whether tickmon may take time from what runs on a CPU; True is consent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "measure there", show=False),
        Binding("n,escape,q", "answer(False)", "stay", show=False),
    ]

    def __init__(self, use: CpuUse, *, nohz_full: bool) -> None:
        super().__init__()
        self._use = use
        self._nohz_full = nohz_full

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        use = self._use
        with Vertical(classes="box"):
            yield Static(f"CPU {use.cpu} is busy: it {use.text}.", markup=False, classes="strong")
            tick = ", and its tick would come back" if self._nohz_full else ""
            yield Static(
                f"Measuring means spinning there: that work would get about half of the CPU{tick}.\n",
                markup=False,
            )
            yield Static("y  measure there all the same\nn  leave it alone", markup=False)

    def action_answer(self, answer: bool) -> None:
        """Closes the question."""
        self.dismiss(answer)
