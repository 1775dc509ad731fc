"""A made-up CPU on which injections are made, and instruments that are wrong in a known way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tests.making import TSC_HZ, Life, make_trace, simulate
from tests.readings import read
from tickmon.analysis.readings import Analysis
from tickmon.sampling.injector import INJECTED
from tickmon.validate.findings import Finding
from tickmon.windows import INTERRUPTION, SWITCH, KernelEvent, Window

CYCLES_PER_NS = TSC_HZ / 1e9
SECONDS = 5
BEFORE_NS, AFTER_NS = 3_000.0, 2_000.0
"""What a switch to the injector and one back take."""


def by_code(findings: tuple[Finding, ...]) -> dict[str, Finding]:
    return {finding.code: finding for finding in findings}


@cache
def disturbed(*, host_hz: float | None = 999.98) -> tuple[tuple[Window, ...], NDArray[np.void]]:
    """Windows with a tick, a host and noise, and the injections in them: one each 12 ms.

    Made once for all tests: not to be changed.
    """
    rng = np.random.default_rng(5)
    firsts_ns = np.arange(20e6, SECONDS * 1e9 - 20e6, 12e6)
    n = len(firsts_ns)
    firsts_ns += rng.uniform(0, 5e6, n)
    spins_ns = np.exp(rng.uniform(np.log(1e4), np.log(1e6), n))
    spins_ns[rng.random(n) < 0.3] = 0
    before_ns = BEFORE_NS + rng.exponential(400, n)
    after_ns = AFTER_NS + rng.exponential(400, n)
    gaps = np.column_stack([firsts_ns - before_ns, before_ns + spins_ns + after_ns])
    life = Life(host_hz=host_hz, gaps=[(float(at), float(long)) for at, long in gaps])
    windows = simulate(life, ends_ns=[0.5e9 * (k + 1) for k in range(2 * SECONDS)])
    origin = windows[0].segment.origin_cycles
    injected = np.zeros(n, INJECTED)
    injected["spin_cycles"] = np.round(spins_ns * CYCLES_PER_NS)
    injected["first_cycles"] = origin + np.round(firsts_ns * CYCLES_PER_NS)
    injected["last_cycles"] = injected["first_cycles"] + injected["spin_cycles"]
    switches = np.zeros(n, SWITCH)
    switches["out_cycles"] = np.round((firsts_ns - 1_000) * CYCLES_PER_NS)
    switches["in_cycles"] = np.round((firsts_ns + spins_ns + 1_000) * CYCLES_PER_NS)
    return tuple(_with_switches(window, switches) for window in windows), injected


def _with_switches(window: Window, switches: NDArray[np.void]) -> Window:
    out = switches["out_cycles"]
    mine = switches[(out >= window.start_cycles) & (out < window.end_cycles)]
    return replace(window, switches=mine, switch_count=len(mine))


def traced(seconds: int = 2) -> list[Analysis]:
    """Readings with a trace in which every tick's timer interrupt lies where the tick's gap is."""
    analyses = []
    for analysis in read(
        simulate(Life(noise_hz=300.0), ends_ns=[float(k + 1) * 1e9 for k in range(seconds)])
    ):
        window = analysis.window
        gaps = window.details[analysis.ticks > 0]
        middle = gaps["start_cycles"] + gaps["gap_cycles"] // 2
        events = [
            *((int(at) - 900, KernelEvent.TIMER_ENTRY, None) for at in middle),
            *((int(at), KernelEvent.TICK, None) for at in middle),
            *((int(at) + 900, KernelEvent.TIMER_EXIT, None) for at in middle),
        ]
        trace = make_trace(*sorted(events, key=lambda event: event[0]))
        analyses.append(replace(analysis, window=replace(window, trace=trace)))
    return analyses


Fault = Callable[[Window], Window]


def drops_gaps(window: Window) -> Window:
    """One of twenty interruptions is not recorded."""
    keep = np.arange(len(window.details)) % 20 != 7
    return _with(window, window.details[keep])


def counts_twice(window: Window) -> Window:
    return _with(window, np.repeat(window.details, 2))


def clock_is_scaled(window: Window) -> Window:
    details = window.details.copy()
    details["gap_cycles"] = np.round(details["gap_cycles"] * 1.02)
    return _with(window, details)


def comes_late(window: Window) -> Window:
    """Each interruption is put 20 us after where it was."""
    details = window.details.copy()
    details["start_cycles"] += round(20_000 * CYCLES_PER_NS)
    return _with(window, details)


def _with(window: Window, details: NDArray[np.void]) -> Window:
    assert details.dtype == INTERRUPTION
    return replace(
        window,
        details=details,
        interruptions=len(details),
        gap_sum_cycles=int(details["gap_cycles"].sum()),
    )
