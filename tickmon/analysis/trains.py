"""Foreign trains: strictly periodic series of interruptions that are not the kernel's own tick.

A hypervisor's host ticks at 1000 Hz by its own clock, which drifts against the guest's; so nothing is known
beforehand, neither frequency nor phase. A periodogram of what is remembered proposes frequencies, and each
must then prove itself in time: a line through its members, nearly every visible slot filled, and a phase
that stays where the line says.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.memory import FLOORS_NS, SPAN_NS, Memory
from tickmon.analysis.periodogram import periodogram, strongest_comb_hz
from tickmon.analysis.proof import convincing, steady
from tickmon.analysis.timetable import Timetable, fill
from tickmon.analysis.trainfit import (
    ENOUGH_SLOTS,
    FILLED,
    at_fastest_rate,
    at_right_rate,
    fitted,
    strongest_phase,
)

_SHORT_NS = SPAN_NS / 8
"""A look at the newest part finds what has just begun; one at everything, what is slow or weak."""

_TRIES = 5
_TRIES_EACH = 2
"""So many proposals are followed up in a search, and of each class."""

_MOST_FITS = 16
_REFIT_NS = 0.5e9
_UNSEEN_NS = 3e9
"""A train whose slots were all covered for so long is given up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FoundTrain:
    """A train as it shows in one window."""

    hz: float
    hz_error_ppm: float
    """One standard error of the fit."""
    phase_ns: float
    """Its slots are at phase_ns + k * 1e9 / hz, on the time base of the starts; one is near the window."""
    jitter_ns: float
    """From the 5th to the 95th percentile of its members' distance from their slots."""
    expected: int
    """Slots in the window."""
    seen: int
    """Of them held: covered by an interruption, or started by a member."""
    members: NDArray[np.int64] = field(repr=False)
    """Indices into the window's interruptions, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """A train that is followed."""

    times: Timetable
    level: int
    """Its members are of this class."""
    since_ns: float
    """It has been there since then, or longer."""
    until_ns: float
    """So far it was fitted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainState:
    """What is remembered from window to window; a new one begins a segment."""

    memory: Memory | None = field(default=None, repr=False)
    fits: tuple[_Fit, ...] = ()
    searched_short_ns: float = -math.inf
    searched_ns: float = -math.inf
    """When the newest part and when everything was last searched."""


def follow_trains(
    starts_ns: NDArray[np.float64],
    gaps_ns: NDArray[np.float64],
    *,
    free: NDArray[np.bool_],
    start_ns: float,
    end_ns: float,
    kernel_period_ns: float | None,
    state: TrainState,
) -> tuple[tuple[FoundTrain, ...], TrainState]:
    """The foreign trains in the window ``[start_ns, end_ns)``, the one that costs most first.

    ``starts_ns`` (shape ``(n,)``, ascending) and ``gaps_ns`` are the window's interruptions on a clock that
    goes on from window to window. Only ``free`` ones, which hold no kernel tick and no preemption, can be
    members; any can cover a slot. What keeps exactly the kernel's time is left out.
    """
    since_ns = (start_ns,) * len(FLOORS_NS)
    window = Memory(end_ns=end_ns, starts_ns=starts_ns, gaps_ns=gaps_ns, free=free, since_ns=since_ns)
    memory = state.memory.followed_by(window) if state.memory else window.bounded()
    fits = [fit for old in state.fits if (fit := _followed(memory, old, start_ns)) is not None]
    begin_ns = memory.since_ns[-1]
    searched_short_ns, searched_ns = state.searched_short_ns, state.searched_ns
    if end_ns - searched_short_ns >= min(_SHORT_NS, (end_ns - begin_ns) / 2):
        fits += _search(memory, fits, max(begin_ns, end_ns - _SHORT_NS))
        searched_short_ns = end_ns
    # At first the more often the less there is to look at, later everything once.
    patience_ns = SPAN_NS if end_ns - begin_ns >= SPAN_NS else (end_ns - begin_ns) / 2
    if end_ns - begin_ns > _SHORT_NS and end_ns - searched_ns >= patience_ns:
        fits += _search(memory, fits, begin_ns)
        searched_ns = end_ns
    fits = fits[:_MOST_FITS]
    found = [_in_window(window, fit) for fit in _foreign(memory, fits, kernel_period_ns)]
    found.sort(key=lambda train: -float(gaps_ns[train.members].sum()))
    return tuple(found), TrainState(
        memory=memory, fits=tuple(fits), searched_short_ns=searched_short_ns, searched_ns=searched_ns
    )


def _followed(memory: Memory, fit: _Fit, start_ns: float) -> _Fit | None:
    """``fit`` drawn to the newest window; None when the train is no longer there."""
    if memory.end_ns - fit.until_ns < _REFIT_NS:
        return fit
    since_ns = max(fit.since_ns, memory.since_ns[fit.level])
    view = memory.view(fit.level, since_ns)
    times = fitted(view, replace(fit.times, reach_ns=2 * fit.times.reach_ns))
    if times is None:
        return None
    # What was hidden at first may have shown that the train is faster.
    times = at_fastest_rate(view, times)
    found = fill(view, times)
    recent_ns = ENOUGH_SLOTS / 2 * times.period_ns
    recent = found.visible & (found.slots_ns >= min(start_ns, memory.end_ns - recent_ns))
    stopped = np.count_nonzero(recent) >= 10 and found.share_of(recent) < FILLED / 2
    newest_ns = float(found.slots_ns[found.hit][-1]) if found.hit.any() else -math.inf
    unseen = newest_ns < memory.end_ns - max(_UNSEEN_NS, recent_ns)
    if stopped or unseen or found.share < FILLED * 0.9 or not steady(view, found, times):
        return None
    return _Fit(times=times, level=fit.level, since_ns=since_ns, until_ns=memory.end_ns)


