"""The trains that are followed: found in what is remembered, drawn along, and given up when they stop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tickmon.analysis.memory import FLOORS_NS, SPAN_NS, Memory
from tickmon.analysis.periodogram import periodogram, strongest_comb_hz
from tickmon.analysis.proof import convincing, steady
from tickmon.analysis.timetable import Timetable, View, fill
from tickmon.analysis.trainfit import (
    ENOUGH_SLOTS,
    FILLED,
    at_fastest_rate,
    at_right_rate,
    fitted,
    strongest_phase,
)

_TRIES = 5
_TRIES_EACH = 2
"""So many proposals are followed up in a search, and of each class."""

_REFIT_NS = 0.5e9
"""Shorter windows wait until so much is new."""

_REFIT_OLD_NS = 2e9
"""A train that has been there for long is known well enough to be drawn to what is new less often."""

_NEWEST_NS = 0.3e9
_UNSEEN_NS = 3e9
"""A train whose slots were all covered for so long is given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A train that is followed."""

    times: Timetable
    level: int
    """Its members are of this class."""
    since_ns: float
    """It has been there since then, or longer."""
    until_ns: float
    """So far it was fitted."""


def followed(memory: Memory, fit: Fit) -> Fit | None:
    """``fit`` drawn to what is remembered; None when the train is no longer there."""
    old = memory.end_ns - fit.since_ns > SPAN_NS
    if memory.end_ns - fit.until_ns < (_REFIT_OLD_NS if old else _REFIT_NS):
        return fit
    since_ns = max(fit.since_ns, memory.since_ns[fit.level])
    newest_ns = max(since_ns, memory.end_ns - max(_NEWEST_NS, ENOUGH_SLOTS * fit.times.period_ns))
    long = _drawn(memory, fit, since_ns, 2 * fit.times.reach_ns)
    short = _drawn(memory, fit, newest_ns, math.inf)
    if long is None or short is None:
        return long or short
    # When one of the clocks was corrected only the newest part is on one line.
    view = memory.view(fit.level, memory.end_ns - ENOUGH_SLOTS / 2 * fit.times.period_ns)
    long_hits, short_hits = (np.count_nonzero(fill(view, one.times).hit) for one in (long, short))
    return long if long_hits >= 0.8 * short_hits else short


def _drawn(memory: Memory, fit: Fit, since_ns: float, reach_ns: float) -> Fit | None:
    """``fit`` drawn to what was there since ``since_ns``; None when it is not borne out."""
    view = memory.view(fit.level, since_ns)
    times = fitted(view, replace(fit.times, reach_ns=reach_ns))
    if times is None:
        return None
    # What was hidden at first may have shown that the train is faster.
    times = at_fastest_rate(view, times)
    found = fill(view, times)
    recent = found.visible & (found.slots_ns >= memory.end_ns - ENOUGH_SLOTS / 2 * times.period_ns)
    stopped = np.count_nonzero(recent) >= 10 and found.share_of(recent) < FILLED / 2
    last_ns = float(found.slots_ns[found.hit][-1]) if found.hit.any() else -math.inf
    unseen = last_ns < memory.end_ns - max(_UNSEEN_NS, ENOUGH_SLOTS / 2 * times.period_ns)
    if stopped or unseen or found.share < FILLED * 0.9 or not steady(view, found, times):
        return None
    return Fit(times=times, level=fit.level, since_ns=since_ns, until_ns=memory.end_ns)


def search(memory: Memory, known: tuple[Fit, ...], start_ns: float) -> tuple[Fit, ...]:
    """The trains since ``start_ns`` that are not known yet."""
    for fit in known:
        memory = memory.without(fit.times.gathers(memory.starts_ns))
    memory = memory.without_consequences()
    found: list[Fit] = []
    tries = _TRIES
    searched = 0
    views = _views(memory, start_ns)
    for level in reversed(range(len(FLOORS_NS))):
        view = views[level]
        if len(view.starts_ns) < max(ENOUGH_SLOTS / 2, 1.5 * searched):
            continue
        searched = len(view.starts_ns)
        spectrum = periodogram(view)
        for _ in range(min(tries, _TRIES_EACH)):
            hz = strongest_comb_hz(spectrum)
            if hz is None:
                break
            tries -= 1
            new = _proven(views, level, hz)
            if new is None:
                spectrum = spectrum.without(hz)
            else:
                found.append(new)
                memory = memory.without(new.times.gathers(memory.starts_ns))
                views = _views(memory, start_ns)
                spectrum = periodogram(views[level])
    return tuple(found)


def _views(memory: Memory, start_ns: float) -> tuple[View, ...]:
    """What each class shows from ``start_ns`` on, as far as it is there whole."""
    return tuple(memory.view(i, max(start_ns, since_ns)) for i, since_ns in enumerate(memory.since_ns))


def _proven(views: Sequence[View], level: int, hz: float) -> Fit | None:
    """The train of about ``hz`` that shows in class ``level``; None when there is none.

    The longest class that fills its slots as well as any is the train's own, and only there it is judged:
    among enough classes one would always do.
    """
    view = views[level]
    proposed = fitted(view, strongest_phase(view.starts_ns, hz, start_ns=view.start_ns))
    if proposed is None:
        return None
    # In a class that holds but a part of the train its rate cannot be seen; the class of all has it.
    times = at_right_rate(view, proposed) or at_right_rate(views[0], proposed)
    if times is None:
        return None
    shares = [fill(view, times).share for view in views]
    own = max(i for i, share in enumerate(shares) if share >= max(shares) - 0.05)
    times = fitted(views[own], times)
    if times is None or not convincing(views[own], times):
        return None
    return Fit(times=times, level=own, since_ns=views[own].start_ns, until_ns=views[own].end_ns)
