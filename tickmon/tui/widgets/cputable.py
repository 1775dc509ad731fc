"""The overview's list: as many CPUs as there are, of which only the rows in view are ever drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tickmon.tui.board import CpuRow
from tickmon.tui.roster import Line
from tickmon.tui.rows import Ink, Row, changed_spans, heading
from tickmon.tui.themes import ink_style
from tickmon.tui.widgets.cpurow import draw_cpu


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """What the list shows."""

    lines: tuple[Line, ...]
    rows: Mapping[int, CpuRow]
    describe: Callable[[int], str]
    """What a CPU is."""


class CpuTable(ScrollView, can_focus=True):
    """Shows a table; one of its CPUs is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "choose(-1)", "up", show=False),
        Binding("down", "choose(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home", "choose_end(0)", "first", show=False),
        Binding("end", "choose_end(-1)", "last", show=False),
        Binding("enter", "open", "open", show=False),
    ]

    table: reactive[Table | None] = reactive(None, repaint=False, init=False)
    """What is shown; None as long as there is nothing."""
    chosen: reactive[int | None] = reactive(None, repaint=False, init=False)
    """The CPU that is chosen."""

    class Opened(Message):
        """A CPU was asked for."""

        def __init__(self, cpu: int) -> None:
            super().__init__()
            self.cpu = cpu

    class Moved(Message):
        """Other rows are in view, or another CPU is chosen."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._drawn: dict[int, tuple[Row, bool]] = {}
        """The rows in view by the numbers of their lines, and whether each is the chosen one."""
        self._styles: dict[tuple[Ink, bool], Style] = {}

    @property
    def in_view(self) -> range:
        """The numbers of the lines in view."""
        top = self.scroll_offset.y
        count = len(self.table.lines) if self.table else 0
        return range(top, min(top + self.size.height, count))

    def watch_table(self, old: Table | None, new: Table | None) -> None:
        """Draws what changed of the rows in view."""
        count = len(new.lines) if new else 0
        if old is None or count != len(old.lines):
            self.virtual_size = Size(self.size.width, count)
            self.refresh()
        self._draw_again()

    def watch_chosen(self) -> None:
        """Draws the old and the new one."""
        self._draw_again()

    def on_resize(self) -> None:
        """Draws all in the new size."""
        if self.table is not None:
            self.virtual_size = Size(self.size.width, len(self.table.lines))
        self._drawn.clear()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draws what came into view."""
        super().watch_scroll_y(old_value, new_value)
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        """The row at ``y`` of the widget, inked."""
        number = self.scroll_offset.y + y
        width = self.size.width
        if self.table is None or number >= len(self.table.lines):
            return Strip.blank(width, self._inked("plain", chosen=False))
        row, chosen = self._row(number)
        segments = [Segment(piece.text, self._inked(piece.ink, chosen=chosen)) for piece in row if piece.text]
        return Strip(segments).adjust_cell_length(width, self._inked("plain", chosen=chosen)).simplify()

    def _row(self, number: int) -> tuple[Row, bool]:
        row = self._drawn.get(number)
        if row is None:
            row = self._drawn[number] = self._draw(number)
        return row

    def _draw(self, number: int) -> tuple[Row, bool]:
        table = self.table
        assert table is not None
        line, width = table.lines[number], self.size.width
        if line.cpu is None:
            return heading(line.text, width), False
        row = draw_cpu(table.rows[line.cpu], bracket=line.text, what=table.describe(line.cpu), width=width)
        return row, line.cpu == self.chosen

    def _draw_again(self) -> None:
        before, self._drawn = self._drawn, {}
        top, width = self.scroll_offset.y, self.size.width
        regions = []
        for number in self.in_view:
            (now, chosen), old = self._row(number), before.get(number)
            if old is None or old[1] != chosen:
                regions.append(Region(0, number - top, width, 1))
            elif old[0] != now:
                spans = changed_spans(old[0], now)
                regions += [Region(first, number - top, end - first, 1) for first, end in spans]
        if regions:
            self.refresh(*regions)

    def _inked(self, ink: Ink, *, chosen: bool) -> Style:
        style = self._styles.get((ink, chosen))
        if style is None:
            app = self.app
            style = self.rich_style + ink_style(ink, app.theme, colourless=app.no_color)
            if chosen and app.no_color:
                style += Style(reverse=True)
            elif chosen:
                style += Style(bgcolor=ink_style("bar", app.theme, colourless=False).bgcolor)
            self._styles[ink, chosen] = style
        return style

    def notify_style_update(self) -> None:
        """Other colours count from now on."""
        self._styles.clear()
        super().notify_style_update()

    # -- moving ---------------------------------------------------------------------------------

    def _cpus(self) -> list[int]:
        return [line.cpu for line in self.table.lines if line.cpu is not None] if self.table else []

    def _go(self, cpu: int) -> None:
        """Chooses ``cpu`` and brings it into view, with its node's heading when it is the first there."""
        if self.table is None:
            return
        self.chosen = cpu
        number = next(n for n, line in enumerate(self.table.lines) if line.cpu == cpu)
        above = number - 1 if number and self.table.lines[number - 1].cpu is None else number
        top, height = self.scroll_offset.y, self.size.height
        if above < top:
            self.scroll_to(y=above, animate=False)
        elif number >= top + height:
            self.scroll_to(y=number - height + 1, animate=False)
        self.post_message(self.Moved())

    def action_choose(self, step: int) -> None:
        """The CPU so many lines on; the ends hold."""
        cpus = self._cpus()
        if cpus:
            at = cpus.index(self.chosen) + step if self.chosen in cpus else 0
            self._go(cpus[min(max(at, 0), len(cpus) - 1)])

    def action_page(self, step: int) -> None:
        """A page on or back."""
        self.action_choose(step * max(self.size.height - 1, 1))

    def action_choose_end(self, place: int) -> None:
        """The first or the last."""
        cpus = self._cpus()
        if cpus:
            self._go(cpus[place])

    def action_open(self) -> None:
        """Asks for the chosen CPU."""
        if self.chosen is not None:
            self.post_message(self.Opened(self.chosen))

    def on_click(self, event: events.Click) -> None:
        """A click asks for the CPU under it."""
        number = self.scroll_offset.y + event.y
        if self.table is not None and number < len(self.table.lines):
            cpu = self.table.lines[number].cpu
            if cpu is not None:
                self._go(cpu)
                self.action_open()
