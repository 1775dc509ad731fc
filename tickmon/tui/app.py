"""The live screen as an app: what the keys do, and what is shown when."""

from __future__ import annotations

import asyncio
import gc
import itertools
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from rich.console import RenderableType
from textual._compositor import ChopsUpdate
from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.notifications import SeverityLevel
from textual.screen import Screen

from tickmon.analysis.history import History
from tickmon.analysis.readings import Analysis
from tickmon.doctor.findings import Diagnosis
from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpulist import cpu_list_text
from tickmon.machine.cpus import Cpus
from tickmon.remembered import remember_theme
from tickmon.sampling.everywhere import sample_everywhere
from tickmon.sampling.scan import scan
from tickmon.sampling.survey import Means, Survey, SurveyEvent
from tickmon.tui import browsing
from tickmon.tui.actions import ACTIONS
from tickmon.tui.board import Board, CpuRow
from tickmon.tui.driver import TerminalDriver
from tickmon.tui.exact import ExactUpdate
from tickmon.tui.feed import Feed
from tickmon.tui.frames import Frames
from tickmon.tui.lists import Palette
from tickmon.tui.reader import Fault, News
from tickmon.tui.screens.cpus import CpuList
from tickmon.tui.screens.details import Details
from tickmon.tui.screens.doctor import Doctor
from tickmon.tui.screens.help import Help
from tickmon.tui.screens.main import MainScreen
from tickmon.tui.screens.overview import OVERVIEW_ACTIONS, Overview
from tickmon.tui.screens.question import Question, about_busy
from tickmon.tui.screens.worst import WorstList
from tickmon.tui.session import Session, next_cpu, next_window_s
from tickmon.tui.themes import THEMES
from tickmon.tui.told import Told
from tickmon.tui.view import Reading
from tickmon.tui.words import ended_words
from tickmon.windows import Ended, Method, Settings, Window, WindowSource

_REST_S = 0.3
"""Keys that change the settings count once they have rested for so long."""
_FEW_CPUS = 10
"""With no more CPUs than this a digit is a CPU; with more it begins a number."""
_AGING_S = 1.0
"""So often a picture on hold says anew how old it is."""
_STOP_S = 3.0
"""So long is waited for a sampler to end, before its CPU is looked at or given back by Ctrl-Z."""


