"""The collector with a real sampler on a real CPU."""

from __future__ import annotations

import errno
import os
import queue
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from tickmon.analysis import Clocks, analyse
from tickmon.machine.affinity import keep_away
from tickmon.machine.facts import Machine, read_machine
from tickmon.machine.limits import throttle_ns
from tickmon.sampling import collector as collecting
from tickmon.sampling import run as running_samplers
from tickmon.sampling.collector import Collector
from tickmon.sampling.sampler import Sampler
from tickmon.windows import Ended, Event, Method, OpenGap, Settings, Window

WAIT_S = 30.0
"""Far longer than anything takes: a test fails by it only when nothing comes at all."""


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    before = os.sched_getaffinity(0)
    machine = read_machine()
    if len(machine.cpus.usable) < 2:
        pytest.skip("one CPU alone cannot be sampled and collect from itself")
    keep_away([max(machine.cpus.usable)], machine.cpus)
    yield machine
    os.sched_setaffinity(0, before)


def settings(
    machine: Machine, *, window_s: float = 0.2, method: Method = Method.GAP, priority: int = 0
) -> Settings:
    cpu = max(machine.cpus.usable)
    return Settings(cpu=cpu, window_s=window_s, method=method, priority=priority)


class Heard:
    """The events of a source, in order."""

    def __init__(self) -> None:
        self.events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    def next(self) -> Event:
        return self.events.get(timeout=WAIT_S)

    def window(self) -> Window:
        while True:
            event = self.next()
            if isinstance(event, Window) and not event.provisional:
                return event
            assert not isinstance(event, Ended), event.error

    def until_ended(self) -> tuple[list[Window], Ended]:
        windows: list[Window] = []
        while True:
            event = self.next()
            if isinstance(event, Ended):
                return windows, event
            if isinstance(event, Window) and not event.provisional:
                windows.append(event)


@contextmanager
def running(collector: Collector) -> Iterator[Heard]:
    heard = Heard()
    collector.start(heard.events.put)
    try:
        yield heard
    finally:
        collector.stop()


def samplers() -> list[int]:
    """The sampler processes that this process started."""
    children = Path(f"/proc/self/task/{os.getpid()}").parent
    pids = [int(pid) for task in children.iterdir() for pid in (task / "children").read_text().split()]
    return [pid for pid in pids if Path(f"/proc/{pid}/comm").read_text() == "tickmon-sampler\n"]


def test_windows_touch_and_hold_every_interruption_that_they_count(machine: Machine) -> None:
    # Five, however long they take: where the sampler hardly gets to run, a second is fewer and longer ones.
    with running(Collector(settings(machine), machine)) as heard:
        windows = [heard.window() for _ in range(5)]
    assert [window.window for window in windows] == [1, 2, 3, 4, 5]
    assert windows[0].start_cycles == 0
    for before, after in pairwise(windows):
        assert before.end_cycles == after.start_cycles
    for window in windows:
        assert len(window.details) == window.interruptions - window.lost
        assert window.counts.sum() == window.interruptions
        assert window.details["start_cycles"].min(initial=window.start_cycles) >= window.start_cycles
        ends = window.details["start_cycles"] + window.details["gap_cycles"]
        assert ends.max(initial=window.start_cycles) <= window.end_cycles
        if not window.lost:
            assert window.details["gap_cycles"].sum() == window.gap_sum_cycles


def test_observed_span_covers_the_wall_time_and_nothing_is_lost(machine: Machine) -> None:
    with running(Collector(settings(machine), machine, duration_s=2.0)) as heard:
        windows, ended = heard.until_ended()
    assert ended.error is None
    span_s = sum(window.length_cycles for window in windows) / windows[0].segment.tsc_hz
    wall_s = (windows[-1].clocks[-1].monotonic_ns - windows[0].clocks[0].monotonic_ns) / 1e9
    assert sum(window.lost for window in windows) == 0
    assert span_s == pytest.approx(wall_s, abs=0.02)


def test_first_look_comes_before_the_first_window(machine: Machine) -> None:
    with running(Collector(settings(machine, window_s=1.0), machine)) as heard:
        event = heard.next()
        while isinstance(event, OpenGap):
            event = heard.next()
        assert isinstance(event, Window)
        assert event.provisional
        window = heard.window()
        assert window.window == event.window == 1
        assert window.end_cycles > event.end_cycles


