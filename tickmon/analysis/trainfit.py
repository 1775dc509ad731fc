"""From a frequency to a train's timetable: its phase, a line through its members, and the right rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.timetable import Fill, Timetable, View, fill

FASTEST_HZ = 5_000.0
SLOWEST_HZ = 8.0
"""What is slower is weather (load that comes and goes), no clock."""

ENOUGH_SLOTS = 100
"""Fewer slots cannot tell a clock from a loop whose phase slowly walks away."""

FILLED = 0.8
"""At least this share of a train's visible slots has a member."""

LATEST_SLOTS = 8192
"""On so many slots rates are compared; more would not make it clearer."""

ENOUGH_TO_COMPARE = 20
"""So many visible slots tell a filled kind of slots from an empty one."""

STRETCHES = 10
"""Slow wander shows in the means of so many stretches."""

_WIDE_NS = 60_000.0
"""At first a member is looked for within so much of its slot; then within the train's own jitter."""

_WIDEST_SHARE = 0.1
"""But never within more than this share of a period: too much of that would be chance."""

_LEAST_REACH_NS = 5_000.0
"""Even good clocks stray by microseconds when one of them is corrected."""

_ROUNDS = 4

_STANDS_NS = 1.0
"""A line that moves less has found its place."""

_MOST_PARTS = 64


def strongest_phase(starts_ns: NDArray[np.float64], hz: float, *, start_ns: float) -> Timetable:
    """The timetable of ``hz``, with a slot soon after ``start_ns``, at the phase where most starts gather."""
    period_ns = 1e9 / hz
    bins = int(np.clip(period_ns / (_WIDE_NS / 3), 16, 8192))
    turns = (starts_ns - start_ns) / period_ns
    counts = np.bincount(((turns % 1.0) * bins).astype(np.int64) % bins, minlength=bins)
    wide = counts + np.roll(counts, 1) + np.roll(counts, -1)
    slot_ns = start_ns + (int(np.argmax(wide)) + 0.5) / bins * period_ns
    return Timetable(slot_ns=slot_ns, period_ns=period_ns, reach_ns=widest_ns(period_ns), error_ppm=math.inf)


def fitted(view: View, times: Timetable) -> Timetable | None:
    """``times`` drawn to the starts near its slots; None when there are too few for a line.

    A straight line through start against slot number, by least squares over the starts that gather most
    closely, again and again while the reach shrinks to the train's own jitter.
    """
    for _ in range(_ROUNDS):
        limit_ns = widest_ns(times.period_ns)
        reach_ns = min(times.reach_ns, limit_ns)
        turns = times.turns(view.starts_ns)
        offsets_ns = view.starts_ns - times.slot_ns - turns * times.period_ns
        near = np.abs(offsets_ns) <= reach_ns
        if np.count_nonzero(near) < ENOUGH_SLOTS / 4:
            return None
        away = np.count_nonzero(np.abs(offsets_ns) > limit_ns)
        by_chance = away * reach_ns / (times.period_ns / 2 - limit_ns)
        middle_ns, reach_ns = _core_ns(offsets_ns[near], by_chance)
        reach_ns = float(np.clip(reach_ns, _LEAST_REACH_NS, limit_ns))
        near = np.abs(offsets_ns - middle_ns) <= reach_ns
        line = _line(turns[near], offsets_ns[near])
        if line is None:
            return None
        # The anchor goes to the middle of the data, where an error of the slope does not move it.
        middle = round(line.middle)
        level_ns = line.level + line.slope * (middle - line.middle)
        moved_ns = abs(line.level) + abs(line.slope) * np.ptp(turns[near])
        done = moved_ns <= _STANDS_NS and abs(reach_ns - times.reach_ns) <= _STANDS_NS
        times = Timetable(
            slot_ns=times.slot_ns + middle * times.period_ns + level_ns,
            period_ns=times.period_ns + line.slope,
            reach_ns=reach_ns,
            error_ppm=line.slope_error / times.period_ns * 1e6,
        )
        if done:
            # Once more would draw the same line through the same starts.
            break
    return times


def widest_ns(period_ns: float) -> float:
    """Members of a train of this period start within at most so much of their slots."""
    return min(_WIDE_NS, period_ns * _WIDEST_SHARE)


def _core_ns(offsets_ns: NDArray[np.float64], by_chance: float) -> tuple[float, float]:
    """Where members gather most closely, and a reach that holds nearly all of them.

    The shortest stretch with half of the members (the "shorth": Rousseeuw & Leroy 1988, Statistica
    Neerlandica 42, 103) sees neither what follows a train's slots nor chance. Six times its half holds all
    of a normal distribution and nearly all of one with a long tail on one side.
    """
    ordered_ns = np.sort(offsets_ns)
    half = int(np.clip((len(ordered_ns) - by_chance) / 2, ENOUGH_SLOTS / 12, len(ordered_ns) - 1))
    lengths_ns = ordered_ns[half:] - ordered_ns[:-half]
    first = int(np.argmin(lengths_ns))
    return float(ordered_ns[first] + ordered_ns[first + half]) / 2, 3.0 * float(lengths_ns[first])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """y = level + slope * (x - middle)."""

    middle: float
    level: float
    slope: float
    slope_error: float


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> _Line | None:
    """The straight line through the points by least squares; None when there are too few for an error."""
    if len(x) < 2 * STRETCHES:
        return None
    middle = float(x.mean())
    apart = x - middle
    spread = float((apart * apart).sum())
    if spread == 0:
        return None
    slope = float((apart * y).sum()) / spread
    level = float(y.mean())
    rest = y - level - slope * apart
    scatter = float((rest * rest).sum()) / (len(x) - 2)
    # The scatter of points does not know of slow wander; the means of stretches do.
    means = stretch_means(rest)
    wander = float((means * means).sum()) / (STRETCHES - 2) * len(x) / STRETCHES
    return _Line(
        middle=middle, level=level, slope=slope, slope_error=math.sqrt(max(scatter, wander) / spread)
    )


