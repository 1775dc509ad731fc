"""Makes readings of windows in a thread of its own, so that no source ever waits for an analysis."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from tickmon.analysis import analyse
from tickmon.analysis.clocks import Clocks
from tickmon.analysis.history import NO_HISTORY, remember
from tickmon.analysis.trend import NO_TREND, extend
from tickmon.errors import TickmonError
from tickmon.recorder import Recorded, Recorder
from tickmon.tui.backlog import Begin, Finished, Record, Waiting, as_window, put
from tickmon.tui.view import Reading
from tickmon.windows import Ended, Event, OpenGap, ReadingWarning, Window


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of tickmon's own, not of the machine."""

    error: Exception


@dataclass(frozen=True, slots=True)
class Refused:
    """There is no recording, and why."""

    why: str


News = Reading | OpenGap | Ended | Fault | Recorded | Refused
"""What is told of a source's events."""


_LAST_SHARE = 0.6
"""So much of the time for an end goes into windows that are still to be recorded."""


class Reader:
    """Takes a source's events at once, however long an analysis takes, and tells what they come to.

    A look at an open window or an open gap is passed over when newer things wait already. A finished
    window never is, but where many wait they become one, which holds all that each of them came to; so a
    recording holds all time as well, in fewer windows, and however far behind the reader is its memory is
    bounded. A window is recorded before anybody is told of it.
    """

    def __init__(self, tell: Callable[[int, News], None], recorder: Recorder | None = None) -> None:
        """``tell(turn, news)`` is called from the reader's thread, and ``recorder`` used by it alone."""
        self._tell = tell
        self._waiting: deque[tuple[int, Waiting]] = deque()
        self._recording = False
        """It was asked for, and not refused."""
        self._changed = threading.Condition()
        self._reading = False
        self._closing = False
        self._close_by_s = 0.0
        # What follows is used by the reader's thread alone.
        self._clocks = Clocks()
        self._trend = NO_TREND
        self._history = NO_HISTORY
        self._warnings: tuple[ReadingWarning, ...] = ()
        self._recorder = recorder
        self._recorded: Recorded | None = None
        self._thread = threading.Thread(target=self._run, name="read", daemon=True)

    def start(self) -> None:
        """Starts the thread; to be called once."""
        self._thread.start()

    def begin(self, turn: int, *, forget: bool, warnings: tuple[ReadingWarning, ...]) -> None:
        """Another source follows. ``warnings`` go into each of its windows, also where these are saved.

        ``forget``: of what came before nothing is needed any more.
        """
        with self._changed:
            if forget and not self._records():
                self._waiting.clear()
            put(self._waiting, turn, Begin(forget, warnings))
            self._changed.notify_all()

    def take(self, turn: int, event: Event) -> None:
        """The source's next event; returns at once."""
        with self._changed:
            if isinstance(event, Window) and not event.provisional:
                put(self._waiting, turn, Finished(event, 1))
            else:
                put(self._waiting, turn, event)
            self._changed.notify_all()

    def record(self, turn: int, cpu: int) -> None:
        """A recording on or off, after all windows that were taken by now; ``cpu`` is where it begins."""
        with self._changed:
            self._recording = not self._recording
            put(self._waiting, turn, Record(self._recording, cpu))
            self._changed.notify_all()

    def wait_idle(self, timeout_s: float) -> bool:
        """Waits until all that was taken has been told; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._reading, timeout_s)

    def close(self, timeout_s: float) -> None:
        """Ends the thread after the analysis at hand, but waits no longer than ``timeout_s``.

        A recording gets what waits, as far as that goes, and its orderly end.
        """
        with self._changed:
            self._closing = True
            self._close_by_s = time.monotonic() + timeout_s * _LAST_SHARE
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while (waited := self._next()) is not None:
            turn, event = waited
            try:
                match event:
                    case Begin():
                        self._turn_to(event)
                    case Record():
                        self._switch_recording(turn, event)
                    case Finished():
                        self._tell(turn, self._read(turn, as_window(event)))
                    case Window():
                        self._tell(turn, self._read(turn, event))
                    case Ended(fault=Exception() as fault):
                        self._tell(turn, Fault(fault))
                    case _:
                        self._tell(turn, event)
            except Exception as error:
                self._tell(turn, Fault(error))
        if self._recorder is not None:
            self._recorder.close()

    def _next(self) -> tuple[int, Waiting] | None:
        """Waits for what is to be read next; None at the end."""
        with self._changed:
            self._reading = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closing)
            if self._closing and not (self._records() and time.monotonic() < self._close_by_s):
                return None
            self._reading = True
            return self._waiting.popleft()

    def _turn_to(self, begin: Begin) -> None:
        self._clocks = Clocks()
        self._warnings = begin.warnings
        if begin.forget:
            self._trend = NO_TREND

    @property
    def recording(self) -> bool:
        """Windows are being recorded, or something of a recording still waits."""
        with self._changed:
            return self._recording or self._records()

    def _records(self) -> bool:
        """Something that waits is to be recorded, or may be; the lock is held."""
        return bool(self._waiting) and (
            self._recording or any(isinstance(event, Record) for _, event in self._waiting)
        )

    def _switch_recording(self, turn: int, asked: Record) -> None:
        recorder = self._recorder
        if recorder is None or (not asked.on and not recorder.running):
            # One that is to be ended may have ended by itself just before.
            return
        try:
            self._note(turn, recorder.begin(asked.cpu) if asked.on else recorder.end())
        except TickmonError as error:
            with self._changed:
                self._recording = False
            self._tell(turn, Refused(str(error)))

    def _note(self, turn: int, recorded: Recorded | None) -> None:
        """Tells what is new of the recording; its size goes along with readings, which may be superseded."""
        self._recorded = recorded
        if recorded is None:
            return
        if recorded.ended:
            self._recorded = None
            with self._changed:
                self._recording = False
        if recorded.said or recorded.ended:
            self._tell(turn, recorded)

    def _read(self, turn: int, window: Window) -> Reading:
        window = replace(window, warnings=(*window.warnings, *self._warnings))
        analysis, clocks = analyse(window, self._clocks)
        trend = extend(self._trend, analysis)
        if not window.provisional:
            # An early look is seen again as a part of the whole window, so it must leave no trace.
            self._clocks, self._trend = clocks, trend
            self._history = remember(self._history, analysis, trend)
            if self._recorder is not None:
                self._note(turn, self._recorder.take(analysis))
        return Reading(analysis=analysis, trend=trend, history=self._history, recorded=self._recorded)
