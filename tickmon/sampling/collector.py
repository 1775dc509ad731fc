"""The background thread that starts a sampler, empties its ring and has its time cut into windows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tickmon.errors import TickmonError
from tickmon.machine.facts import Machine
from tickmon.machine.interrupts import changes, read_rows
from tickmon.sampling.cuts import Cuts
from tickmon.sampling.sampler import Sampler, SamplerError, Status, read_clocks
from tickmon.sampling.segment import Facts, gather_facts, segment_of
from tickmon.sampling.windower import Windower
from tickmon.windows import ClockReading, Ended, Event, OpenGap, ReadingWarning, Segment, Settings

LEASE_S = 10.0
"""A sampler whose screen is stopped or hangs ends after so much running time: long beside any stall of a
loaded machine, since a slow reader must never stop it, and short beside what a busy machine forgives."""

POLL_S = 0.1
"""How often the ring is emptied and the lease renewed. It holds 262,144 interruptions: 0.26 s at 10^6/s."""

START_S = 5.0
"""A sampler that has not run by then will not: something of higher priority holds that CPU."""

SILENT_S = 0.25
"""A gap this long is shown while it is still open."""

STOP_S = 0.05
"""So long a stopping collector waits for the last, partial window."""


class Collector:
    """A live ``WindowSource`` for one CPU. Its thread starts the sampler, and the sampler dies with it.

    The caller keeps its own threads off that CPU: see ``tickmon.machine.affinity``.
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
    ) -> None:
        """Prepares; nothing runs before ``start``. After ``duration_s`` it ends by itself."""
        self._settings = settings
        self._machine = machine
        self._segment = segment
        self._window = first_window
        self._reason = reason
        self._duration_s = duration_s
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Starts the thread; whatever goes wrong later comes as ``Ended``."""
        name = f"collect-{self._settings.cpu}"
        self._thread = threading.Thread(target=self._run, args=(on_event,), name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the sampler and waits for the thread. What is measured of the open window is handed on."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self, on_event: Callable[[Event], None]) -> None:
        try:
            error = self._collect(on_event)
        except TickmonError as user_error:
            error = str(user_error)
        except Exception as bug:
            # Whoever waits for windows must hear that none will come; a thread's traceback reaches nobody.
            error = (
                f"internal error while collecting from CPU {self._settings.cpu}, please report it: {bug!r}"
            )
        if not self._stop.is_set():
            on_event(Ended(error=error))

    def _collect(self, on_event: Callable[[Event], None]) -> str | None:
        """Runs samplers until one ends for good; returns why, None when all that was asked is done."""
        facts = gather_facts(self._settings, self._machine)
        end_s: float | None = None
        while True:
            with _open_sampler(self._settings, facts) as sampler:
                # Before it runs: a switch from then on would else be taken for something unexplained.
                dated = sampler.date_switches()
                status = _await_start(sampler, self._settings.cpu, self._stop)
                if status is None:
                    return None
                if end_s is None and self._duration_s is not None:
                    end_s = time.monotonic() + self._duration_s
                segment = segment_of(
                    self._settings, facts, status, segment=self._segment, reason=self._reason
                )
                run = _Run(
                    sampler,
                    segment,
                    first_window=self._window,
                    dated=dated,
                    warnings=(*facts.warnings, *_lock_warnings(status)),
                    on_event=on_event,
                    stop=self._stop,
                )
                ended = run.until_ended(end_s)
            if ended is None or ended.end != "lease":
                return None if ended is None or ended.end == "complete" else ended.message
            # This process was stopped for longer than the lease. What was measured until then stands.
            self._segment, self._window, self._reason = run.segment.segment + 1, run.next_window, "jump"


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
        threshold_floor_cycles=round(200 * per_ns),
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


class _Run:
    """The life of one sampler, from its first read to its end."""

    def __init__(
        self,
        sampler: Sampler,
        segment: Segment,
        *,
        first_window: int,
        dated: bool,
        warnings: tuple[ReadingWarning, ...],
        on_event: Callable[[Event], None],
        stop: threading.Event,
    ) -> None:
        self._sampler = sampler
        self._warnings = warnings
        self._on_event = on_event
        self._stop = stop
        self._dated = dated
        self._windower = Windower(segment, first_window=first_window, opened=read_clocks())
        self._pid = sampler.status().pid
        self._switched = _count_switches(self._pid)
        self._rows = read_rows(segment.cpu)
        self._asked = False

    @property
    def segment(self) -> Segment:
        """The segment that it has come to."""
        return self._windower.segment

    @property
    def next_window(self) -> int:
        """The number of the window that is open or to come."""
        return self._windower.window

    def until_ended(self, end_s: float | None) -> Status | None:
        """Hands on windows until the sampler ends, and returns its last status.

        None when it was this side that ended: ``end_s`` (time.monotonic) was reached, or told to stop.
        """
        start_s = time.monotonic()
        cuts = Cuts(window_s=self.segment.window_s, start_s=start_s, end_s=end_s)
        mark_cycles, marked_s = 0, start_s
        while True:
            status = self._sampler.status()
            self._windower.add_details(self._sampler.drain())
            now_s = time.monotonic()
            if status.state == "ended":
                if not self._take(closes=True) and self._windower.open_pieces:
                    self._close()
                return status
            if self._stop.is_set():
                self._cut(closes=True, within_s=STOP_S)
                return None
            if status.mark_cycles != mark_cycles:
                mark_cycles, marked_s = status.mark_cycles, now_s
            elif now_s - marked_s > SILENT_S:
                since = datetime.now(UTC) - timedelta(seconds=now_s - marked_s)
                self._on_event(OpenGap(since=since, gap_s=now_s - marked_s))
            cut = cuts.next()
            if now_s >= cut.due_s and self._cut(closes=cut.closes, within_s=POLL_S):
                cuts.taken(time.monotonic())
                if cut.last:
                    return None
            self._stop.wait(min(POLL_S, max(0.0, cuts.next().due_s - time.monotonic())))

    def _cut(self, *, closes: bool, within_s: float) -> bool:
        """Has the sampler cut its time; False when it did not come to it, being interrupted itself."""
        if not self._asked:
            self._sampler.cut()
            self._asked = True
        give_up_s = time.monotonic() + within_s
        wait_s = 0.0001
        while not self._take(closes=closes):
            if time.monotonic() > give_up_s:
                return False
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, 0.01)
        self._asked = False
        return True

    def _take(self, *, closes: bool) -> bool:
        """Hands on the stretch that the last cut ended; False when there is none yet."""
        raw = self._sampler.take()
        if raw is None:
            return False
        now = read_clocks()
        self._windower.add_details(self._sampler.drain())
        warnings = self._add_switches(now)
        switched = _count_switches(self._pid)
        jumped = any(exclusion.code == "backwards" for exclusion in raw.exclusions)
        if jumped and self._windower.open_pieces:
            # What came before the jump has a length; together with what follows it might have none.
            self._close()
        if raw.end_cycles > raw.start_cycles:
            self._windower.add_piece(
                raw,
                closed=now,
                switch_count=None
                if switched is None or self._switched is None
                else switched - self._switched,
                dated=self._dated,
                warnings=(*self._warnings, *warnings),
            )
        else:
            self._windower.drop_piece(raw, closed=now)
        self._switched = switched
        if self._windower.open_pieces:
            if closes or jumped:
                self._close()
            else:
                self._on_event(self._windower.look())
        if jumped:
            number = self.segment.segment + 1
            self._windower.begin_segment(
                replace(self.segment, segment=number, origin_cycles=raw.end_cycles, reason="jump")
            )
        return True

    def _close(self) -> None:
        """Ends the open window and hands it on."""
        rows = read_rows(self.segment.cpu)
        self._on_event(self._windower.close(changes(self._rows, rows)))
        self._rows = rows

    def _add_switches(self, now: ClockReading) -> tuple[ReadingWarning, ...]:
        if not self._dated:
            return ()
        raw_ns, lost = self._sampler.switches()
        self._windower.add_switches(raw_ns, now)
        if not lost:
            return ()
        message = f"the kernel dropped {lost} records of context switches: some preemptions are not dated"
        return (ReadingWarning(code="switches_lost", message=message),)


def _count_switches(pid: int) -> int | None:
    """How often a process was switched out so far; None when it cannot be read."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    return sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches:" in line)
