"""Judges what the sampler saw of disturbances whose time is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.units import count_text, cycles_to_ns, duration_text, share_text
from tickmon.validate.findings import Finding, Outcome, unjudged
from tickmon.validate.slope import Slope, theil_sen
from tickmon.windows import Window

SLOPE_OFF = 0.01
"""So far the slope may be from 1: what a second of somebody else's time is called may be 10 ms off."""

BESIDE_SHARE = 0.05
"""So many injections may have something beside them, where by chance it is 1 %: a host comes in bursts."""

_WRONG_SHARE = 0.5
"""Others cannot be beside most injections and keep away from those of no length."""

BESIDE_NS = 20_000.0
"""Where the kernel switched no earlier and later than this around the injector's reads, nobody else ran."""

_QUICK, _BESIDE_TIMES = 0.05, 3.0
"""Two switches take longer on some machines: so many times what they take in the fastest twentieth."""

_LEAST = 30
"""Of fewer injections, with or without a length, nothing is said."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Seen:
    """What the sampler's gaps say of each injection that it could see; all arrays of shape ``(n,)``."""

    running_cycles: NDArray[np.int64] = field(repr=False)
    """What the injector ran: from its first to its last read, less what it lost itself."""
    lost_cycles: NDArray[np.int64] = field(repr=False)
    covered_cycles: NDArray[np.int64] = field(repr=False)
    """How much of the time between first and last read lies in gaps."""
    gaps_cycles: NDArray[np.int64] = field(repr=False)
    """All gaps that overlap that time, added up."""
    touched: NDArray[np.bool_] = field(repr=False)
    """At least one gap does."""
    shared: NDArray[np.bool_] = field(repr=False)
    """Another task ran in between, as the injector noticed, or right before or after, as the kernel's dates
    of the sampler's switches say. Nothing of that is known from gaps, so it hides no gap that is wrong."""
    asked_none: NDArray[np.bool_] = field(repr=False)
    """It was to take no time: what it cost is two switches."""
    unseen: int
    """Injections that the sampler could not see: before it began, or where details were lost."""

    @property
    def found(self) -> NDArray[np.bool_]:
        """The gaps hold all the time that the injector ran."""
        return self.touched & (self.covered_cycles >= self.running_cycles)

    @property
    def excess_cycles(self) -> NDArray[np.int64]:
        """What the gaps hold beyond the injector's running time, less what it lost itself."""
        return self.gaps_cycles - self.lost_cycles - self.running_cycles


def see(windows: Sequence[Window], injected: NDArray[np.void]) -> Seen:
    """The injections (dtype INJECTED) in the gaps of ``windows``, which follow one another."""
    first, last = injected["first_cycles"].astype(np.int64), injected["last_cycles"].astype(np.int64)
    starts, ends = _gaps(windows)
    watched = np.zeros(len(injected), bool)
    for window in windows:
        if not window.lost:
            origin = window.segment.origin_cycles
            inside = (first > origin + window.start_cycles) & (first < origin + window.end_cycles)
            watched |= inside & (last < origin + windows[-1].end_cycles)
    first, last, done = first[watched], last[watched], injected[watched]
    # Gaps do not overlap, so those that touch a stretch are neighbours.
    low = np.searchsorted(ends, first, side="left")
    high = np.searchsorted(starts, last, side="right")
    sums = np.concatenate([[0], np.cumsum(ends - starts)])
    touched = high > low
    gaps_cycles = np.where(touched, sums[np.maximum(high, low)] - sums[low], 0)
    covered = gaps_cycles.copy()
    edge = np.flatnonzero(touched)
    covered[edge] -= np.maximum(first[edge] - starts[low[edge]], 0)
    covered[edge] -= np.maximum(ends[high[edge] - 1] - last[edge], 0)
    lost = done["lost_cycles"].astype(np.int64)
    return Seen(
        running_cycles=last - first - lost,
        lost_cycles=lost,
        covered_cycles=covered,
        gaps_cycles=gaps_cycles,
        touched=touched,
        shared=(done["switches"] > 0) | _has_company(windows, first, last),
        asked_none=done["spin_cycles"] == 0,
        unseen=int(np.count_nonzero(~watched)),
    )


def judge_injections(seen: Seen, *, tsc_hz: float) -> tuple[Finding, ...]:
    """Whether every injection was found, as long as it was, and what two switches cost."""
    alone = ~seen.shared & ~seen.asked_none
    none = ~seen.shared & seen.asked_none
    if np.count_nonzero(alone) < _LEAST or np.count_nonzero(none) < _LEAST:
        reason = (
            f"only {np.count_nonzero(alone)} injections with and {np.count_nonzero(none)} without length had "
            "nothing beside them: other tasks run on this CPU, or the run is too short"
        )
        return (
            _found(seen),
            unjudged("injected", "slope", "gaps' length by injected length (slope)", reason, essential=True),
        )
    line = theil_sen(
        seen.running_cycles[alone | none].astype(float),
        (seen.gaps_cycles - seen.lost_cycles)[alone | none].astype(float),
    )
    assert line is not None
    return (
        _found(seen),
        _beside(seen, alone, none, tsc_hz),
        _slope(line),
        *_switches(seen, none, line, tsc_hz),
    )


