"""When a train is due, what was seen of a CPU, and how well the one explains the other."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.slots import Lattice

_AFTER_NS = 500_000.0
"""What starts so soon after a slot may be a consequence of what starts at the slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """A train's slots, how far from them its members start, and how exactly all that is known."""

    slot_ns: float
    """One of its slots."""
    period_ns: float
    reach_ns: float
    """Members start within so much of their slot, on both sides."""
    error_ppm: float
    """One standard error of the period."""

    @property
    def hz(self) -> float:
        """Slots a second."""
        return 1e9 / self.period_ns

    def between(self, from_ns: float, until_ns: float) -> NDArray[np.float64]:
        """The slots in ``[from_ns, until_ns)``, ascending."""
        return Lattice(period_ns=self.period_ns, offset_ns=self.slot_ns).between(from_ns, until_ns)

    def turns(self, at_ns: NDArray[np.float64]) -> NDArray[np.float64]:
        """The number of the slot nearest to each moment, counted from ``slot_ns``."""
        return np.rint((at_ns - self.slot_ns) / self.period_ns)

    def offsets_ns(self, at_ns: NDArray[np.float64]) -> NDArray[np.float64]:
        """How long after (before: negative) its nearest slot each moment is."""
        return at_ns - self.slot_ns - self.turns(at_ns) * self.period_ns

    def gathers(self, at_ns: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Which moments are near enough to a slot to be a member's start."""
        return np.asarray(np.abs(self.offsets_ns(at_ns)) <= self.reach_ns)

    def slower(self, factor: int, slot_ns: float) -> Timetable:
        """The one with every ``factor``-th slot, ``slot_ns`` among them."""
        return replace(self, period_ns=self.period_ns * factor, slot_ns=slot_ns)

    def faster(self, parts: int) -> Timetable:
        """The one with ``parts`` times as many slots, these among them."""
        return replace(self, period_ns=self.period_ns / parts)

    def echoes(self, leader: Timetable, length_ns: float) -> bool:
        """Whether after ``length_ns`` this cannot be told from something that ``leader`` causes.

        It has the period of ``leader``, or a multiple of it and starts at once after some of its slots.
        """
        every = round(self.period_ns / leader.period_ns)
        if every < 1:
            return False
        apart_ppm = abs(self.period_ns / (every * leader.period_ns) - 1) * 1e6
        uncertain_ppm = 4 * math.hypot(self.error_ppm, leader.error_ppm) + self.reach_ns / length_ns * 1e6
        after_ns = (self.slot_ns - leader.slot_ns) % leader.period_ns
        return apart_ppm <= uncertain_ppm and (every == 1 or after_ns <= min(_AFTER_NS, leader.period_ns / 4))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """What was seen of a CPU in ``[start_ns, end_ns)``, as far as it can speak for or against a train."""

    start_ns: float
    end_ns: float
    starts_ns: NDArray[np.float64] = field(repr=False)
    """Of interruptions that can be members, ascending."""
    others_ns: NDArray[np.float64] = field(repr=False)
    """Of interruptions that cannot, ascending: they hide the slots that they start at."""
    all_starts_ns: NDArray[np.float64] = field(repr=False)
    """Of both and of all too short for this view, ascending: they hide the slots that they cover."""
    all_ends_ns: NDArray[np.float64] = field(repr=False)
    """Their ends; never descending."""

    @property
    def length_ns(self) -> float:
        """From start to end."""
        return self.end_ns - self.start_ns

    def busy_ns(self, at_ns: NDArray[np.float64]) -> NDArray[np.float64]:
        """For how long interruptions had been under way before each moment."""
        if not len(self.all_starts_ns):
            return np.zeros(len(at_ns))
        begin_ns = self.all_starts_ns.copy()
        begin_ns[1:] = np.maximum(begin_ns[1:], self.all_ends_ns[:-1])
        lasted_ns = np.maximum(self.all_ends_ns - begin_ns, 0.0)
        edges_ns = np.column_stack([begin_ns, begin_ns + lasted_ns]).ravel()
        passed_ns = np.concatenate([[0.0], np.repeat(np.cumsum(lasted_ns), 2)[:-1]])
        return np.asarray(np.interp(at_ns, edges_ns, passed_ns))

    def under_way(self, at_ns: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Whether an interruption was under way at each moment."""
        if not len(self.all_starts_ns):
            return np.zeros(len(at_ns), bool)
        before = np.searchsorted(self.all_starts_ns, at_ns, side="right") - 1
        return np.asarray((before >= 0) & (self.all_ends_ns[before] > at_ns))

    def latest(self, slots: int, period_ns: float) -> View:
        """Its last ``slots`` periods."""
        start_ns = max(self.start_ns, self.end_ns - slots * period_ns)
        first = int(np.searchsorted(self.starts_ns, start_ns))
        # One that began before may reach into it.
        cover = max(int(np.searchsorted(self.all_starts_ns, start_ns)) - 1, 0)
        return replace(
            self,
            start_ns=start_ns,
            starts_ns=self.starts_ns[first:],
            all_starts_ns=self.all_starts_ns[cover:],
            all_ends_ns=self.all_ends_ns[cover:],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fill:
    """Which slots of a timetable have a member, and which could have shown one."""

    slots_ns: NDArray[np.float64] = field(repr=False)
    member: NDArray[np.int64] = field(repr=False)
    """For each slot the index of the start nearest to it, -1 where none is within reach."""
    visible: NDArray[np.bool_] = field(repr=False)
    """Whether the slot could have shown a member, be there one or not."""
    covered: NDArray[np.bool_] = field(repr=False)
    """An interruption covers the slot, or one that can be no member starts at it."""
    chance: float
    """The share of visible slots near which something starts by chance."""

    @property
    def hit(self) -> NDArray[np.bool_]:
        """The slot has a member."""
        return self.member >= 0

    @property
    def share(self) -> float:
        """The share of visible slots with a member that is no coincidence."""
        return self.share_of(self.visible)

    def share_of(self, some: NDArray[np.bool_]) -> float:
        """The same for some of the visible slots."""
        count = np.count_nonzero(some)
        return float(self.no_coincidence(np.count_nonzero(self.hit & some) / count)) if count else 0.0

    def no_coincidence(self, shares: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """``shares`` of slots with a member, less those that chance has filled."""
        return np.asarray((shares - self.chance) / (1 - self.chance))

    def tries_beaten(self) -> float:
        """The logarithm of how many tries chance would need for so many hits, at least.

        The bound of Chernoff on the binomial distribution: n times the divergence of the share of hits
        from the share by chance (Hoeffding 1963, Journal of the ASA 58, 13, theorem 1).
        """
        count = np.count_nonzero(self.visible)
        share = np.count_nonzero(self.hit & self.visible) / count if count else 0.0
        if share <= self.chance:
            return 0.0
        missed = (1 - share) * math.log((1 - share) / (1 - self.chance)) if share < 1 else 0.0
        return count * (share * math.log(share / self.chance) + missed)


def fill(view: View, times: Timetable) -> Fill:
    """Which slots of ``times`` in ``view`` have a member."""
    slots_ns = times.between(view.start_ns, view.end_ns)
    nearest, distance_ns = _nearest(view.starts_ns, slots_ns)
    beside = _nearest(view.others_ns, slots_ns)[1] <= times.reach_ns
    return Fill(
        slots_ns=slots_ns,
        member=np.where(distance_ns <= times.reach_ns, nearest, -1),
        visible=~beside & ~view.under_way(slots_ns - times.reach_ns),
        covered=beside | view.under_way(slots_ns),
        chance=_chance(view, times, len(slots_ns)),
    )


def _nearest(
    starts_ns: NDArray[np.float64], slots_ns: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The index of the start nearest to each slot, and its distance."""
    if not len(starts_ns):
        return np.full(len(slots_ns), -1), np.full(len(slots_ns), np.inf)
    after = np.searchsorted(starts_ns, slots_ns)
    left = np.maximum(after - 1, 0)
    right = np.minimum(after, len(starts_ns) - 1)
    left_ns, right_ns = np.abs(starts_ns[left] - slots_ns), np.abs(starts_ns[right] - slots_ns)
    return np.where(left_ns <= right_ns, left, right), np.minimum(left_ns, right_ns)


def _chance(view: View, times: Timetable, slots: int) -> float:
    """How often a slot is hit by chance: by starts as frequent as they are away from the slots."""
    away = len(view.starts_ns) - np.count_nonzero(times.gathers(view.starts_ns))
    away_ns = max(view.length_ns - slots * 2 * times.reach_ns, times.period_ns / 4)
    # One more than was seen keeps the rate above 0 where nothing else happened.
    return 1 - math.exp(-(away + 1) / away_ns * 2 * times.reach_ns)
