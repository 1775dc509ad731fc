"""Judges whether the sampler had the CPU for long enough that what it says of it means anything."""

from __future__ import annotations

from collections.abc import Sequence

from tickmon.analysis.readings import Analysis
from tickmon.units import share_text
from tickmon.validate.findings import Finding, Outcome, unjudged

LEAST_SHARE = 0.1
"""With less, nearly all gaps are other tasks' turns, and too little is left that could be wrong."""
_ALL_BUT = 0.9
"""With less the verdict says so: it was found on a CPU that others used."""


def judge_presence(analyses: Sequence[Analysis]) -> Finding:
    """The share of the time watched in which the sampler ran, without any disturbance of tickmon's own."""
    what = "the CPU's time that the sampler had"
    watched_cycles = sum(a.window.watched_cycles for a in analyses)
    if watched_cycles <= 0:
        return unjudged("repeat", "presence", what, "nothing was watched", essential=True)
    share = 1 - sum(a.overhead_cycles for a in analyses) / watched_cycles
    words = f"the sampler had only {share_text(share)} of this CPU"
    enough = share >= LEAST_SHARE
    return Finding(
        part="repeat",
        code="presence",
        what=what,
        outcome=Outcome.PASS if enough else Outcome.UNJUDGED,
        n=len(analyses),
        result=share_text(share),
        value=share,
        value_name="share",
        bound=f"≥ {share_text(LEAST_SHARE)}",
        reason="" if share >= _ALL_BUT else words if enough else f"{words}: too little can be told of it",
        essential=True,
    )
