"""Where, when and how a reading was taken, as text."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC

from tickmon.analysis.readings import Analysis
from tickmon.formats.lines import Header
from tickmon.layout import labelled
from tickmon.units import count_text, counted, cycles_to_ns, duration_text, significant
from tickmon.windows import Method, Segment


def conditions(header: Header, analysis: Analysis, windows: int) -> Iterator[str]:
    """Lines that say it of a reading of ``windows`` windows."""
    window, host = analysis.window, header.host
    segment = window.segment
    length_s = window.watched_cycles / analysis.tsc_hz
    yield f"tickmon {header.tickmon_version}: CPU {segment.cpu} of {host.name or 'an unknown host'}"
    yield from labelled(
        "measured",
        f"{window.started_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC, {significant(length_s, 4)} s "
        f"in {counted(windows, 'window')}",
    )
    yield from labelled("kernel", ", ".join(_kernel_parts(header, segment)))
    yield from labelled("processor", host.cpu_model or "unknown")
    yield from labelled("counter", _counter_text(header, analysis))
    priority = f"; as a SCHED_FIFO task of priority {segment.priority}" if segment.priority else ""
    yield from labelled("method", _method_text(analysis) + priority)


def _kernel_parts(header: Header, segment: Segment) -> Iterator[str]:
    yield header.host.kernel or "unknown"
    if segment.kernel_tick:
        yield f"HZ {segment.kernel_tick.hz:g} ({segment.kernel_tick.source})"
    else:
        yield "HZ unknown"
    if header.host.virtualization:
        yield f"virtualization: {header.host.virtualization}"


def _counter_text(header: Header, analysis: Analysis) -> str:
    segment = analysis.window.segment
    error = (
        "" if segment.tsc_hz_error_ppm is None else f" within {significant(segment.tsc_hz_error_ppm, 2)} ppm"
    )
    return (
        f"{analysis.tsc_hz / 1e6:,.6f} MHz{error} ({segment.tsc_hz_source}), "
        f"clocksource {header.clocksource or 'unknown'}"
    )


def _method_text(analysis: Analysis) -> str:
    window = analysis.window
    if window.segment.method is Method.LOOP:
        return (
            f"loop: {counted(window.interruptions, 'sample')} of "
            f"{counted(window.segment.loop_size, 'iteration')}"
        )
    threshold_cycles = window.segment.threshold_cycles
    threshold_ns = None if threshold_cycles is None else cycles_to_ns(threshold_cycles, analysis.tsc_hz)
    return (
        f"gap: {count_text(window.reads)} reads of the counter; an interruption is a gap above "
        f"{duration_text(threshold_ns)} ({count_text(threshold_cycles)} cycles)"
    )
