"""Measuring many CPUs for an overview: what is needed for that, what is told, and the thread it runs in."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpus import Cpus
from tickmon.threads import begin
from tickmon.windows import Ended, Event, ReadingWarning, Settings, Window, WindowSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What some CPUs were seen to be used for."""

    uses: Mapping[int, CpuUse]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """On which CPUs samplers are at work from now on."""

    cpus: frozenset[int]
    spared: frozenset[int] = frozenset()
    """CPUs that could be measured too, and are left to the screen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A finished window of one CPU."""

    cpu: int
    window: Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A CPU could not be measured, or not any more."""

    cpu: int
    why: str


SurveyEvent = Looked | Sampling | Seen | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a survey works with."""

    settings: Settings
    """As chosen for one CPU; CPU and window are the survey's own."""
    cpus: Cpus
    consented: frozenset[int]
    """The CPUs that the user named or agreed to: they are measured though they are busy."""
    open_source: Callable[[Settings], WindowSource]
    keep_away: Callable[[Collection[int]], str | None]
    """Moves this process's threads away from CPUs, or says what cannot be avoided."""
    look: Callable[[Collection[int]], Mapping[int, CpuUse]]
    """See ``tickmon.machine.busy.look``."""

    def fit(self, uses: Mapping[int, CpuUse], before: Mapping[int, CpuUse] | None = None) -> frozenset[int]:
        """Those of the CPUs looked at that may be measured; ``before`` is what was seen of all earlier.

        A core is shared: a sampler takes from what runs on a sibling, and that from what it measures.
        """
        known = {**(before or {}), **uses}
        return frozenset(
            cpu
            for cpu, use in uses.items()
            if not use.offline
            and (cpu in self.consented or (use.idle and busy_sibling(cpu, known, self.cpus) is None))
        )


def busy_sibling(cpu: int, uses: Mapping[int, CpuUse], cpus: Cpus) -> CpuUse | None:
    """What runs on another thread of the core of ``cpu``, as far as it was looked at; None: nothing."""
    siblings = (uses[other] for other in sorted(cpus.siblings.get(cpu, ())) if other in uses)
    return next((use for use in siblings if not use.idle and not use.offline), None)


def with_warning(window: Window, code: str, message: str | None) -> Window:
    """``window`` with one more warning; None: with none."""
    if message is None:
        return window
    return replace(window, warnings=(*window.warnings, ReadingWarning(code=code, message=message)))


class Survey:
    """Runs a way of measuring many CPUs in a thread of its own, until it is told to stop."""

    def __init__(self, walk: Callable[[Survey], None], refused: Callable[[str], None]) -> None:
        """``walk`` returns soon after ``stopping``, and has ended all its sources by then.

        ``refused`` is told why nothing can be begun.
        """
        self._walk = walk
        self._refused = refused
        self._stop = threading.Event()
        # Not only events: None wakes whoever waits for one.
        self._events: queue.SimpleQueue[tuple[int, Event] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Starts the thread; to be called once."""
        try:
            self._thread = begin(lambda: self._walk(self), name="survey")
        except TickmonError as refusal:
            self._refused(str(refusal))

    def stop(self) -> None:
        """Ends all samplers and waits for them."""
        self._stop.set()
        self._events.put(None)
        if self._thread is not None:
            self._thread.join()

    @property
    def stopping(self) -> bool:
        """It was told to stop."""
        return self._stop.is_set()

    def hear(self, cpu: int, event: Event) -> None:
        """Takes in what a source hands on, from that source's thread."""
        self._events.put((cpu, event))

    def next_event(self, within_s: float) -> tuple[int, Event] | None:
        """The next event that a source handed on; None when none came in time, or when stopping.

        A source's fault is raised: it is this program's.
        """
        try:
            heard = self._events.get(timeout=max(0.0, within_s))
        except queue.Empty:
            return None
        if heard is not None and isinstance(heard[1], Ended) and heard[1].fault is not None:
            raise heard[1].fault
        return heard

    def forget_events(self) -> None:
        """Passes over what was handed on and not taken: its source was stopped."""
        while not self._events.empty():
            self._events.get()


def stop_all(sources: Iterable[WindowSource]) -> None:
    """Ends sources at once and waits for them: each of them waits for its own last window."""
    threads = []
    for source in sources:
        try:
            threads.append(begin(source.stop, name="stop"))
        except TickmonError:
            # No more threads may be started: then one after the other.
            source.stop()
    for thread in threads:
        thread.join()