class TickmonApp(App[int]):
    """Shows one CPU live; everything it needs of the machine comes in through the constructor."""

    CSS_PATH = "app.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "quit", show=False, priority=True),
        Binding("ctrl+z", "suspend", "suspend", show=False, priority=True),
    ]

    def __init__(
        self,
        *,
        settings: Settings,
        cpus: Cpus,
        feed: Feed,
        save_snapshot: Callable[[Window, Analysis], Path],
        look: Callable[[Collection[int]], Mapping[int, CpuUse]],
        examine: Callable[[int], Diagnosis] | None = None,
        named: Collection[int] = (),
        why: str = "",
        theme: str = THEMES[0].name,
        remember_theme: Callable[[str], Path] = remember_theme,
        ascii_only: bool = False,
        sync: bool = True,
    ) -> None:
        """``settings`` are the first ones: ``feed`` is opening them, for their CPU is named or was seen idle.

        ``save_snapshot`` writes a window and returns where; TickmonError says why not. ``look`` sees what
        some CPUs are busy with (0.2 s); ``examine`` what spoils the measurement on one (0.3 s), None where
        there is no machine. ``named`` are the CPUs that the user consented to, ``why`` is one line on why
        the first CPU is the first. ``remember_theme`` writes a theme's name for the next start and returns
        where. ``sync``: frames are marked for terminals that know that.
        """
        super().__init__(driver_class=TerminalDriver, ansi_color=True if "NO_COLOR" in os.environ else None)
        self.animation_level = "none"
        self.set_class(self.no_color, "-colourless")
        self.ascii_only = ascii_only
        self.sync = sync
        self.fault: Exception | None = None
        """An error of our own that ended the app."""
        self.when_ending: Callable[[int], None] = lambda code: None
        """Told once the app begins to end, and with which exit code; may be called from any thread."""
        self.session = Session(settings, cpus, ascii_only=ascii_only)
        self.session.opened(feed.turn, "start")
        self._save_snapshot = save_snapshot
        self._look = look
        self._examine = examine
        self._remember_theme = remember_theme
        self._examined: int | None = None
        self._why = why
        self._consented = set(named)
        self.feed = feed
        self._frames = Frames(self._show, backlog=self._backlog, after=self._after)
        self._rest: asyncio.TimerHandle | None = None
        self._aging: asyncio.TimerHandle | None = None
        for each in THEMES:
            self.register_theme(each)
        # Set like this the first style sheet is parsed once, and not for Textual's own theme before.
        self.set_reactive(App.theme, theme)
        self.stylesheet.set_variables(self.get_css_variables())

    def get_default_screen(self) -> MainScreen:
        """The main screen lies beneath all others."""
        return MainScreen()

    def on_mount(self) -> None:
        """Draws the first picture, with a reading if there is one by now."""
        asyncio.get_running_loop().set_exception_handler(self._on_loop_error)
        self.feed.listen(self._tell)
        self.draw()
        # The command line put it off: there is no garbage while everything is being loaded.
        self.call_after_refresh(gc.enable)
        if self._why:
            self.notify(self._why, timeout=12, markup=False)

    # -- the feed -------------------------------------------------------------------------------

    def _open(self, reason: str) -> None:
        self.session.opened(self.feed.switch(self.session.settings, reason), reason)

    def _tell(self, turn: int, news: News) -> None:
        """Called from other threads; what comes after the end is for nobody."""
        with suppress(RuntimeError):
            self.post_message(Told(turn, news))

    def on_told(self, message: Told) -> None:
        """Takes in the feed's news."""
        if isinstance(message.news, Fault):
            self.fail(message.news.error)
        elif self.session.hear(message.turn, message.news):
            self.draw()
            if isinstance(message.news, Ended) and self.screen is not self.main:
                words = ended_words(self.session.ended or "")
                self.notify(words, severity="error", timeout=10, markup=False)
        elif message.turn == self.session.turn:
            self._frames.soon()
            self._examine_once(message.news)

    # -- drawing --------------------------------------------------------------------------------

    def draw(self) -> None:
        """Brings the main screen up to date at once."""
        self._frames.now()

    def _show(self) -> None:
        self.main.show(self.session.view(datetime.now(UTC)))
        if self._aging is not None:
            self._aging.cancel()
        self._aging = self._after(_AGING_S, self._frames.soon) if self.session.paused else None

    def _after(self, seconds: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        # Textual's own timer never fires when the event loop is held up for longer than its time.
        return asyncio.get_running_loop().call_later(seconds, self.call_later, callback)

    def _backlog(self) -> int:
        return self._driver.backlog if isinstance(self._driver, TerminalDriver) else 0

    @property
    def main(self) -> MainScreen:
        """The main screen, whatever lies on it."""
        screen = self.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    # -- choosing what is measured --------------------------------------------------------------

    def choose(self, settings: Settings, reason: str) -> None:
        """Shows other settings at once and opens them when the keys rest."""
        self.session.choose(settings, reason)
        if self._rest is not None:
            self._rest.cancel()
        self._rest = self._after(_REST_S, self._keys_rest)
        self.draw()

    def choose_cpu(self, cpu: int) -> None:
        """Goes to ``cpu``, after a look and perhaps a question."""
        session = self.session
        self.choose(replace(session.settings, cpu=cpu), "cpu")

    def _refuse(self, cpu: int) -> None:
        usable = cpu_list_text(self.session.order)
        self.notify(f"CPU {cpu} cannot be used here; usable: {usable}", severity="warning", markup=False)

    def _forget_choice(self) -> None:
        """Takes back what was chosen and is not opened yet."""
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None
        if isinstance(self.screen, Question):
            self.screen.dismiss(False)
        self.session.go_back()

    def _keys_rest(self) -> None:
        self._rest = None
        if self.session.reason:
            self._enter()

    def _enter(self) -> None:
        """Opens what is chosen; a CPU that is entered by that and was not agreed to is looked at before."""
        session = self.session
        cpu = session.settings.cpu
        if session.runs_on(cpu) or cpu in self._consented:
            self._open(session.reason)
        else:
            session.status = f"looking whether CPU {cpu} is idle …"
            self.run_worker(self._look_first(cpu), group="look", exclusive=True)
        self.draw()

    async def _look_first(self, cpu: int) -> None:
        """Enters an idle CPU; asks before a busy one is entered."""
        # A sampler that is only just ending would be seen as what runs there.
        await asyncio.to_thread(self.feed.wait_settled, _STOP_S)
        use = (await asyncio.to_thread(self._look, (cpu,)))[cpu]
        session = self.session
        # Meanwhile the user may have gone on to another.
        if session.settings.cpu != cpu or not session.reason or self._rest is not None:
            return
        if use.idle:
            self._open(session.reason)
            self.draw()
        elif use.offline:
            self.notify(f"CPU {cpu} is offline", severity="warning")
            self._answered(use, False)
        else:
            question = about_busy(use, nohz_full=cpu in session.cpus.nohz_full)
            self.push_screen(question, partial(self._answered, use))

    def _answered(self, use: CpuUse, consent: bool | None) -> None:
        session = self.session
        if consent:
            self._consented.add(use.cpu)
            self._enter()
            return
        session.go_back()
        if session.rested and use.cpu != session.settings.cpu:
            session.come_back()
            self._enter()
        elif session.ended is not None and use.cpu == session.settings.cpu:
            session.halt(f"CPU {use.cpu} {use.text}: not measured")
        self.draw()

    # -- actions --------------------------------------------------------------------------------

    def action_go(self, step: int) -> None:
        """Previous or next CPU."""
        session = self.session
        if session.order == [session.settings.cpu]:
            self.notify(f"CPU {session.settings.cpu} is the only usable one", markup=False)
        else:
            self.choose_cpu(next_cpu(session.order, session.settings.cpu, step))

    def action_digit(self, digit: int) -> None:
        """Straight to a CPU, or into the list with the digit typed."""
        order = self.session.order
        few = len(order) <= _FEW_CPUS
        if digit == self.session.settings.cpu and few and self.session.ended is not None:
            self.action_restart()
        elif digit in order and few:
            self.choose_cpu(digit)
        elif any(str(cpu).startswith(str(digit)) for cpu in order):
            self.action_cpus(str(digit))
        else:
            self._refuse(digit)

    def action_cpus(self, typed: str = "") -> None:
        """The list of CPUs."""

        def chosen(cpu: int | None) -> None:
            if cpu is not None:
                self.choose_cpu(cpu)

        session = self.session
        self.push_screen(CpuList(session.cpus, session.measured_cpu, self._look, typed), chosen)

    def action_overview(self) -> None:
        """All CPUs; what runs rests meanwhile."""
        session = self.session
        self._forget_choice()
        rests = session.ended is None
        if rests:
            session.halt("the overview is open")
        overview = Overview(
            session.cpus,
            home=session.settings.cpu,
            begin=self._begin_survey,
            frames=partial(Frames, backlog=self._backlog, after=self._after),
        )
        self.push_screen(overview, partial(self._leave_overview, rests))

    def _begin_survey(self, everywhere: bool, tell: Callable[[dict[int, CpuRow]], None]) -> None:
        """Has all CPUs measured instead of one; ``tell`` is called with rows from another thread."""
        session = self.session
        segments = itertools.count(1)

        def open_source(settings: Settings) -> WindowSource:
            return self.feed.open_source(settings, segment=next(segments), first_window=1, reason="scan")

        means = Means(
            settings=replace(session.settings, method=Method.GAP, samples=None, trace=False),
            cpus=session.cpus,
            consented=frozenset(self._consented),
            open_source=open_source,
            keep_away=self.feed.keep_away,
            look=self._look,
        )
        board = Board(session.cpus.usable, means.consented)

        def told(event: SurveyEvent) -> None:
            if rows := board.take(event):
                with suppress(RuntimeError):
                    tell(rows)

        self.feed.lend(Survey(partial(sample_everywhere if everywhere else scan, means, told)))

    def _leave_overview(self, rests: bool, cpu: int | None) -> None:
        """Goes on with what rested, or to another CPU."""
        session = self.session
        self.feed.switch(None, "scan")
        if rests:
            session.come_back()
        if cpu is not None and cpu != session.settings.cpu:
            self.choose_cpu(cpu)
        elif rests:
            self._enter()
        self.draw()

    def action_window(self, step: int) -> None:
        """Longer or shorter windows."""
        settings = self.session.settings
        window_s = next_window_s(settings.window_s, step)
        if window_s != settings.window_s:
            self.choose(replace(settings, window_s=window_s), "settings")

    def action_method(self) -> None:
        """The other method."""
        settings = self.session.settings
        method = Method.LOOP if settings.method is Method.GAP else Method.GAP
        self.choose(replace(settings, method=method), "method")

    def action_trace(self) -> None:
        """The kernel's own trace on or off."""
        settings = self.session.settings
        self.choose(replace(settings, trace=not settings.trace), "trace")

    def action_restart(self) -> None:
        """Starts again with nothing remembered."""
        if self.session.ended is not None:
            self.clear_notifications()  # One of them may say why it ended.
        self.choose(self.session.settings, "reset")

    def action_pause(self) -> None:
        """Keeps what is shown, or goes on."""
        self.session.toggle_pause()
        self.draw()

    def action_step(self, by: int) -> None:
        """Back and forth through the windows so far, on hold."""
        self.session.step(by)
        self.draw()

    def action_oldest(self) -> None:
        """The oldest window that is kept."""
        self._look_back(browsing.oldest)

    def action_newest(self) -> None:
        """The newest window, on hold."""
        self._look_back(browsing.newest)

    def action_worst(self) -> None:
        """The worst interruption's window, then that of the next worst."""
        held = self.session.held
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

        history = self.session.history
        if history.all_worst:
            self.push_screen(WorstList(history, in_cycles=self.session.in_cycles), chosen)
        else:
            self.notify("nothing has interrupted yet")

    def _look_back(self, find: Callable[[History], browsing.Held | None]) -> bool:
        found = self.session.look_back(find)
        self.draw()
        return found

    def action_unit(self) -> None:
        """Lengths as times or as cycles."""
        self.session.in_cycles = not self.session.in_cycles
        self.draw()

    async def action_snapshot(self) -> None:
        """Saves the window on show."""
        reading = self.session.shown
        if reading is None or reading.analysis.window.provisional:
            self.notify("no window is complete yet: press s again in a moment", severity="warning")
            return
        if self.session.held is not None and not self.session.held.whole:
            words = "this window is too old to be saved whole; the last minute and the worst (w) can be saved"
            self.notify(words, severity="warning", timeout=10)
            return
        self.run_worker(self._save(reading), group="save")

    async def _save(self, reading: Reading) -> None:
        analysis = reading.analysis
        try:
            path = await asyncio.to_thread(self._save_snapshot, analysis.window, analysis)
        except TickmonError as error:
            self.notify(str(error), title="not saved", severity="error", timeout=10, markup=False)
        else:
            self.notify(f"{path}", title="saved", timeout=10, markup=False)

    def action_warnings(self) -> None:
        """All warnings, all sources, and what the figures rest on."""
        self.push_screen(Details(self.session.view(datetime.now(UTC))))

    def action_doctor(self) -> None:
        """What of this machine helps or hurts the measurement."""
        if self._examine is None:
            self.notify("there is no machine here that could be examined", severity="warning")
            return
        self.push_screen(Doctor(self.session.settings.cpu, self._examine), self._diagnosed)

    def _examine_once(self, news: News) -> None:
        """Has each CPU that is entered examined when it has given a whole reading, and not before."""
        cpu = self.session.running.cpu
        if self._examine is None or self._examined == cpu or not isinstance(news, Reading):
            return
        if not news.analysis.window.provisional:
            self._examined = cpu
            self.run_worker(self._examine_quietly(cpu, self._examine), group="doctor", exclusive=True)

    async def _examine_quietly(self, cpu: int, examine: Callable[[int], Diagnosis]) -> None:
        """For the one line on the main screen: the page says why, should it fail."""
        with suppress(TickmonError):
            self._diagnosed(await asyncio.to_thread(examine, cpu))

    def _diagnosed(self, found: Diagnosis | None) -> None:
        if found is not None:
            self.session.diagnosis = found
            self._frames.soon()

    def action_help(self) -> None:
        """Keys, and what each figure means."""
        self.push_screen(Help())

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
        """Ends the app."""
        self.exit(0)

    async def action_suspend(self) -> None:
        """Gives the terminal and the CPU back until the shell says fg; the open window is thrown away."""
        driver, session = self._driver, self.session
        if not isinstance(driver, TerminalDriver):
            return
        turn = -1
        # Keys that come while the sampler ends may open another.
        while self.feed.turn != turn:
            self._forget_choice()
            turn = self.feed.switch(None, "jump")
            await asyncio.to_thread(self.feed.wait_settled, _STOP_S)
        self._forget_choice()
        # Until it returns nothing else runs on the event loop, so nothing is drawn.
        driver.suspend()
        overview = next((screen for screen in self.screen_stack if isinstance(screen, Overview)), None)
        if overview is not None:
            overview.begin()
        elif session.ended is None:
            session.come_back()
            self._enter()
        self.refresh(layout=True)

    def action_command_palette(self) -> None:
        """Every action by name."""
        if not isinstance(self.screen, Palette):
            self.push_screen(Palette(id="--command-palette"))

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """One notice at a time: each of several would hide more of what is shown."""
        self.clear_notifications()
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """The palette holds every action of the screen, and nothing else."""
        for action in OVERVIEW_ACTIONS if isinstance(screen, Overview) else ACTIONS:
            if action.name != "command_palette":
                callback = partial(self.run_action, action.name, default_namespace=self)
                yield SystemCommand(action.title, f"{action.shown}: {action.sentence}", callback)

    # -- the end --------------------------------------------------------------------------------

    def fail(self, error: Exception) -> None:
        """Ends the app because of an error of its own; may be called from any thread."""
        self.fault = self.fault or error
        self.end(1)

    def _on_loop_error(self, _loop: asyncio.AbstractEventLoop, what: dict[str, Any]) -> None:
        # Of a task that nobody waits for; asyncio would print it over whatever is on the terminal.
        error = what.get("exception")
        self.fail(error if isinstance(error, Exception) else RuntimeError(what["message"]))

    def end(self, code: int) -> None:
        """Ends the app; may be called from any thread and inside a signal handler."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.exit, code)

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Ends the app; to be called on the event loop."""
        self.when_ending(result or 0)
        super().exit(result, return_code, message)

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        update = ExactUpdate(renderable) if isinstance(renderable, ChopsUpdate) else renderable
        super()._display(screen, update)

    def _fatal_error(self) -> None:
        # Textual would print a traceback of a screenful.
        self.fault = self.fault or self._exception
        self.when_ending(1)
        self._close_messages_no_wait()
