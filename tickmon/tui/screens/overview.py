"""The overview: all usable CPUs, one row each, measured one after another or all at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from tickmon.analysis.readings import Analysis
from tickmon.machine.cpus import Cpus
from tickmon.sampling.everywhere import window_s_for
from tickmon.tui.board import CpuRow
from tickmon.tui.frames import Frames
from tickmon.tui.overview_actions import OVERVIEW_ACTIONS
from tickmon.tui.roster import lines_of
from tickmon.tui.rows import Piece
from tickmon.tui.screens.page import Page
from tickmon.tui.screens.question import Question
from tickmon.tui.widgets.cpurow import heading_text, why_not
from tickmon.tui.widgets.cputable import CpuTable, Table
from tickmon.tui.widgets.keys import fitting, key_entry
from tickmon.units import counted


@dataclass
class RowsTold(Message):
    """What a survey found, from its thread."""

    survey: int
    """Its number: a survey that was replaced may still tell something."""
    rows: dict[int, CpuRow]
    """Those that changed."""


class Overview(Page[int | None]):
    """Shows all CPUs; closes with the one to open, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(action.keys, action.name if "." in action.name else f"app.{action.name}", show=False)
        for action in OVERVIEW_ACTIONS
        if action.keys
    ]

    def __init__(
        self,
        cpus: Cpus,
        *,
        home: int,
        begin: Callable[[bool, Callable[[dict[int, CpuRow]], None]], None],
        save: Callable[[Analysis], None],
        frames: Callable[[Callable[[], None]], Frames],
    ) -> None:
        """``begin(everywhere, tell)`` has a survey replace what runs: its changed rows are told from another
        thread. ``home`` is the CPU of the main screen; ``save`` keeps a window, ``frames`` says when to draw.
        """
        super().__init__()
        self._cpus = cpus
        self._home = home
        self._begin = begin
        self._save = save
        self._frames = frames(self._draw)
        self._survey = 0
        self._rows: dict[int, CpuRow] = {}
        self.everywhere = False
        self._by_worst = False
        self._grouped = True
        self._lines_stale = True

    def compose(self) -> ComposeResult:
        """Textual asks for the parts."""
        yield Static("", id="list-title", markup=False)
        yield Static("", id="list-head", markup=False)
        yield CpuTable(id="cpus")
        yield Static("", id="overview-notes", markup=False)
        yield Static("", id="list-keys")

    def on_mount(self) -> None:
        """Begins with a scan."""
        self.begin()
        self.query_one(CpuTable).chosen = min(self._rows, default=None)

    def begin(self) -> None:
        """Measures from the beginning, the way that is chosen; also after Ctrl-Z."""
        self._survey += 1
        number = self._survey
        self._rows = {cpu: CpuRow(cpu=cpu) for cpu in sorted(self._cpus.usable)}
        self._lines_stale = True
        self._begin(self.everywhere, lambda rows: self._tell(number, rows))
        self._frames.now()

    def _tell(self, survey: int, rows: dict[int, CpuRow]) -> None:
        """Called from the survey's thread."""
        self.post_message(RowsTold(survey, rows))

    def on_rows_told(self, message: RowsTold) -> None:
        """Takes in what was found."""
        if message.survey == self._survey:
            self._lines_stale |= self._by_worst and any(
                row.worst_ns != self._rows[cpu].worst_ns for cpu, row in message.rows.items()
            )
            self._rows |= message.rows
            self._frames.soon()

    # -- drawing --------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Draws in the new size."""
        self._frames.now()

    def on_cpu_table_moved(self) -> None:
        """Says which CPUs are in view."""
        self._draw_title()

    def _draw(self) -> None:
        if self not in self.app.screen_stack or not self.is_mounted:
            return  # A frame that was due when it was closed.
        table = self.query_one(CpuTable)
        lines = table.table.lines if table.table is not None else ()
        if self._lines_stale:
            lines = lines_of(self._rows, self._cpus, by_worst=self._by_worst, grouped=self._grouped)
            self._lines_stale = False
        table.table = Table(lines, dict(self._rows), self._cpus.describe)
        self._say("#list-head", heading_text(self.size.width))
        self._say("#overview-notes", self._notes())
        self._say("#list-keys", self._keys())
        self._draw_title()

    def _draw_title(self) -> None:
        table = self.query_one(CpuTable)
        if table.table is None:
            return
        short, way = "scan", "scan, 1/4 s on one CPU after another"
        if self.everywhere:
            short = "all at once"
            samplers = sum(1 for row in self._rows.values() if row.sampled)
            way = f"all at once, {counted(samplers, 'window')} of {window_s_for(samplers):g} s"
        order = "the worst first" if self._by_worst else "by number"
        count, view = len(table.table.lines), table.in_view
        place = f" {view.start + 1}-{view.stop} of {count:,} lines " if len(view) < count else ""
        groups = ", by node and core" if self._grouped else ""
        texts = [f" Overview: {way} · {order}{groups}", f" Overview: {way} · {order}"]
        texts.append(f" Overview: {short} · {order}")
        left = next((text for text in texts if len(text) + len(place) <= self.size.width), texts[-1])
        self._say("#list-title", left.ljust(self.size.width - len(place)) + place)

    def _notes(self) -> str:
        """What is left out and why; what rests meanwhile."""
        busy = sum(1 for row in self._rows.values() if row.busy and not row.sampled)
        seen = sum(1 for row in self._rows.values() if row.measured)
        notes = [f"{seen:,} of {len(self._rows):,} measured"]
        notes += [f"{busy} left alone"] if busy else []
        notes += ["siblings disturb each other"] if self._siblings_meet() else []
        notes.append(f"CPU {self._home}'s own screen rests")
        while len(" · ".join(notes)) >= self.size.width and len(notes) > 1:
            notes.pop()
        return " " + " · ".join(notes)

    def _siblings_meet(self) -> bool:
        sampled = {cpu for cpu, row in self._rows.items() if row.sampled}
        return any(self._cpus.siblings.get(cpu, frozenset()) & sampled for cpu in sampled)

    def _keys(self) -> str:
        """The last line: each word can be clicked."""
        entries = [(0, key_entry("↑↓", "choose"))]
        for action in OVERVIEW_ACTIONS:
            word = "scan" if action.name == "screen.feed" and self.everywhere else action.word
            if word:
                name = action.name if "." in action.name else f"app.{action.name}"
                entries.append((action.rank, key_entry(action.shown, word, name)))
        return "".join(_markup(piece) for entry in fitting(entries, self.size.width) for piece in entry)

    def _say(self, selector: str, text: str) -> None:
        part = self.query_one(selector, Static)
        if part.content != text:
            part.update(text)

    # -- actions --------------------------------------------------------------------------------

    def on_cpu_table_opened(self, message: CpuTable.Opened) -> None:
        """Enter, or a click."""
        self.dismiss(message.cpu)

    def action_open(self) -> None:
        """The chosen CPU's own screen."""
        self.query_one(CpuTable).action_open()

    def action_sort(self) -> None:
        """By number, or the worst first."""
        self._by_worst = not self._by_worst
        self._order_anew()

    def action_save(self) -> None:
        """A snapshot of the chosen CPU's last window."""
        cpu = self.query_one(CpuTable).chosen
        if cpu is None:
            return
        row = self._rows[cpu]
        if row.reading is not None and row.measured:
            self._save(row.reading.analysis)
        else:
            words = f"nothing of CPU {cpu} to be saved: {why_not(row)[0].rstrip(' …') or 'not measured yet'}"
            self.app.notify(words, severity="warning", markup=False)

    def action_group(self) -> None:
        """In groups, or one list."""
        self._grouped = not self._grouped
        self._order_anew()

    def _order_anew(self) -> None:
        self._lines_stale = True
        self._frames.now()
        self.query_one(CpuTable).action_choose_end(0)

    def action_feed(self) -> None:
        """The other way to measure; every CPU at once only after a question."""
        if self.everywhere:
            self._change_way(True)
        else:
            self.app.push_screen(self._question(), self._change_way)

    def _change_way(self, agreed: bool | None) -> None:
        if agreed:
            self.everywhere = not self.everywhere
            self.begin()

    def _question(self) -> Question:
        idle = sum(1 for row in self._rows.values() if not row.busy and not row.offline)
        count = max(min(idle, len(self._rows) - 1), 1)
        siblings = ""
        if self._cpus.siblings:
            siblings = " Siblings of a core are measured at once and disturb each other."
        return Question(
            f"Measure {counted(count, 'CPU')} at once?",
            "Every idle CPU is then kept fully busy, except one for this screen: that draws power, heats the "
            "others, lowers their clock, and what wakes there shares its CPU with a sampler. CPUs that are "
            f"busy now are left alone. A window takes {window_s_for(count):g} s.{siblings}",
            yes="measure all at once",
            no="go on with one after another",
        )

    def action_close(self) -> None:
        """Back."""
        self.dismiss(None)


def _markup(piece: Piece) -> str:
    text = f"[b]{piece.text}[/b]" if piece.ink == "key" else piece.text
    return f"[@click={piece.action}]{text}[/]" if piece.action else text
