"""The background thread that has a CPU sampled, with as many samplers as that takes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial

from tickmon.errors import TickmonError, lack_text
from tickmon.machine.facts import Machine, with_clock_of_now
from tickmon.machine.limits import throttle_ns
from tickmon.machine.shared import SharedFiles
from tickmon.sampling.native import SamplerError
from tickmon.sampling.run import Run
from tickmon.sampling.sampler import Sampler, Status
from tickmon.sampling.segment import Facts, gather_facts, segment_of
from tickmon.sampling.trace import Tracer, tracing
from tickmon.threads import begin
from tickmon.units import significant
from tickmon.windows import Ended, Event, ReadingWarning, Settings, Window

LEASE_S = 10.0
"""A sampler whose screen is stopped or hangs ends after so much running time: long beside any stall of a
loaded machine, since a slow reader must never stop it, and short beside what a busy machine forgives."""

START_S = 5.0
"""A sampler that has not run by then will not: something of higher priority holds that CPU."""

THRESHOLD_FLOOR_NS = 200.0
"""The least default threshold: below it lie the misses of caches, which nothing interrupts."""

_THROTTLED_SHARE = 0.5
"""A sampler with a real-time priority that lost its CPU for so much of what throttling takes was throttled:
tasks that are let in for a moment only, or of a higher priority, are preemptions like any other."""

_HOLE_S = 0.001
"""A shorter hole is no more than what the clocks of two segments differ by."""


class Collector:
    """A live ``WindowSource`` for one CPU. Its thread starts the sampler, and the sampler dies with it.

    ``on_event`` must return soon: the thread that calls it also renews the sampler's lease. The caller keeps
    its own threads off that CPU: see ``tickmon.machine.affinity``.
    """

    def __init__(
        self,
        settings: Settings,
        machine: Machine,
        *,
        segment: int = 1,
        first_window: int = 1,
        reason: str = "start",
        duration_s: float | None = None,
        looks: bool = True,
        tables: SharedFiles | None = None,
    ) -> None:
        """Prepares; nothing runs before ``start``. After ``duration_s`` it ends by itself.

        With ``looks`` a window is also handed on while it is open, marked provisional. Collectors that run
        at once are given the same ``tables``.
        """
        self._settings = settings
        self._machine = machine
        self._segment = segment
        self._window = first_window
        self._reason = reason
        self._duration_s = duration_s
        self._looks = looks
        self._tables = SharedFiles() if tables is None else tables
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Starts the thread; TickmonError where none may be. What goes wrong later comes as ``Ended``."""
        self._thread = begin(partial(self._run, on_event), name=f"collect-{self._settings.cpu}")

    def stop(self) -> None:
        """Ends the sampler and waits for the thread. What is measured of the open window is handed on."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, on_event: Callable[[Event], None]) -> None:
        cpu = self._settings.cpu
        try:
            ended = Ended(error=self._collect(on_event))
        except TickmonError as error:
            ended = Ended(error=str(error))
        except Exception as fault:
            # Whoever waits for windows must hear that none will come; a thread's traceback reaches nobody.
            words = f"internal error while collecting from CPU {cpu}, please report it: {fault!r}"
            lack = lack_text(fault)
            # Of files there may be enough again; without memory nothing can be relied on.
            passing = isinstance(fault, OSError) and lack is not None
            ended = Ended(error=lack or words, fault=None if passing else fault)
        if ended.fault is not None or not self._stop.is_set():
            on_event(ended)

    def _collect(self, on_event: Callable[[Event], None]) -> str | None:
        """Runs samplers until one ends for good; returns why, None when all that was asked is done."""
        if not self._settings.trace:
            return self._run_samplers(on_event, None, ())
        # Before any sampler and until after the last: switching a trace on or off interrupts every CPU.
        with tracing(self._settings.cpu) as (tracer, warnings):
            return self._run_samplers(on_event, tracer, warnings)

    def _run_samplers(
        self,
        on_event: Callable[[Event], None],
        tracer: Tracer | None,
        trace_warnings: tuple[ReadingWarning, ...],
    ) -> str | None:
        facts = gather_facts(self._settings, self._machine)
        end_s: float | None = None
        hand_on = _telling_of_holes(on_event)
        while True:
            with _open_sampler(self._settings, facts) as sampler:
                # Before it runs: a switch from then on would else be taken for something unexplained.
                dated = sampler.date_switches()
                status = _await_start(sampler, self._settings.cpu, self._stop)
                if status is None:
                    return None
                if end_s is None and self._duration_s is not None:
                    end_s = time.monotonic() + self._duration_s
                run = Run(
                    sampler,
                    segment_of(self._settings, facts, status, segment=self._segment, reason=self._reason),
                    counter_hz=facts.measured_hz,
                    clock_source=facts.machine.clock.name,
                    throttled_ns=_THROTTLED_SHARE * throttle_ns() if self._settings.priority else math.inf,
                    first_window=self._window,
                    dated=dated,
                    tracer=tracer,
                    tables=self._tables,
                    warnings=(*facts.warnings, *trace_warnings, *_lock_warnings(status)),
                    on_event=hand_on,
                )
                ended = run.until_ended(self._stop, end_s=end_s, looks=self._looks)
            over = self._stop.is_set() or (end_s is not None and time.monotonic() >= end_s)
            if ended is None and run.clock_source_changed and not over:
                facts = gather_facts(self._settings, with_clock_of_now(self._machine))
            elif ended is None or ended.end not in ("lease", "jumped"):
                return None if ended is None or ended.end == "complete" else ended.message
            # What was measured until then stands; another sampler begins with another origin.
            self._segment, self._window, self._reason = run.segment.segment + 1, run.next_window, "jump"


def _telling_of_holes(on_event: Callable[[Event], None]) -> Callable[[Event], None]:
    """``on_event`` for windows that also say when nothing was measured right before them."""
    last: Window | None = None

    def hand_on(event: Event) -> None:
        nonlocal last
        if isinstance(event, Window):
            if last is not None and event.segment != last.segment:
                event = replace(event, warnings=(*event.warnings, *_hole_warnings(last, event)))
            if not event.provisional:
                last = event
        on_event(event)

    return hand_on


def _hole_warnings(before: Window, after: Window) -> tuple[ReadingWarning, ...]:
    ended_at = before.started_at + timedelta(seconds=before.length_cycles / before.segment.tsc_hz)
    hole_s = (after.started_at - ended_at).total_seconds()
    if hole_s < _HOLE_S:
        return ()
    why = "tickmon was stopped, the machine slept, or the counter went back"
    if any(exclusion.code == "untrusted" for exclusion in before.excluded):
        why = "the kernel changed its clocksource, and a new sampler began"
    message = f"nothing was measured for {significant(hole_s, 3)} s before this window: {why}"
    return (ReadingWarning(code="not_measured", message=message),)


def _open_sampler(settings: Settings, facts: Facts) -> Sampler:
    per_ns = facts.rate.hz / 1e9
    # 0 would ask the sampler to find one; on a coarse counter a short threshold is less than a cycle.
    threshold_cycles = (
        None if settings.threshold_ns is None else max(1, round(settings.threshold_ns * per_ns))
    )
    return Sampler(
        cpu=settings.cpu,
        method=settings.method,
        threshold_cycles=threshold_cycles,
        threshold_floor_cycles=round(THRESHOLD_FLOOR_NS * per_ns),
        loop_size=settings.loop_size,
        samples=settings.samples,
        priority=settings.priority,
        lease_cycles=round(LEASE_S * facts.measured_hz),
    )


def _await_start(sampler: Sampler, cpu: int, stop: threading.Event) -> Status | None:
    """Waits for the first counter read: None when told to stop, SamplerError when it will not come."""
    give_up_s = time.monotonic() + START_S
    while not stop.is_set():
        status = sampler.status()
        if status.start_cycles:
            return status
        if status.state == "ended":
            raise SamplerError(status.message or f"the sampler could not start on CPU {cpu}")
        if time.monotonic() > give_up_s:
            raise SamplerError(
                f"CPU {cpu} gave the sampler no time within {START_S:.0f} s: a real-time task may hold it; "
                "choose another with --cpu"
            )
        time.sleep(0.001)
    return None


def _lock_warnings(status: Status) -> tuple[ReadingWarning, ...]:
    if status.locked:
        return ()
    message = "the kernel refused to lock the sampler's pages (ulimit -l): a page fault may interrupt it"
    return (ReadingWarning(code="not_locked", message=message),)
