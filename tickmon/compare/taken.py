"""How and where a reading was taken, and in what two of them differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tickmon.analysis.readings import Analysis
from tickmon.formats.lines import Header
from tickmon.units import cycles_to_ns, duration_text

_THRESHOLD_SHARE = 0.05
"""A threshold found in the first moments differs by less from run to run, and hardly any interruption is so
near to it."""

_TSC_SHARE = 1e-3
"""So far the found frequency of one counter never wanders; another machine's differs by more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """How one window was taken, and where."""

    method: str
    threshold_ns: float | None
    loop_size: int | None
    traced: bool
    cpu: int
    window_s: float
    tsc_hz: float
    kernel_hz: float | None
    host: str | None
    kernel: str | None
    cpu_model: str | None
    virtualization: str | None
    clocksource: str | None
    tickmon_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """Something that is not the same in two readings."""

    name: str
    before: str
    after: str
    alike: bool
    """They can be compared nevertheless: it is what was changed between them, not how they were taken."""


def taken(header: Header, analysis: Analysis) -> Taken:
    """How the window of ``analysis`` was taken."""
    segment, host = analysis.window.segment, header.host
    threshold = segment.threshold_cycles
    return Taken(
        method=segment.method.value,
        threshold_ns=None if threshold is None else cycles_to_ns(threshold, segment.tsc_hz),
        loop_size=segment.loop_size,
        traced=analysis.traced is not None,
        cpu=segment.cpu,
        window_s=segment.window_s,
        tsc_hz=segment.tsc_hz,
        kernel_hz=segment.kernel_tick.hz if segment.kernel_tick else None,
        host=host.name,
        kernel=host.kernel,
        cpu_model=host.cpu_model,
        virtualization=host.virtualization,
        clocksource=header.clocksource,
        tickmon_version=header.tickmon_version,
    )


def taken_alike(before: Taken, after: Taken) -> bool:
    """Whether their figures mean the same."""
    return all(setting.alike for setting in differences(before, after))


def differences(before: Taken, after: Taken) -> list[Setting]:
    """In what they differ; first what makes them impossible to compare."""
    return [
        Setting(name=name, before=old, after=new, alike=alike)
        for name, old, new, alike in _pairs(before, after)
        if old != new
    ]


def _pairs(before: Taken, after: Taken) -> Iterator[tuple[str, str, str, bool]]:
    yield "method", before.method, after.method, False
    old_ns, new_ns = before.threshold_ns, after.threshold_ns
    if not _near(old_ns, new_ns, _THRESHOLD_SHARE):
        yield "threshold", duration_text(old_ns, digits=4), duration_text(new_ns, digits=4), False
    if before.loop_size is not None and after.loop_size is not None:
        yield "loop size", _text(before.loop_size), _text(after.loop_size), False
    yield "trace", ("off", "on")[before.traced], ("off", "on")[after.traced], False
    yield "CPU", str(before.cpu), str(after.cpu), True
    yield "host", _text(before.host), _text(after.host), True
    yield "processor", _text(before.cpu_model), _text(after.cpu_model), True
    yield "kernel", _text(before.kernel), _text(after.kernel), True
    yield "HZ", _text(before.kernel_hz), _text(after.kernel_hz), True
    yield "virtualization", _text(before.virtualization), _text(after.virtualization), True
    yield "clocksource", _text(before.clocksource), _text(after.clocksource), True
    if not _near(before.tsc_hz, after.tsc_hz, _TSC_SHARE):
        yield "counter", f"{before.tsc_hz / 1e6:,.3f} MHz", f"{after.tsc_hz / 1e6:,.3f} MHz", True
    yield "window", f"{before.window_s:g} s", f"{after.window_s:g} s", True
    yield "tickmon", before.tickmon_version, after.tickmon_version, True


def _near(before: float | None, after: float | None, share: float) -> bool:
    if before is None or after is None:
        # What only one method has is said of the method.
        return True
    return abs(after - before) <= share * max(before, after)


def _text(value: float | str | None) -> str:
    if value is None:
        return "unknown"
    return value if isinstance(value, str) else f"{value:g}"