def stretch_means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The means of ``STRETCHES`` parts of at least as many values, in their order."""
    firsts = np.arange(STRETCHES) * len(values) // STRETCHES
    return np.asarray(np.add.reduceat(values, firsts) / np.diff(firsts, append=len(values)))


def at_right_rate(view: View, times: Timetable) -> Timetable | None:
    """``times``, or the slower or faster one whose slots really are filled: all of them, and none between.

    ``times`` may run at a multiple of a train's rate; then its slots are filled by turns, every q-th, and the
    smallest q that fills just one turn is right. Or at a part of it; then slots put between are filled too.
    None when no rate fills its slots.
    """
    found = fill(view.latest(LATEST_SLOTS, times.period_ns), times)
    for every in _likely_turns(found, int(times.hz / SLOWEST_HZ)):
        turn = _filled_turn(found, every)
        if turn is not None:
            break
    else:
        return None
    if every > 1:
        slower = times.slower(every, float(found.slots_ns[turn]))
        times = fitted(view, slower) or slower
    # A third of its slots may have been proposed at twice their rate.
    return at_fastest_rate(view, times)


def _likely_turns(found: Fill, most: int) -> list[int]:
    """1, and the numbers of turns, ascending, after which hits follow each other more than by chance."""
    hit = found.hit & found.visible
    seen, hits = int(np.count_nonzero(found.visible)), int(np.count_nonzero(hit))
    most = min(most, seen // ENOUGH_TO_COMPARE)
    if not most:
        return []
    # How many pairs of hits are so many slots apart, for all distances at once.
    turned = np.fft.rfft(hit, 2 * len(hit))
    pairs = np.fft.irfft(turned.real**2 + turned.imag**2)[1 : most + 1]
    turns = np.arange(1, most + 1)
    likely = pairs >= hits**2 / seen + 0.2 * seen / turns
    return [1, *turns[1:][likely[1:]].tolist()]


def _filled_turn(found: Fill, every: int) -> int | None:
    """Which turn holds the hits when the slots take ``every`` turns; None when not just one does."""
    whole = len(found.slots_ns) // every * every
    visible = found.visible[:whole].reshape(-1, every).sum(axis=0)
    hits = (found.visible & found.hit)[:whole].reshape(-1, every).sum(axis=0)
    shares = np.where(visible < ENOUGH_TO_COMPARE, 0.0, found.no_coincidence(hits / np.maximum(visible, 1)))
    turn = int(np.argmax(shares))
    return turn if shares[turn] >= FILLED and np.count_nonzero(shares >= FILLED * 0.7) == 1 else None


def at_fastest_rate(view: View, times: Timetable) -> Timetable:
    """``times``, or the fastest multiple of it whose additional slots are filled as well."""
    recent = view.latest(LATEST_SLOTS // 8, times.period_ns)
    phases = np.sort((recent.starts_ns - times.slot_ns) / times.period_ns % 1.0)
    reach = times.reach_ns / times.period_ns
    some = 0.2 * recent.length_ns / times.period_ns
    best = times
    parts_of, between = _new_slots(min(_MOST_PARTS, int(FASTEST_HZ / times.hz)))
    gathered = np.searchsorted(phases, between + reach) - np.searchsorted(phases, between - reach)
    gathered_at = np.bincount(parts_of[gathered >= some]).tolist()
    for parts, count in enumerate(gathered_at):
        # Without starts at half of the new slots it is not worth a closer look; others may be hidden.
        if not count or count < (parts - 1) / 2:
            continue
        found, part = parted_fill(view, times, parts)
        visible = np.bincount(part[found.visible], minlength=parts)[1:]
        hits = np.bincount(part[found.visible & found.hit], minlength=parts)[1:]
        judged = visible >= ENOUGH_TO_COMPARE
        shares = found.no_coincidence(hits[judged] / visible[judged])
        if len(shares) >= parts / 2 and shares.min() >= FILLED * 0.9:
            best = times.faster(parts)
    return best if best is times else fitted(view, best) or best


@lru_cache
def _new_slots(most: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The slots between two that there are when a period is parted into 2, 3, … ``most``, as shares of it.

    The first array says of each into how many parts.
    """
    parts = np.arange(2, most + 1)
    parts_of = np.repeat(parts, parts - 1)
    number = np.arange(1, len(parts_of) + 1) - np.repeat((parts - 1) * (parts - 2) // 2, parts - 1)
    return parts_of, number / parts_of


def parted_fill(view: View, times: Timetable, parts: int) -> tuple[Fill, NDArray[np.int64]]:
    """The newest slots of ``times`` with new ones between, and for each its part of the old period.

    The old slots have part 0.
    """
    faster = times.faster(parts)
    found = fill(view.latest(LATEST_SLOTS, faster.period_ns), faster)
    return found, faster.turns(found.slots_ns).astype(np.int64) % parts
