"""A line through the clock readings of a window, broken where time jumped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tickmon.windows import ClockReading

_BASELINE_NS = 1e9
"""Beyond the outermost readings the line goes on with the slope over so much time: long enough that 50 ns of
a reading do not tilt it, and short enough that the clock is hardly steered otherwise by then."""

_UNSURE_SHARE = 1e-4
"""A slope less certain than this is not taken from readings: the counter's frequency is better known."""

_FAR_CYCLES = 2**44
"""An hour at least, at any frequency."""

_NEAR = 3
_MUCH = 4
"""A reading so many times less certain than one of its neighbours so near is left out."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Knots:
    """Moments whose time is known; between two of them time is a straight line."""

    cycles: NDArray[np.float64] = field(repr=False)
    """From a moment near the window, ascending: absolute values would not be exact in a double."""
    ns: NDArray[np.float64] = field(repr=False)
    """From the same moment, never descending."""

    @property
    def ns_per_cycle(self) -> float:
        """At the end."""
        return float((self.ns[-1] - self.ns[-2]) / (self.cycles[-1] - self.cycles[-2]))

    def ns_at(self, cycles: NDArray[np.int64]) -> NDArray[np.float64]:
        """The time of each of ``cycles``; both count from that moment."""
        return np.asarray(np.interp(cycles, self.cycles, self.ns), np.float64)


def knots_of(
    readings: Sequence[ClockReading], jumps: Sequence[tuple[int, int]], *, ns_per_cycle: float
) -> Knots:
    """The line through ``readings``, of which there is at least one, counted from the first.

    In each of ``jumps`` (absolute counter values, from and until) more or less time passed than the counter
    says. Both sides go on to it with their own slope, so that what lies between it and a reading keeps its
    distance to the reading. ``ns_per_cycle`` is the slope where the readings say none.
    """
    zero_cycles, zero_ns = readings[0].cycles, readings[0].monotonic_ns
    used = _run_of(certain(readings), zero_cycles=zero_cycles, zero_ns=zero_ns)
    breaks: dict[int, tuple[int, int]] = {}
    for start, end in jumps:
        jump = (start - zero_cycles, end - zero_cycles)
        index = _broken_at(used, jump, ns_per_cycle)
        if index is not None:
            breaks[index] = jump
    edges = [0, *sorted(breaks), len(used.cycles)]
    runs = [used.part(first, end) for first, end in pairwise(edges)]
    points = [runs[0].point(int(used.cycles[0]) - _FAR_CYCLES, ns_per_cycle), *runs[0].points()]
    for before, after, edge in zip(runs, runs[1:], edges[1:], strict=False):
        start, end = breaks[edge]
        left = before.point(max(start, int(before.cycles[-1])), ns_per_cycle)
        right = after.point(min(end, int(after.cycles[0])), ns_per_cycle)
        # Else it was elsewhere between the two readings, and no more is known of it.
        if left[1] <= right[1]:
            points += [left, right]
        points += after.points()
    points.append(runs[-1].point(int(used.cycles[-1]) + _FAR_CYCLES, ns_per_cycle))
    # A jump that begins or ends at a reading has made that a point twice.
    cycles, ns = np.array(list(dict(points).items())).T
    return Knots(cycles=cycles, ns=ns)


def straight(ns_per_cycle: float) -> Knots:
    """The line of a counter whose time is its own."""
    cycles = np.array([-_FAR_CYCLES, _FAR_CYCLES], np.float64)
    return Knots(cycles=cycles, ns=cycles * ns_per_cycle)


def certain(readings: Sequence[ClockReading]) -> tuple[ClockReading, ...]:
    """``readings`` without those much less certain than their neighbours; of two or more, two are left."""
    uncertain = [reading.uncertain_cycles for reading in readings]
    keep = {
        place
        for place, cycles in enumerate(uncertain)
        if cycles <= _MUCH * min(uncertain[max(place - _NEAR, 0) : place + _NEAR + 1])
    }
    if len(keep) < 2:
        keep |= set(sorted(range(len(uncertain)), key=uncertain.__getitem__)[:2])
    return tuple(readings[place] for place in sorted(keep))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Run:
    """Readings between which time does not jump: ascending on both clocks, at least one."""

    cycles: NDArray[np.int64]
    ns: NDArray[np.int64]
    uncertain_cycles: NDArray[np.int64]

    def part(self, first: int, end: int) -> _Run:
        """Those from ``first`` to before ``end``."""
        return _Run(
            cycles=self.cycles[first:end],
            ns=self.ns[first:end],
            uncertain_cycles=self.uncertain_cycles[first:end],
        )

    def points(self) -> list[tuple[int, float]]:
        """Each with its time."""
        return list(zip(self.cycles.tolist(), self.ns.astype(np.float64).tolist(), strict=True))

    def point(self, cycles: int, ns_per_cycle: float) -> tuple[int, float]:
        """``cycles``, outside of the run or at an end of it, with its time."""
        if cycles <= self.cycles[0]:
            end, far = 0, int(np.searchsorted(self.ns, self.ns[0] + _BASELINE_NS))
        else:
            end, far = -1, int(np.searchsorted(self.ns, self.ns[-1] - _BASELINE_NS, side="right")) - 1
        far = min(max(far, 0), len(self.ns) - 1)
        apart = int(self.cycles[far] - self.cycles[end])
        unsure = int(self.uncertain_cycles[far] + self.uncertain_cycles[end])
        if unsure < abs(apart) * _UNSURE_SHARE:
            ns_per_cycle = int(self.ns[far] - self.ns[end]) / apart
        return cycles, float(self.ns[end]) + (cycles - int(self.cycles[end])) * ns_per_cycle


def _run_of(readings: Sequence[ClockReading], *, zero_cycles: int, zero_ns: int) -> _Run:
    """Of ``readings`` those that are later than all before on both clocks."""
    # In whole numbers as long as they are large: an uptime of months has no ns left in a double.
    cycles = np.array([reading.cycles - zero_cycles for reading in readings], np.int64)
    ns = np.array([reading.monotonic_ns - zero_ns for reading in readings], np.int64)
    later = np.ones(len(readings), bool)
    later[1:] = (cycles[1:] > np.maximum.accumulate(cycles)[:-1]) & (ns[1:] > np.maximum.accumulate(ns)[:-1])
    return _Run(
        cycles=cycles[later],
        ns=ns[later],
        uncertain_cycles=np.array([reading.uncertain_cycles for reading in readings], np.int64)[later],
    )


def _broken_at(run: _Run, jump: tuple[int, int], ns_per_cycle: float) -> int | None:
    """The index of the first reading after ``jump``; None where there is none before or after it.

    A reading may have been taken while the sampler did not run yet, or any more: of all that lie beside each
    other around the jump, it is between the two whose distances on both clocks differ most.
    """
    off_ns = np.abs(np.diff(run.ns) - np.diff(run.cycles) * ns_per_cycle)
    off_ns[(run.cycles[:-1] >= jump[1]) | (run.cycles[1:] <= jump[0])] = -1.0
    return int(np.argmax(off_ns)) + 1 if np.max(off_ns, initial=-1.0) >= 0 else None