def _found(seen: Seen) -> Finding:
    what = "injections found"
    n, found = len(seen.found), int(np.count_nonzero(seen.found))
    if not n:
        reason = "no injection was made while the sampler watched"
        return unjudged("injected", "found", what, reason, essential=True)
    shared = int(np.count_nonzero(seen.shared))
    reason = f"{count_text(shared)} had another task beside them: they count here only"
    return Finding(
        part="injected",
        code="found",
        what=what,
        outcome=Outcome.PASS if found == n else Outcome.FAIL,
        n=n,
        result=count_text(found),
        value=found / n,
        value_name="found_share",
        bound="all",
        reason=reason if shared else "",
        essential=True,
    )


def _beside(seen: Seen, alone: NDArray[np.bool_], none: NDArray[np.bool_], tsc_hz: float) -> Finding:
    """Injections whose gaps hold more than those of no length do in 99 of 100 cases."""
    most_cycles = float(np.quantile(seen.excess_cycles[none], 0.99))
    n = int(np.count_nonzero(alone))
    above = int(np.count_nonzero(seen.excess_cycles[alone] > most_cycles))
    share = above / n
    outcome = Outcome.PASS if share <= BESIDE_SHARE else Outcome.UNJUDGED
    if share > _WRONG_SHARE:
        outcome = Outcome.FAIL
    most = duration_text(cycles_to_ns(most_cycles, tsc_hz))
    return Finding(
        part="injected",
        code="excess",
        what="gaps longer than injection + switches",
        outcome=outcome,
        n=n,
        result=f"{above} ({share_text(share)})",
        value=share,
        value_name="excess_share",
        bound=f"≤ {share_text(BESIDE_SHARE)} by more than {most}",
        reason=(
            f"{most} is the 99th percentile of injections without length"
            if outcome is not Outcome.UNJUDGED
            else "other tasks or the host came beside too many of the injections"
        ),
    )


def _slope(line: Slope) -> Finding:
    low, high = 1 - SLOPE_OFF, 1 + SLOPE_OFF
    outcome = Outcome.UNJUDGED
    if low <= line.low and line.high <= high:
        outcome = Outcome.PASS
    elif line.high < low or line.low > high:
        outcome = Outcome.FAIL
    reason = "Theil-Sen, with its 99 % interval (Sen 1968)"
    if outcome is Outcome.UNJUDGED:
        reason = "its interval reaches across the bound: too much else happens here, or the run is too short"
    return Finding(
        part="injected",
        code="slope",
        what="gaps' length by injected length (slope)",
        outcome=outcome,
        n=line.n,
        result=f"{line.slope:.4f} ({line.low:.4f}–{line.high:.4f})",
        value=line.slope,
        value_name="slope",
        interval=(line.low, line.high),
        bound="1.00 ± 0.01",
        reason=reason,
        essential=True,
    )


def _switches(seen: Seen, none: NDArray[np.bool_], line: Slope, tsc_hz: float) -> tuple[Finding, ...]:
    """What two switches cost, by the line and by the injections that took no time."""
    median_cycles = float(np.median(seen.excess_cycles[none]))
    figures = (
        ("intercept", "two switches, by the line's intercept", line.intercept, line.n),
        ("empty", "two switches, by empty injections", median_cycles, int(np.count_nonzero(none))),
    )
    return tuple(
        Finding(
            part="injected",
            code=code,
            what=what,
            outcome=Outcome.NOTED,
            n=n,
            result=duration_text(cycles_to_ns(cycles, tsc_hz)),
            value=cycles_to_ns(cycles, tsc_hz),
            value_name="cost_ns",
            reason="with the timer's interrupt and the system calls around a spin",
        )
        for code, what, cycles, n in figures
    )


def _has_company(
    windows: Sequence[Window], first: NDArray[np.int64], last: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the sampler was switched out for longer than the injector and two switches explain."""
    dated = [(w.switches, w.segment.origin_cycles) for w in windows if w.switches is not None]
    if len(dated) < len(windows) or not sum(len(switches) for switches, _ in dated):
        return np.zeros(len(first), bool)
    outs = np.concatenate([switches["out_cycles"] + origin for switches, origin in dated])
    ins = np.concatenate([switches["in_cycles"] + origin for switches, origin in dated])
    out = np.searchsorted(outs, first, side="right") - 1
    beside_cycles = (first - outs[out]) + np.maximum(ins[out] - last, 0)
    around = (out >= 0) & (ins[out] >= first)
    if not around.any():
        return ~around
    quick_cycles = float(np.quantile(beside_cycles[around], _QUICK))
    most_cycles = max(BESIDE_NS * windows[-1].segment.tsc_hz / 1e9, _BESIDE_TIMES * quick_cycles)
    return np.asarray(~around | (beside_cycles > most_cycles))


def _gaps(windows: Sequence[Window]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last read of every gap whose detail is known, absolute, ascending."""
    starts = [w.details["start_cycles"] + w.segment.origin_cycles for w in windows]
    lengths = [w.details["gap_cycles"] for w in windows]
    all_starts = np.concatenate([*starts, np.zeros(0, np.int64)])
    return all_starts, all_starts + np.concatenate([*lengths, np.zeros(0, np.int64)])
