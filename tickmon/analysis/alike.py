"""Whether two windows were taken alike: only then do their figures mean the same."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.analysis.readings import Analysis
from tickmon.units import cycles_to_ns, duration_text

THRESHOLD_SHARE = 0.05
"""A threshold that was found in the first moments differs by less from start to start."""

TSC_SHARE = 1e-3
"""The found frequency of one counter never wanders so far."""


def unlike(before: Analysis, after: Analysis) -> tuple[str, ...]:
    """In what they were taken differently, as ``CPU 3, now CPU 2``; empty: they can be compared."""
    return tuple(f"{name} {was}, now {now}".lstrip() for name, was, now in _ways(before, after) if was != now)


def _ways(before: Analysis, after: Analysis) -> Iterator[tuple[str, str, str]]:
    """What must be the same: its name, and how it was and is."""
    was, now = before.window.segment, after.window.segment
    yield "", f"CPU {was.cpu}", f"CPU {now.cpu}"
    yield "method", was.method.value, now.method.value
    if was.method is now.method:
        yield "loop size", f"{was.loop_size}", f"{now.loop_size}"
    if was.threshold_cycles is not None and now.threshold_cycles is not None:
        thresholds = [cycles_to_ns(s.threshold_cycles or 0, s.tsc_hz) for s in (was, now)]
        if abs(thresholds[1] - thresholds[0]) > THRESHOLD_SHARE * max(thresholds):
            yield "threshold", duration_text(thresholds[0]), duration_text(thresholds[1])
    hz = [segment.kernel_tick.hz if segment.kernel_tick else None for segment in (was, now)]
    was_hz, now_hz = ("unknown" if each is None else f"{each:g}" for each in hz)
    yield "HZ", was_hz, now_hz
    if abs(after.tsc_hz - before.tsc_hz) > TSC_SHARE * before.tsc_hz:
        yield "counter", f"{before.tsc_hz / 1e6:,.0f} MHz", f"{after.tsc_hz / 1e6:,.0f} MHz"
    yield "trace", _trace(before), _trace(after)


def _trace(analysis: Analysis) -> str:
    return "off" if analysis.traced is None else "on"
