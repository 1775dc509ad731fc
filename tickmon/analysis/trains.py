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
from tickmon.analysis.ranks import jitter
from tickmon.analysis.slots import within
from tickmon.analysis.timetable import Timetable, fill
from tickmon.analysis.train_fits import Fit, followed, search
from tickmon.analysis.trainfit import fitted, strongest_phase

_SHORT_NS = SPAN_NS / 8
"""A look at the newest part finds what has just begun; one at everything, what is slow or weak."""

_LONG_NS = SPAN_NS
"""A train that begins late is found after so long at the latest, if the newest part shows it."""

_MOST_FITS = 16


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
    """Slots in the window, where it was watched."""
    seen: int
    """Of them held: covered by an interruption, or started by a member."""
    members: NDArray[np.int64] = field(repr=False)
    """Indices into the window's interruptions, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrainState:
    """What is remembered from window to window; a new one begins a segment."""

    memory: Memory | None = field(default=None, repr=False)
    fits: tuple[Fit, ...] = ()
    searched_short_ns: float = -math.inf
    searched_ns: float = -math.inf
    """When the newest part and when everything was last searched."""
    patience_ns: float = _SHORT_NS
    """The newest part is searched again after so long."""


def follow_trains(
    starts_ns: NDArray[np.float64],
    gaps_ns: NDArray[np.float64],
    *,
    free: NDArray[np.bool_],
    unwatched_ns: NDArray[np.float64],
    start_ns: float,
    end_ns: float,
    kernel_period_ns: float | None,
    state: TrainState,
) -> tuple[tuple[FoundTrain, ...], TrainState]:
    """The foreign trains in the window ``[start_ns, end_ns)``, the one that costs most first.

    ``starts_ns`` (shape ``(n,)``, ascending) and ``gaps_ns`` are the window's interruptions on a clock that
    goes on from window to window. Only ``free`` ones, which hold no kernel tick and no preemption, can be
    members; any can cover a slot. In ``unwatched_ns`` (from and until, shape ``(m, 2)``) nobody watched: no
    slot is due there. What keeps exactly the kernel's time is left out.
    """
    window = _window(starts_ns, gaps_ns, free, unwatched_ns, start_ns=start_ns, end_ns=end_ns)
    memory = state.memory.followed_by(window) if state.memory else window.bounded()
    state = _searched(replace(state, memory=memory, fits=_still_there(memory, state.fits)), memory)
    foreign = _foreign(memory, state.fits, kernel_period_ns)
    shown = [_in_window(window, fit, starts_ns, unwatched_ns) for fit in foreign]
    # Nothing confirms a train where every slot is covered, nor where most have neither that nor a member.
    found = [train for train in shown if len(train.members) and train.seen >= train.expected / 2]
    found.sort(key=lambda train: -float(gaps_ns[train.members].sum()))
    return tuple(found), state


def _window(
    starts_ns: NDArray[np.float64],
    gaps_ns: NDArray[np.float64],
    free: NDArray[np.bool_],
    unwatched_ns: NDArray[np.float64],
    *,
    start_ns: float,
    end_ns: float,
) -> Memory:
    """The window's interruptions, and where nobody watched: that hides slots as an interruption does."""
    starts_ns = np.concatenate([starts_ns, unwatched_ns[:, 0]])
    order = np.argsort(starts_ns, kind="stable")
    return Memory(
        end_ns=end_ns,
        starts_ns=starts_ns[order],
        gaps_ns=np.concatenate([gaps_ns, np.diff(unwatched_ns).ravel()])[order],
        free=np.concatenate([free, np.zeros(len(unwatched_ns), bool)])[order],
        since_ns=(start_ns,) * len(FLOORS_NS),
    )


def _still_there(memory: Memory, fits: tuple[Fit, ...]) -> tuple[Fit, ...]:
    """``fits`` drawn to what is remembered, without trains that have stopped."""
    return tuple(fit for old in fits if (fit := followed(memory, old)) is not None)