def test_ticks_that_are_due_are_seen(machine: Machine) -> None:
    clocks = Clocks()
    with running(Collector(settings(machine, window_s=0.5), machine, duration_s=2.0)) as heard:
        windows, _ = heard.until_ended()
    verdicts = []
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        verdicts.append(analysis.check.verdict)
    assert verdicts
    assert set(verdicts) <= {"ok", "stopped"}


def test_stopped_collector_hands_on_what_the_open_window_holds(machine: Machine) -> None:
    collector = Collector(settings(machine, window_s=60.0), machine)
    with running(collector) as heard:
        heard.next()
        collector.stop()
    partial = heard.window()
    assert partial.length_cycles > 0
    assert heard.events.empty()


def test_no_sampler_is_left_when_the_collector_stops(machine: Machine) -> None:
    collector = Collector(settings(machine), machine)
    with running(collector) as heard:
        heard.window()
        assert len(samplers()) == 1
    assert samplers() == []
    collector.stop()


def test_loop_method_ends_by_itself_after_one_pass(machine: Machine) -> None:
    asked = Settings(cpu=max(machine.cpus.usable), method=Method.LOOP, samples=2000)
    with running(Collector(asked, machine)) as heard:
        windows, ended = heard.until_ended()
    assert ended.error is None
    assert sum(window.interruptions for window in windows) == 2000
    assert all(window.segment.threshold_cycles is None for window in windows)


def test_killed_sampler_is_noticed_and_the_finished_windows_stand(machine: Machine) -> None:
    with running(Collector(settings(machine), machine)) as heard:
        heard.window()
        (pid,) = samplers()
        os.kill(pid, signal.SIGKILL)
        _, ended = heard.until_ended()
    assert ended.error is not None
    assert "SIGKILL" in ended.error


@pytest.mark.parametrize("dated", [True, False])
def test_stopped_sampler_shows_an_open_gap_that_grows_and_then_is_left_out(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, dated: bool
) -> None:
    if not dated:
        monkeypatch.setattr(Sampler, "date_switches", lambda _: False)
    with running(Collector(settings(machine), machine)) as heard:
        heard.window()
        (pid,) = samplers()
        os.kill(pid, signal.SIGSTOP)
        # A stop that still waits for the sampler to get its CPU would be called off by SIGCONT.
        os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
        # Gaps of before are not of the stop.
        while not heard.events.empty():
            heard.next()
        gaps: list[OpenGap] = []
        while len(gaps) < 3:
            event = heard.next()
            if isinstance(event, OpenGap):
                gaps.append(event)
        os.kill(pid, signal.SIGCONT)
        window = heard.window()
        while not window.excluded:
            window = heard.window()
    assert gaps[0].gap_s < gaps[1].gap_s < gaps[2].gap_s
    (stop,) = window.excluded
    assert stop.code == "stopped"
    assert stop.cycles / window.segment.tsc_hz >= gaps[-1].gap_s
    assert window.gap_sum_cycles == window.details["gap_cycles"].sum() < stop.cycles
    assert window.watched_cycles == window.length_cycles - stop.cycles


def test_throttling_of_a_real_time_sampler_is_left_out_and_named(machine: Machine) -> None:
    with running(Collector(settings(machine, priority=1, window_s=1.0), machine, duration_s=3.0)) as heard:
        # Without somebody who wants to run there nothing would have to be taken from the sampler.
        rival = subprocess.Popen(["sh", "-c", "while :; do :; done"])
        try:
            os.sched_setaffinity(rival.pid, {settings(machine).cpu})
            windows, ended = heard.until_ended()
        finally:
            rival.kill()
            rival.wait()
    if ended.error is not None:
        assert "SCHED_FIFO" in ended.error
        pytest.skip(f"no real-time priority here: {ended.error}")
    throttled = [e for window in windows for e in window.excluded if e.code == "throttled"]
    assert throttled
    hz = windows[0].segment.tsc_hz
    assert all(e.cycles / hz * 1e9 >= throttle_ns() / 2 for e in throttled)
    assert max(window.max_cycles or 0 for window in windows) / hz * 1e9 < throttle_ns() / 2


