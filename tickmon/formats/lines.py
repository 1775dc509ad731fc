"""Readings as JSON Lines, the one format of recordings and snapshots.

Format "tickmon-recording", version 1: every line is an object whose ``line`` says what it is. Readers skip
kinds and members that they do not know, so both may be added without a new version.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import tickmon
from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import Summary
from tickmon.formats.members import Line, clock_members, iso_text, members_of, switch_members
from tickmon.machine.host import Host
from tickmon.windows import Method, Segment

FORMAT = "tickmon-recording"
VERSION = 1

EVENTS_A_LINE = 65_536
"""A reader need not hold more than this many interruptions of a line."""

SAMPLES_A_LINE = 1_000_000
"""A loop window with more has its samples only in the lines of its events, which hold fewer each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """Where and when a run began."""

    started_at: datetime
    """UTC."""
    host: Host
    clocksource: str | None
    tickmon_version: str = tickmon.__version__
    """That measured."""


def text_of(line: Line) -> str:
    """One line of text, with its end."""
    return json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"


def header_line(header: Header) -> Line:
    """The first line of a file."""
    host = header.host
    return {
        "line": "header",
        "format": FORMAT,
        "version": VERSION,
        "tickmon_version": header.tickmon_version,
        "started_at": iso_text(header.started_at),
        "host": {
            "name": host.name,
            "kernel": host.kernel,
            "cpu_model": host.cpu_model,
            "virtualization": host.virtualization,
        },
        "clocksource": header.clocksource,
    }


def segment_line(segment: Segment) -> Line:
    """What the windows that follow have in common. The origin is text: it may pass 2**53."""
    tick = segment.kernel_tick
    return {
        "line": "segment",
        "segment": segment.segment,
        "cpu": segment.cpu,
        "method": segment.method.value,
        "origin_cycles": str(segment.origin_cycles),
        "tsc_hz": segment.tsc_hz,
        "tsc_hz_error_ppm": segment.tsc_hz_error_ppm,
        "tsc_hz_source": segment.tsc_hz_source,
        "kernel_hz": tick.hz if tick else None,
        "kernel_hz_source": tick.source if tick else None,
        "threshold_cycles": segment.threshold_cycles,
        "window_s": segment.window_s,
        "loop_size": segment.loop_size,
        "priority": segment.priority,
        "reason": segment.reason,
        "counter_synchronised": segment.counter_synchronised,
        "guest": segment.guest,
        "step_cycles": segment.step_cycles,
        "kernel_tick": {
            "period_ns": tick.period_ns,
            "basis": tick.basis,
            "phases_ns": list(tick.phases_ns),
            "may_stop": tick.may_stop,
        }
        if tick
        else None,
    }


def window_line(analysis: Analysis, *, events: bool = False) -> Line:
    """One window; with ``events`` also what an analysis of it would need again, and a loop's samples."""
    window = analysis.window
    members: Line = {"line": "window", "window": window.window, **members_of(analysis)}
    if events:
        members["clocks"] = clock_members(window)
        members["switches"] = switch_members(window)
        if window.segment.method is Method.LOOP and len(window.details) <= SAMPLES_A_LINE:
            members["sample_cycles"] = window.details["gap_cycles"].tolist()
    return members


def event_lines(analysis: Analysis) -> Iterator[Line]:
    """Every interruption of the window whose detail is known, in the order of time."""
    for first in range(0, len(analysis.window.details), EVENTS_A_LINE):
        part = slice(first, first + EVENTS_A_LINE)
        yield {"line": "events", "window": analysis.window.window, **event_members(analysis, part)}


def event_members(analysis: Analysis, part: slice) -> Line:
    """Some of the window's interruptions, as lists of one length."""
    details = analysis.window.details[part]
    return {
        "start_cycles": (details["start_cycles"] - analysis.window.start_cycles).tolist(),
        "gap_cycles": details["gap_cycles"].tolist(),
        "ticks": analysis.ticks[part].tolist(),
        "source": analysis.source_of[part].tolist(),
    }


def note_line(at: datetime, message: str) -> Line:
    """Something that happened to the run, in words."""
    return {"line": "note", "at": iso_text(at), "message": message}


def summary_line(summary: Summary, *, windows: int) -> Line:
    """The whole run of one CPU: a window's members over all of its ``windows``."""
    return {
        "line": "summary",
        "windows": windows,
        **members_of(summary.analysis),
        "mean_cycles": summary.mean_cycles,
        "p9999_cycles": summary.p9999_cycles,
    }
