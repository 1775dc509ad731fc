"""What is chosen, what runs and what is shown: the state behind the screen, without a screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tickmon.analysis.history import CONTINUES, NO_HISTORY, Entry, History
from tickmon.doctor.findings import Diagnosis
from tickmon.machine.cpus import Cpus
from tickmon.recorder import Recorded
from tickmon.tui import browsing
from tickmon.tui.browsing import Held
from tickmon.tui.pinning import Pin, Pinning
from tickmon.tui.plots import Axis
from tickmon.tui.reader import News
from tickmon.tui.view import Reading, View
from tickmon.tui.widgets.histogram import axis_for
from tickmon.tui.words import clock_text, length_text
from tickmon.windows import Ended, OpenGap, Settings

WINDOW_STEPS_S = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)

_RESTED = "it rested"
"""Why nothing runs when nothing is wrong."""

_REASONS = ("", "jump", "settings", "reset", "trace", "method", "cpu")
"""Why a source is opened, weakest first: of several changes at once the strongest counts."""


class Session:
    """Follows the user's choices and the feed's news; ``view`` says what that looks like now.

    Choices count at once on screen and a little later for the sampler: ``running`` are the settings of
    the source whose news count (``turn``), ``settings`` those chosen.
    """

    def __init__(
        self, settings: Settings, cpus: Cpus, *, ascii_only: bool = False, pin: Pin | None = None
    ) -> None:
        self.settings = settings
        self.running = settings
        self.turn = 0
        self.reason = ""
        """Why ``settings`` are to be opened; empty: they are."""
        self.cpus = cpus
        self._ascii_only = ascii_only
        self.order = sorted(cpus.usable)
        """The CPUs that the keys go through."""
        self.held: Held | None = None
        """What is on show while the picture is on hold; None: it is live."""
        self.history: History = NO_HISTORY
        self.pinning = Pinning(pin)
        self.in_cycles = False
        self.status = ""
        self.recorded: Recorded | None = None
        """The recording that runs."""
        self.diagnosis: Diagnosis | None = None
        """The doctor's latest."""
        self.ended: str | None = None
        """Why nothing runs; None: something does, or is being opened."""
        self._live: Reading | None = None
        self._latest: Reading | None = None
        self._axis: Axis | None = None
        self._open_gap: OpenGap | None = None

    @property
    def shown(self) -> Reading | None:
        """What is on show."""
        return self._live if self.held is None else self.held.reading

    @property
    def paused(self) -> bool:
        """What is on show stays."""
        return self.held is not None

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
        self.held = None
        if settings == self.running and self.reason != "reset":
            self.go_back()
        elif self.reason not in CONTINUES or self.ended is not None:
            self._live = None
        self.status = (
            f"going to CPU {settings.cpu} …" if settings.cpu != self.running.cpu else "starting again …"
        )

    def opened(self, turn: int, reason: str) -> None:
        """The chosen settings are being opened; from now on the news of ``turn`` count."""
        self.turn = turn
        if reason not in CONTINUES:
            self._live = self._axis = None
        self._latest = None
        self.running = self.settings
        self.reason = ""
        self.status = f"starting on CPU {self.settings.cpu} …"
        self.ended = self._open_gap = None

    def waits(self, turn: int) -> bool:
        """Nothing has come yet of what was opened with ``turn``, though it runs."""
        return turn == self.turn and self._latest is None and self.ended is None

    def go_back(self) -> None:
        """What was chosen shall not be opened after all."""
        self.settings = self.running
        self.reason = ""
        self._live = self._latest or self._live

    def come_back(self) -> None:
        """Nothing runs any more, after Ctrl-Z and fg or an overview, and what ran is to be opened again."""
        self.halt(_RESTED)
        self.reason = "jump"
        self._live = None

    @property
    def rested(self) -> bool:
        """Nothing runs, and what ran before is still to be opened again."""
        return self.ended == _RESTED

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
                self.history = news.history
                self.recorded = news.recorded
                self._open_gap = None
                if not self.reason:
                    self._live = news
                return first
        raise TypeError(news)

    def toggle_pause(self) -> None:
        """Keeps what is shown, or goes on with the newest."""
        if self.held is None and self._live is not None:
            self.held = browsing.hold(self._live)
        else:
            self.held = None

    def step(self, by: int) -> None:
        """So many windows on or back, on hold."""
        if self.held is None:
            self.toggle_pause()
        if self.held is not None:
            self.held = browsing.step(self.held, self.history, by)

    def look_back(self, find: Callable[[History], Held | None]) -> bool:
        """Holds what ``find`` finds in the history; False when that is nothing."""
        found = find(self.history)
        self.held = found or self.held
        return found is not None

    def view(self) -> View:
        """What is to be seen."""
        held, shown = self.held, self.shown
        axis = self._axis if shown is None else axis_for(shown, self._axis)
        if held is None:
            self._axis = axis
        settings = self.settings if held is None else settings_of(held.reading, trace=self.settings.trace)
        return View(
            settings=settings,
            cpu_words=self.cpus.describe(settings.cpu),
            reading=shown,
            axis=axis,
            history=self.history if held is None else held.reading.history,
            cursor=None if held is None else held.cursor,
            remark=None if held is None else remark(held, in_cycles=self.in_cycles),
            against=self.pinning.against(None if shown is None else shown.analysis, self._complete()),
            doctor=self._doctor(),
            status=self.status,
            paused=held is not None,
            open_gap=self._open_gap if not self.reason else None,
            ended=self.ended if not self.reason else None,
            recorded=self.recorded,
            in_cycles=self.in_cycles,
            ascii_only=self._ascii_only,
        )

    def toggle_pin(self) -> bool:
        """Pins the reading on show, or unpins what is pinned; False when there is none yet."""
        return self.pinning.toggle(self._complete())

    def _complete(self) -> Sequence[Entry]:
        """The windows so far, up to the one on show."""
        if self.shown is None:
            return ()
        entries = self.shown.history.entries
        if self.held is None or self.held.entry is None:
            return entries
        return [entry for entry in entries if entry.number <= self.held.entry.number]

    def _doctor(self) -> str:
        found = self.diagnosis
        return found.short if found is not None and found.cpu == self.settings.cpu else ""


def remark(held: Held, *, in_cycles: bool) -> tuple[str, str] | None:
    """Why this one is on show: ``worst 2 of 10: 1.40 ms``, ``at 15:16:18 preemption``; None: for nothing."""
    found, history = held.found, held.reading.history
    if found is None or held.worst is None:
        return None
    length = length_text(found.gap_cycles, held.reading.analysis.tsc_hz, in_cycles=in_cycles)
    rank, of, when = held.worst, len(history.worst), ""
    if rank >= of:
        rank, of, when = rank - of, len(history.earlier), " before"
    return f"worst {rank + 1} of {of}{when}: {length}", f"at {clock_text(found.at)} {found.name}"


def settings_of(reading: Reading, *, trace: bool = False) -> Settings:
    """What ``reading`` was taken with, as far as it is shown."""
    segment = reading.analysis.window.segment
    return Settings(
        cpu=segment.cpu,
        method=segment.method,
        window_s=segment.window_s,
        loop_size=segment.loop_size or 0,
        trace=trace,
    )


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
