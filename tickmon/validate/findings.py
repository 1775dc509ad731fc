"""What was checked and what came out, and the verdict on all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tickmon.units import count_text


class Outcome(StrEnum):
    """What one check came to."""

    PASS = "pass"
    FAIL = "FAIL"
    UNJUDGED = "could not be judged"
    NOTED = "noted"
    """A figure that stands beside the others; no bound says what it must be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check: a row of the table."""

    part: str
    """``trace``, ``counters``, ``injected``, ``repeat`` or ``loop``."""
    code: str
    """Its name for programs."""
    what: str
    """Its name for people."""
    outcome: Outcome
    n: int | None = None
    """Of how many the result is; None where nothing was counted."""
    result: str = "–"
    value: float | None = None
    """The result as a number, in the unit that ends ``value_name``."""
    value_name: str | None = None
    interval: tuple[float, float] | None = None
    """In which the value lies, at 99 %."""
    bound: str = "–"
    """What the result must be."""
    reason: str = ""
    """Why it could not be judged, or what the figure means."""
    essential: bool = False
    """Without it there is no verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What all checks together come to."""

    outcome: Outcome
    """``PASS``, ``FAIL`` or ``UNJUDGED``."""
    sentence: str
    exit_code: int


_LOOP = {
    Outcome.PASS: "the loop method's baseline holds here too",
    Outcome.NOTED: "the loop method's baseline does not hold here",
}


def unjudged(part: str, code: str, what: str, reason: str, *, essential: bool = False) -> Finding:
    """A check for which something was lacking."""
    return Finding(
        part=part, code=code, what=what, outcome=Outcome.UNJUDGED, reason=reason, essential=essential
    )


def at_least(
    part: str, code: str, what: str, found: int, least: int, *, n: int, value_name: str, reason: str = ""
) -> Finding:
    """A check for which ``least`` of ``n`` must be ``found``; its value is their share."""
    return Finding(
        part=part,
        code=code,
        what=what,
        outcome=Outcome.PASS if found >= least else Outcome.FAIL,
        n=n,
        result=count_text(found),
        value=found / n,
        value_name=value_name,
        bound=f"≥ {count_text(least)}",
        reason=reason,
    )


def verdict_of(findings: Sequence[Finding]) -> Verdict:
    """One failure makes the reading not valid; an essential check without a result leaves it open."""
    failed = [f for f in findings if f.outcome is Outcome.FAIL]
    open_ones = [f for f in findings if f.outcome is Outcome.UNJUDGED]
    judged = sum(f.outcome is Outcome.PASS for f in findings)
    if failed:
        names = "; ".join(f"{f.what} ({f.result})" for f in failed)
        return Verdict(
            outcome=Outcome.FAIL, sentence=f"The reading is not valid on this CPU: {names}.", exit_code=3
        )
    if essential := next((f for f in open_ones if f.essential), None):
        return Verdict(
            outcome=Outcome.UNJUDGED,
            sentence=f"Whether the reading is valid could not be judged: {essential.reason}.",
            exit_code=1,
        )
    words = [f"The reading is valid on this CPU: all {judged} checks that could be judged passed"]
    words += [f.reason for f in findings if f.code == "presence" and f.reason]
    words += [_LOOP[f.outcome] for f in findings if f.part == "loop" and f.outcome in _LOOP]
    reasons = dict.fromkeys(f.reason for f in open_ones if f.part == "trace")
    words += [f"the kernel's own trace was not compared ({reason})" for reason in reasons]
    others = sum(f.part != "trace" for f in open_ones)
    if others:
        words.append(f"{others} {'check' if others == 1 else 'checks'} could not be judged")
    return Verdict(outcome=Outcome.PASS, sentence="; ".join(words) + ".", exit_code=0)
