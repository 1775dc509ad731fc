"""What windows have in common: the run and the segment that a recording's lines say they are of."""

from __future__ import annotations

from tickmon.formats.lines import Header
from tickmon.loading.members import BASES, CPU_MOST, HZ_LEAST, HZ_MOST, NAME_LIMIT, Members
from tickmon.machine.host import Host
from tickmon.units import tick_period_ns
from tickmon.windows import KernelTick, Method, Segment

_PRIORITY_MOST = 99


def header_of(line: Members) -> Header:
    """Where and when."""
    host = line.part("host")
    virtualization = host.text_or_none("virtualization", NAME_LIMIT)
    return Header(
        started_at=line.when("started_at"),
        host=Host(
            name=host.text_or_none("name", NAME_LIMIT),
            kernel=host.text_or_none("kernel", NAME_LIMIT),
            cpu_model=host.text_or_none("cpu_model", NAME_LIMIT),
            virtualization=virtualization,
            guest=virtualization is not None,
        ),
        clocksource=line.text_or_none("clocksource", NAME_LIMIT),
        tickmon_version=line.text("tickmon_version", NAME_LIMIT),
    )


def segment_of(line: Members) -> Segment:
    """What windows have in common."""
    return Segment(
        segment=line.whole("segment"),
        cpu=line.whole("cpu", most=CPU_MOST),
        method=Method(line.word("method", tuple(Method))),
        origin_cycles=line.counter("origin_cycles"),
        tsc_hz=line.number("tsc_hz", least=HZ_LEAST, most=HZ_MOST),
        tsc_hz_error_ppm=line.number_or_none("tsc_hz_error_ppm"),
        tsc_hz_source=line.text("tsc_hz_source"),
        counter_synchronised=line.truth_or_none("counter_synchronised") or False,
        kernel_tick=_kernel_tick(line),
        guest=line.truth_or_none("guest") or False,
        threshold_cycles=line.whole_or_none("threshold_cycles"),
        step_cycles=line.whole_or_none("step_cycles") or 0,
        window_s=line.number("window_s", least=0),
        loop_size=line.whole_or_none("loop_size"),
        priority=line.whole_or_none("priority", most=_PRIORITY_MOST),
        reason=line.text("reason", NAME_LIMIT),
    )


def _kernel_tick(line: Members) -> KernelTick | None:
    hz = line.number_or_none("kernel_hz", least=HZ_LEAST, most=HZ_MOST)
    if hz is None:
        return None
    more = line.part_or_none("kernel_tick") or Members({})
    return KernelTick(
        hz=hz,
        period_ns=more.whole_or_none("period_ns", least=1) or tick_period_ns(hz),
        source=line.text_or_none("kernel_hz_source") or "recorded",
        basis=more.word("basis", BASES) if more.has("basis") else "kernel",
        phases_ns=tuple(more.whole_numbers("phases_ns").tolist()),
        may_stop=more.truth_or_none("may_stop") or False,
    )
