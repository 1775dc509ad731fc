"""The members of each line of a recording, as the contract names them, and a strict check against it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Maybe:
    """May be null."""

    of: object


@dataclass(frozen=True, slots=True)
class ListOf:
    """Any number of such elements."""

    of: object


@dataclass(frozen=True, slots=True)
class WithEvents:
    """Is there where every interruption was asked for."""

    of: object


WHEN = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
COUNTER = re.compile(r"\d+")

_COSTS = {
    "median_cycles": Maybe(int),
    "p99_cycles": Maybe(int),
    "max_cycles": Maybe(int),
    "bins": {"from_cycles": ListOf(int), "counts": ListOf(int)},
}

HEADER: Mapping[str, object] = {
    "format": "tickmon-recording",
    "version": 1,
    "tickmon_version": str,
    "started_at": WHEN,
    "host": {
        "name": Maybe(str),
        "kernel": Maybe(str),
        "cpu_model": Maybe(str),
        "virtualization": Maybe(str),
    },
    "clocksource": Maybe(str),
}
SEGMENT: Mapping[str, object] = {
    "segment": int,
    "cpu": int,
    "method": re.compile("gap|loop"),
    "origin_cycles": COUNTER,
    "tsc_hz": float,
    "tsc_hz_error_ppm": Maybe(float),
    "tsc_hz_source": str,
    "kernel_hz": Maybe(float),
    "kernel_hz_source": Maybe(str),
    "threshold_cycles": Maybe(int),
    "window_s": float,
    "loop_size": Maybe(int),
    "priority": int,
    "reason": re.compile("start|cpu|method|settings|trace|reset|jump|scan"),
    "counter_synchronised": bool,
    "guest": bool,
    "step_cycles": int,
    "kernel_tick": Maybe(
        {
            "period_ns": int,
            "basis": re.compile("kernel|option"),
            "phases_ns": ListOf(int),
            "may_stop": bool,
        }
    ),
}
_READING: Mapping[str, object] = {
    "segment": int,
    "cpu": int,
    "started_at": WHEN,
    "start_cycles": int,
    "end_cycles": int,
    "tsc_hz": float,
    "reads": Maybe(int),
    "interruptions": int,
    "lost": int,
    "baseline_cycles": Maybe(int),
    "typical_cycles": Maybe(float),
    "gap_sum_cycles": int,
    "overhead_cycles": int,
    "overhead_share": Maybe(float),
    "min_cycles": Maybe(int),
    "median_cycles": Maybe(int),
    "p90_cycles": Maybe(int),
    "p99_cycles": Maybe(int),
    "p999_cycles": Maybe(int),
    "max_cycles": Maybe(int),
    "percentiles": re.compile("exact|binned"),
    "histogram": {"edges_cycles": ListOf(int), "counts": ListOf(int)},
    "tick": Maybe(
        {
            "hz": float,
            "phase_ns": Maybe(float),
            "jitter_ns": Maybe(float),
            "basis": re.compile("phase|trace"),
            "n": int,
            **_COSTS,
            "overhead_share": Maybe(float),
        }
    ),
    "check": {
        "expected": Maybe(int),
        "seen": Maybe(int),
        "kernel": Maybe(int),
        "kernel_row": Maybe(str),
        "basis": re.compile("kernel|option|measured"),
        "verdict": re.compile("ok|missing|extra|stopped|unknown"),
    },
    "trains": Maybe(
        ListOf(
            {
                "hz": float,
                "phase_ns": Maybe(float),
                "jitter_ns": Maybe(float),
                "expected": int,
                "seen": int,
                "origin": re.compile("kernel|host|unknown"),
                **_COSTS,
                "overhead_share": Maybe(float),
            }
        )
    ),
    "sources": ListOf(
        {
            "name": str,
            "kind": re.compile("tick|host|irq|ipi|softirq|preemption|page-fault|nmi|smi|unknown|detail-lost"),
            "basis": re.compile("phase|switch|trace|counter"),
            "parts": ListOf(str),
            "count": int,
            # Of what was only counted nobody knows them.
            "overhead_cycles": Maybe(int),
            **_COSTS,
            "bins": Maybe(_COSTS["bins"]),
        }
    ),
    "interrupts": ListOf({"row": str, "name": str, "count": int}),
    "counters": Maybe(
        {
            "run_delay_ns": Maybe(int),
            "steal_ns": Maybe(int),
            "throttled_ns": Maybe(int),
            "throttled_count": Maybe(int),
            "softirqs": Maybe(ListOf({"name": str, "count": int})),
        }
    ),
    "excluded": ListOf({"code": str, "start_cycles": int, "cycles": int}),
    "excluded_count": int,
    "excluded_cycles": int,
    "trace": Maybe({"events": int, "outside": int, "lost": int}),
    "worst": ListOf(
        {
            "start_cycles": Maybe(int),
            "gap_cycles": int,
            "source": Maybe(int),
            "at": Maybe(WHEN),
            "causes": Maybe(str),
        }
    ),
    "warnings": ListOf({"code": str, "message": str}),
}
_LOOP: Mapping[str, object] = {
    "samples": int,
    "loop_size": int,
    "mode_cycles": Maybe(int),
    "baseline_verdict": {"holds": Maybe(bool), "reason": str},
}
_CLOCK = {"first_monotonic_ns": COUNTER, "first_monotonic_raw_ns": COUNTER, "first_realtime_ns": COUNTER}
_LISTS = ("cycles", "uncertain_cycles", "monotonic_ns", "monotonic_raw_ns", "realtime_ns")
WINDOW: Mapping[str, object] = {
    "window": int,
    **_READING,
    "clocks": WithEvents({**_CLOCK, **dict.fromkeys(_LISTS, ListOf(int))}),
    "switches": WithEvents(Maybe({"out_cycles": ListOf(int), "in_cycles": ListOf(int)})),
}
LOOP_WINDOW: Mapping[str, object] = {**WINDOW, **_LOOP}
SUMMARY: Mapping[str, object] = {
    "windows": int,
    **_READING,
    "mean_cycles": Maybe(float),
    "p9999_cycles": Maybe(int),
}
LOOP_SUMMARY: Mapping[str, object] = {**SUMMARY, **_LOOP}
INTERRUPTIONS: Mapping[str, object] = {
    "start_cycles": ListOf(int),
    "gap_cycles": ListOf(int),
    "ticks": ListOf(int),
    "source": ListOf(int),
}
EVENTS: Mapping[str, object] = {"window": int, **INTERRUPTIONS}
NOTE: Mapping[str, object] = {"at": WHEN, "message": str}


def read_line(text: str) -> dict[str, object]:
    """One line as an object; constants that JSON does not know, such as NaN, are refused."""

    def refuse(name: str) -> object:
        raise AssertionError(f"{name} is no JSON")

    value = json.loads(text, parse_constant=refuse)
    assert isinstance(value, dict)
    return value


def check(value: object, of: object, where: str = "line") -> None:
    """AssertionError, naming the member, when ``value`` is not ``of`` that kind."""
    match of:
        case WithEvents(of=inner):
            check(value, inner, where)
        case Maybe(of=inner):
            if value is not None:
                check(value, inner, where)
        case ListOf(of=inner):
            assert isinstance(value, list), where
            for index, element in enumerate(value):
                check(element, inner, f"{where}[{index}]")
        case dict():
            assert isinstance(value, dict), where
            optional = {name for name, inner in of.items() if isinstance(inner, WithEvents)}
            assert set(value) | optional == set(of), (where, set(value) ^ set(of))
            for name in value:
                check(value[name], of[name], f"{where}.{name}")
        case re.Pattern():
            assert isinstance(value, str), where
            assert of.fullmatch(value), (where, value)
        case type():
            _check_type(value, of, where)
        case _:
            assert value == of, where


def _check_type(value: object, of: type, where: str) -> None:
    if of is float:
        assert type(value) in (int, float), (where, value)
    else:
        assert type(value) is of, (where, value)
    if isinstance(value, int | float):
        assert math.isfinite(value), where
        assert abs(value) < 2**53, (where, value)
