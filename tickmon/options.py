"""What a command line asks for, checked as far as that goes without looking at the machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tickmon.errors import UsageError
from tickmon.limits import Limit
from tickmon.units import parse_duration_s

FORMATS = ("text", "json", "jsonl", "csv", "seed")
DOCTOR_FORMATS = ("text", "json")
COMPARE_FORMATS = ("text", "json")
METHODS = ("gap", "loop")
TRACES = ("auto", "on", "off")
"""auto is off: tracing is never without cost, so it is only done when asked for."""
VALIDATE_FORMATS = ("text", "json")
THEMES = ("dark", "light", "safe")
"""safe: for people who do not tell red from green."""

WINDOW_S = 1.0
DURATION_S = 10.0
LOOP_SIZE = 6800
SAMPLES = 11_000

WINDOW_MIN_S = 0.1
"""A shorter window holds too few ticks to check anything."""
WINDOW_MAX_S = 3600.0
"""The interruptions of an open window are kept in memory."""
DURATION_MAX_S = 20 * 86400.0
"""So long a counter of 5 GHz stays below 2**53, which JSON's numbers hold exactly."""
THRESHOLD_MIN_NS = 1.0
"""Shorter than any read of a counter takes."""
THRESHOLD_MAX_NS = 1e9
"""Nobody waits a second for an interruption to be one."""
LOOP_SIZE_MAX = 10_000_000
"""A sample of more iterations outlasts the ticks' period: no sample would be undisturbed."""
SAMPLES_MAX = 10_000_000
"""Each is kept until the smallest is known."""
VALIDATE_S = 24.0
VALIDATE_MIN_S = 5.0
"""In less there is not one injection in a hundred that has something beside it."""
VALIDATE_MAX_S = 600.0
"""Every interruption is kept in memory until it is judged."""
PRIORITY_MAX = 10
"""Above the threads of an ordinary real-time program there is nothing to be measured, only to be hung."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOptions:
    """What ``watch`` and ``sample`` share; a value that was not given is None."""

    cpus: str | None
    """The kernel's list grammar."""
    window_s: float
    method: str
    loop_size: int
    threshold_ns: float | None
    kernel_hz: float | None
    tsc_hz: float | None
    priority: int
    """0: none."""
    trace: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOptions:
    """What ``sample`` was asked for."""

    measure: MeasureOptions
    duration_s: float | None
    """None: until the samples are complete."""
    samples: int | None
    """None: until the duration is over."""
    format: str
    output: Path | None
    """None: standard output."""
    force: bool
    events: bool
    fail_if: tuple[Limit, ...]
    """Of the whole run."""
    stop_if: tuple[Limit, ...]
    """Of every window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowOptions:
    """What ``show`` was asked for."""

    file: Path
    """``-``: standard input."""
    window: int | None
    """None: the whole run."""
    format: str
    events: bool
    fail_if: tuple[Limit, ...]
    """Of every run in the file, or of the one window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What ``compare`` was asked for."""

    before: Path
    """``-``: standard input, for one of them."""
    after: Path
    format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidateOptions:
    """What ``validate`` was asked for."""

    measure: MeasureOptions
    duration_s: float
    format: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenOptions:
    """How the screen is to be drawn, whatever is on it."""

    ascii: bool
    mouse: bool
    sync: bool
    """Frames may be marked, so that a terminal that can shows each at once."""
    theme: str | None
    """None: the one that was remembered, or else the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchOptions:
    """What ``watch`` was asked for."""

    measure: MeasureOptions
    screen: ScreenOptions
    events: bool
    """Recordings keep every interruption."""
    against: Path | None
    """A recording or snapshot to compare with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What ``replay`` was asked for."""

    file: Path
    screen: ScreenOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions:
    """What ``doctor`` was asked for."""

    cpus: str | None
    """The kernel's list grammar; None: as the live screen would choose."""
    format: str


Options = (
    WatchOptions
    | SampleOptions
    | DoctorOptions
    | ShowOptions
    | ReplayOptions
    | ValidateOptions
    | CompareOptions
)
"""What a command line may ask for."""


def window_s(text: str) -> float:
    """The length of a window."""
    why = "a shorter one holds too few ticks to check, a longer one fills the memory"
    return _within(text, WINDOW_MIN_S, WINDOW_MAX_S, why)


def duration_s(text: str) -> float:
    """The length of a run."""
    why = "later the counter outgrows the numbers that JSON holds exactly"
    return _within(text, WINDOW_MIN_S, DURATION_MAX_S, why)


def validate_s(text: str) -> float:
    """The length of a validation."""
    why = "a shorter one has too little to judge, a longer one fills the memory"
    return _within(text, VALIDATE_MIN_S, VALIDATE_MAX_S, why)


def number(least: float, most: float) -> Callable[[str], float]:
    """Reads numbers, with decimals or not, between two limits."""

    def parse(text: str) -> float:
        try:
            value = float(text) if text.isascii() else math.nan
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise UsageError(f"{text!r} is no number from {_count(least)} to {_count(most)}")
        return value

    return parse


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """Reads whole numbers between two limits."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) <= 20 and least <= int(text) <= most):
            raise UsageError(f"{text!r} is no whole number from {least:,} to {most:,}")
        return int(text)

    return parse


def output_path(text: str) -> Path:
    """Where to write."""
    if not text:
        raise UsageError("it names no file")
    return Path(text)


def input_path(text: str) -> Path:
    """What to read beside the keyboard."""
    if text in ("", "-"):
        raise UsageError("it must name a file: standard input is the keyboard")
    return Path(text)


def format_for(given: str | None, output: Path | None) -> str:
    """The format that was asked for by option or by the file's name; UsageError when they contradict."""
    name = output.name.removesuffix(".gz") if output else ""
    named = next((f for f in ("json", "jsonl", "csv") if name.endswith(f".{f}")), None)
    if given and named and given != named:
        raise UsageError(f"--format {given} contradicts the name {output}: leave one of them out")
    return given or named or "text"


def _within(text: str, least_s: float, most_s: float, why: str) -> float:
    seconds = parse_duration_s(text)
    if not least_s <= seconds <= most_s:
        raise UsageError(f"{text!r} is not within {_text(least_s)} and {_text(most_s)}: {why}")
    return seconds


def _count(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:g}"


def _text(seconds: float) -> str:
    for size, unit in ((86400.0, "d"), (3600.0, "h"), (60.0, "m")):
        if seconds >= size:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"
