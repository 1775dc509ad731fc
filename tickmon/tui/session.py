"""What is chosen, what runs and what is shown: the state behind the screen, without a screen."""

from __future__ import annotations

from datetime import datetime

from tickmon.doctor.findings import Diagnosis
from tickmon.machine.cpus import Cpus
from tickmon.tui.feed import CONTINUES
from tickmon.tui.plots import Axis
from tickmon.tui.reader import News
from tickmon.tui.view import Reading, View
from tickmon.tui.widgets.histogram import axis_for
from tickmon.windows import Ended, OpenGap, Settings

WINDOW_STEPS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)

_REASONS = ("", "jump", "settings", "reset", "trace", "method", "cpu")
"""Why a source is opened, weakest first: of several changes at once the strongest counts."""


class Session:
    """Follows the user's choices and the feed's news; ``view`` says what that looks like now.

    Choices count at once on screen and a little later for the sampler: ``running`` are the settings of
    the source whose news count (``turn``), ``settings`` those chosen.
    """

    def __init__(self, settings: Settings, cpus: Cpus, *, ascii_only: bool = False) -> None:
        self.settings = settings
        self.running = settings
        self.turn = 0
        self.reason = ""
        """Why ``settings`` are to be opened; empty: they are."""
        self.cpus = cpus
        self._ascii_only = ascii_only
        self.order = sorted(cpus.usable)
        """The CPUs that the keys go through."""
        self.paused = False
        self.in_cycles = False
        self.status = ""
        self.diagnosis: Diagnosis | None = None
        """The doctor's latest."""
        self.ended: str | None = None
        """Why nothing runs; None: something does, or is being opened."""
        self.shown: Reading | None = None
        self._latest: Reading | None = None
        self._axis: Axis | None = None
        self._open_gap: OpenGap | None = None

    def runs_on(self, cpu: int) -> bool:
        """Something runs, and on that CPU: it has been entered."""
        return cpu == self.measured_cpu()

    def measured_cpu(self) -> int | None:
        """Where something runs; None: nowhere."""
        return self.running.cpu if self.ended is None else None

    def choose(self, settings: Settings, reason: str) -> None:
        """Other settings, to be opened when the keys rest; back to the last ones: nothing to open."""
        self.settings = settings
        self.reason = max(self.reason, reason, key=_REASONS.index)
        self.paused = False
        if settings == self.running and self.reason != "reset":
            self.go_back()
        elif self.reason not in CONTINUES or self.ended is not None:
            self.shown = None
        self.status = (
            f"going to CPU {settings.cpu} …" if settings.cpu != self.running.cpu else "starting again …"
        )

    def opened(self, turn: int, reason: str) -> None:
        """The chosen settings are being opened; from now on the news of ``turn`` count."""
        self.turn = turn
        if reason not in CONTINUES:
            self.shown = self._axis = None
        self._latest = None
        self.running = self.settings
        self.reason = ""
        self.status = f"starting on CPU {self.settings.cpu} …"
        self.ended = self._open_gap = None

    def go_back(self) -> None:
        """What was chosen shall not be opened after all."""
        self.settings = self.running
        self.reason = ""
        if not self.paused:
            self.shown = self._latest or self.shown

    def come_back(self) -> None:
        """After Ctrl-Z and fg nothing runs, and what ran is to be opened again."""
        self.halt("stopped by Ctrl-Z")
        self.reason = "jump"
        if not self.paused:
            self.shown = None

    def halt(self, why: str) -> None:
        """Nothing runs any more."""
        self.ended = why
        self._open_gap = None

    def hear(self, turn: int, news: News) -> bool:
        """Takes in the feed's news; True when they should be on screen without delay."""
        if turn != self.turn:
            return False
        match news:
            case OpenGap():
                first = self._open_gap is None
                self._open_gap = news
                return first
            case Ended():
                self.halt(news.error or "there is nothing more to come")
                return True
            case Reading():
                first = self._latest is None
                self._latest = news
                self._open_gap = None
                if not self.paused and not self.reason:
                    self.shown = news
                return first
        raise TypeError(news)

    def toggle_pause(self) -> None:
        """Keeps what is shown, or goes on with the newest."""
        if self.paused:
            self.shown = self._latest or self.shown
        self.paused = not self.paused and self.shown is not None

    def view(self, now: datetime) -> View:
        """What is to be seen at ``now`` (UTC)."""
        if self.shown is not None:
            self._axis = axis_for(self.shown, self._axis)
        age_s = (now - self.shown.ended_at).total_seconds() if self.paused and self.shown else None
        return View(
            settings=self.settings,
            cpu_words=self.cpus.describe(self.settings.cpu),
            reading=self.shown,
            axis=self._axis,
            doctor=self._doctor(),
            status=self.status,
            paused_age_s=age_s,
            open_gap=self._open_gap if not self.reason else None,
            ended=self.ended if not self.reason else None,
            in_cycles=self.in_cycles,
            ascii_only=self._ascii_only,
        )

    def _doctor(self) -> str:
        found = self.diagnosis
        return found.short if found is not None and found.cpu == self.settings.cpu else ""


def next_cpu(order: list[int], cpu: int, step: int) -> int:
    """The CPU ``step`` places on from ``cpu``, round and round; ``cpu`` may have gone from ``order``."""
    if cpu in order:
        return order[(order.index(cpu) + step) % len(order)]
    later = [other for other in order if other > cpu]
    return (
        (later[0] if later else order[0])
        if step > 0
        else max((o for o in order if o < cpu), default=order[-1])
    )


def next_window_s(window_s: float, step: int) -> float:
    """The next longer (1) or shorter (-1) of the steps; ``window_s`` itself at the end of them."""
    if step > 0:
        return next((s for s in WINDOW_STEPS_S if s > window_s), window_s)
    return next((s for s in reversed(WINDOW_STEPS_S) if s < window_s), window_s)
