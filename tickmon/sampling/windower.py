"""Cuts what the sampler delivers into windows that touch; knows neither thread nor clock."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis import merge
from tickmon.sampling.clockline import line_of
from tickmon.sampling.exclusions import exclude_all, exclude_longest
from tickmon.sampling.jumps import find_jumps
from tickmon.sampling.sampler import RawWindow
from tickmon.sampling.trace import TraceBatch
from tickmon.sampling.tracecut import TraceCut
from tickmon.windows import (
    INTERRUPTION,
    SWITCH,
    ClockReading,
    Counters,
    ReadingWarning,
    RowChange,
    Segment,
    Trace,
    Window,
)


class Windower:
    """Holds what has arrived for the window that is open.

    A window may be made of several pieces, so that it can be shown while it grows. The sampler's own
    numbers (``RawWindow``) say how many of the details that arrived belong to a piece: they come in the
    order of time, and a cut is always at a read, so no detail lies across one.
    """

    def __init__(
        self,
        segment: Segment,
        *,
        first_window: int,
        opened: ClockReading,
        counter_hz: float,
        throttled_ns: float = math.inf,
    ) -> None:
        """``opened``: a reading of the clocks close to the first counter read of the segment.

        ``counter_hz`` is measured: ``segment.tsc_hz`` may be the user's word. A sampler that lost its CPU
        for ``throttled_ns`` or longer lost it for its own priority's sake.
        """
        self.segment = segment
        self.window = first_window
        self._counter_hz = counter_hz
        self._clocks = [opened]
        self._details: list[NDArray[np.void]] = []
        self._raw_switches: list[NDArray[np.int64]] = []
        self._switches: list[NDArray[np.void]] = []
        self._switches_lost = 0
        self._trace: TraceCut | None = None
        self._throttled_ns = throttled_ns
        self._kept_off: list[tuple[str, int, int]] = []
        self._pieces: list[Window] = []

    @property
    def open_pieces(self) -> int:
        """Pieces of the window that is open."""
        return len(self._pieces)

    def add_details(self, details: NDArray[np.void]) -> None:
        """Interruptions as they came out of the ring, dtype INTERRUPTION, absolute counter values."""
        if len(details):
            self._details.append(details)

    def add_clocks(self, reading: ClockReading) -> None:
        """A reading of the clocks in the piece to come."""
        self._clocks.append(reading)

    def add_switches(self, raw_ns: NDArray[np.int64], lost: int) -> None:
        """Switches of the sampler's process (shape ``(n, 3)``: out, in, stopped), in CLOCK_MONOTONIC_RAW ns.

        The clocks must have been read since. ``lost`` records of them were dropped by the kernel.
        """
        self._switches_lost += lost
        if len(raw_ns):
            self._raw_switches.append(raw_ns)

    def add_stop(self, reading: ClockReading) -> None:
        """The sampler was seen stopped then, and its switches are not dated."""
        at_cycles = reading.cycles - self.segment.origin_cycles
        self._kept_off.append(("stopped", at_cycles, at_cycles + 1))

    def add_trace(self, batch: TraceBatch) -> None:
        """What the kernel traced, all of it: windows have a trace from now on."""
        self._trace = self._trace or TraceCut()
        self._trace.add(batch)

    def add_piece(
        self,
        raw: RawWindow,
        *,
        closed: ClockReading,
        switch_count: int | None,
        dated: bool,
        warnings: Sequence[ReadingWarning] = (),
    ) -> bool:
        """The next stretch of the open window; its details and switches must have been added before.

        True when time jumped in it: it must be closed, and a new segment begin after it.
        """
        origin = self.segment.origin_cycles
        details = self._take_details(raw.interruptions - raw.lost)
        details["start_cycles"] -= origin
        clocks = (*self._clocks, closed)
        self._date_switches(clocks)
        piece = Window(
            window=self.window,
            segment=self.segment,
            provisional=True,
            started_at=_utc_at(raw.start_cycles, clocks, self._counter_hz),
            start_cycles=raw.start_cycles - origin,
            end_cycles=raw.end_cycles - origin,
            clocks=clocks,
            reads=raw.reads,
            interruptions=raw.interruptions,
            lost=raw.lost,
            gap_sum_cycles=raw.gap_sum_cycles,
            min_cycles=raw.min_cycles,
            max_cycles=raw.max_cycles,
            counts=raw.counts,
            details=details,
            switches=self._take_switches(raw.end_cycles - origin) if dated else None,
            switch_count=switch_count,
            excluded=tuple(replace(e, start_cycles=e.start_cycles - origin) for e in raw.exclusions),
            excluded_count=raw.exclusion_count,
            switches_lost=self._switches_lost,
            trace=self._take_trace(clocks, raw.start_cycles - origin, raw.end_cycles - origin),
            warnings=tuple(warnings),
        )
        # Between CPUs whose counters are not in step the clocks cannot be compared at all.
        jumps = find_jumps(clocks, counter_hz=self._counter_hz) if self.segment.counter_synchronised else []
        for before, after in jumps:
            start_cycles, end_cycles = before.cycles - origin, after.cycles - origin
            piece = exclude_longest(piece, "jump", start_cycles=start_cycles, end_cycles=end_cycles)
        piece = self._without_kept_off(piece)
        self._pieces.append(piece)
        self._clocks = [closed]
        self._switches_lost = 0
        return bool(jumps)

    def look(self) -> Window:
        """The open window as far as it has come, at least one piece."""
        return merge(self._pieces)

    def close(
        self, interrupts: tuple[RowChange, ...], counters: Counters | None = None, *, untrusted: bool = False
    ) -> Window:
        """Ends the open window, at least one piece, and begins the next.

        With ``untrusted`` the kernel gave up the counter meanwhile: all of the window is left out.
        """
        window = replace(merge(self._pieces), provisional=False, interrupts=interrupts, counters=counters)
        if untrusted:
            window = exclude_all(window, "untrusted")
        self._pieces.clear()
        self.window += 1
        return window

    def begin_segment(self, segment: Segment) -> None:
        """Goes on in another segment: between two windows only."""
        shift = segment.origin_cycles - self.segment.origin_cycles
        for switches in self._switches:
            switches["out_cycles"] -= shift
            switches["in_cycles"] -= shift
        self._kept_off = [(code, out - shift, back - shift) for code, out, back in self._kept_off]
        self.segment = segment

    def _take_details(self, count: int) -> NDArray[np.void]:
        waiting = np.concatenate([*self._details, np.zeros(0, INTERRUPTION)])
        # What came after the cut belongs to the next window.
        self._details = [waiting[count:].copy()]
        return waiting[:count]

    def _date_switches(self, clocks: Sequence[ClockReading]) -> None:
        """Gives those that were added counter values, by the readings of their piece."""
        if not self._raw_switches:
            return
        raw_ns = np.concatenate(self._raw_switches)
        self._raw_switches.clear()
        line = line_of(clocks, origin_cycles=self.segment.origin_cycles)
        switches = np.zeros(len(raw_ns), SWITCH)
        switches["out_cycles"], switches["in_cycles"] = line.cycles_at(raw_ns[:, :2]).T
        stopped = raw_ns[:, 2] != 0
        throttled = ~stopped & (raw_ns[:, 1] - raw_ns[:, 0] >= self._throttled_ns)
        # Those of the sampler's start lie before its first read.
        began = switches["in_cycles"] > 0
        for code, which in (("stopped", stopped), ("throttled", throttled)):
            for switch in switches[began & which]:
                self._kept_off.append((code, int(switch["out_cycles"]), int(switch["in_cycles"])))
        self._switches.append(switches[began & ~stopped & ~throttled])

    def _take_switches(self, end_cycles: int) -> NDArray[np.void]:
        waiting = np.concatenate([*self._switches, np.zeros(0, SWITCH)])
        inside = waiting["out_cycles"] < end_cycles
        self._switches = [waiting[~inside]]
        return waiting[inside]

    def _take_trace(self, clocks: Sequence[ClockReading], start_cycles: int, end_cycles: int) -> Trace | None:
        if self._trace is None:
            return None
        line = line_of(clocks, origin_cycles=self.segment.origin_cycles)
        return self._trace.take(line, start_cycles, end_cycles)

    def _without_kept_off(self, piece: Window) -> Window:
        """``piece`` without the stretches in which the sampler was not meant to run: no switches."""
        mine = [stretch for stretch in self._kept_off if stretch[1] < piece.end_cycles]
        self._kept_off = [stretch for stretch in self._kept_off if stretch[1] >= piece.end_cycles]
        excluded_count = piece.excluded_count
        for code, out_cycles, in_cycles in mine:
            # One interruption may hold several of them, and is taken out with the first.
            if not any(e.start_cycles <= out_cycles < e.start_cycles + e.cycles for e in piece.excluded):
                piece = exclude_longest(piece, code, start_cycles=out_cycles, end_cycles=in_cycles)
        if piece.switch_count is None:
            return piece
        # Not dated, one stop was seen as often as anybody looked.
        left_out = len(mine) if piece.switches is not None else piece.excluded_count - excluded_count
        return replace(piece, switch_count=max(0, piece.switch_count - left_out))


def _utc_at(cycles: int, clocks: Sequence[ClockReading], counter_hz: float) -> datetime:
    """The time of day at an absolute counter value, from the reading nearest to it."""
    nearest = min(clocks, key=lambda reading: abs(reading.cycles - cycles))
    behind_ns = (cycles - nearest.cycles) / counter_hz * 1e9
    at_us = (nearest.realtime_ns + behind_ns) / 1e3
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=at_us)
