"""The list of CPUs: what each is, what it is busy with; typing filters, Enter goes there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpus import Cpus
from tickmon.tui.beside import beside
from tickmon.tui.lists import Choices
from tickmon.tui.screens.page import Page

_REST_S = 2.0
"""Between two looks round while the list is open."""


class CpuList(Page[int | None]):
    """Lets the user choose a CPU; None is none."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "close", "back", show=False, priority=True),
        Binding("backspace", "shorten", "delete", show=False),
    ]

    def __init__(
        self,
        cpus: Cpus,
        measured: Callable[[], int | None],
        look: Callable[[Collection[int]], Mapping[int, CpuUse]],
        typed: str = "",
    ) -> None:
        """``measured()`` is the CPU on which the sampler is at work by now."""
        super().__init__()
        self._cpus = cpus
        self._order = sorted(cpus.usable)
        self._what_width = max(10, *(len(cpus.describe(cpu)) for cpu in self._order))
        self._measured = measured
        self._look = look
        self._typed = typed
        self._uses: Mapping[int, CpuUse] = {}

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Static("", id="list-title", markup=False)
        yield Static(self._columns("CPU", "what it is", "what it does"), id="list-head", markup=False)
        yield Choices(id="list", markup=False)
        yield Static(
            " type to filter · ↑↓ choose · Enter go there · Esc or q back", id="list-keys", markup=False
        )

    def on_mount(self) -> None:
        """Begins to look round."""
        self._fill_typed()
        self._look_round()

    @work(exclusive=True)
    async def _look_round(self) -> None:
        """Finds out, again and again, what the CPUs are busy with."""
        while True:
            measured = self._measured()
            others = [cpu for cpu in self._order if cpu != measured]
            try:
                self._uses = await beside(partial(self._look, others))
            except TickmonError as error:
                self.notify(str(error), severity="error", timeout=10, markup=False)
            self._fill(wanted=None)
            await asyncio.sleep(_REST_S)

    def _fill(self, *, wanted: int | None) -> None:
        """Shows the CPUs that fit what was typed; ``wanted``, else what was chosen before, is chosen."""
        options = self.query_one(OptionList)
        if wanted is None and options.highlighted_option:
            wanted = int(options.highlighted_option.id or 0)
        measured = self._measured()
        lines = {cpu: self._line(cpu, measured) for cpu in self._order}
        shown = [cpu for cpu in self._order if fits(self._typed, cpu, lines[cpu])]
        if [option.id for option in options.options] == [str(cpu) for cpu in shown]:
            for cpu in shown:
                if options.get_option(str(cpu)).prompt != lines[cpu]:
                    options.replace_option_prompt(str(cpu), lines[cpu])
        else:
            options.set_options([Option(lines[cpu], id=str(cpu)) for cpu in shown])
        if shown:
            options.highlighted = shown.index(wanted) if wanted in shown else 0
        count = f" CPUs that can be measured: {len(shown)} of {len(self._order)}"
        typed = f" · filter: {self._typed}▏" if self._typed else ""
        self.query_one("#list-title", Static).update(count + typed)

    def _line(self, cpu: int, measured: int | None) -> str:
        what = self._cpus.describe(cpu)
        doing = self._uses[cpu].text if cpu in self._uses else "…"
        if cpu == measured:
            doing = "measured now"
        return self._columns(str(cpu), what, doing)

    def _columns(self, cpu: str, what: str, doing: str) -> str:
        return f" {cpu:<6}{what:<{self._what_width}}  {doing}"

    def on_key(self, event: events.Key) -> None:
        """Letters and digits go into the filter."""
        if event.character and event.character.isprintable() and len(event.character) == 1:
            event.stop()
            self._typed += event.character
            if self.is_mounted:
                self._fill_typed()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Enter, or a click."""
        self.dismiss(int(event.option.id or 0))

    def action_shorten(self) -> None:
        """Takes the last character of the filter away."""
        self._typed = self._typed[:-1]
        self._fill_typed()

    def _fill_typed(self) -> None:
        """A number that was typed in full is chosen."""
        typed = int(self._typed) if self._typed.isascii() and self._typed.isdecimal() else None
        chosen = typed if typed in self._order else None
        if chosen is None and self.query_one(OptionList).highlighted is None:
            chosen = self._measured()
        self._fill(wanted=chosen)

    def action_close(self) -> None:
        """Back without a choice."""
        self.dismiss(None)


def fits(typed: str, cpu: int, line: str) -> bool:
    """Whether a CPU is shown: digits begin its number, other text stands anywhere in its line."""
    typed = typed.strip().lower()
    return str(cpu).startswith(typed) if typed.isdecimal() else typed in line.lower()
