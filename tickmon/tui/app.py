"""The live screen as an app: what the keys do."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from textual.screen import Screen

from tickmon.sampling.survey import Means
from tickmon.tui.actions import Action
from tickmon.tui.board import CpuRow
from tickmon.tui.driver import TerminalDriver
from tickmon.tui.frames import Frames
from tickmon.tui.live import Live
from tickmon.tui.overview_actions import OVERVIEW_ACTIONS
from tickmon.tui.screens.cpus import CpuList
from tickmon.tui.screens.doctor import Doctor
from tickmon.tui.screens.overview import Overview
from tickmon.tui.session import next_cpu, next_window_s
from tickmon.tui.surveying import survey_of
from tickmon.windows import Method, Settings, WindowSource

_FEW_CPUS = 10
"""With no more CPUs than this a digit is a CPU; with more it begins a number."""


class TickmonApp(Live):
    """The live screen: what its keys do."""

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
            save=self.save,
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
        self.feed.lend(survey_of(means, everywhere=everywhere, tell=tell))

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

    def action_record(self) -> None:
        """Begins a recording of all windows from now on, or ends it."""
        if self.feed.can_record:
            self.feed.record(self.session.settings.cpu)
        else:
            self.notify("there is nothing here that could be recorded", severity="warning")

    def action_doctor(self) -> None:
        """What of this machine helps or hurts the measurement."""
        if self._examine is None:
            self.notify("there is no machine here that could be examined", severity="warning")
            return
        self.push_screen(Doctor(self.session.settings.cpu, self._examine), self._diagnosed)

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
            await self._settled()
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

    def actions_on(self, screen: Screen[object]) -> Sequence[Action]:
        """The overview has its own."""
        return OVERVIEW_ACTIONS if isinstance(screen, Overview) else super().actions_on(screen)
