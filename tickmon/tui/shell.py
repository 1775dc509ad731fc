"""What the live screen and a replay have in common as apps: drawing, looking back, and pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol

from textual import work
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tickmon.analysis.history import History
from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.tui import browsing
from tickmon.tui.actions import Action
from tickmon.tui.base import Base
from tickmon.tui.beside import beside
from tickmon.tui.browsing import Held
from tickmon.tui.frames import Frames
from tickmon.tui.lists import Palette
from tickmon.tui.screens.details import Details
from tickmon.tui.screens.help import Help
from tickmon.tui.screens.main import MainScreen
from tickmon.tui.screens.worst import WorstList
from tickmon.tui.themes import THEMES
from tickmon.tui.view import Reading, View
from tickmon.windows import Window

_SAVING_S = 2.0


class Shown(Protocol):
    """The state behind the screen, as far as both ask for it: ``Session`` and ``Playback`` are two."""

    in_cycles: bool

    @property
    def shown(self) -> Reading | None:
        """What is on show."""

    @property
    def held(self) -> Held | None:
        """The same while the picture is on hold."""

    @property
    def history(self) -> History:
        """What can be looked back at."""

    def toggle_pause(self) -> None:
        """Keeps what is shown, or goes on."""

    def step(self, by: int) -> None:
        """So many windows on or back, on hold."""

    def look_back(self, find: Callable[[History], Held | None]) -> bool:
        """Holds what ``find`` finds in the history; False when that is nothing."""

    def toggle_pin(self) -> bool:
        """Pins the reading on show, or unpins what is pinned; False when there is none yet."""

    def view(self) -> View:
        """What is to be seen."""


class Shell(Base):
    """Draws what a session says, and has the actions that need no more than that."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "quit", show=False, priority=True),
        Binding("ctrl+z", "suspend", "suspend", show=False, priority=True),
    ]

    def __init__(
        self,
        *,
        session: Shown,
        actions: Sequence[Action],
        save_snapshot: Callable[[Window, Analysis], Path],
        theme: str,
        remember_theme: Callable[[str], Path],
        ascii_only: bool,
        sync: bool,
    ) -> None:
        """``actions`` are those that there are; ``save_snapshot`` writes a window and returns where, or says
        by TickmonError why not. ``remember_theme`` writes a theme's name for the next start and returns
        where. ``sync``: frames are marked for terminals that know that.
        """
        super().__init__()
        self.ascii_only = ascii_only
        self.sync = sync
        self.actions = tuple(actions)
        self._seen = session
        self._save_snapshot = save_snapshot
        self._remember_theme = remember_theme
        self._frames = Frames(self._show, backlog=self._backlog, after=self._after)
        for each in THEMES:
            self.register_theme(each)
        # Set like this the first style sheet is parsed once, and not for Textual's own theme before.
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def close(self, timeout_s: float) -> None:
        """Ends what runs beside the screen, once that has ended, but waits no longer than ``timeout_s``."""

    def get_default_screen(self) -> MainScreen:
        """The main screen lies beneath all others."""
        return MainScreen()

    def draw(self) -> None:
        """Brings the main screen up to date at once."""
        self._frames.now()

    def _show(self) -> None:
        self.main.show(self._seen.view())

    @property
    def main(self) -> MainScreen:
        """The main screen, whatever lies on it."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    # -- looking back ---------------------------------------------------------------------------

    def action_step(self, by: int) -> None:
        """Back and forth through the windows so far, on hold."""
        self._seen.step(by)
        self.draw()

    def action_oldest(self) -> None:
        """The oldest window that is kept."""
        self._look_back(browsing.oldest)

    def action_newest(self) -> None:
        """The newest window, on hold."""
        self._look_back(browsing.newest)

    def action_worst(self) -> None:
        """The worst interruption's window, then that of the next worst."""
        held = self._seen.held
        if not self._look_back(lambda history: browsing.next_worst(held, history)):
            self.notify("nothing has interrupted yet")

    def action_show_window(self, number: int) -> None:
        """A window that was clicked at."""
        self._look_back(lambda history: browsing.numbered(history, number))

    def action_all_worst(self) -> None:
        """The list of the worst interruptions."""

        def chosen(place: int | None) -> None:
            if place is not None:
                self._look_back(lambda history: browsing.worst(history, place))

        history = self._seen.history
        if history.all_worst:
            self.push_screen(WorstList(history, in_cycles=self._seen.in_cycles), chosen)
        else:
            self.notify("nothing has interrupted yet")

    def _look_back(self, find: Callable[[History], browsing.Held | None]) -> bool:
        found = self._seen.look_back(find)
        self.draw()
        return found

    def action_pause(self) -> None:
        """Keeps what is shown, or goes on."""
        self._seen.toggle_pause()
        self.draw()

    # -- actions --------------------------------------------------------------------------------

    def action_pin(self) -> None:
        """Pins what is on show for before and after, or unpins what is pinned."""
        if self._seen.toggle_pin():
            self.draw()
        else:
            self.notify("no window is complete yet: press p again in a moment", severity="warning")

    def action_unit(self) -> None:
        """Lengths as times or as cycles."""
        self._seen.in_cycles = not self._seen.in_cycles
        self.draw()

    async def action_snapshot(self) -> None:
        """Saves the window on show."""
        reading = self._seen.shown
        if reading is None or reading.analysis.window.provisional:
            self.notify("no window is complete yet: press s again in a moment", severity="warning")
            return
        if self._seen.held is not None and not self._seen.held.whole:
            words = "this window is too old to be saved whole; the last minute and the worst (w) can be saved"
            self.notify(words, severity="warning", timeout=10)
            return
        self.save(reading.analysis)

    def save(self, analysis: Analysis) -> None:
        """Has a window saved, and says where or why not."""
        self._save(analysis)

    @work(group="save", description="saves a window")
    async def _save(self, analysis: Analysis) -> None:
        try:
            path = await beside(partial(self._save_snapshot, analysis.window, analysis))
        except TickmonError as error:
            self.notify(str(error), title="not saved", severity="error", timeout=10, markup=False)
        else:
            self.notify(f"{path}", title="saved", timeout=10, markup=False)

    def action_warnings(self) -> None:
        """All warnings, all sources, and what the figures rest on."""
        self.push_screen(Details(self._seen.view()))

    def action_help(self) -> None:
        """Keys, and what each figure means."""
        self.push_screen(Help(self.actions_on(self.screen)))

    def action_close_notice(self) -> None:
        """Takes away what was told in a corner of the screen."""
        self.clear_notifications()

    def action_explain(self, figure: str) -> None:
        """The page of figures, with one of them marked."""
        self.push_screen(Help(self.actions, figure=figure))

    def action_theme(self) -> None:
        """The next theme."""
        names = [theme.name for theme in THEMES]
        self.theme = names[(names.index(self.theme) + 1) % len(names)]

    def action_remember_theme(self) -> None:
        """Has the next start begin with this theme; nothing else is ever written unasked."""
        try:
            path = self._remember_theme(self.theme)
        except TickmonError as error:
            self.notify(str(error), severity="error", timeout=10, markup=False)
        else:
            self.notify(f"theme {self.theme} from the next start on: {path}", markup=False)

    async def action_quit(self) -> None:
        """Ends the app, after what is being saved; a disk that does not answer holds it up but shortly."""
        saving = (worker.wait() for worker in self.workers if worker.group == "save")
        with suppress(TimeoutError):
            async with asyncio.timeout(_SAVING_S):
                await asyncio.gather(*saving, return_exceptions=True)
        self.exit(0)

    def action_command_palette(self) -> None:
        """Every action by name."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def actions_on(self, screen: Screen[object]) -> Sequence[Action]:
        """What can be done while ``screen`` is on top."""
        return self.actions

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette holds every action of the screen, and nothing else."""
        for action in self.actions_on(screen):
            if action.name != "command_palette":
                callback = partial(self.run_action, action.name, default_namespace=self)
                yield SystemCommand(action.title, f"{action.shown}: {action.sentence}", callback)
