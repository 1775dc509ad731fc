"""Judges whether the windows of one CPU say the same: else no difference between readings means anything."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.readings import Analysis
from tickmon.units import cycles_to_ns, duration_text, share_text
from tickmon.validate.findings import Finding, Outcome, unjudged

_PART = "repeat"

HALVES_OFF = 0.1
"""So far the halves of one run may lie apart."""

_LEAST_WINDOWS = 8
"""Of fewer windows there are not enough ways to take a half."""
_SHUFFLES = 5000
_RARE = 0.001
"""A difference that so few of all ways to take the halves exceed is no chance."""


def judge_repeats(analyses: Sequence[Analysis]) -> tuple[Finding, ...]:
    """Spread and halves of a tick's cost and of the overhead, over windows of the same length."""
    costs_ns = np.array(
        [
            cycles_to_ns(a.tick.spread.median_cycles, a.tsc_hz)
            for a in analyses
            if a.tick and a.tick.spread.median_cycles is not None
        ]
    )
    shares = np.array([a.overhead_share for a in analyses if a.overhead_share is not None])
    return (
        *_judge(
            costs_ns,
            "tick",
            "a tick's cost",
            duration_text,
            "too few windows in which ticks could be told from the rest",
        ),
        *_judge(shares, "overhead", "the overhead", share_text, "too few windows"),
    )


def _judge(
    values: NDArray[np.float64], code: str, what: str, text: Callable[[float], str], lacking: str
) -> tuple[Finding, ...]:
    halves = f"{what}, odd/even windows"
    if len(values) < _LEAST_WINDOWS:
        return (unjudged(_PART, f"{code}_halves", halves, lacking),)
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95]).tolist()
    spread = Finding(
        part=_PART,
        code=f"{code}_spread",
        what=f"{what} by window",
        outcome=Outcome.NOTED,
        n=len(values),
        result=text(middle),
        value=(high - low) / middle if middle else None,
        value_name="spread_share",
        reason=f"{text(low)} to {text(high)} from the 5th to the 95th percentile",
    )
    odd = np.arange(len(values)) % 2 == 0
    off = _off(values, odd)
    outcome, reason = Outcome.PASS, ""
    if abs(off) > HALVES_OFF:
        rare = _rarity(values, odd)
        outcome = Outcome.FAIL if rare < _RARE else Outcome.UNJUDGED
        reason = (
            f"{share_text(rare)} of all ways to take half of the windows part them so well"
            if outcome is Outcome.FAIL
            else "the windows differ so much that halves differ by chance: what runs here changes"
        )
    return (
        spread,
        Finding(
            part=_PART,
            code=f"{code}_halves",
            what=halves,
            outcome=outcome,
            n=len(values),
            result=f"{100 * off:+.1f} %",
            value=off,
            value_name="difference_share",
            bound=f"± {share_text(HALVES_OFF)}",
            reason=reason,
        ),
    )


def _off(values: NDArray[np.float64], half: NDArray[np.bool_]) -> float:
    """How far the median of one half lies above that of the other, as a share of all."""
    middle = float(np.median(values))
    return float(np.median(values[half]) - np.median(values[~half])) / middle if middle else 0.0


def _rarity(values: NDArray[np.float64], half: NDArray[np.bool_]) -> float:
    """The share of all ways to take half of the windows that part them as much as ``half`` does.

    By the sum of the ranks, which no single window decides (Wilcoxon's test, by permutation).
    """
    rng = np.random.default_rng(1)
    ranks = np.argsort(np.argsort(values)) - (len(values) - 1) / 2
    sums = np.array([ranks[rng.permutation(half)].sum() for _ in range(_SHUFFLES)])
    return float(np.mean(np.abs(sums) >= abs(ranks[half].sum())))
