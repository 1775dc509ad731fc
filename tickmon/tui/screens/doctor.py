"""The doctor's page: what of this machine helps or hurts the measurement on one CPU."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tickmon.doctor.findings import Diagnosis
from tickmon.doctor.page import Style, page
from tickmon.errors import TickmonError
from tickmon.tui.beside import beside
from tickmon.tui.screens.page import Page

_STYLES: dict[Style, str] = {
    "verdict": "bold",
    "bad": "bold $error",
    "warning": "bold $warning",
    "unknown": "$accent",
    "note": "$primary",
    "ok": "$success",
    "label": "$ink-label",
    "plain": "",
}
_COLOURLESS: dict[Style, str] = {"verdict": "bold", "bad": "bold reverse", "warning": "bold", "label": "dim"}


class Doctor(Page[Diagnosis | None]):
    """Examines a CPU in a thread, while everything else goes on, and shows what was found."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d", "close", "back", show=False),
        Binding("r", "again", "look again", show=False),
    ]

    def __init__(self, cpu: int, examine: Callable[[int], Diagnosis]) -> None:
        super().__init__()
        self._cpu = cpu
        self._examine = examine
        self._diagnosis: Diagnosis | None = None

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Static(f" Doctor: what helps and hurts on CPU {self._cpu}", id="list-title", markup=False)
        with VerticalScroll():
            yield Static(id="doctor-text", markup=False)
        yield Static(" ↑↓ scroll · r look again · Esc or q back", id="list-keys", markup=False)

    def on_mount(self) -> None:
        """Begins to look."""
        self.action_again()

    def on_resize(self) -> None:
        """Breaks the lines anew."""
        if self._diagnosis is not None:
            self._show(self._diagnosis)

    def action_again(self) -> None:
        """Examines the CPU once more."""
        self._diagnosis = None
        self._tell(f"examining CPU {self._cpu} …")
        self._look()

    def action_close(self) -> None:
        """Back, with what was found."""
        self.dismiss(self._diagnosis)

    @work(exclusive=True)
    async def _look(self) -> None:
        try:
            self._diagnosis = await beside(partial(self._examine, self._cpu))
        except TickmonError as error:
            self._tell(str(error))
        else:
            self._show(self._diagnosis)

    def _show(self, diagnosis: Diagnosis) -> None:
        self._tell(content(diagnosis, self.size.width - 5, colourless=self.app.no_color))

    def _tell(self, words: Content | str) -> None:
        self.query_one("#doctor-text", Static).update(words)


def content(diagnosis: Diagnosis, width: int, *, colourless: bool) -> Content:
    """The page in the theme's colours."""
    styles = _COLOURLESS if colourless else _STYLES
    parts: list[str | tuple[str, str]] = []
    for line in page(diagnosis, width):
        parts += [(text, styles.get(style, "")) for text, style in line]
        parts.append("\n")
    return Content.assemble(*parts)
