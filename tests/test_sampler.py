"""The real sampler on a real CPU, from Python."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tickmon.analysis.histogram import BINS, bins_of, count_bins
from tickmon.sampling.clocks import counter_hz, read_clocks
from tickmon.sampling.native import SamplerError
from tickmon.sampling.sampler import (
    EXECUTABLE,
    RawWindow,
    Sampler,
    Status,
    bin_of,
)
from tickmon.windows import INTERRUPTION, Method

CPU = max(os.sched_getaffinity(0))
NO_SUCH_CPU = 1279
"""Past the 1,024 CPUs of a common mask; no machine that runs this has so many."""
LONG_LEASE_CYCLES = 10**12
PATIENCE_S = 30.0


def await_(condition: Callable[[], bool]) -> None:
    """Looks again and again: what happens in the shared memory wakes nobody."""
    end = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.0005)


def await_status(sampler: Sampler) -> Status:
    """As soon as it runs, or has failed to."""
    await_(lambda: sampler.status().state != "starting")
    return sampler.status()


def await_window(sampler: Sampler) -> RawWindow:
    """Cut now."""
    assert sampler.cut()
    end = time.monotonic() + PATIENCE_S
    while (window := sampler.take()) is None:
        assert time.monotonic() < end
    return window


def await_exit(pid: int) -> None:
    descriptor = os.pidfd_open(pid)
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    assert poll.poll(PATIENCE_S * 1000)
    os.close(descriptor)


def new_sampler(**changes: Any) -> Sampler:
    settings: dict[str, Any] = {
        "cpu": CPU,
        "method": Method.GAP,
        "threshold_floor_cycles": 500,
        "lease_cycles": LONG_LEASE_CYCLES,
    }
    return Sampler(**{**settings, **changes})


@contextmanager
def running(**changes: Any) -> Iterator[tuple[Sampler, int]]:
    """A sampler that runs, and its pid."""
    with new_sampler(**changes) as sampler:
        status = await_status(sampler)
        assert status.state == "running", status.message
        yield sampler, status.pid


def failed(**changes: Any) -> Status:
    """What a sampler says that could not begin."""
    with new_sampler(**changes) as sampler:
        status = await_status(sampler)
    assert (status.state, status.end) == ("ended", "failed")
    return status


def is_stopped(pid: int) -> bool:
    return "State:\tT" in Path(f"/proc/{pid}/status").read_text()


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """The process does not run for a while."""
    os.kill(pid, signal.SIGSTOP)
    await_(lambda: is_stopped(pid))
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


# What it finds


def test_windows_touch_and_agree_with_their_details() -> None:
    pending = np.empty(0, INTERRUPTION)
    interruptions = 0
    with running() as (sampler, _):
        end_cycles = sampler.status().start_cycles
        for _ in range(500):
            window = await_window(sampler)
            pending = np.concatenate([pending, sampler.drain()])
            details, pending = np.split(pending, [window.interruptions - window.lost])

            assert window.start_cycles == end_cycles
            assert window.end_cycles > end_cycles
            end_cycles = window.end_cycles
            starts, gaps = details["start_cycles"], details["gap_cycles"]
            assert len(details) == window.interruptions
            assert np.all((starts >= window.start_cycles) & (starts + gaps <= window.end_cycles))
            assert gaps.sum() == window.gap_sum_cycles
            assert np.array_equal(count_bins(gaps), window.counts)
            assert window.max_cycles is not None
            assert window.max_cycles >= gaps.max(initial=0)
            assert window.min_cycles is not None
            assert window.reads * window.min_cycles <= window.end_cycles - window.start_cycles
            assert window.exclusions == ()
            interruptions += window.interruptions
    assert interruptions > 0


def test_what_began_before_the_mark_can_be_drained() -> None:
    with running() as (sampler, pid):
        for _ in range(20):
            with stopped(pid):
                stopped_at = read_clocks().cycles
            await_(lambda: sampler.status().mark_cycles > stopped_at + 100_000)  # noqa: B023
            details = sampler.drain()
            assert np.count_nonzero(
                (details["start_cycles"] <= stopped_at)
                & (details["start_cycles"] + details["gap_cycles"] > stopped_at)
            )


def test_a_stopped_sampler_has_one_long_interruption_and_loses_nothing() -> None:
    with running() as (sampler, pid):
        with stopped(pid):
            before = read_clocks().cycles
            time.sleep(0.05)
            after = read_clocks().cycles
        await_(lambda: sampler.status().mark_cycles > after)
        window = await_window(sampler)
        details = sampler.drain()

    ends = details["start_cycles"] + details["gap_cycles"]
    assert np.count_nonzero((details["start_cycles"] <= before) & (ends >= after)) == 1
    assert window.max_cycles is not None
    assert window.max_cycles >= after - before
    assert window.lost == 0


def test_a_pass_of_the_loop_method_has_its_samples_and_ends() -> None:
    with new_sampler(method=Method.LOOP, samples=300, loop_size=2000) as sampler:
        await_(lambda: sampler.status().state == "ended")
        status = sampler.status()
        window = sampler.take()
        samples = sampler.drain()
        assert sampler.take() is None

    assert (status.end, status.message) == ("complete", None)
    assert status.threshold_cycles == 0
    assert window is not None
    assert window.interruptions == window.reads == len(samples) == 300
    assert samples["gap_cycles"].min() == window.min_cycles
    assert samples["gap_cycles"].max() == window.max_cycles
    assert samples["gap_cycles"].sum() == window.gap_sum_cycles


def test_the_threshold_is_the_one_given_or_not_below_the_floor() -> None:
    with running(threshold_cycles=12345) as (sampler, _):
        assert sampler.status().threshold_cycles == 12345
    with running(threshold_floor_cycles=54321) as (sampler, _):
        status = sampler.status()
        assert status.threshold_cycles == max(54321, 4 * status.typical_cycles, 3 * status.step_cycles)


def test_dated_switches_lie_inside_recorded_gaps() -> None:
    with running() as (sampler, pid):
        if not sampler.date_switches():
            pytest.skip("context switches can't be dated here")
        first = read_clocks()
        for _ in range(5):
            with stopped(pid):
                pass
            await_window(sampler)
        last = read_clocks()
        await_window(sampler)
        details = sampler.drain()
        switches, lost = sampler.switches()

    assert lost == 0
    # Another task may have run there, too.
    assert np.count_nonzero(switches[:, 2]) == 5
    raw_ns = [first.monotonic_raw_ns, last.monotonic_raw_ns]
    hz = (last.cycles - first.cycles) / (raw_ns[1] - raw_ns[0]) * 1e9
    out, in_ = ((switches[:, :2] - raw_ns[0]) * (hz / 1e9) + first.cycles).T
    slack = first.uncertain_cycles + last.uncertain_cycles + hz * 1e-6
    holder = np.searchsorted(details["start_cycles"], out + slack) - 1
    ends = details["start_cycles"][holder] + details["gap_cycles"][holder]
    assert np.all(holder >= 0)
    assert np.all(ends + slack >= in_)


# Its process


def test_process_is_named_and_says_what_it_is_there_for() -> None:
    with running() as (_, pid):
        assert Path(f"/proc/{pid}/comm").read_text() == "tickmon-sampler\n"
        arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
        assert arguments == ["tickmon-sampler", f"cpu {CPU}", f"for pid {os.getpid()}", ""]


def test_explicit_cpu_overrides_the_inherited_mask() -> None:
    usable = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(usable)})
    try:
        with running() as (_, pid):
            assert os.sched_getaffinity(pid) == {CPU}
    finally:
        os.sched_setaffinity(0, usable)


def test_sampler_holds_no_pipe_and_no_terminal() -> None:
    read_end, write_end = os.pipe()
    os.set_inheritable(write_end, True)
    with running() as (_, pid):
        os.close(write_end)
        # Would raise BlockingIOError while anybody could still write.
        os.set_blocking(read_end, False)
        assert os.read(read_end, 1) == b""
        assert {os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()} == {"/dev/null"}
        assert os.getsid(pid) == pid
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
    os.close(read_end)


def test_stop_ends_the_process_and_may_be_called_twice() -> None:
    with running() as (sampler, pid):
        sampler.stop()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        sampler.stop()
        with pytest.raises(ValueError, match="stopped"):
            sampler.status()


def test_stop_ends_even_a_stopped_process() -> None:
    with running() as (sampler, pid):
        os.kill(pid, signal.SIGSTOP)
        sampler.stop()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_stop_works_where_nobody_waits_for_children() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        with running() as (sampler, pid):
            sampler.stop()
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_signals_that_python_blocks_still_end_the_sampler() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        with running() as (sampler, pid):
            os.kill(pid, signal.SIGTERM)
            await_(lambda: sampler.status().state == "ended")
            status = sampler.status()
            assert sampler.take() is None
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    assert status.end == "killed"
    assert status.message is not None
    assert "SIGTERM" in status.message
    assert f"CPU {CPU}" in status.message


def test_sampler_ends_when_its_lease_runs_out() -> None:
    with new_sampler(lease_cycles=10**6) as sampler:
        await_exit(sampler.status().pid)
        status = sampler.status()
        window = sampler.take()
    assert (status.state, status.end) == ("ended", "lease")
    assert window is not None
    assert window.end_cycles - window.start_cycles > 10**6


def test_sampler_ends_with_the_thread_that_started_it() -> None:
    started: list[Sampler] = []

    def start() -> None:
        started.append(new_sampler())
        await_status(started[0])

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    with started[0] as sampler:
        await_(lambda: sampler.status().state == "ended")
        assert sampler.status().end == "killed"


def test_sampler_that_is_moved_to_another_cpu_ends() -> None:
    others = os.sched_getaffinity(0) - {CPU}
    if not others:
        pytest.skip("there is no other CPU")
    with running() as (sampler, pid):
        os.sched_setaffinity(pid, others)
        await_(lambda: sampler.status().state == "ended")
        status = sampler.status()
        window = sampler.take()
    assert status.end == "moved"
    assert status.message is not None
    assert f"off CPU {CPU}" in status.message
    assert window is not None
    assert [exclusion.code for exclusion in window.exclusions] == ["moved"]
    assert window.exclusion_count == 1


def run_python(program: str, *before: str) -> subprocess.Popen[str]:
    """A Python of its own; ``program`` has new_sampler and await_status."""
    head = "from tests.test_sampler import new_sampler, await_status\n"
    return subprocess.Popen(
        [*before, sys.executable, "-c", head + program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
    )


def test_sampler_ends_when_its_parent_is_killed() -> None:
    program = "print(await_status(sampler := new_sampler()).pid, flush=True); input()"
    with run_python(program) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
        await_exit(pid)


# What is refused


def test_cpu_that_does_not_exist_is_refused_in_one_line() -> None:
    message = failed(cpu=NO_SUCH_CPU).message
    assert message is not None
    assert message.startswith(f"CPU {NO_SUCH_CPU} is not usable here: offline, or outside this cpuset")
    assert "\n" not in message


@pytest.fixture
def cpuset() -> Iterator[Path]:
    """A cpuset of its own, without CPU."""
    others = os.sched_getaffinity(0) - {CPU}
    files = [Path("/sys/fs/cgroup/cpuset/cpuset.cpus"), Path("/sys/fs/cgroup/cpuset.cpus.effective")]
    parent = next((file.parent for file in files if file.exists()), None)
    if parent is None or not os.access(parent, os.W_OK) or not others:
        pytest.skip("no cpuset can be made here")
    folder = parent / f"tickmon-test-{os.getpid()}"
    try:
        folder.mkdir()
        try:
            (folder / "cpuset.cpus").write_text(str(min(others)))
            (folder / "cpuset.mems").write_text("0")
            yield folder
        finally:
            await_(lambda: (folder / "cgroup.procs").read_text() == "")
            folder.rmdir()
    except OSError as error:
        pytest.skip(f"no cpuset can be made here: {error}")


def test_cpu_outside_the_cpuset_is_refused_in_one_line(cpuset: Path) -> None:
    program = f"""
