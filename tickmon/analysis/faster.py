"""Whether the tick runs faster than the rate in force says, as after a wrong --hz."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.phase import STANDARD_HZ, Phase, Stretch, fit, lattice
from tickmon.analysis.ranks import median
from tickmon.analysis.slots import FULL_SHARE, Gaps, start_delays, weigh
from tickmon.units import tick_period_ns
from tickmon.windows import KernelTick

_ENOUGH = 10
"""Fewer slots prove no rate."""
_ALIKE_NS = 500.0
"""One train starts this evenly after its slots. A host 1 ppm off moves on by as much in a second."""


def faster_hz(
    gaps: Gaps, preempted: NDArray[np.bool_], tick: KernelTick, stretch: Stretch, phase: Phase
) -> float | None:
    """The rate above ``tick.hz`` at which a train runs that keeps the tick's phase; None: there is none.

    ``preempted`` marks the interruptions in which another task ran. A timer of that task may keep the
    kernel's time as well, so they say nothing here.
    """
    if tick.basis != "option" and not phase.evidence.full:
        # The rate does not fit at all. A kernel's own word cannot be that wrong.
        return None
    if phase.evidence.slots >= _ENOUGH and not phase.evidence.telling:
        # Whatever the rate, chance would hold its slots.
        return None
    own_delay_ns = _own_delay_ns(gaps, tick, stretch, phase)
    multiples_hz = [tick.hz * factor for factor in range(2, 11)]
    rates_hz = {hz for hz in (*STANDARD_HZ, *multiples_hz) if tick.hz * 1.01 < hz <= STANDARD_HZ[-1]}
    slots: list[tuple[float, NDArray[np.float64]]] = []
    for hz in sorted(rates_hz, reverse=True):
        period_ns = tick_period_ns(hz)
        phases_ns = {phase.phase_ns, *tick.phases_ns}
        if not phase.located:
            # At a wrong rate its phase could not be found either.
            phases_ns |= set(fit(gaps, period_ns, stretch))
        for phase_ns in phases_ns:
            due = lattice(period_ns, phase_ns, stretch.epoch_ns)
            slots.append((hz, due.between(stretch.from_ns, stretch.until_ns)))
    for hz, slots_ns in _mostly_held(gaps, slots):
        if _are_ticks(gaps, preempted, slots_ns, tick_period_ns(hz), own_delay_ns):
            return hz
    return None


def _mostly_held(
    gaps: Gaps, slots: Sequence[tuple[float, NDArray[np.float64]]]
) -> list[tuple[float, NDArray[np.float64]]]:
    """Those whose first quarter does not have so many empty slots already that they are no train.

    Nearly all are out by this, in every window, so all rates are looked at at once. None is out wrongly: an
    empty slot stays one, and there are no more slots to be held than these.
    """
    firsts = [slots_ns[: -(-len(slots_ns) // 4)] for _, slots_ns in slots]
    if not firsts:
        return []
    empty = gaps.holding(np.concatenate(firsts)) < 0
    whose = np.repeat(np.arange(len(firsts)), [len(first) for first in firsts])
    empty_of = np.bincount(whose[empty], minlength=len(firsts)).tolist()
    return [
        (hz, slots_ns)
        for (hz, slots_ns), count in zip(slots, empty_of, strict=True)
        if len(slots_ns) - count >= FULL_SHARE * len(slots_ns)
    ]


def _own_delay_ns(gaps: Gaps, tick: KernelTick, stretch: Stretch, phase: Phase) -> float | None:
    """How late the tick is in the middle; None where its slots are not held at the rate in force."""
    slots = lattice(tick.period_ns, phase.phase_ns, stretch.epoch_ns)
    slots_ns = slots.between(stretch.from_ns, stretch.until_ns)
    delays_ns = start_delays(gaps, slots_ns, gaps.holding(slots_ns))
    return median(delays_ns) if phase.evidence.full and len(delays_ns) else None


def _are_ticks(
    gaps: Gaps,
    preempted: NDArray[np.bool_],
    slots_ns: NDArray[np.float64],
    period_ns: int,
    own_delay_ns: float | None,
) -> bool:
    """All of these slots are held, by one train that starts as late after them as the tick does."""
    holders = gaps.holding(slots_ns)
    if len(preempted):
        telling = (holders < 0) | ~preempted[holders]
        slots_ns, holders = slots_ns[telling], holders[telling]
    if len(slots_ns) < _ENOUGH or np.count_nonzero(holders >= 0) < FULL_SHARE * len(slots_ns):
        return False
    # A host's train that passes by starts at other times after the slots than the tick, and moves.
    alike_ns = max(_ALIKE_NS, gaps.step_ns)
    evidence = weigh(gaps, slots_ns, period_ns)
    if not evidence.convincing or not evidence.steady(alike_ns):
        return False
    if own_delay_ns is None:
        return True
    # None is near where each began long before its slot: it is there for something else.
    delays_ns = start_delays(gaps, slots_ns, holders)
    return len(delays_ns) > 0 and abs(median(delays_ns) - own_delay_ns) <= alike_ns