def test_clocksource_that_changes_leaves_its_window_out_and_begins_a_new_segment(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(machine, clock=replace(machine.clock, name="another"))
    monkeypatch.setattr(collecting, "with_clock_of_now", lambda _: machine)
    with running(Collector(settings(machine), other)) as heard:
        windows = [heard.window()]
        while windows[-1].segment.segment == 1:
            windows.append(heard.window())
    assert [e.code for e in windows[0].excluded] == ["untrusted"]
    assert windows[0].watched_cycles == 0
    assert all(window.excluded == () for window in windows[1:])
    assert {window.segment.segment for window in windows[1:]} == {2}
    (hole,) = [warning for warning in windows[1].warnings if warning.code == "not_measured"]
    assert "clocksource" in hole.message
    assert "machine slept" not in hole.message


def test_windows_say_what_the_kernel_counted_meanwhile(machine: Machine) -> None:
    with running(Collector(settings(machine, window_s=0.5), machine)) as heard:
        counters = heard.window().counters
    assert counters is not None
    assert counters.run_delay_ns is not None
    assert counters.steal_ns is not None
    assert counters.softirqs is not None
    assert all(softirq.count > 0 for softirq in counters.softirqs)


def test_sampler_whose_lease_ran_out_is_replaced_in_a_new_segment(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As after a SIGSTOP of the whole program: nobody renews the lease for longer than it lasts.
    monkeypatch.setattr(collecting, "LEASE_S", 0.05)
    with running(Collector(settings(machine, window_s=0.5), machine)) as heard:
        window = heard.window()
        while window.segment.segment < 2:
            window = heard.window()
    assert window.segment.reason == "jump"
    assert window.start_cycles == 0
    assert "not_measured" in [warning.code for warning in window.warnings]


def test_clocks_are_read_all_through_a_window(machine: Machine) -> None:
    with running(Collector(settings(machine, window_s=1.0), machine)) as heard:
        window = heard.window()
    cycles = [reading.cycles - window.segment.origin_cycles for reading in window.clocks]
    assert len(cycles) >= 5
    assert cycles == sorted(cycles)


def test_nothing_provisional_comes_where_nobody_looks(machine: Machine) -> None:
    with running(Collector(settings(machine), machine, duration_s=0.5, looks=False)) as heard:
        events = []
        while not isinstance(event := heard.next(), Ended):
            events.append(event)
    assert not [event for event in events if isinstance(event, Window) and event.provisional]


def test_run_whose_sampler_does_not_get_its_cpu_any_more_ends_and_says_so(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running_samplers, "OVERDUE_S", 0.2)
    with running(Collector(settings(machine), machine, duration_s=0.6)) as heard:
        heard.window()
        (pid,) = samplers()
        os.kill(pid, signal.SIGSTOP)
        _, ended = heard.until_ended()
    assert ended.error is not None
    assert f"CPU {max(machine.cpus.usable)} gave the sampler no time" in ended.error
    assert samplers() == []


def test_cpu_that_does_not_exist_is_refused_in_one_line(machine: Machine) -> None:
    missing = max(machine.cpus.possible) + 1
    with running(Collector(Settings(cpu=missing), machine)) as heard:
        _, ended = heard.until_ended()
    assert ended.error is not None
    assert f"CPU {missing}" in ended.error
    assert "\n" not in ended.error


@pytest.mark.parametrize(
    ("fault", "words", "ends_all"),
    [
        (ZeroDivisionError("broken"), "internal error", True),
        (MemoryError(), "out of memory", True),
        (OSError(errno.EMFILE, "Too many open files"), "no more files may be opened here", False),
    ],
)
def test_a_fault_is_handed_on_and_a_lack_of_files_is_none(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, fault: Exception, words: str, ends_all: bool
) -> None:
    def broken(*_: object) -> None:
        raise fault

    monkeypatch.setattr(collecting, "gather_facts", broken)
    with running(Collector(settings(machine), machine)) as heard:
        _, ended = heard.until_ended()
    assert ended.error is not None
    assert words in ended.error
    assert (ended.fault is fault) is ends_all


def test_sampler_that_never_gets_its_cpu_is_given_up(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collecting, "START_S", 0.0)
    with running(Collector(settings(machine), machine)) as heard:
        deadline = time.monotonic() + WAIT_S
        event = heard.next()
        while not isinstance(event, Ended) and time.monotonic() < deadline:
            event = heard.next()
    assert isinstance(event, Ended)
    assert samplers() == []
