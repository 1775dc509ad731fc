"""Cuts what the sampler delivers into windows that touch; knows neither thread nor clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis import merge
from tickmon.sampling.sampler import RawWindow
from tickmon.windows import (
    INTERRUPTION,
    SWITCH,
    ClockReading,
    ReadingWarning,
    RowChange,
    Segment,
    Window,
)


class Windower:
    """Holds what has arrived for the window that is open.

    A window may be made of several pieces, so that it can be shown while it grows. The sampler's own
    numbers (``RawWindow``) say how many of the details that arrived belong to a piece: they come in the
    order of time, and a cut is always at a read, so no detail lies across one.
    """

    def __init__(self, segment: Segment, *, first_window: int, opened: ClockReading) -> None:
        """``opened``: a reading of the clocks close to the first counter read of the segment."""
        self.segment = segment
        self.window = first_window
        self._opened = opened
        self._details: list[NDArray[np.void]] = []
        self._switches: list[NDArray[np.void]] = []
        self._pieces: list[Window] = []

    def add_details(self, details: NDArray[np.void]) -> None:
        """Interruptions as they came out of the ring, dtype INTERRUPTION, absolute counter values."""
        if len(details):
            self._details.append(details)

    def add_switches(self, raw_ns: NDArray[np.int64], now: ClockReading) -> None:
        """Switches of the sampler's process as CLOCK_MONOTONIC_RAW ns (shape ``(n, 2)``: out, in)."""
        if not len(raw_ns):
            return
        switches = np.zeros(len(raw_ns), SWITCH)
        # Both clocks run at a constant ratio, so the newest reading and the frequency are the line.
        cycles = (raw_ns - now.monotonic_raw_ns) * (self.segment.tsc_hz / 1e9)
        cycles += now.cycles - self.segment.origin_cycles
        switches["out_cycles"], switches["in_cycles"] = np.rint(cycles).T
        self._switches.append(switches)

    def add_piece(
        self,
        raw: RawWindow,
        *,
        closed: ClockReading,
        switch_count: int | None,
        dated: bool,
        warnings: Sequence[ReadingWarning] = (),
    ) -> None:
        """The next stretch of the open window; its details and switches must have been added before."""
        origin = self.segment.origin_cycles
        details = self._take_details(raw.interruptions - raw.lost)
        details["start_cycles"] -= origin
        self._pieces.append(
            Window(
                window=self.window,
                segment=self.segment,
                provisional=True,
                started_at=_utc_at(raw.start_cycles, closed, self.segment.tsc_hz),
                start_cycles=raw.start_cycles - origin,
                end_cycles=raw.end_cycles - origin,
                clocks=(self._opened, closed),
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
                warnings=tuple(warnings),
            )
        )
        self._opened = closed

    def drop_piece(self, raw: RawWindow, *, closed: ClockReading) -> None:
        """Leaves out a stretch that has no length, since the counter went back by more than it."""
        self._take_details(raw.interruptions - raw.lost)
        self._opened = closed

    def look(self) -> Window:
        """The open window as far as it has come, at least one piece."""
        return merge(self._pieces)

    def close(self, interrupts: tuple[RowChange, ...]) -> Window:
        """Ends the open window, at least one piece, and begins the next."""
        window = replace(merge(self._pieces), provisional=False, interrupts=interrupts)
        self._pieces.clear()
        self.window += 1
        return window

    @property
    def open_pieces(self) -> int:
        """Pieces of the window that is open."""
        return len(self._pieces)

    def begin_segment(self, segment: Segment) -> None:
        """Goes on in another segment: between two windows only."""
        shift = segment.origin_cycles - self.segment.origin_cycles
        for switches in self._switches:
            switches["out_cycles"] -= shift
            switches["in_cycles"] -= shift
        self.segment = segment

    def _take_details(self, count: int) -> NDArray[np.void]:
        waiting = np.concatenate([*self._details, np.zeros(0, INTERRUPTION)])
        # What came after the cut belongs to the next window.
        self._details = [waiting[count:].copy()]
        return waiting[:count]

    def _take_switches(self, end_cycles: int) -> NDArray[np.void]:
        waiting = np.concatenate([*self._switches, np.zeros(0, SWITCH)])
        inside = waiting["out_cycles"] < end_cycles
        self._switches = [waiting[~inside]]
        return waiting[inside]


def _utc_at(cycles: int, reading: ClockReading, tsc_hz: float) -> datetime:
    """The time of day at an absolute counter value, from a reading near it."""
    behind_ns = (cycles - reading.cycles) / tsc_hz * 1e9
    at_us = (reading.realtime_ns + behind_ns) / 1e3
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=at_us)