def _searched(state: TrainState, memory: Memory) -> TrainState:
    """``state`` with trains that were not known yet, where it is time to look."""
    end_ns, begin_ns = memory.end_ns, memory.since_ns[-1]
    length_ns = end_ns - begin_ns
    if end_ns - state.searched_short_ns >= min(state.patience_ns, length_ns / 2):
        new = search(memory, state.fits, max(begin_ns, end_ns - _SHORT_NS))
        # Where nothing new has begun for long, a search that costs more than all else may wait for its turn.
        settled = not new and length_ns >= SPAN_NS
        patience_ns = min(2 * state.patience_ns, _LONG_NS) if settled else _SHORT_NS
        state = replace(state, fits=state.fits + new, searched_short_ns=end_ns, patience_ns=patience_ns)
    # Often while there is more to look at every time, later everything once.
    # Eight times as much takes eight times as long.
    patience_ns = length_ns / 2 if length_ns < SPAN_NS else SPAN_NS / _SHORT_NS * state.patience_ns
    if length_ns > _SHORT_NS and end_ns - state.searched_ns >= patience_ns:
        new = search(memory, state.fits, begin_ns)
        state = replace(state, fits=state.fits + new, searched_ns=end_ns)
    return replace(state, fits=state.fits[:_MOST_FITS])


def _foreign(memory: Memory, fits: tuple[Fit, ...], kernel_period_ns: float | None) -> list[Fit]:
    """The fits that follow neither the kernel's tick nor each other."""

    def cost_ns(fit: Fit) -> float:
        return float(memory.gaps_ns[memory.free & fit.times.gathers(memory.starts_ns)].sum())

    leaders: list[tuple[Timetable, float]] = []
    if fits and kernel_period_ns is not None:
        # Of what is older only the long ones are remembered.
        whole = memory.starts_ns >= memory.since_ns[0]
        others_ns = memory.starts_ns[whole & ~memory.free]
        tick = strongest_phase(others_ns, 1e9 / kernel_period_ns, start_ns=memory.since_ns[0])
        leaders.append((replace(tick, error_ppm=0.0), -math.inf))
    foreign: list[Fit] = []
    # A consequence is no more frequent than its cause, and of two alike the greater is taken for the cause.
    for fit in sorted(fits, key=lambda fit: (round(math.log(fit.times.period_ns), 3), -cost_ns(fit))):
        together_ns = [memory.end_ns - max(fit.since_ns, since_ns) for _, since_ns in leaders]
        pairs = zip(leaders, together_ns, strict=True)
        if not any(fit.times.echoes(leader, length_ns) for (leader, _), length_ns in pairs):
            foreign.append(fit)
            leaders.append((fit.times, fit.since_ns))
    return foreign


def _in_window(
    window: Memory, fit: Fit, starts_ns: NDArray[np.float64], unwatched_ns: NDArray[np.float64]
) -> FoundTrain:
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
        watched = ~within(found.slots_ns, unwatched_ns)
        expected += int(np.count_nonzero(watched))
        seen += int(np.count_nonzero(watched & (found.hit | found.covered)))
        member_ns = view.starts_ns[found.member[found.hit]]
        members.append(np.searchsorted(starts_ns, member_ns))
        offsets_ns.append(times.offsets_ns(member_ns))
        end_ns = from_ns
    spread_ns = np.concatenate(offsets_ns)
    return FoundTrain(
        hz=fit.times.hz,
        hz_error_ppm=fit.times.error_ppm,
        phase_ns=window.since_ns[0] + (fit.times.slot_ns - window.since_ns[0]) % fit.times.period_ns,
        jitter_ns=jitter(spread_ns) if len(spread_ns) else 0.0,
        expected=expected,
        seen=seen,
        members=np.sort(np.concatenate(members)),
    )