def _search(memory: Memory, known: list[_Fit], start_ns: float) -> list[_Fit]:
    """The trains since ``start_ns`` that are not known yet."""
    for fit in known:
        memory = memory.without(fit.times.gathers(memory.starts_ns))
    memory = memory.without_consequences()
    found: list[_Fit] = []
    tries = _TRIES
    searched = 0
    for level in reversed(range(len(FLOORS_NS))):
        view = memory.view(level, max(start_ns, memory.since_ns[level]))
        if len(view.starts_ns) < max(ENOUGH_SLOTS / 2, 1.5 * searched):
            continue
        searched = len(view.starts_ns)
        spectrum = periodogram(view)
        for _ in range(min(tries, _TRIES_EACH)):
            hz = strongest_comb_hz(spectrum)
            if hz is None:
                break
            tries -= 1
            new = _proven(memory, level, start_ns, hz)
            if new is None:
                spectrum = spectrum.without(hz)
            else:
                found.append(new)
                memory = memory.without(new.times.gathers(memory.starts_ns))
                spectrum = periodogram(memory.view(level, view.start_ns))
    return found


def _proven(memory: Memory, level: int, start_ns: float, hz: float) -> _Fit | None:
    """The train of about ``hz`` that shows in class ``level``; None when there is none.

    The longest class that fills its slots as well as any is the train's own, and only there it is judged:
    among enough classes one would always do.
    """
    views = [memory.view(i, max(start_ns, since_ns)) for i, since_ns in enumerate(memory.since_ns)]
    proposed = fitted(views[level], strongest_phase(views[level], hz))
    if proposed is None:
        return None
    # In a class that holds but a part of the train its rate cannot be seen; the class of all has it.
    times = at_right_rate(views[level], proposed) or at_right_rate(views[0], proposed)
    if times is None:
        return None
    shares = [fill(view, times).share for view in views]
    own = max(i for i, share in enumerate(shares) if share >= max(shares) - 0.05)
    times = fitted(views[own], times)
    if times is None or not convincing(views[own], times):
        return None
    return _Fit(times=times, level=own, since_ns=views[own].start_ns, until_ns=memory.end_ns)


def _foreign(memory: Memory, fits: list[_Fit], kernel_period_ns: float | None) -> list[_Fit]:
    """The fits that follow neither the kernel's tick nor each other."""

    def cost_ns(fit: _Fit) -> float:
        return float(memory.gaps_ns[memory.free & fit.times.gathers(memory.starts_ns)].sum())

    leaders: list[tuple[Timetable, float]] = []
    if fits and kernel_period_ns is not None:
        view = memory.view(0, memory.since_ns[0])
        tick = strongest_phase(replace(view, starts_ns=view.others_ns), 1e9 / kernel_period_ns)
        leaders.append((replace(tick, error_ppm=0.0), -math.inf))
    foreign: list[_Fit] = []
    # A consequence is no more frequent than its cause, and of two alike the greater is taken for the cause.
    for fit in sorted(fits, key=lambda fit: (round(math.log(fit.times.period_ns), 3), -cost_ns(fit))):
        together_ns = [memory.end_ns - max(fit.since_ns, since_ns) for _, since_ns in leaders]
        pairs = zip(leaders, together_ns, strict=True)
        if not any(fit.times.echoes(leader, length_ns) for (leader, _), length_ns in pairs):
            foreign.append(fit)
            leaders.append((fit.times, fit.since_ns))
    return foreign


def _in_window(window: Memory, fit: _Fit) -> FoundTrain:
    """How ``fit``, which was fitted to the window's end, shows in all of it."""
    start_ns, end_ns = window.since_ns[0], window.end_ns
    times = fit.times
    expected = seen = 0
    members, offsets_ns = [], []
    while end_ns > start_ns:
        # One line fits so much; further back it is drawn to what is there.
        from_ns = max(start_ns, end_ns - SPAN_NS)
        view = window.view(fit.level, from_ns, end_ns)
        if end_ns < window.end_ns:
            times = fitted(view, times) or times
        found = fill(view, times)
        expected += len(found.slots_ns)
        seen += int(np.count_nonzero(found.hit | found.covered))
        member_ns = view.starts_ns[found.member[found.hit]]
        members.append(np.searchsorted(window.starts_ns, member_ns))
        offsets_ns.append(times.offsets_ns(member_ns))
        end_ns = from_ns
    spread_ns = np.concatenate(offsets_ns)
    low_ns, high_ns = np.percentile(spread_ns, [5, 95]) if len(spread_ns) else (0.0, 0.0)
    return FoundTrain(
        hz=fit.times.hz,
        hz_error_ppm=fit.times.error_ppm,
        phase_ns=window.since_ns[0] + (fit.times.slot_ns - window.since_ns[0]) % fit.times.period_ns,
        jitter_ns=float(high_ns - low_ns),
        expected=expected,
        seen=seen,
        members=np.sort(np.concatenate(members)),
    )
