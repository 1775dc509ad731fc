"""The life of one sampler, from its first read to its end, as windows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

from tickmon.machine.clock import read_clock_source_name
from tickmon.machine.counters import Counted, counters_between, read_counters
from tickmon.machine.files import read_text
from tickmon.machine.interrupts import Row, changes, parse_rows
from tickmon.machine.quota import cpu_groups
from tickmon.machine.shared import SharedFiles
from tickmon.sampling.clocks import read_clocks
from tickmon.sampling.cuts import Cuts
from tickmon.sampling.native import SamplerError
from tickmon.sampling.sampler import Sampler, Status
from tickmon.sampling.trace import Tracer
from tickmon.sampling.windower import Windower
from tickmon.windows import Event, OpenGap, ReadingWarning, Segment

POLL_S = 0.1
"""How often the ring is emptied and the lease renewed. It holds 262,144 interruptions: 0.26 s at 10^6/s."""

CALM_POLL_S = 0.2
CALM = 4_000
"""So seldom while no more interruptions come in between: a look that finds next to nothing costs nearly as
much as any, and a storm of 10^6/s that begins right after it fills the ring to three quarters."""

SILENT_S = 0.25
"""A gap this long is shown while it is still open."""

STOP_S = 0.05
"""So long a run that is told to stop waits for the last, partial window."""

FRESH_S = 0.1
FRESH_SHARE = 0.05
"""What was read for another CPU so long ago, or so much of a window, serves for this one too."""

OVERDUE_S = 5.0
"""So long after its end a run waits for a sampler that does not get its CPU."""


class Run:
    """Polls a sampler and hands on its windows. Belongs to the thread that started the sampler."""

    def __init__(
        self,
        sampler: Sampler,
        segment: Segment,
        *,
        counter_hz: float,
        clock_source: str | None,
        throttled_ns: float,
        first_window: int,
        dated: bool,
        tracer: Tracer | None = None,
        tables: SharedFiles,
        warnings: tuple[ReadingWarning, ...],
        on_event: Callable[[Event], None],
    ) -> None:
        """``dated``: its switches are. ``tracer`` has that CPU traced. ``warnings`` hold for every window.
        ``tables`` are the kernel's of all CPUs.

        ``counter_hz`` is measured. ``clock_source``: the kernel's at the beginning. ``throttled_ns`` is as in
        ``Windower``.
        """
        self._sampler = sampler
        self._dated = dated
        self._tracer = tracer
        self._warnings = warnings
        self._on_event = on_event
        opened = read_clocks()
        self._windower = Windower(
            segment,
            first_window=first_window,
            opened=opened,
            counter_hz=counter_hz,
            throttled_ns=throttled_ns,
        )
        self._clock_source = clock_source
        self._pid = sampler.status().pid
        self._switched = _count_switches(self._pid)
        self._tables = tables
        # The sampler's, which this process started.
        self._groups = cpu_groups()
        self._rows, self._counted = self._read_counts()
        self._asked = False

    @property
    def segment(self) -> Segment:
        """The segment that it has come to."""
        return self._windower.segment

    @property
    def next_window(self) -> int:
        """The number of the window that is open or to come."""
        return self._windower.window

    @property
    def clock_source_changed(self) -> bool:
        """The kernel takes its time from something else than at the beginning."""
        return read_clock_source_name() != self._clock_source

    def until_ended(self, stop: threading.Event, *, end_s: float | None, looks: bool) -> Status | None:
        """Hands on windows until the sampler ends, and returns its last status.

        None when it was this side that ended: ``end_s`` (time.monotonic) was reached, it was told to stop,
        or the kernel changed its clocksource.
        With ``looks`` the open window is shown while it grows. SamplerError when its CPU gives it no time
        to make the last one, after handing on all that there is.
        """
        start_s = time.monotonic()
        cuts = Cuts(window_s=self.segment.window_s, start_s=start_s, end_s=end_s, looks=looks)
        mark_cycles, marked_s = 0, start_s
        while True:
            status = self._sampler.status()
            calm = self._collect() <= CALM and not self._tracer
            now_s = time.monotonic()
            if status.state == "ended":
                # One that was cut, and what it did from then on.
                while self._take(closes=True):
                    pass
                self._close_open()
                return status
            if stop.is_set():
                self._cut(closes=True, within_s=STOP_S)
                self._close_open()
                return None
            if status.mark_cycles != mark_cycles:
                mark_cycles, marked_s = status.mark_cycles, now_s
            elif now_s - marked_s > SILENT_S:
                if not self._dated and _is_stopped(self._pid):
                    self._windower.add_stop(read_clocks())
                since = datetime.now(UTC) - timedelta(seconds=now_s - marked_s)
                self._on_event(OpenGap(since=since, gap_s=now_s - marked_s))
            cut = cuts.next()
            if now_s >= cut.due_s and self._cut(closes=cut.closes, within_s=POLL_S):
                cuts.taken(time.monotonic())
                if cut.last or (cut.closes and self.clock_source_changed):
                    return None
            elif end_s is not None and now_s > end_s + OVERDUE_S:
                self._close_open()
                raise SamplerError(
                    f"CPU {self.segment.cpu} gave the sampler no time until {OVERDUE_S:.0f} s after the end: "
                    "something of higher priority may hold it; what was measured before stands"
                )
            poll_s = CALM_POLL_S if calm else POLL_S
            stop.wait(min(poll_s, max(0.0, cuts.next().due_s - time.monotonic())))

    def _collect(self) -> int:
        """Takes in what sampler and kernel have delivered since; how many interruptions these were."""
        details = self._sampler.drain()
        self._windower.add_details(details)
        switches = self._sampler.switches() if self._dated else None
        traced = self._tracer.read(sampler=self._pid) if self._tracer else None
        self._windower.add_clocks(read_clocks())
        if traced is not None:
            self._windower.add_trace(traced)
        if switches is not None:
            self._windower.add_switches(*switches)
        return len(details)

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
        self._collect()
        switched = _count_switches(self._pid)
        unknown = switched is None or self._switched is None
        jumped = self._windower.add_piece(
            raw,
            closed=read_clocks(),
            switch_count=None if unknown else (switched or 0) - (self._switched or 0),
            dated=self._dated,
            warnings=self._warnings,
        )
        self._switched = switched
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

    def _close_open(self) -> None:
        """Hands on what was only looked at, when nothing more of its window will come."""
        if self._windower.open_pieces:
            self._close()

    def _close(self) -> None:
        """Ends the open window and hands it on."""
        rows, counted = self._read_counts()
        counters = counters_between(self._counted, counted)
        untrusted = self.clock_source_changed
        self._on_event(self._windower.close(changes(self._rows, rows), counters, untrusted=untrusted))
        self._rows, self._counted = rows, counted

    def _read_counts(self) -> tuple[dict[str, Row], Counted]:
        """What the kernel has counted by now, or a moment ago for another CPU."""
        table = partial(self._tables.text, fresh_s=min(FRESH_S, FRESH_SHARE * self.segment.window_s))
        cpu = self.segment.cpu
        return parse_rows(table("interrupts"), cpu), read_counters(cpu, self._pid, self._groups, table=table)


def _is_stopped(pid: int) -> bool:
    """It was sent a stop signal, or a debugger holds it."""
    status = read_text(f"/proc/{pid}/status") or ""
    return any(line.startswith("State:") and line.split()[1] in "Tt" for line in status.splitlines())


def _count_switches(pid: int) -> int | None:
    """How often a process was switched out so far; None when it cannot be read."""
    status = read_text(f"/proc/{pid}/status")
    if status is None:
        return None
    return sum(int(line.split()[1]) for line in status.splitlines() if "ctxt_switches:" in line)
