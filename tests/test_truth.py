"""The interruptions that hold a tick, against the kernel's own trace."""

from __future__ import annotations

import os
import queue
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.kernel_trace import KernelTrace, require_kernel_trace, tick_expiries
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, add
from tickmon.machine.affinity import keep_away
from tickmon.machine.facts import Machine, read_machine
from tickmon.sampling.collector import Collector
from tickmon.windows import Ended, Event, Settings, Window

SECONDS = 8.0
ENOUGH = 0.9995

NEVER_SLEEPS = "while True: pass"
WAKES = "import time\nwhile True:\n time.sleep(0.01)\n for _ in range(2000): pass"


@dataclass(frozen=True, kw_only=True)
class Held:
    """What the reading and the trace say of the same stretch."""

    precision: float
    recall: float
    ticks: int
    analysis: Analysis


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    require_kernel_trace()
    machine = read_machine()
    if len(machine.cpus.usable) < 2:
        pytest.skip("one CPU alone cannot be sampled and collect from itself")
    before = os.sched_getaffinity(0)
    keep_away([max(machine.cpus.usable)], machine.cpus)
    yield machine
    os.sched_setaffinity(0, before)


@contextmanager
def load(script: str | None, *, cpu: int) -> Iterator[None]:
    """A Python program that runs on ``cpu`` for as long as this lasts."""
    if script is None:
        yield
        return
    with subprocess.Popen(
        [sys.executable, "-c", f"import os\nos.sched_setaffinity(0, [{cpu}])\nprint(flush=True)\n{script}"],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def hold_against_the_trace(machine: Machine) -> Held:
    """Measures for ``SECONDS`` with the kernel's trace beside it."""
    cpu = max(machine.cpus.usable)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    collector = Collector(Settings(cpu=cpu), machine, duration_s=SECONDS)
    with KernelTrace(cpu, ["timer/hrtimer_expire_entry"]) as trace:
        trace.start()
        collector.start(events.put)
        windows = list(_windows(events))
        collector.stop()
        ticks = tick_expiries(trace.stop())
    analyses = list(_analyses(windows))
    total = NO_TOTAL
    for analysis in analyses:
        total = add(total, analysis)

    origin = windows[0].segment.origin_cycles
    details = np.concatenate([window.details for window in windows])
    claimed = np.concatenate([analysis.ticks for analysis in analyses]) > 0
    inside = (ticks > origin) & (ticks < origin + windows[-1].end_cycles)
    true = _holds(details, ticks[inside] - origin)
    both = np.count_nonzero(true & claimed)
    return Held(
        precision=both / np.count_nonzero(claimed),
        recall=both / np.count_nonzero(true),
        ticks=int(np.count_nonzero(inside)),
        analysis=total.summary().analysis,
    )


def _windows(events: queue.SimpleQueue[Event]) -> Iterator[Window]:
    while not isinstance(event := events.get(timeout=60), Ended):
        if isinstance(event, Window) and not event.provisional:
            yield event
    assert event.error is None


def _analyses(windows: Sequence[Window]) -> Iterator[Analysis]:
    clocks = Clocks()
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        yield analysis


def _holds(details: NDArray[np.void], ticks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """The details in which a tick's timer expired; every expiry must lie in one."""
    starts = np.ascontiguousarray(details["start_cycles"])
    index = np.searchsorted(starts, ticks, side="right") - 1
    inside = ticks <= starts[index] + details["gap_cycles"][index]
    assert inside.mean() >= ENOUGH, "ticks of the trace lie where the sampler saw no interruption"
    held = np.zeros(len(details), bool)
    held[index[inside]] = True
    return held


def check(held: Held) -> None:
    print(f"precision {held.precision:.4f}, recall {held.recall:.4f}, {held.ticks} ticks")
    assert held.ticks > 0.5 * SECONDS * 100
    assert held.precision >= ENOUGH
    assert held.recall >= ENOUGH


def test_interruptions_that_hold_a_tick_are_the_kernels_own_on_an_idle_cpu(machine: Machine) -> None:
    check(hold_against_the_trace(machine))


def test_they_are_while_the_other_cpus_are_loaded(machine: Machine) -> None:
    with load(NEVER_SLEEPS, cpu=min(machine.cpus.usable)):
        check(hold_against_the_trace(machine))


def test_they_are_while_a_process_wakes_on_the_same_cpu(machine: Machine) -> None:
    with load(WAKES, cpu=max(machine.cpus.usable)):
        check(hold_against_the_trace(machine))


def test_they_are_beside_a_process_that_never_sleeps_and_whose_slices_are_no_cost_of_a_tick(
    machine: Machine,
) -> None:
    with load(NEVER_SLEEPS, cpu=max(machine.cpus.usable)):
        beside = hold_against_the_trace(machine)
    check(beside)
    if beside.analysis.window.switches is None:
        pytest.skip("context switches cannot be dated here")
    preempted = next(source for source in beside.analysis.sources if source.kind == "preemption")
    assert beside.analysis.tick is not None
    tick_cycles, slice_cycles = beside.analysis.tick.spread.median_cycles, preempted.spread.median_cycles
    assert tick_cycles is not None
    assert slice_cycles is not None
    # One tick in a hundred that was mixed up with a slice of the other process would not move the median.
    assert 10 * tick_cycles < slice_cycles
    assert 10 * beside.analysis.tick.spread.overhead_cycles(beside.analysis.baseline_cycles) < (
        preempted.overhead_cycles
    )