import os
open({str(cpuset / "cgroup.procs")!r}, "w").write(str(os.getpid()))
with new_sampler(cpu={CPU}) as sampler:
    print(await_status(sampler).message)
"""
    with run_python(program) as child:
        message, _ = child.communicate(timeout=PATIENCE_S)
    assert message.startswith(f"CPU {CPU} is not usable here: offline, or outside this cpuset")


def test_priority_that_is_not_permitted_is_refused_in_one_line() -> None:
    program = "with new_sampler(priority=5) as sampler: print(await_status(sampler).message)"
    before = ["prlimit", "--rtprio=0"]
    if os.geteuid() == 0:
        before += ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"]
    with run_python(program, *before) as child:
        message, _ = child.communicate(timeout=PATIENCE_S)
    assert message.startswith(f"SCHED_FIFO priority 5 is not permitted for CPU {CPU}: Operation not")
    assert "go without --priority" in message


def test_priority_that_is_permitted_is_set() -> None:
    with new_sampler(priority=1) as sampler:
        status = await_status(sampler)
        if status.end == "failed":
            pytest.skip(str(status.message))
        assert os.sched_getscheduler(status.pid) == os.SCHED_FIFO


def test_missing_executable_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(SamplerError, match=r"cannot start the sampler .*/gone \(it is missing: install"):
        new_sampler(executable=tmp_path / "gone")


def test_executable_that_may_not_run_is_refused_in_one_line(tmp_path: Path) -> None:
    shutil.copyfile(EXECUTABLE, tmp_path / "sampler")
    with pytest.raises(SamplerError, match=r"must have the run bit, on a file system that is not .* noexec"):
        new_sampler(executable=tmp_path / "sampler")


def test_executable_of_another_machine_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "sampler").write_bytes(b"\x7fELF of some other machine")
    (tmp_path / "sampler").chmod(0o755)
    with pytest.raises(SamplerError, match="built for another machine"):
        new_sampler(executable=tmp_path / "sampler")


def test_executable_of_another_version_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "sampler").write_text("#!/bin/sh\nexit 3\n")
    (tmp_path / "sampler").chmod(0o755)
    message = failed(executable=tmp_path / "sampler").message
    assert (
        message
        == f"the sampler for CPU {CPU} could not begin (exit code 3); install tickmon again on this machine"
    )


def test_executable_runs_from_a_path_with_blanks(tmp_path: Path) -> None:
    folder = tmp_path / "a folder, with blanks"
    folder.mkdir()
    shutil.copy(EXECUTABLE, folder / "tickmon-sampler")
    with running(executable=folder / "tickmon-sampler"):
        pass


def test_settings_without_sense_are_refused() -> None:
    with pytest.raises(SamplerError, match="Invalid argument"):
        new_sampler(lease_cycles=0)
    with pytest.raises(SamplerError, match="Invalid argument"):
        new_sampler(method=Method.LOOP, loop_size=0)


# Clocks and bins


def test_all_clocks_are_read_at_one_moment() -> None:
    before = read_clocks()
    ns = [
        time.clock_gettime_ns(c)
        for c in (time.CLOCK_MONOTONIC, time.CLOCK_MONOTONIC_RAW, time.CLOCK_REALTIME)
    ]
    after = read_clocks()
    assert before.cycles < after.cycles
    assert before.monotonic_ns <= ns[0] <= after.monotonic_ns
    assert before.monotonic_raw_ns <= ns[1] <= after.monotonic_raw_ns
    assert before.realtime_ns <= ns[2] <= after.realtime_ns


def test_stated_frequency_is_a_frequency() -> None:
    hz = counter_hz()
    assert hz is None or 1e5 < hz < 1e11


@given(st.integers(0, 2**53 - 1))
@example(7)
@example(8)
@example(2**53 - 1)
def test_c_and_python_have_the_same_bins(cycles: int) -> None:
    assert bin_of(cycles) == bins_of(np.array([cycles]))[()]


def test_the_longest_gap_of_all_has_the_last_bin() -> None:
    assert bin_of(2**64 - 1) == BINS - 1
