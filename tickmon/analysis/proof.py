"""Whether a timetable is a train's: filled slots, at a certain rate, by a clock that keeps its phase."""

from __future__ import annotations

import math

import numpy as np

from tickmon.analysis.timetable import Fill, Timetable, View, fill
from tickmon.analysis.trainfit import (
    ENOUGH_SLOTS,
    ENOUGH_TO_COMPARE,
    FASTEST_HZ,
    FILLED,
    LATEST_SLOTS,
    STRETCHES,
    parted_fill,
    stretch_means,
    widest_ns,
)

_TRIES_BEATEN = 40.0
"""A phase in thousands, a frequency in 10⁵, a class and a reach were chosen to get so many hits: about
exp(25) tries; the rest makes a chance of one in a million."""

_STRAYS = 0.15
"""A clock's phase strays by no more than this share of its jitter ..."""

_CLOCKS_STRAY_NS = 300.0
_CLOCKS_STRAY = 0.1e-6
"""... or by what the best clocks do, because time is corrected: so much, and this share of the time."""

_FACTORS = (2, 3, 5, 7, 11)
"""Where a train twice as fast is refuted, one four times as fast is as well: the primes are enough."""


def convincing(view: View, times: Timetable) -> bool:
    """Whether ``times`` shows all that a new train must."""
    found = fill(view, times)
    # A reach at its limit means that starts do not gather, but are spread as far as one looks.
    if times.reach_ns >= widest_ns(times.period_ns) or np.count_nonzero(found.visible) < ENOUGH_SLOTS:
        return False
    quarter_of = ((found.slots_ns - view.start_ns) / view.length_ns * 4).astype(np.int64)
    quarters = [found.share_of(found.visible & (quarter_of == quarter)) for quarter in range(4)]
    # Where a train was before its clock was corrected, its own interruptions now hide the old slots.
    still_there = found.hit[-ENOUGH_SLOTS // 2 :].mean() >= 0.25 * found.hit.mean()
    return (
        still_there
        and found.share >= FILLED
        and found.tries_beaten() >= _TRIES_BEATEN
        and min(quarters) >= FILLED * 0.75
        and steady(view, found, times)
        and _certain_rate(view, times)
    )


def steady(view: View, found: Fill, times: Timetable) -> bool:
    """The phase stays: what it strays is little beside the jitter, or no more than good clocks do.

    The members' offsets are averaged in ten stretches of time. For a clock with independent jitter these
    means differ no more than the jitter allows. A loop that sleeps again after its work walks at random: n
    steps of s each stray by s * sqrt(n / 15) from their best line, with a jitter of s / sqrt(2), which for
    100 steps is 3.7 times as far. The jitter is taken from differences of neighbours, which a slow walk
    leaves alone (von Neumann 1941, Annals of Mathematical Statistics 12, 367).
    """
    offsets_ns = times.offsets_ns(view.starts_ns[found.member[found.hit]])
    if len(offsets_ns) < ENOUGH_SLOTS / 2:
        return False
    jitter_ns = math.sqrt(float(np.mean(np.diff(offsets_ns) ** 2)) / 2)
    means_ns = stretch_means(offsets_ns)
    # Two degrees of freedom went into the line, and the jitter's own share in the means comes off.
    strayed = float((means_ns**2).sum()) / (STRETCHES - 2) - jitter_ns**2 * STRETCHES / len(offsets_ns)
    allowed_ns = max(
        (_STRAYS + math.sqrt(STRETCHES / len(offsets_ns))) * jitter_ns,
        _CLOCKS_STRAY_NS + _CLOCKS_STRAY * view.length_ns,
    )
    return strayed <= allowed_ns**2


def _certain_rate(view: View, times: Timetable) -> bool:
    """Whether every slower or faster train that would look like this is refuted by slots that were seen.

    The kernel's tick may hide every second slot for a while, until one of the clocks has drifted away. So a
    faster train is refuted only by slots between that could be seen and are empty, not by hidden ones.
    """
    own = fill(view.latest(LATEST_SLOTS, times.period_ns), times)
    seen = np.flatnonzero(own.visible)
    if any(
        np.bincount(seen % factor, minlength=factor).min() < ENOUGH_TO_COMPARE / 2 for factor in (2, 3, 5)
    ):
        return False
    return all(_is_refuted(view, times, factor) for factor in _FACTORS if factor * times.hz <= FASTEST_HZ)


def _is_refuted(view: View, times: Timetable, factor: int) -> bool:
    """Whether some of the slots between that a train ``factor`` times as fast would have are empty."""
    between, part = parted_fill(view, times, factor)
    visible = np.bincount(part[between.visible], minlength=factor)[1:]
    hits = np.bincount(part[between.visible & between.hit], minlength=factor)[1:]
    judged = visible >= ENOUGH_TO_COMPARE
    return bool(np.any(between.no_coincidence(hits[judged] / visible[judged]) < FILLED / 2))
