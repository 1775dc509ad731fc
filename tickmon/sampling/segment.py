"""What is known of a CPU before it is sampled, and the segment that is made of it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tickmon.errors import TickmonError
from tickmon.machine.clock import CounterRate, counter_rate, fit_counter, read_discipline
from tickmon.machine.facts import Machine
from tickmon.machine.kernel import coarse_ns, kernel_tick
from tickmon.sampling.clocks import counter_hz, read_clocks
from tickmon.sampling.sampler import Status
from tickmon.windows import KernelTick, Method, ReadingWarning, Segment, Settings

_APART_S = 0.01
"""So far apart two readings give the counter's frequency to a few ppm, enough for threshold and lease. The
analysis makes it finer with every window."""


_WRONG_SHARE = 0.01
"""The measured figure is good to some ppm, and no clock is wrong by so much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What holds for one CPU as long as its source runs."""

    machine: Machine
    rate: CounterRate
    """In which everything is said."""
    measured_hz: float
    """The counter's frequency without regard to the user's word: for what must not depend on that."""
    kernel_tick: KernelTick | None
    warnings: tuple[ReadingWarning, ...]


def gather_facts(settings: Settings, machine: Machine) -> Facts:
    """Finds counter and tick for one CPU; TickmonError when the counter's frequency cannot be had."""
    first = read_clocks()
    since_s = time.monotonic()
    tick, warnings = kernel_tick(
        settings.cpu, machine.cpus, period_ns=coarse_ns(), option_hz=settings.kernel_hz
    )
    time.sleep(max(0.0, since_s + _APART_S - time.monotonic()))
    readings = (first, read_clocks())
    rate = counter_rate(
        readings, machine.clock, read_discipline(), stated_hz=counter_hz(), option_hz=settings.tsc_hz
    )
    if rate is None:
        raise TickmonError("the counter's frequency cannot be found here: give it with --tsc-hz")
    fit = fit_counter(readings)
    measured_hz = fit[0] if fit else rate.hz
    if abs(rate.hz / measured_hz - 1) > _WRONG_SHARE:
        message = (
            f"--tsc-hz says {rate.hz:,.0f}, but the kernel counts {measured_hz:,.0f} cycles a second: "
            "every duration here may be wrong"
        )
        warnings = (*warnings, ReadingWarning(code="tsc_hz_contradiction", message=message))
    return Facts(
        machine=machine,
        rate=rate,
        measured_hz=measured_hz,
        kernel_tick=tick,
        warnings=(*machine.clock.warnings, *warnings),
    )


def segment_of(settings: Settings, facts: Facts, status: Status, *, segment: int, reason: str) -> Segment:
    """The segment that begins with a running sampler's first read."""
    loop = settings.method is Method.LOOP
    return Segment(
        segment=segment,
        cpu=settings.cpu,
        method=settings.method,
        origin_cycles=status.start_cycles,
        tsc_hz=facts.rate.hz,
        tsc_hz_error_ppm=facts.rate.error_ppm,
        tsc_hz_source=facts.rate.source,
        counter_synchronised=facts.machine.clock.synchronised,
        kernel_tick=facts.kernel_tick,
        guest=facts.machine.host.guest,
        threshold_cycles=None if loop else status.threshold_cycles,
        step_cycles=status.step_cycles,
        window_s=settings.window_s,
        loop_size=settings.loop_size if loop else None,
        priority=settings.priority,
        reason=reason,
    )
