"""Whether the loop method's baseline holds on this CPU."""

from __future__ import annotations

from tickmon.analysis.readings import Analysis
from tickmon.validate.findings import Finding, Outcome, unjudged


def judge_baseline(analysis: Analysis | None) -> Finding:
    """What the loop method's own verdict says; that it does not hold is no fault of the default method."""
    what = "the loop method's baseline"
    verdict = analysis.baseline_verdict if analysis is not None else None
    if analysis is None or verdict is None or verdict.holds is None:
        reason = verdict.reason if verdict is not None else "no samples were taken"
        return unjudged("loop", "baseline", what, reason.rstrip("."))
    return Finding(
        part="loop",
        code="baseline",
        what=what,
        outcome=Outcome.PASS if verdict.holds else Outcome.NOTED,
        n=analysis.window.interruptions,
        result="holds" if verdict.holds else "does not hold",
        value=float(verdict.holds),
        value_name="holds",
        bound="holds" if verdict.holds else "–",
        reason=verdict.reason,
    )
