"""How windows were taken, and in what two differ: only figures that were taken alike mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tickmon.analysis.readings import Analysis
from tickmon.units import cycles_to_ns, duration_text, significant

_THRESHOLD_SHARE = 0.05
"""A threshold found in the first moments differs by less from start to start, and hardly any interruption is
so near to it."""

_TSC_SHARE = 1e-3
"""So far the found frequency of one counter never wanders; another machine's differs by more."""

_WINDOW = "window"
"""What the length of a window is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """How one window was taken."""

    method: str
    threshold_ns: float | None
    loop_size: int | None
    priority: int | None
    """Of SCHED_FIFO, 0 without; None: not known."""
    traced: bool
    cpu: int
    kernel_hz: float | None
    tsc_hz: float
    window_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Something that is not the same in two readings."""

    name: str
    before: str
    after: str
    alike: bool
    """They can be compared nevertheless: it is what was changed between them, not how they were taken."""


def taken(analysis: Analysis) -> Taken:
    """How the window of ``analysis`` was taken."""
    segment = analysis.window.segment
    threshold = segment.threshold_cycles
    return Taken(
        method=segment.method.value,
        threshold_ns=None if threshold is None else cycles_to_ns(threshold, segment.tsc_hz),
        loop_size=segment.loop_size,
        priority=segment.priority,
        traced=analysis.traced is not None,
        cpu=segment.cpu,
        kernel_hz=segment.kernel_tick.hz if segment.kernel_tick else None,
        tsc_hz=analysis.tsc_hz,
        window_s=segment.window_s,
    )


def differences(before: Taken, after: Taken) -> list[Setting]:
    """In what they differ; first what makes them impossible to compare."""
    return [
        Setting(name=name, before=was, after=now, alike=alike)
        for name, was, now, alike in _pairs(before, after)
        if was != now
    ]


def taken_alike(before: Taken, after: Taken) -> bool:
    """Whether their figures mean the same."""
    return all(setting.alike for setting in differences(before, after))


def unlike(before: Analysis, after: Analysis) -> tuple[str, ...]:
    """In what they differ beside the length of their windows, as ``CPU 3, now 2``; empty: in nothing.

    For windows that follow each other on one screen: there another CPU is another matter.
    """
    return tuple(
        f"{setting.name} {setting.before}, now {setting.after}"
        for setting in differences(taken(before), taken(after))
        if setting.name != _WINDOW
    )


def _pairs(before: Taken, after: Taken) -> Iterator[tuple[str, str, str, bool]]:
    yield "method", before.method, after.method, False
    if not _near(before.threshold_ns, after.threshold_ns, _THRESHOLD_SHARE):
        yield "threshold", duration_text(before.threshold_ns), duration_text(after.threshold_ns), False
    if before.loop_size is not None and after.loop_size is not None:
        yield "loop size", str(before.loop_size), str(after.loop_size), False
    if before.priority is not None and after.priority is not None:
        yield "priority", _priority_text(before.priority), _priority_text(after.priority), False
    yield "trace", ("off", "on")[before.traced], ("off", "on")[after.traced], False
    yield "CPU", str(before.cpu), str(after.cpu), True
    yield "HZ", _hz_text(before.kernel_hz), _hz_text(after.kernel_hz), True
    if not _near(before.tsc_hz, after.tsc_hz, _TSC_SHARE):
        yield "counter", _mhz_text(before.tsc_hz), _mhz_text(after.tsc_hz), True
    yield _WINDOW, f"{before.window_s:g} s", f"{after.window_s:g} s", True


def _near(before: float | None, after: float | None, share: float) -> bool:
    if before is None or after is None:
        # What only one method has is said of the method.
        return True
    return abs(after - before) <= share * max(before, after)


def _priority_text(priority: int) -> str:
    return f"SCHED_FIFO {priority}" if priority else "none"


def _hz_text(hz: float | None) -> str:
    return "unknown" if hz is None else f"{hz:g}"


def _mhz_text(hz: float) -> str:
    return f"{significant(hz / 1e6, 4)} MHz"
