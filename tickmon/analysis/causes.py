"""What lies in the interruptions of a window: preemptions, the kernel's ticks, foreign trains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.aftermath import AFTERMATH, aftermath_of
from tickmon.analysis.kernel_causes import UNSEEN, KernelCauses, kernel_causes
from tickmon.analysis.phase import STANDARD_HZ
from tickmon.analysis.placed import Placed
from tickmon.analysis.readings import SwitchCounts
from tickmon.analysis.slots import LATE_NS
from tickmon.analysis.sources import Cause
from tickmon.analysis.ticks import Ticks
from tickmon.analysis.timeline import Timeline
from tickmon.analysis.trains import FoundTrain
from tickmon.units import significant, tick_period_ns
from tickmon.windows import KernelEvent, Method, Window

_DRIFT_PPM = 0.1
"""Less than this may be the error of the clock readings."""
_HOST_OFF_SHARE = 1e-3
"""No host's clock is further off than this from a guest's; what is, has a rate of its own."""


def switched_of(window: Window, placed: Placed | None) -> tuple[NDArray[np.bool_], SwitchCounts]:
    """The details of ``window`` in which the sampler was switched out, and how far that is known.

    Where the kernel's trace says all of it, nothing else is asked.
    """
    preempted, unplaced = preempted_of(window)
    counts = switch_counts(window, unplaced)
    if placed is None or KernelEvent.SWITCH not in placed.trace.events_known:
        return preempted, counts
    traced = placed.count(KernelEvent.SWITCH, len(window.details))
    traced += placed.count(KernelEvent.RESUME, len(window.details))
    if placed.trace.lost:
        return preempted | (traced > 0), counts
    # Not those of time that is left out: whose switches they were is no matter.
    unplaced = int(np.count_nonzero(placed.astray["event"] == KernelEvent.SWITCH))
    inside = int(np.count_nonzero(placed.is_a(KernelEvent.SWITCH)))
    return traced > 0, SwitchCounts(dated=inside + unplaced, unplaced=unplaced, undated=0)


def preempted_of(window: Window) -> tuple[NDArray[np.bool_], int]:
    """The details of ``window`` in which a dated switch lies.

    The second is the number of dated switches that lie in no recorded interruption. A few are normal.
    """
    details = window.details
    preempted = np.zeros(len(details), bool)
    if window.switches is None or not len(details):
        return preempted, 0 if window.switches is None else len(window.switches)
    starts_cycles = np.ascontiguousarray(details["start_cycles"])
    out_cycles = window.switches["out_cycles"]
    unsure_cycles = _unsure_cycles(window, out_cycles)
    inside = np.searchsorted(starts_cycles, out_cycles + unsure_cycles, side="right") - 1
    ends_cycles = starts_cycles[inside] + details["gap_cycles"][inside]
    placed = (inside >= 0) & (out_cycles - unsure_cycles <= ends_cycles)
    preempted[inside[placed]] = True
    return preempted, int(np.count_nonzero(~placed))


def switch_counts(window: Window, unplaced: int) -> SwitchCounts:
    """What is known of the switches of ``window``, ``unplaced`` of which lie in no recorded interruption."""
    if window.switches is None:
        return SwitchCounts(dated=0, unplaced=unplaced, undated=window.switch_count)
    dated = len(window.switches)
    missed = 0 if window.switch_count is None else window.switch_count - dated
    return SwitchCounts(dated=dated, unplaced=unplaced, undated=0, missed=missed)


def _unsure_cycles(window: Window, at_cycles: NDArray[np.int64]) -> NDArray[np.int64]:
    """How far each of these moments of a kernel's clock may lie from where it was put on the counter.

    No better than the readings of the clocks around it were taken: one that was interrupted meanwhile says
    nothing of the moments beside others.
    """
    cycles = np.array([reading.cycles - window.segment.origin_cycles for reading in window.clocks])
    uncertain = np.array([reading.uncertain_cycles for reading in window.clocks])
    after = np.searchsorted(cycles, at_cycles)
    beside = (np.maximum(after - 1, 0), np.minimum(after, len(cycles) - 1))
    return np.asarray(np.maximum(uncertain[beside[0]], uncertain[beside[1]]) + window.segment.step_cycles)


def origin_of(train: FoundTrain, *, guest: bool) -> str:
    """``host`` for the tick of a guest's host: near a rate that kernels have, but by another clock.

    Else ``unknown``: without a drift it may be the guest's own timer, and at another rate anything.
    """
    if not guest:
        return "unknown"
    nominal_hz = min((1e9 / tick_period_ns(hz) for hz in STANDARD_HZ), key=lambda hz: abs(train.hz - hz))
    off_share = abs(train.hz / nominal_hz - 1)
    drifts = off_share * 1e6 > max(3 * train.hz_error_ppm, _DRIFT_PPM)
    return "host" if drifts and off_share < _HOST_OFF_SHARE else "unknown"


def train_name(hz: float, origin: str) -> str:
    """The name of the source that a foreign train is; its kind is ``origin``."""
    return f"{'host tick' if origin == 'host' else 'train'} {_hz_text(hz)}"


def traced_of(
    window: Window, line: Timeline, ticks: Ticks, placed: Placed | None, held: NDArray[np.int32]
) -> KernelCauses | None:
    """What the kernel traced in the interruptions; None where it traced nothing."""
    if placed is None:
        return None
    begun = np.zeros(len(window.details), bool)
    if ticks.credible:
        begun = _begun_by_tick(window, line, ticks, held)
    return kernel_causes(placed, begun)


def causes_of(
    window: Window,
    line: Timeline,
    ticks: Ticks,
    *,
    held: NDArray[np.int32],
    preempted: NDArray[np.bool_],
    traced: KernelCauses | None,
    trains: Sequence[FoundTrain],
) -> tuple[Cause, ...]:
    """The causes in the order in which they are to blame, the foreign trains last and as in ``trains``.

    A switch to another task comes first: what a tick then costs is not to be seen. Then what the kernel
    traced. A tick by its slot is a cause only where it is credible and the trace does not say which timer
    interrupts are ticks. ``held``: for each detail, how many tick slots it holds.
    """
    causes: list[Cause] = []
    if traced is not None:
        by_phase = KernelEvent.TICK not in traced.placed.trace.events_known
        causes += traced.causes(len(window.details), tick_basis="phase" if by_phase else "trace")
    if traced is None or not traced.placed.knows(KernelEvent.SWITCH):
        named = np.zeros(len(window.details), bool)
        for cause in causes:
            if cause.kind == "preemption":
                named |= cause.begins
        causes.insert(0, _cause("preemption", "preemption", preempted & ~named, basis="switch"))
    if (
        ticks.credible
        and ticks.hz is not None
        and (traced is None or not traced.placed.knows(KernelEvent.TICK))
    ):
        begun = _begun_by_tick(window, line, ticks, held)
        causes.append(_cause(f"kernel tick {_hz_text(ticks.hz)}", "tick", held > 0, begins=begun))
    for train in trains:
        inside = np.zeros(len(window.details), bool)
        inside[train.members] = True
        origin = origin_of(train, guest=window.segment.guest)
        causes.append(_cause(train_name(train.hz, origin), origin, inside))
    return tuple(causes)


def rest_of(
    window: Window,
    among: NDArray[np.bool_],
    placed: Placed | None,
    causes: Sequence[Cause],
    *,
    cycles_per_ns: float,
) -> tuple[Cause, ...]:
    """What interruptions are in which none of ``causes`` lies.

    Samples of the loop method need not be disturbed.
    That the kernel did not see them is said only where its trace has proven to be whole.
    """
    everything = np.ones(len(among), bool)
    if window.segment.method is Method.GAP:
        explained = np.zeros(len(among), bool)
        for cause in causes:
            explained |= cause.inside
        after = _cause(AFTERMATH, "unknown", aftermath_of(window, explained, cycles_per_ns=cycles_per_ns))
        if placed is not None and placed.whole:
            return after, _cause(UNSEEN, "unknown", everything, basis="trace")
        return after, _cause("unexplained", "unknown", everything)
    rest = _cause("unexplained", "unknown", everything)
    return (_cause("undisturbed", "unknown", ~among), rest)


def _begun_by_tick(
    window: Window, line: Timeline, ticks: Ticks, held: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """The details that began with the tick that they hold, and not with something that a tick fell into.

    A tick is long over when the next one is due, and its interruption does not begin long before its slot.
    """
    begun = np.asarray(held == 1)
    if window.segment.method is Method.GAP:
        early = line.starts_ns[ticks.holders] < ticks.slots_ns - LATE_NS
        begun[ticks.holders[early]] = False
    return begun


def _cause(
    name: str,
    kind: str,
    inside: NDArray[np.bool_],
    *,
    begins: NDArray[np.bool_] | None = None,
    basis: str = "phase",
) -> Cause:
    return Cause(
        name=name, kind=kind, basis=basis, inside=inside, begins=inside if begins is None else begins
    )


def _hz_text(hz: float) -> str:
    return f"{hz:.0f} Hz" if hz >= 100 else f"{significant(hz, 3)} Hz"
