"""Tick slots, the interruptions that hold them, and how much of that is chance."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.ranks import median

LATE_NS = 60_000.0
"""A slot is also held by the first interruption that starts so soon after it: timers fire late."""

FULL_SHARE = 0.9
"""A phase is the tick's when so many of its slots are held; a few ticks may be late or lost."""

ALIKE_NS = 2_000.0
"""A timer's own lateness changes by less than this. A host that is 20 ppm off drifts 10 us from the first
half of a second to the second."""

SHIFTS = 16
"""So many times the slots are moved to places where none is due, to see what is held by chance."""

ENOUGH_SLOTS = 1024
"""Evidence is weighed on so many slots, spread over the window: more would not make it stronger."""

_SIGMAS = 5.0
_ENOUGH_DELAYS = 16
_GOLDEN = (math.sqrt(5) - 1) / 2


def within(at_ns: NDArray[np.float64], stretches_ns: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which moments lie in one of the stretches: from and until, shape ``(n, 2)``."""
    begun = np.searchsorted(np.sort(stretches_ns[:, 0]), at_ns, side="right")
    over = np.searchsorted(np.sort(stretches_ns[:, 1]), at_ns, side="left")
    return np.asarray(begun > over)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lattice:
    """Moments that are due at ``offset_ns`` + k * ``period_ns``."""

    period_ns: float
    offset_ns: float

    def between(self, from_ns: float, until_ns: float) -> NDArray[np.float64]:
        """The slots in ``[from_ns, until_ns)``, ascending."""
        first = math.ceil((from_ns - self.offset_ns) / self.period_ns)
        last = math.ceil((until_ns - self.offset_ns) / self.period_ns)
        numbers = np.arange(first, max(first, last), dtype=np.float64)
        return np.asarray(numbers * self.period_ns + self.offset_ns, np.float64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gaps:
    """Interruptions as stretches of time, ascending and without overlap."""

    starts_ns: NDArray[np.float64] = field(repr=False)
    ends_ns: NDArray[np.float64] = field(repr=False)
    step_ns: float = 0.0
    """What the counter cannot tell apart."""

    @property
    def late_ns(self) -> float:
        """How late an interruption may start and still hold a slot."""
        return LATE_NS + self.step_ns

    def holding(self, slots_ns: NDArray[np.float64]) -> NDArray[np.int64]:
        """The interruption that holds each slot, -1 where none does.

        It is the one that covers the slot, else the first that starts within ``late_ns`` after it. The slots
        may have any shape.
        """
        if not len(self.starts_ns):
            return np.full(slots_ns.shape, -1)
        before = np.searchsorted(self.starts_ns, slots_ns, side="right") - 1
        after = np.minimum(before + 1, len(self.starts_ns) - 1)
        covered = (before >= 0) & (self.ends_ns[before] > slots_ns)
        late_ns = self.starts_ns[after] - slots_ns
        soon = (late_ns >= 0) & (late_ns <= self.late_ns)
        return np.where(covered, before, np.where(soon, after, -1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What speaks for slots being the tick's own."""

    slots: int
    held: int
    chance_share: float
    """Of slots that are held where no tick is due."""
    drift_ns: float
    """How much later after their slots the interruptions start in the second half than in the first."""
    drift_error_ns: float

    @property
    def full(self) -> bool:
        """Nearly every slot is held."""
        return self.held >= FULL_SHARE * self.slots

    @property
    def beyond_chance(self) -> bool:
        """More slots are held than chance would hold."""
        return self.held > self._by_chance_at_most

    @property
    def telling(self) -> bool:
        """Chance alone would not hold every slot, so held ones can speak for a phase."""
        return self.slots > self._by_chance_at_most

    @property
    def mostly_held(self) -> bool:
        """At least half of the slots that chance leaves open are held."""
        return self.held >= self.slots * (1 + self.chance_share) / 2

    @property
    def _by_chance_at_most(self) -> float:
        by_chance = self.slots * self.chance_share
        return by_chance + _SIGMAS * math.sqrt(by_chance * (1 - self.chance_share)) + 2

    def steady(self, within_ns: float = ALIKE_NS) -> bool:
        """The interruptions keep the slots' time. The kernel's tick always does, a host's drifts."""
        return abs(self.drift_ns) <= max(within_ns, _SIGMAS * self.drift_error_ns)

    @property
    def convincing(self) -> bool:
        """The slots are the tick's."""
        return self.mostly_held and self.beyond_chance and self.steady()


def weigh(gaps: Gaps, slots_ns: NDArray[np.float64], period_ns: float) -> Evidence:
    """What speaks for ``slots_ns`` (ascending, ``period_ns`` apart or a multiple of it)."""
    sample_ns = thinned(slots_ns, ENOUGH_SLOTS)
    holders = gaps.holding(sample_ns)
    drift_ns, drift_error_ns = _drift(start_delays(gaps, sample_ns, holders))
    return Evidence(
        slots=len(sample_ns),
        held=int(np.count_nonzero(holders >= 0)),
        chance_share=_chance_share(gaps, sample_ns, period_ns),
        drift_ns=drift_ns,
        drift_error_ns=drift_error_ns,
    )


def thinned(slots_ns: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """At most ``most`` of the slots, evenly spread."""
    return slots_ns[:: max(1, -(-len(slots_ns) // most))]


def start_delays(
    gaps: Gaps, slots_ns: NDArray[np.float64], holders: NDArray[np.int64]
) -> NDArray[np.float64]:
    """How long after its slot each holder starts that starts near it, in the order of time.

    Negative when it was under way already. One that began long before was there for something else.
    """
    held = holders >= 0
    delays_ns = gaps.starts_ns[holders[held]] - slots_ns[held]
    return delays_ns[np.abs(delays_ns) <= gaps.late_ns]


def _chance_share(gaps: Gaps, slots_ns: NDArray[np.float64], period_ns: float) -> float:
    if not len(slots_ns):
        return 0.0
    # Steps of the golden ratio never come back to the slots nor to each other.
    shares = np.arange(1, SHIFTS + 1) * _GOLDEN % 1.0
    shifted_ns = slots_ns + shares[:, np.newaxis] * period_ns
    return float(np.count_nonzero(gaps.holding(shifted_ns) >= 0)) / shifted_ns.size


def _drift(delays_ns: NDArray[np.float64]) -> tuple[float, float]:
    """The change of the median from the first half to the second, and its standard error."""
    half = len(delays_ns) // 2
    if half < _ENOUGH_DELAYS:
        return 0.0, math.inf
    before, after = median(delays_ns[:half]), median(delays_ns[half:])
    apart_ns = np.concatenate([delays_ns[:half] - before, delays_ns[half:] - after])
    # 1.4826 makes a median deviation a standard deviation, 1.2533 a mean's error a median's.
    error_ns = 1.4826 * 1.2533 * median(np.abs(apart_ns)) / math.sqrt(half)
    return after - before, math.sqrt(2) * error_ns
