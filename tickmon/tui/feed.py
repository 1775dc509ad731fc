"""Runs one source of windows at a time in a thread of its own, and hands on what it says."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from tickmon.analysis.history import CONTINUES
from tickmon.errors import TickmonError
from tickmon.recorder import Recorder
from tickmon.tui.reader import Fault, News, Reader
from tickmon.windows import Ended, Event, ReadingWarning, Settings, Window, WindowSource

_RECORDING_END_S = 2.0
"""A recording is ended in some milliseconds, unless the machine or its disk has no time for it."""


class OpenSource(Protocol):
    """Makes the source for some settings; ``tickmon.sampling.collector.Collector`` is one."""

    def __call__(self, settings: Settings, *, segment: int, first_window: int, reason: str) -> WindowSource:
        """The source; nothing runs before its ``start``."""


class Job(Protocol):
    """Something else than one source that uses CPUs: an overview of all."""

    def start(self) -> None:
        """Begins; returns at once."""

    def stop(self) -> None:
        """Ends it and waits until all that it ran is gone."""


@dataclass(frozen=True, slots=True)
class _Request:
    turn: int
    settings: Settings | None
    """None: no source shall run."""
    reason: str
    job: Job | None = None


class Feed:
    """Opens and stops sources one after another; only the newest request counts.

    Stopping a source waits for its sampler, so all of that happens in the feed's own thread and never on
    the event loop of the screen; readings are made in a thread beside it. Nothing here needs Textual, so
    the first sampler is at work while that is being loaded.
    """

    def __init__(
        self,
        *,
        open_source: OpenSource,
        keep_away: Callable[[Collection[int]], str | None],
        recorder: Recorder | None = None,
    ) -> None:
        """``keep_away(cpus)`` moves this process's threads away from CPUs, or says what it cannot avoid.

        ``recorder`` keeps finished windows once ``record`` was called; None: there is nothing to record.
        """
        self.open_source = open_source
        self.keep_away = keep_away
        self._listener: Callable[[int, News], None] | None = None
        self._unheard: list[tuple[int, News]] = []
        self._listening = threading.Lock()
        self._changed = threading.Condition()
        self._request: _Request | None = None
        self._turn = 0
        self._closing = False
        self._settled = threading.Event()
        self._segment = 0
        self._window = 0
        self._reader = Reader(self._tell, recorder)
        self.can_record = recorder is not None
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)
        self._excepthook = threading.excepthook

    @property
    def turn(self) -> int:
        """Of the newest request; 0 before the first."""
        return self._turn

    def listen(self, tell: Callable[[int, News], None]) -> None:
        """Has ``tell(turn, news)`` called, from other threads, for what came so far and what is to come."""
        with self._listening:
            self._listener = tell
            for turn, news in self._unheard:
                tell(turn, news)
            self._unheard.clear()

    def switch(self, settings: Settings | None, reason: str) -> int:
        """Has what runs replaced by a source for ``settings``; returns the turn of its news at once."""
        return self._ask(settings, reason, None)

    def lend(self, job: Job) -> int:
        """Has what runs replaced by ``job``, until the next request; its turn has no news."""
        return self._ask(None, "scan", job)

    def _ask(self, settings: Settings | None, reason: str, job: Job | None) -> int:
        with self._changed:
            self._turn += 1
            self._request = _Request(self._turn, settings, reason, job)
            self._settled.clear()
            self._changed.notify()
        if self._thread.ident is None:
            threading.excepthook = self._on_thread_error
            self._thread.start()
            self._reader.start()
        return self._turn

    def record(self, cpu: int) -> None:
        """Begins a recording, in a file with the name of ``cpu``, or ends the one that runs."""
        self._reader.record(self._turn, cpu)

    def wait_settled(self, timeout_s: float) -> bool:
        """Waits until the newest request was carried out; False when that took too long."""
        return self._settled.wait(timeout_s)

    def wait_idle(self, timeout_s: float) -> bool:
        """Waits until all that came from the source was told; False when that took too long."""
        return self._reader.wait_idle(timeout_s)

    def close(self, timeout_s: float) -> None:
        """Stops what runs and ends the threads, but waits no longer than ``timeout_s``.

        Only a recording may take somewhat longer: to be whole it needs its last windows and its end.
        """
        threading.excepthook = self._excepthook
        with self._changed:
            self._closing = True
            self._changed.notify()
        end_s = time.monotonic() + timeout_s
        if self._thread.is_alive():
            self._thread.join(timeout_s)
        least_s = _RECORDING_END_S if self._reader.recording else 0.0
        self._reader.close(max(least_s, end_s - time.monotonic()))

    def _on_thread_error(self, failed: threading.ExceptHookArgs) -> None:
        """An error that no thread expected, of a source or of the screen, must not pass unseen."""
        error = failed.exc_value
        self._tell(
            self._turn, Fault(error if isinstance(error, Exception) else RuntimeError(failed.exc_type))
        )

    def _tell(self, turn: int, news: News) -> None:
        with self._listening:
            if self._listener is None:
                self._unheard.append((turn, news))
            else:
                self._listener(turn, news)

    def _run(self) -> None:
        source: WindowSource | Job | None = None
        while True:
            with self._changed:
                while self._request is None and not self._closing:
                    self._settled.set()
                    self._changed.wait()
                request, self._request = self._request, None
            if source is not None:
                source.stop()
                source = None
            if request is None or self._closing:
                return
            if request.settings is not None:
                source = self._open(request, request.settings)
            elif request.job is not None:
                source = request.job
                request.job.start()

    def _open(self, request: _Request, settings: Settings) -> WindowSource | None:
        # No source runs now, so no other thread uses this.
        self._segment += 1
        try:
            nearness = self.keep_away((settings.cpu,))
            near = () if nearness is None else (ReadingWarning(code="near", message=nearness),)
            self._reader.begin(request.turn, forget=request.reason not in CONTINUES, warnings=near)
            source = self.open_source(
                settings, segment=self._segment, first_window=self._window + 1, reason=request.reason
            )
            source.start(lambda event: self._hear(request.turn, event))
        except TickmonError as error:
            self._reader.take(request.turn, Ended(error=str(error)))
            return None
        except Exception as error:
            self._tell(request.turn, Fault(error))
            return None
        return source

    def _hear(self, turn: int, event: Event) -> None:
        """Called by the source, from its thread, which also empties a ring: nothing here may take long."""
        if isinstance(event, Window) and not event.provisional:
            self._window, self._segment = event.window, event.segment.segment
        self._reader.take(turn, event)
