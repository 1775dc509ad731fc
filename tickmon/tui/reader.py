"""Makes readings of windows in a thread of its own, so that no source ever waits for an analysis."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tickmon.analysis import analyse
from tickmon.analysis.clocks import Clocks
from tickmon.analysis.history import NO_HISTORY, remember
from tickmon.analysis.trend import NO_TREND, extend
from tickmon.tui.view import Reading
from tickmon.windows import Ended, Event, OpenGap, ReadingWarning, Window


@dataclass(frozen=True, slots=True)
class Fault:
    """An error of tickmon's own, not of the machine."""

    error: Exception


News = Reading | OpenGap | Ended | Fault
"""What is told of a source's events."""


@dataclass(frozen=True, slots=True)
class _Begin:
    """What follows comes from another source."""

    forget: bool
    warnings: tuple[ReadingWarning, ...]


class Reader:
    """Takes a source's events at once, however long an analysis takes, and tells what they come to.

    A look at an open window or an open gap is passed over when newer things wait already; a finished
    window never is, since clocks and trend need each.
    """

    def __init__(self, tell: Callable[[int, News], None]) -> None:
        """``tell(turn, news)`` is called from the reader's thread."""
        self._tell = tell
        self._waiting: deque[tuple[int, Event | _Begin]] = deque()
        self._changed = threading.Condition()
        self._reading = False
        self._closing = False
        # What follows is used by the reader's thread alone.
        self._clocks = Clocks()
        self._trend = NO_TREND
        self._history = NO_HISTORY
        self._warnings: tuple[ReadingWarning, ...] = ()
        self._thread = threading.Thread(target=self._run, name="read", daemon=True)

    def start(self) -> None:
        """Starts the thread; to be called once."""
        self._thread.start()

    def begin(self, turn: int, *, forget: bool, warnings: tuple[ReadingWarning, ...]) -> None:
        """Another source follows. ``warnings`` go into each of its windows, also where these are saved.

        ``forget``: of what came before nothing is needed any more.
        """
        with self._changed:
            if forget:
                self._waiting.clear()
            self._waiting.append((turn, _Begin(forget, warnings)))
            self._changed.notify_all()

    def take(self, turn: int, event: Event) -> None:
        """The source's next event; returns at once."""
        with self._changed:
            self._waiting.append((turn, event))
            self._changed.notify_all()

    def wait_idle(self, timeout_s: float) -> bool:
        """Waits until all that was taken has been told; False when that took too long."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._waiting and not self._reading, timeout_s)

    def close(self, timeout_s: float) -> None:
        """Ends the thread after the analysis at hand, but waits no longer than ``timeout_s``."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        while (waited := self._next()) is not None:
            turn, event = waited
            try:
                match event:
                    case _Begin():
                        self._turn_to(event)
                    case Window():
                        self._tell(turn, self._read(event))
                    case _:
                        self._tell(turn, event)
            except Exception as error:
                self._tell(turn, Fault(error))

    def _next(self) -> tuple[int, Event | _Begin] | None:
        """Waits for what is to be read next; None at the end."""
        with self._changed:
            self._reading = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting or self._closing)
            if self._closing:
                return None
            turn, event = self._waiting.popleft()
            while _is_superseded(event, (later for _, later in self._waiting)):
                turn, event = self._waiting.popleft()
            self._reading = True
            return turn, event

    def _turn_to(self, begin: _Begin) -> None:
        self._clocks = Clocks()
        self._warnings = begin.warnings
        if begin.forget:
            self._trend = NO_TREND

    def _read(self, window: Window) -> Reading:
        window = replace(window, warnings=(*window.warnings, *self._warnings))
        analysis, clocks = analyse(window, self._clocks)
        trend = extend(self._trend, analysis)
        if not window.provisional:
            # An early look is seen again as a part of the whole window, so it must leave no trace.
            self._clocks, self._trend = clocks, trend
            self._history = remember(self._history, analysis, trend)
        return Reading(analysis=analysis, trend=trend, history=self._history)


def _is_superseded(event: Event | _Begin, later: Iterable[Event | _Begin]) -> bool:
    """Whether nobody needs ``event`` any more because of what came after it."""
    if isinstance(event, OpenGap):
        return any(True for _ in later)
    if isinstance(event, Window) and event.provisional:
        return any(isinstance(newer, Window | _Begin) for newer in later)
    return False
