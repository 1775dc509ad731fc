"""A validation as a table for engineers, and as JSON for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import tickmon
from tickmon.layout import WIDTH, labelled
from tickmon.machine.host import Host
from tickmon.units import count_text
from tickmon.validate.findings import Finding, Outcome, Verdict
from tickmon.windows import Segment

FORMAT = "tickmon-validation"
VERSION = 1

_PARTS = {
    "trace": "Against the kernel's own trace",
    "counters": "Against the kernel's counters",
    "injected": "Against disturbances of known length",
    "repeat": "Against itself, window by window",
    "loop": "The loop method of 2004",
}
"""In the order of the table."""

_MARK, _WHAT, _N = 6, 40, 8
"""Columns of the outcome, the check and of how many; the result follows."""

_MARKS = {Outcome.UNJUDGED: "?", Outcome.NOTED: "·"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """Where, when and how it was validated."""

    started_at: datetime
    duration_s: float
    host: Host
    segment: Segment
    tsc_hz: float
    """As refined by then."""
    injected_as: str
    """``SCHED_FIFO`` or ``an ordinary task``."""


def validation_text(conditions: Conditions, findings: Sequence[Finding], verdict: Verdict) -> str:
    """The conditions, a table, and the verdict in one sentence."""
    lines = [*_conditions(conditions), "", _row("", "checked", "how many", "result")]
    for part, title in _PARTS.items():
        rows = [finding for finding in findings if finding.part == part]
        if rows:
            lines += ["", title]
        for finding in rows:
            lines += _rows(finding)
    lines += ["", *textwrap.wrap(verdict.sentence, WIDTH)]
    return "".join(f"{line}\n" for line in lines)


def validation_json(conditions: Conditions, findings: Sequence[Finding], verdict: Verdict) -> str:
    """One object; what does not exist is null."""
    segment = conditions.segment
    tick = segment.kernel_tick
    words = {Outcome.PASS: "valid", Outcome.FAIL: "not valid", Outcome.UNJUDGED: "could not be judged"}
    value = {
        "format": FORMAT,
        "version": VERSION,
        "tickmon_version": tickmon.__version__,
        "started_at": conditions.started_at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "duration_s": conditions.duration_s,
        "host": {
            "name": conditions.host.name,
            "kernel": conditions.host.kernel,
            "cpu_model": conditions.host.cpu_model,
            "virtualization": conditions.host.virtualization,
        },
        "cpu": segment.cpu,
        "tsc_hz": conditions.tsc_hz,
        "tsc_hz_source": segment.tsc_hz_source,
        "kernel_hz": tick.hz if tick else None,
        "threshold_cycles": segment.threshold_cycles,
        "injected_as": conditions.injected_as,
        "verdict": words[verdict.outcome],
        "sentence": verdict.sentence,
        "checks": [_member(finding) for finding in findings],
    }
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _member(finding: Finding) -> dict[str, object]:
    return {
        "part": finding.part,
        "check": finding.code,
        "what": finding.what,
        "n": finding.n,
        "result": None if finding.result == "–" else finding.result,
        "value": finding.value,
        "value_name": finding.value_name,
        "interval": finding.interval,
        "bound": None if finding.bound == "–" else finding.bound,
        "outcome": finding.outcome.lower(),
        "reason": finding.reason or None,
    }


def _conditions(conditions: Conditions) -> Iterator[str]:
    segment, host = conditions.segment, conditions.host
    tick = f"HZ {segment.kernel_tick.hz:g}" if segment.kernel_tick else "HZ unknown"
    yield from labelled("tickmon", f"{tickmon.__version__} validate, {conditions.duration_s:g} s")
    yield from labelled("host", f"{host.name}, Linux {host.kernel}, {host.cpu_model or 'unknown CPU'}")
    yield from labelled(
        "cpu",
        f"{segment.cpu}, counter {conditions.tsc_hz:,.0f} Hz ({segment.tsc_hz_source}), {tick}, threshold "
        f"{count_text(segment.threshold_cycles)} cycles",
    )
    yield from labelled("injected", f"as {conditions.injected_as}")


def _rows(finding: Finding) -> Iterator[str]:
    """A check, and beneath it what the result must be and what else is to be said."""
    n = "" if finding.n is None else count_text(finding.n)
    open_one = finding.outcome is Outcome.UNJUDGED and finding.result == "–"
    result = "could not be judged" if open_one else finding.result
    yield _row(_MARKS.get(finding.outcome, finding.outcome), finding.what, n, result)
    words = [f"must be {finding.bound}"] if finding.bound not in ("–", finding.result) else []
    words += [finding.reason] if finding.reason else []
    indent = " " * (_MARK + 2)
    yield from textwrap.wrap("; ".join(words), WIDTH, initial_indent=indent, subsequent_indent=indent)


def _row(mark: str, what: str, n: str, result: str) -> str:
    return f"{mark:<{_MARK}}{what:<{_WHAT}}{n:>{_N}}  {result}".rstrip()
