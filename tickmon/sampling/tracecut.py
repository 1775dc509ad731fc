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
    """Holds the events that no window has yet, by the kernel's clock."""

    def __init__(self) -> None:
        self._waiting: list[Trace] = []
        self._lost: list[tuple[int, int]] = []

    def add(self, batch: TraceBatch) -> None:
        """What the kernel has written down since the last time."""
        events = np.zeros(len(batch.events), TRACED)
        # Cycles once they are taken.
        events["at_cycles"] = batch.events["raw_ns"]
        events["event"], events["name"] = batch.events["event"], batch.events["name"]
        self._waiting.append(
            Trace(
                events=events,
                names=batch.names,
                lost=0,
                events_known=batch.events_known,
                uncertain_cycles=0,
            )
        )
        self._lost += batch.lost

    def take(self, line: ClockLine, start_cycles: int, end_cycles: int) -> Trace:
        """The trace of ``[start_cycles, end_cycles)``; what came before is nobody's."""
        whole = join_traces(self._waiting)
        # An event that interrupts the writing of another comes first in the log, and is the younger one.
        events = whole.events[np.argsort(whole.events["at_cycles"], kind="stable")]
        at = line.cycles_at(events["at_cycles"])
        start, end = np.searchsorted(at, (start_cycles, end_cycles))
        self._waiting = [_only(whole, events[end:])]
        events["at_cycles"] = at
        told = line.cycles_at(np.array([raw_ns for raw_ns, _count in self._lost], np.int64)) < end_cycles
        lost = sum(count for (_raw_ns, count), taken in zip(self._lost, told, strict=True) if taken)
        self._lost = [entry for entry, taken in zip(self._lost, told, strict=True) if not taken]
        return replace(_only(whole, events[start:end]), lost=lost, uncertain_cycles=line.uncertain_cycles)


def _only(trace: Trace, events: NDArray[np.void]) -> Trace:
    """``trace`` with these of its events, and the names that they use."""
    used, places = np.unique(events["name"], return_inverse=True)
    unnamed = int(np.count_nonzero(used < 0))
    events = events.copy()
    events["name"] = places - unnamed
    return replace(trace, events=events, names=tuple(trace.names[name] for name in used[unnamed:]))
