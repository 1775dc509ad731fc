"""Cuts what the kernel traced at the borders of windows, as the sampler's own findings are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.merge import join_traces
from tickmon.sampling.clockline import ClockLine
from tickmon.sampling.trace import TraceBatch
from tickmon.windows import TRACED, Trace


class TraceCut:
    """Holds the events that no window has yet."""

    def __init__(self) -> None:
        self._waiting: list[Trace] = []
        self._lost: list[tuple[int, int]] = []

    def add(self, batch: TraceBatch, line: ClockLine) -> None:
        """Events by the kernel's clock, and the line from that to the counter."""
        events = np.zeros(len(batch.events), TRACED)
        events["at_cycles"] = line.cycles_at(batch.events["raw_ns"])
        events["event"], events["name"] = batch.events["event"], batch.events["name"]
        self._waiting.append(
            Trace(
                events=events,
                names=batch.names,
                lost=0,
                events_known=batch.events_known,
                uncertain_cycles=line.uncertain_cycles,
            )
        )
        told = line.cycles_at(np.array([raw_ns for raw_ns, _count in batch.lost], np.int64))
        self._lost += zip(told.tolist(), (count for _raw_ns, count in batch.lost), strict=True)

    def take(self, start_cycles: int, end_cycles: int) -> Trace:
        """The trace of ``[start_cycles, end_cycles)``; what came before is nobody's."""
        whole = join_traces(self._waiting)
        # An event that interrupts the writing of another comes first in the log, and is the younger one.
        events = whole.events[np.argsort(whole.events["at_cycles"], kind="stable")]
        start, end = np.searchsorted(events["at_cycles"], (start_cycles, end_cycles))
        self._waiting = [replace(_only(whole, events[end:]), uncertain_cycles=0)]
        lost = sum(count for at, count in self._lost if at < end_cycles)
        self._lost = [(at, count) for at, count in self._lost if at >= end_cycles]
        return replace(_only(whole, events[start:end]), lost=lost)

    def shift(self, cycles: int) -> None:
        """The origin is so many cycles later now."""
        for trace in self._waiting:
            trace.events["at_cycles"] -= cycles
        self._lost = [(at - cycles, count) for at, count in self._lost]


def _only(trace: Trace, events: NDArray[np.void]) -> Trace:
    """``trace`` with these of its events, and the names that they use."""
    used, places = np.unique(events["name"], return_inverse=True)
    unnamed = int(np.count_nonzero(used < 0))
    events = events.copy()
    events["name"] = places - unnamed
    return replace(trace, events=events, names=tuple(trace.names[name] for name in used[unnamed:]))
