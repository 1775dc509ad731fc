"""What the live screen measures: what is chosen, looked at and entered, and what comes of it."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual import work
from textual.notifications import SeverityLevel

from tickmon.analysis.readings import Analysis
from tickmon.doctor.findings import Diagnosis
from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpulist import cpu_list_text
from tickmon.machine.cpus import Cpus
from tickmon.recorder import Recorded
from tickmon.remembered import remember_theme
from tickmon.tui.actions import ACTIONS
from tickmon.tui.beside import beside
from tickmon.tui.feed import Feed
from tickmon.tui.pinning import Pin
from tickmon.tui.reader import Fault, News, Refused
from tickmon.tui.screens.question import Question, about_busy
from tickmon.tui.session import Session
from tickmon.tui.shell import Shell
from tickmon.tui.starved import WONDER_S, starved_words
from tickmon.tui.themes import THEMES
from tickmon.tui.told import Told
from tickmon.tui.view import Reading
from tickmon.tui.words import ended_words
from tickmon.windows import Ended, Settings, Window

_REST_S = 0.3
"""Keys that change the settings count once they have rested for so long."""
_STOP_S = 3.0
"""So long is waited for a sampler to end, before its CPU is looked at or given back by Ctrl-Z."""
_LOOK_S = 0.01
"""So often is looked whether it has."""


class Live(Shell):
    """The feed's news on the screen, and its next settings from the user's choices."""

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
        pin: Pin | None = None,
        theme: str = THEMES[0].name,
        remember_theme: Callable[[str], Path] = remember_theme,
        ascii_only: bool = False,
        sync: bool = True,
        wonder_s: float = WONDER_S,
    ) -> None:
        """``settings`` are the first ones: ``feed`` is opening them, for their CPU is named or was seen idle.

        ``save_snapshot`` writes a window and returns where; TickmonError says why not. ``look`` sees what
        some CPUs are busy with (0.2 s); ``examine`` what spoils the measurement on one (0.3 s), None where
        there is no machine. ``named`` are the CPUs that the user consented to, ``why`` is one line on why the
        first CPU is the first. ``pin`` is a reading from elsewhere to compare with. ``remember_theme`` writes
        a theme's name for the next start and returns where. ``sync``: frames are marked for terminals that
        know that. A sampler that gives nothing for ``wonder_s`` is looked into.
        """
        self._wonder_s = wonder_s
        self.session = Session(settings, cpus, ascii_only=ascii_only, pin=pin)
        self.session.opened(feed.turn, "start")
        super().__init__(
            session=self.session,
            actions=ACTIONS,
            save_snapshot=save_snapshot,
            theme=theme,
            remember_theme=remember_theme,
            ascii_only=ascii_only,
            sync=sync,
        )
        self._look = look
        self._examine = examine
        self._examined: int | None = None
        self._why = why
        self._consented = set(named)
        self.feed = feed
        self._rest: asyncio.TimerHandle | None = None

    def close(self, timeout_s: float) -> None:
        """Stops what runs."""
        self.feed.close(timeout_s)

    def on_mount(self) -> None:
        """Draws the first picture, with a reading if there is one by now."""
        self.feed.listen(self._tell)
        self._await_first()
        self.draw()
        self.call_after_refresh(self._look_for_garbage)
        if self._why:
            self.notify(f"{self._why}\n? explains the figures, Esc closes this", timeout=20, markup=False)

    def _look_for_garbage(self) -> None:
        """From now on: the command line put it off, since nothing that is being loaded is garbage."""
        # What is loaded stays, and going through it would take 30 ms each time.
        gc.freeze()
        gc.enable()

    # -- the feed -------------------------------------------------------------------------------

    def _open(self, reason: str) -> None:
        self.session.opened(self.feed.switch(self.session.settings, reason), reason)
        self._await_first()

    def _await_first(self) -> None:
        """Has it said after a while why no reading comes."""
        self._after(self._wonder_s, partial(self._wonder, self.session.turn))

    async def _wonder(self, turn: int) -> None:
        session, cpu = self.session, self.session.running.cpu
        if session.waits(turn):
            with suppress(TickmonError):
                words = await beside(partial(starved_words, cpu, self._look))
                if session.waits(turn) and not session.reason:
                    session.status = words
                    self.draw()

    def _tell(self, turn: int, news: News) -> None:
        """Called from other threads; what comes after the end is for nobody."""
        with suppress(RuntimeError):
            self.post_message(Told(turn, news))

    def on_told(self, message: Told) -> None:
        """Takes in the feed's news."""
        if isinstance(message.news, Fault):
            self.fail(message.news.error)
        elif isinstance(message.news, Recorded):
            self._tell_recorded(message.news)
        elif isinstance(message.news, Refused):
            self.notify(message.news.why, title="not recorded", severity="error", timeout=10, markup=False)
        elif self.session.hear(message.turn, message.news):
            self.draw()
            if isinstance(message.news, Ended) and self.screen is not self.main:
                words = ended_words(self.session.ended or "")
                self.notify(words, severity="error", timeout=10, markup=False)
        elif message.turn == self.session.turn:
            self._frames.soon()
            self._examine_once(message.news)

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
            self._look_first(cpu)
        self.draw()

    @work(group="look", exclusive=True, description="looks at a CPU")
    async def _look_first(self, cpu: int) -> None:
        """Enters an idle CPU; asks before a busy one is entered."""
        # A sampler that is only just ending would be seen as what runs there.
        await self._settled()
        session = self.session
        use, refusal = None, f"CPU {cpu} is offline"
        try:
            use = (await beside(partial(self._look, (cpu,))))[cpu]
        except TickmonError as error:
            refusal = f"CPU {cpu} is not measured: {error}"
        # Meanwhile the user may have gone on to another.
        if session.settings.cpu != cpu or not session.reason or self._rest is not None:
            return
        if use is None or use.offline:
            self.notify(refusal, severity="warning", markup=False)
            self._stay_out(cpu, refusal)
        elif use.idle:
            self._open(session.reason)
            self.draw()
        else:
            question = about_busy(use, nohz_full=cpu in session.cpus.nohz_full)
            self.push_screen(question, partial(self._answered, use))

    def _answered(self, use: CpuUse, consent: bool | None) -> None:
        if consent:
            self._consented.add(use.cpu)
            self._enter()
        else:
            self._stay_out(use.cpu, f"CPU {use.cpu} {use.text}: not measured")

    def _stay_out(self, cpu: int, why: str) -> None:
        """Goes on where it was, or says why nothing is measured."""
        session = self.session
        session.go_back()
        if session.rested and cpu != session.settings.cpu:
            session.come_back()
            self._enter()
        elif session.ended is not None and cpu == session.settings.cpu:
            session.halt(why)
        self.draw()

    async def _settled(self) -> None:
        """Waits until the feed has done what it was asked for, or for too long."""
        give_up_s = time.monotonic() + _STOP_S
        while not self.feed.wait_settled(0) and time.monotonic() < give_up_s:
            await asyncio.sleep(_LOOK_S)

    # -- what comes beside the readings ------------------------------------------------------------

    def _tell_recorded(self, recorded: Recorded) -> None:
        self.session.recorded = None if recorded.ended else recorded
        self.draw()
        if recorded.said:
            words = "; ".join(recorded.said)
            severity: SeverityLevel = "error" if recorded.trouble else "information"
            self.notify(words, severity=severity, timeout=10, markup=False)

    def _examine_once(self, news: News) -> None:
        """Has each CPU that is entered examined when it has given a whole reading, and not before."""
        cpu = self.session.running.cpu
        if self._examine is None or self._examined == cpu or not isinstance(news, Reading):
            return
        if not news.analysis.window.provisional:
            self._examined = cpu
            self._examine_quietly(cpu, self._examine)

    @work(group="doctor", exclusive=True, description="examines a CPU")
    async def _examine_quietly(self, cpu: int, examine: Callable[[int], Diagnosis]) -> None:
        """For the one line on the main screen: the page says why, should it fail."""
        with suppress(TickmonError):
            self._diagnosed(await beside(partial(examine, cpu)))

    def _diagnosed(self, found: Diagnosis | None) -> None:
        if found is not None:
            self.session.diagnosis = found
            self._frames.soon()
