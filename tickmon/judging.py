"""Holds windows and whole runs against the limits that were given, and says what crossed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tickmon.analysis.readings import Analysis
from tickmon.formats.lines import window_line
from tickmon.limits import CHECK, MEMBERS, RATES, Limit
from tickmon.report import clock_text, worst_text
from tickmon.stdout import say
from tickmon.streams import Outcome
from tickmon.units import count_text, counted, cycles_to_ns, duration_text, share_text, significant

FAILED = 3
"""Exit code: a limit was crossed."""
UNJUDGED = 1
"""Exit code: none was seen to be crossed, but of one that could not be told."""

_OF_LENGTHS = ("min", "median", "mean", "p90", "p99", "p999", "p9999", "max", "overhead", "gap")
"""Where one interruption may be the reason, names begin so."""


@dataclass(slots=True)
class Judge:
    """What is known by now of a run and its limits; its words go to standard error."""

    fail_if: Sequence[Limit] = ()
    stop_if: Sequence[Limit] = ()
    stopped_by: str | None = None
    """The limit of ``stop_if`` that a window crossed first, and by what."""
    _furthest: dict[tuple[Limit, int], _Seen] = field(default_factory=dict)
    """By limit and CPU, the window that goes furthest beyond it."""
    _judged: set[Limit] = field(default_factory=set)
    """Those of ``stop_if`` that could be told of some window."""
    _unjudged: dict[Limit, int] = field(default_factory=dict)
    """Of how many windows they could not be."""

    def window(self, analysis: Analysis) -> None:
        """Takes the next finished window, and says so when it is the first that should be the last."""
        for limit in self.fail_if:
            value = _value(limit, analysis)
            key = limit, analysis.window.segment.cpu
            before = self._furthest.get(key)
            if value is not None and _goes_further(limit, value, before):
                self._furthest[key] = _Seen(value=value, text=_text(limit, value, analysis))
        for limit in self.stop_if:
            value = _value(limit, analysis)
            if value is None:
                self._unjudged[limit] = self._unjudged.get(limit, 0) + 1
                continue
            self._judged.add(limit)
            if self.stopped_by is None and limit.crossed_by(value):
                cpu = analysis.window.segment.cpu
                self.stopped_by = f"--stop-if {limit.text}: on CPU {cpu} {_text(limit, value, analysis)}"
                say(f"ended by {self.stopped_by}")

    def end(self, outcomes: Sequence[Outcome]) -> int:
        """Says what of the whole run crossed a limit, and what could not be told; the exit code."""
        codes = [0 if self.stopped_by is None else FAILED]
        for limit in self.fail_if:
            codes += [self._run(limit, outcome.summary.analysis) for outcome in outcomes]
            if not outcomes:
                say(f"--fail-if {limit.text} could not be judged: there is no finished window")
                codes.append(UNJUDGED)
        for limit in self.stop_if if self.stopped_by is None else ():
            if limit in self._unjudged or limit not in self._judged:
                windows = counted(self._unjudged.get(limit, 0), "window")
                say(
                    f"--stop-if {limit.text} could not be judged in "
                    + (
                        f"{windows}: {limit.name} is not known there"
                        if limit in self._judged
                        else "any window"
                    )
                )
            if limit not in self._judged:
                codes.append(UNJUDGED)
        return max(codes)

    def _run(self, limit: Limit, analysis: Analysis) -> int:
        cpu = analysis.window.segment.cpu
        value = _value(limit, analysis)
        if value is None:
            say(f"--fail-if {limit.text} could not be judged on CPU {cpu}: {limit.name} is not known there")
            return UNJUDGED
        if not limit.crossed_by(value):
            return 0
        seen = self._furthest.get((limit, cpu))
        message = f"--fail-if {limit.text}: {_value_text(limit, value)} on CPU {cpu}"
        which = "first" if limit.operator in ("==", "!=") else "furthest"
        say(f"{message}; {which} {seen.text}" if seen else f"{message}{_reason(limit, analysis)}")
        return FAILED


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    value: float | str
    text: str


def _value(limit: Limit, analysis: Analysis) -> float | str | None:
    """What ``limit`` compares, as the window's line says it; None where that does not exist."""
    name = limit.name
    if name == CHECK:
        verdict = analysis.check.verdict
        # Nobody knows that it was not what is asked for.
        unknown = verdict == "unknown" != limit.value and limit.operator == "=="
        return None if unknown else verdict
    if name in RATES:
        count = _member(analysis, RATES[name])
        watched_s = analysis.window.watched_cycles / analysis.tsc_hz
        return None if count is None or not watched_s else count / watched_s
    if name in MEMBERS:
        return _member(analysis, name)
    cycles = _member(analysis, name.removesuffix("_ns") + "_cycles")
    return None if cycles is None else cycles_to_ns(cycles, analysis.tsc_hz)


def _member(analysis: Analysis, name: str) -> float | None:
    found: object = window_line(analysis)
    for part in name.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found if isinstance(found, int | float) else None


def _goes_further(limit: Limit, value: float | str, before: _Seen | None) -> bool:
    """Whether ``value`` lies further beyond ``limit`` than the one ``before``."""
    if before is None:
        return limit.operator not in ("==", "!=") or limit.crossed_by(value)
    if isinstance(value, str) or isinstance(before.value, str) or limit.operator in ("==", "!="):
        return False
    return value > before.value if limit.operator in (">", ">=") else value < before.value


def _text(limit: Limit, value: float | str, analysis: Analysis) -> str:
    window = analysis.window
    return (
        f"in window {window.window}, from {clock_text(window.started_at)}: "
        f"{_value_text(limit, value)}{_reason(limit, analysis)}"
    )


def _reason(limit: Limit, analysis: Analysis) -> str:
    """The longest interruption that ``limit`` is about, if it is about any."""
    of_ticks = limit.name.startswith("tick.")
    if not limit.name.removeprefix("tick.").startswith(_OF_LENGTHS):
        return ""
    for worst in analysis.worst:
        kind = None if worst.source is None else analysis.sources[worst.source].kind
        if not of_ticks or kind == "tick":
            return f"; the longest {'tick' if of_ticks else 'interruption'}: {worst_text(worst, analysis)}"
    return ""


def _value_text(limit: Limit, value: float | str) -> str:
    if isinstance(value, str):
        return f"{limit.name} is {value}"
    if limit.name.endswith("_ns"):
        return duration_text(value, digits=4)
    if limit.name.endswith("_share"):
        return share_text(value)
    if limit.name.endswith("_cycles"):
        return f"{count_text(value)} cycles"
    return count_text(value) if value == int(value) else significant(value, 4)
