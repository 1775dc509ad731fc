"""What ``--fail-if`` and ``--stop-if`` take: one comparison of a window's member with a value."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from difflib import get_close_matches

from tickmon.errors import UsageError

CHECK = "check"
_VERDICTS = ("ok", "missing", "extra", "stopped", "unknown")

_LENGTHS = tuple(f"{rank}_cycles" for rank in ("min", "median", "mean", "p90", "p99", "p999", "p9999", "max"))
MEMBERS = frozenset(
    {
        "reads",
        "interruptions",
        "lost",
        "excluded_count",
        "excluded_cycles",
        "overhead_cycles",
        "overhead_share",
        "gap_sum_cycles",
        "baseline_cycles",
        "typical_cycles",
        "mode_cycles",
        *_LENGTHS,
        "tick.hz",
        "tick.n",
        "tick.median_cycles",
        "tick.p99_cycles",
        "tick.max_cycles",
        "tick.overhead_share",
        "tick.jitter_ns",
        "check.expected",
        "check.seen",
        "check.kernel",
    }
)
"""Members of a window's line, those of the parts in it behind a dot; each is compared in its own unit."""

OF_RUNS = frozenset({"mean_cycles", "p9999_cycles"})
"""Those that only the line of a whole run has."""

RATES = {"ticks_per_s": "check.seen", "interruptions_per_s": "interruptions"}
"""What is compared as so many a second, and the member that counts it."""

OPERATORS = (">=", "<=", "==", "!=", ">", "<")

_WORD = r"[A-Za-z_][A-Za-z_0-9.]*"
_COMPARISON = re.compile(rf"\s*({_WORD})\s*({'|'.join(OPERATORS)})\s*(\S+(?:\s\S+)?)\s*")
_NUMBER = re.compile(r"(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)\s*([^\d\s]*)", re.ASCII)
_NS = {"": 1.0, "ns": 1.0, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9}
_SHARE = {"": 1.0, "%": 0.01}
_PLAIN = {"": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One comparison; where it holds, the limit is crossed."""

    text: str
    """As it was given."""
    name: str
    """``check``, one of ``RATES``, or one of ``MEMBERS``, also with ``_ns`` where that has ``_cycles``."""
    operator: str
    value: float | str
    """In the unit of its name; a verdict for ``check``."""

    def crossed_by(self, value: float | str) -> bool:
        """Whether the comparison holds for ``value``, which is of the same kind as its own."""
        if isinstance(value, str) or isinstance(self.value, str):
            return (value == self.value) == (self.operator == "==")
        return {
            ">": value > self.value,
            ">=": value >= self.value,
            "<": value < self.value,
            "<=": value <= self.value,
            "==": value == self.value,
            "!=": value != self.value,
        }[self.operator]


def names() -> tuple[str, ...]:
    """All that may be compared, sorted."""
    as_ns = {name.removesuffix("_cycles") + "_ns" for name in MEMBERS if name.endswith("_cycles")}
    return tuple(sorted({CHECK, *RATES, *MEMBERS, *as_ns}))


def parse_limit(text: str) -> Limit:
    """The limit that ``text`` says, as in ``max_ns>50us``; UsageError that says what is wrong with it."""
    match = _COMPARISON.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is no comparison: write NAME, one of {' '.join(OPERATORS)}, and a value, and put it "
            "into quotes, as in 'max_ns>50us', since the shell takes > and < for itself"
        )
    name, operator, given = match.groups()
    if name not in names():
        near = get_close_matches(name.lower(), names())
        raise UsageError(
            f"{name!r} in {text!r} is nothing that can be compared; "
            + (f"there is {', '.join(near)}" if near else "the help has the names under limits")
        )
    value = _verdict(text, operator, given) if name == CHECK else _number(text, name, given)
    return Limit(text=text.strip(), name=name, operator=operator, value=value)


def parse_window_limit(text: str) -> Limit:
    """The same for what is held against every window, which has no member of whole runs only."""
    limit = parse_limit(text)
    if limit.name.replace("_ns", "_cycles") in OF_RUNS:
        raise UsageError(f"{limit.name} in {text!r} is known of whole runs only: give it to --fail-if")
    return limit


def _verdict(text: str, operator: str, given: str) -> str:
    if operator not in ("==", "!="):
        raise UsageError(f"{operator} in {text!r} cannot be: check is a word, so it takes == or !=")
    if given not in _VERDICTS:
        raise UsageError(f"{given!r} in {text!r} is no verdict of the check: {', '.join(_VERDICTS)}")
    return given


def _number(text: str, name: str, given: str) -> float:
    units = _NS if name.endswith("_ns") else _SHARE if name.endswith("_share") else _PLAIN
    match = _NUMBER.fullmatch(given)
    if match is None:
        raise UsageError(f"{given!r} in {text!r} is no number from 0 on")
    if match[2] not in units:
        known = ", ".join(unit for unit in units if unit and unit.isascii())
        raise UsageError(
            f"{match[2]!r} in {text!r} is no unit of {name}, which takes {known or 'a number without one'}"
        )
    value = float(match[1]) * units[match[2]]
    if not math.isfinite(value):
        raise UsageError(f"{given!r} in {text!r} is more than any number that can be compared")
    return value
