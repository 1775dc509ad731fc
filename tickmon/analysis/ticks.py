"""The kernel's tick in one window: which slots were due, which interruptions hold them, what that says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.check import verdict_of
from tickmon.analysis.clocks import Clocks
from tickmon.analysis.faster import faster_hz
from tickmon.analysis.phase import STANDARD_HZ, Stretch, lattice, locate
from tickmon.analysis.slots import Gaps, Lattice, weigh, within
from tickmon.analysis.timeline import Timeline
from tickmon.analysis.trains import FoundTrain
from tickmon.windows import KernelTick, Window


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ticks:
    """The tick slots that a window judges."""

    hz: float | None = None
    phase_ns: float | None = None
    """Offset from k * period of CLOCK_MONOTONIC; None where it is not known."""
    basis: str
    expected: int | None = None
    seen: int | None = None
    verdict: str = "unknown"
    credible: bool = False
    """What holds a slot is rather a tick than something that was there by chance."""
    chance_share: float = 0.0
    """Of slots that would be held without any tick."""
    faster_hz: float | None = None
    """A train at the tick's phase runs at this rate, not at ``hz``."""
    slots_ns: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)
    """The held slots, on the segment's timeline."""
    holders: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    """Index into the window's details of the interruption that holds each of ``slots_ns``."""


def kernel_ticks(
    window: Window,
    tick: KernelTick,
    line: Timeline,
    clocks: Clocks,
    *,
    among: NDArray[np.bool_],
    preempted: NDArray[np.bool_],
) -> tuple[Ticks, Clocks]:
    """The slots of ``tick``, whose rate is known, on CLOCK_MONOTONIC; and what is known of it from now on.

    Only details ``among`` which a tick can be are looked at; in ``preempted`` ones another task ran.
    """
    index = np.flatnonzero(among)
    gaps = _gaps(window, line, index)
    from_ns = _judged_from_ns(line, clocks, gaps)
    stretch = Stretch(from_ns=from_ns, until_ns=line.end_ns, epoch_ns=clocks.epoch_ns)
    phase = locate(gaps, tick, stretch, known_ns=clocks.phase_ns)
    faster = faster_hz(gaps, preempted[index], tick, stretch, phase)
    slots_ns, holders, clocks = _judge(
        line, clocks, gaps, lattice(tick.period_ns, phase.phase_ns, clocks.epoch_ns)
    )
    if phase.proven:
        clocks = replace(clocks, phase_ns=phase.phase_ns)
    ticks = Ticks(
        hz=tick.hz,
        basis=tick.basis,
        expected=len(slots_ns),
        chance_share=phase.evidence.chance_share,
        faster_hz=faster,
    )
    if not (phase.located or tick.may_stop or faster):
        # A tick that cannot stop and is not seen where it was looked for is due somewhere else.
        return ticks, clocks
    held = holders >= 0
    seen = int(np.count_nonzero(held))
    return replace(
        ticks,
        phase_ns=float(phase.phase_ns),
        seen=seen,
        verdict=verdict_of(
            expected=len(slots_ns),
            seen=seen,
            lost=window.lost,
            chance_share=phase.evidence.chance_share,
            may_stop=tick.may_stop,
            faster=faster is not None,
        ),
        credible=phase.credible,
        slots_ns=slots_ns[held],
        holders=index[holders[held]],
    ), clocks


def measured_ticks(
    window: Window, line: Timeline, clocks: Clocks, found: Sequence[FoundTrain]
) -> tuple[Ticks, Clocks, FoundTrain | None]:
    """The ticks where rate or time of the kernel's tick are not known: one of the trains, when it fits.

    Proves no more than that this train is regular. The third is the train it is.
    """
    known = window.segment.kernel_tick
    # On CLOCK_MONOTONIC a tick keeps its rate exactly; on the bare counter only as well as that is known.
    off_share = 1e-5 if window.segment.counter_synchronised else 1e-3
    rates_hz = STANDARD_HZ if known is None else (known.hz,)
    off_shares = [min(abs(train.hz / hz - 1) for hz in rates_hz) for train in found]
    if min(off_shares, default=1.0) > off_share:
        return Ticks(basis="measured"), clocks, None
    own = found[int(np.argmin(off_shares))]
    period_ns = 1e9 / own.hz
    gaps = _gaps(window, line, np.arange(len(window.details)))
    # Where in its period the train starts, counted from the window's own start: the frequency is fitted
    # anew in every window, and over a long time its error would move the slots.
    starts_ns = (gaps.starts_ns[own.members] - line.start_ns) % period_ns
    middle_ns = float(np.angle(np.exp(2j * np.pi * starts_ns / period_ns).sum())) / (2 * np.pi) * period_ns
    around_ns = (starts_ns - middle_ns + period_ns / 2) % period_ns - period_ns / 2
    offset_ns = line.start_ns + middle_ns + float(np.quantile(around_ns, 0.05))
    slots = Lattice(period_ns=period_ns, offset_ns=offset_ns)
    chance_share = weigh(gaps, slots.between(line.start_ns, line.end_ns), period_ns).chance_share
    slots_ns, holders, clocks = _judge(line, clocks, gaps, slots)
    held = holders >= 0
    seen = int(np.count_nonzero(held))
    return (
        Ticks(
            hz=own.hz,
            basis="measured",
            expected=len(slots_ns),
            seen=seen,
            verdict=verdict_of(
                expected=len(slots_ns),
                seen=seen,
                lost=window.lost,
                chance_share=chance_share,
                may_stop=known is not None and known.may_stop,
                faster=False,
            ),
            credible=True,
            chance_share=chance_share,
            slots_ns=slots_ns[held],
            holders=holders[held],
        ),
        clocks,
        own,
    )


def _gaps(window: Window, line: Timeline, index: NDArray[np.int64]) -> Gaps:
    step_ns = window.segment.step_cycles * line.ns_per_cycle
    if len(index) == len(line.starts_ns):
        return Gaps(starts_ns=line.starts_ns, ends_ns=line.ends_ns, step_ns=step_ns)
    return Gaps(starts_ns=line.starts_ns[index], ends_ns=line.ends_ns[index], step_ns=step_ns)


def _judged_from_ns(line: Timeline, clocks: Clocks, gaps: Gaps) -> float:
    # Only a slot that just the window before left undecided can still be held in this one.
    return max(clocks.judged_ns, line.start_ns - gaps.late_ns)


def _judge(
    line: Timeline, clocks: Clocks, gaps: Gaps, slots: Lattice
) -> tuple[NDArray[np.float64], NDArray[np.int64], Clocks]:
    """The slots that can be judged now, the interruption that holds each (-1: none), and the new state.

    A slot that nothing covers may be held by an interruption that starts a little later. When the window
    ends before that is decided, the slot waits for the next one: so each is judged exactly once, and the
    windows of a long time add up to the one long window.
    """
    slots_ns = slots.between(_judged_from_ns(line, clocks, gaps), line.end_ns)
    holders = gaps.holding(slots_ns)
    judged = (holders >= 0) | (slots_ns <= line.end_ns - gaps.late_ns)
    if judged.any():
        clocks = replace(clocks, judged_ns=float(slots_ns[judged][-1]) + slots.period_ns / 2)
    # What starts a little later would hold a slot too.
    unwatched = within(slots_ns, line.unwatched_ns - [gaps.late_ns, 0.0])
    chosen = judged & ((holders >= 0) | ~unwatched)
    return slots_ns[chosen], holders[chosen], clocks
