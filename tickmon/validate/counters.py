"""Judges readings by what the kernel counted meanwhile: bounds, which every user can read."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tickmon.analysis.check import timer_count
from tickmon.analysis.readings import Analysis
from tickmon.units import count_text
from tickmon.validate.findings import Finding, Outcome, at_least, unjudged

_PART = "counters"


_LATE_S = 0.1
"""A count is read at most so long before or after a run begins and ends: tickmon itself may have to wait."""

_JUDGED = ("ok", "missing", "extra")


def judge_counters(runs: Sequence[Sequence[Analysis]]) -> tuple[Finding, ...]:
    """The ticks and the switches in some runs of touching windows, against the kernel's own counts."""
    analyses = [analysis for run in runs for analysis in run]
    length_s = sum(a.window.length_cycles / a.tsc_hz for a in analyses)

    def slack(count: int) -> int:
        """So many a count of the kernel's may be off, by when it was read."""
        return len(runs) * max(2, math.ceil(_LATE_S * count / max(length_s, _LATE_S)))

    return (_due(analyses), _timer(analyses, slack), _switches(analyses, slack), _placed(analyses))


def _due(analyses: Sequence[Analysis]) -> Finding:
    what = "ticks due by the kernel's clock, seen"
    checks = [a.check for a in analyses if a.check.verdict in _JUDGED]
    expected = sum(check.expected or 0 for check in checks)
    if not expected or 2 * len(checks) < len(analyses):
        reason = "when a tick is due is not known here, or the kernel stops the tick"
        return unjudged(_PART, "ticks_due", what, reason)
    seen = sum(check.seen or 0 for check in checks)
    most = max(2, expected // 500)
    # In one short window something else may keep the time of a faster tick for a while.
    faster = 2 * sum(check.verdict == "extra" for check in checks) > len(checks)
    return Finding(
        part=_PART,
        code="ticks_due",
        what=what,
        outcome=Outcome.PASS if expected - seen <= most and not faster else Outcome.FAIL,
        n=expected,
        result=count_text(seen),
        value=seen / expected,
        value_name="seen_share",
        bound=f"≥ {count_text(expected - most)}",
        reason="a train at the tick's own phase runs faster" if faster else "",
    )


def _timer(analyses: Sequence[Analysis], slack: Callable[[int], int]) -> Finding:
    what = "ticks seen, by the timer's interrupts"
    counts = [timer_count(a.window.interrupts) for a in analyses]
    known = [count for count, _ in counts if count is not None]
    if len(known) < len(analyses) or not known:
        return unjudged(_PART, "timer_row", what, "no row of /proc/interrupts counts this CPU's timer")
    if any(a.check.seen is None for a in analyses):
        return unjudged(_PART, "timer_row", what, "the ticks could not be told from the rest")
    seen = sum(a.check.seen or 0 for a in analyses)
    most = sum(known) + slack(sum(known))
    return Finding(
        part=_PART,
        code="timer_row",
        what=what,
        outcome=Outcome.PASS if seen <= most else Outcome.FAIL,
        n=sum(known),
        result=count_text(seen),
        value=float(seen),
        value_name="seen_count",
        bound=f"≤ {count_text(most)}",
        reason=f"row {counts[0][1]}; it counts every timer of this CPU",
    )


def _switches(analyses: Sequence[Analysis], slack: Callable[[int], int]) -> Finding:
    what = "switches dated, of those counted"
    if any(a.window.switches is None for a in analyses):
        return unjudged(_PART, "switches", what, "this user may not date context switches (perf_event_open)")
    if any(a.window.switch_count is None for a in analyses) or not analyses:
        return unjudged(_PART, "switches", what, "the sampler's switches in /proc cannot be read")
    dated = sum(a.switches.dated for a in analyses)
    counted = sum(a.window.switch_count or 0 for a in analyses)
    lost = sum(a.window.switches_lost for a in analyses)
    most = slack(counted) + lost
    return Finding(
        part=_PART,
        code="switches",
        what=what,
        outcome=Outcome.PASS if abs(dated - counted) <= most else Outcome.FAIL,
        n=counted,
        result=count_text(dated),
        value=float(dated - counted),
        value_name="difference_count",
        bound=f"± {count_text(most)}",
        reason=f"the kernel dropped {count_text(lost)} records" if lost else "",
    )


def _placed(analyses: Sequence[Analysis]) -> Finding:
    """Every moment at which the kernel took the CPU from the sampler must lie in a gap."""
    what = "switches that lie in a gap"
    dated = sum(a.switches.dated for a in analyses)
    if dated < 20:
        reason = f"only {dated} switches of the sampler were dated"
        return unjudged(_PART, "switches_placed", what, reason)
    if any(a.window.lost for a in analyses):
        return unjudged(_PART, "switches_placed", what, "details of interruptions were lost")
    placed = dated - sum(a.switches.unplaced for a in analyses)
    least = dated - max(2, dated // 100)
    return at_least(_PART, "switches_placed", what, placed, least, n=dated, value_name="placed_share")
