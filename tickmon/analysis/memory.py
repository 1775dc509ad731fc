"""What is remembered of the last seconds' interruptions, bounded in time and number."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.timetable import View

FLOORS_NS = (0.0, 1_000.0, 4_000.0, 16_000.0, 64_000.0)
"""Interruptions are looked at in classes, each "at least so long": the ticks of a host are of like length,
and among the long ones they stand out where a mass of short ones hides them."""

SPAN_NS = 13e9
"""So far back."""

KEEP = 2**15
"""So many of each class."""

_STEP_NS = 10_000.0
_AT_ONCE_STEPS = 15
_LATER_STEPS = 50


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Memory:
    """Interruptions until ``end_ns``, ascending."""

    end_ns: float
    starts_ns: NDArray[np.float64] = field(repr=False)
    gaps_ns: NDArray[np.float64] = field(repr=False)
    free: NDArray[np.bool_] = field(repr=False)
    """It can be a member of a foreign train."""
    since_ns: tuple[float, ...]
    """Since when each class is there whole; the longer the interruptions, the further back."""

    def followed_by(self, newer: Memory) -> Memory:
        """Both, as far as it is worth remembering; ``newer`` begins where this ends."""
        starts_ns = np.concatenate([self.starts_ns, newer.starts_ns])
        gaps_ns = np.concatenate([self.gaps_ns, newer.gaps_ns])
        whole = replace(
            newer,
            starts_ns=starts_ns,
            gaps_ns=gaps_ns,
            free=np.concatenate([self.free, newer.free]),
            since_ns=self.since_ns,
        )
        return whole.bounded()

    def bounded(self) -> Memory:
        """Without what is too old or too much."""
        # All is of the first class: since that begins everything stays, before that what is long enough.
        since_ns = [self._since_ns(self.starts_ns, self.since_ns[0])]
        all_from = int(np.searchsorted(self.starts_ns, since_ns[0]))
        stays = np.zeros(all_from, bool)
        places, gaps_ns = np.arange(len(self.starts_ns)), self.gaps_ns
        for floor_ns, known_ns in zip(FLOORS_NS[1:], self.since_ns[1:], strict=True):
            # Each class is a part of the one before.
            long = np.flatnonzero(gaps_ns >= floor_ns)
            places, gaps_ns = places[long], gaps_ns[long]
            starts_ns = self.starts_ns[places]
            since_ns.append(self._since_ns(starts_ns, known_ns))
            first, last = np.searchsorted(starts_ns, since_ns[-1]), np.searchsorted(places, all_from)
            stays[places[first:last]] = True
        older = np.flatnonzero(stays)
        return replace(
            self,
            starts_ns=np.concatenate([self.starts_ns[older], self.starts_ns[all_from:]]),
            gaps_ns=np.concatenate([self.gaps_ns[older], self.gaps_ns[all_from:]]),
            free=np.concatenate([self.free[older], self.free[all_from:]]),
            since_ns=tuple(since_ns),
        )

    def _since_ns(self, starts_ns: NDArray[np.float64], known_ns: float) -> float:
        """Since when a class of these starts is kept; it is there whole since ``known_ns``."""
        since_ns = max(known_ns, self.end_ns - SPAN_NS)
        return max(since_ns, float(starts_ns[-KEEP])) if len(starts_ns) > KEEP else since_ns

    def without(self, taken: NDArray[np.bool_]) -> Memory:
        """The same, but what is ``taken`` cannot be a member any more."""
        return replace(self, free=self.free & ~taken)

    def without_consequences(self) -> Memory:
        """The same, but what may be a consequence of a tick is no member: it counts as part of the tick.

        Work that is left over by a tick keeps its time without being another clock. What follows within
        150 µs and is more frequent there than later is taken for that.
        """
        causes = np.flatnonzero(~self.free)
        if not len(causes):
            return self
        begin_ns, end_ns = self.starts_ns[causes], self.starts_ns[causes] + self.gaps_ns[causes]
        cause = np.searchsorted(begin_ns, self.starts_ns, side="right") - 1
        after_ns = np.where(cause >= 0, self.starts_ns - end_ns[cause], np.inf)
        later = after_ns[self.free & (after_ns < _LATER_STEPS * _STEP_NS)]
        counts = np.bincount(np.maximum(later / _STEP_NS, 0).astype(np.int64), minlength=_LATER_STEPS)
        # Where the next one comes sooner there is no later to compare with.
        until_ns = np.arange(1, _LATER_STEPS + 1) * _STEP_NS
        open_ = len(causes) - np.searchsorted(np.sort(begin_ns[1:] - end_ns[:-1]), until_ns)
        usual = float(np.median((counts / np.maximum(open_, 1))[_AT_ONCE_STEPS:])) * open_[:_AT_ONCE_STEPS]
        frequent = np.flatnonzero(counts[:_AT_ONCE_STEPS] > 1.5 * usual + 4 * np.sqrt(usual) + 3)
        if not len(frequent) or open_[-1] < len(causes) / 2:
            return self
        shadow_ns = _STEP_NS * (int(frequent[-1]) + 1)
        return replace(
            self,
            free=self.free & (after_ns >= shadow_ns),
            gaps_ns=np.where(self.free, self.gaps_ns, self.gaps_ns + shadow_ns),
        )

    def view(self, level: int, start_ns: float, end_ns: float | None = None) -> View:
        """What class ``level`` shows from ``start_ns`` on, to ``end_ns`` or the end."""
        end_ns = self.end_ns if end_ns is None else end_ns
        first, last = np.searchsorted(self.starts_ns, [start_ns, end_ns]).tolist()
        starts_ns, gaps_ns, free = self.starts_ns[first:last], self.gaps_ns[first:last], self.free[first:last]
        # One that began before may reach into the view.
        earlier = slice(max(first - 1, 0), last)
        return View(
            start_ns=start_ns,
            end_ns=end_ns,
            starts_ns=starts_ns[free & (gaps_ns >= FLOORS_NS[level])],
            others_ns=starts_ns[~free],
            all_starts_ns=self.starts_ns[earlier],
            all_ends_ns=np.maximum.accumulate(self.starts_ns[earlier] + self.gaps_ns[earlier]),
        )
