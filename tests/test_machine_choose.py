"""Which CPU is measured, and which of them our own threads stay away from."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from tests.trees import plant
from tickmon.errors import TickmonError, UsageError
from tickmon.machine.affinity import choose_home, keep_away
from tickmon.machine.busy import CpuUse, Occupant
from tickmon.machine.choose import check_cpus, default_cpu
from tickmon.machine.cpulist import parse_cpu_list
from tickmon.machine.cpus import Cpus, read_cpus
from tickmon.machine.limits import priority_refusal


def make_cpus(
    usable: str,
    *,
    online: str | None = None,
    possible: str | None = None,
    allowed: str | None = None,
    isolated: str = "",
    nohz_full: str = "",
    cores: tuple[str, ...] = (),
) -> Cpus:
    def cpus(text: str) -> frozenset[int]:
        return frozenset(parse_cpu_list(text))

    return Cpus(
        possible=cpus(possible or online or usable),
        online=cpus(online or usable),
        usable=cpus(usable),
        allowed=cpus(allowed or usable),
        isolated=cpus(isolated),
        nohz_full=cpus(nohz_full),
        siblings={cpu: cpus(core) - {cpu} for core in cores for cpu in cpus(core)},
    )


def looking(
    *, busy: str = "", asked: list[int] | None = None
) -> Callable[[Collection[int]], Mapping[int, CpuUse]]:
    """A look that finds some CPUs busy, and remembers which it was asked about."""
    occupied = parse_cpu_list(busy)

    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        if asked is not None:
            asked.extend(cpus)
        work = (Occupant(name="trader", pid=77, share=0.98),)
        return {
            cpu: CpuUse(cpu=cpu, idle_share=0.02, occupants=work)
            if cpu in occupied
            else CpuUse(cpu=cpu, idle_share=1.0, occupants=())
            for cpu in cpus
        }

    return look


@pytest.mark.parametrize(
    ("cpus", "busy", "cpu", "reason"),
    [
        (make_cpus("0-3"), "", 3, "the highest idle CPU"),
        (make_cpus("0-3"), "3", 2, "the highest idle CPU"),
        (make_cpus("0,2,64"), "", 64, "the highest idle CPU"),
        (make_cpus("0-7", isolated="2-3"), "", 3, "isolated and idle"),
        (make_cpus("0-7", isolated="2-3"), "3", 2, "isolated and idle"),
        (make_cpus("0-7", isolated="2-3"), "2-3", 7, "the highest idle CPU"),
        (make_cpus("0-7", nohz_full="4"), "", 4, "nohz_full and idle"),
        (make_cpus("0-7", isolated="4", nohz_full="4"), "", 4, "isolated, nohz_full and idle"),
    ],
)
def test_idle_cpu_is_chosen_a_quiet_one_first(cpus: Cpus, busy: str, cpu: int, reason: str) -> None:
    choice = default_cpu(cpus, looking(busy=busy))
    assert (choice.cpu, choice.reason) == (cpu, reason)


def test_inherited_mask_limits_what_is_chosen() -> None:
    asked: list[int] = []
    assert default_cpu(make_cpus("0-7", allowed="1-2"), looking(asked=asked)).cpu == 2
    assert asked == [1, 2]


def test_mask_that_boots_without_the_isolated_cpus_is_nobodys_wish() -> None:
    cpus = make_cpus("0-7", allowed="0-3", isolated="4-7")
    assert default_cpu(cpus, looking()).cpu == 7


def test_mask_of_cpus_that_cannot_be_used_limits_nothing() -> None:
    assert default_cpu(make_cpus("0-3", allowed="9"), looking()).cpu == 3


def test_only_cpu_is_not_taken_from_the_screen() -> None:
    asked: list[int] = []
    with pytest.raises(TickmonError, match="--cpu 5") as caught:
        default_cpu(make_cpus("5"), looking(asked=asked))
    assert caught.value.exit_code == 1
    assert not asked


def test_without_an_idle_cpu_the_busy_ones_and_their_work_are_named() -> None:
    with pytest.raises(TickmonError) as caught:
        default_cpu(make_cpus("0-7"), looking(busy="0-7"))
    line = str(caught.value)
    assert "CPU 0 runs trader (98.0 %); CPU 1" in line
    assert "4 more" in line
    assert "--cpu" in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ((9,), "there is no CPU 9"),
        ((2, 9), "there is no CPU 9"),
        ((6,), "CPU 6 is offline"),
        ((0,), "CPU 0 is outside the cpuset"),
        ((), "names no CPU"),
    ],
)
def test_cpu_that_cannot_be_measured_is_wrong_usage(asked: tuple[int, ...], why: str) -> None:
    with pytest.raises(UsageError, match=why) as caught:
        check_cpus(make_cpus("2-5", online="0-5", possible="0-7"), asked)
    assert "2-5" in str(caught.value)


def test_mask_does_not_stand_against_a_cpu_that_is_named() -> None:
    check_cpus(make_cpus("0-7", allowed="0"), (5, 7), keep_one_free=True)


def test_one_usable_cpu_stays_free_where_that_is_asked() -> None:
    cpus = make_cpus("0-1")
    check_cpus(cpus, (0, 1))
    with pytest.raises(UsageError, match="CPUs 0-1 must stay free"):
        check_cpus(cpus, (0, 1), keep_one_free=True)


def test_where_one_cpu_is_all_there_is_naming_it_says_what_to_do() -> None:
    with pytest.raises(UsageError, match="tickmon watch --cpu 0 measures it all the same"):
        check_cpus(make_cpus("0"), (0,), keep_one_free=True)


@pytest.mark.parametrize(
    ("cpus", "sampled", "home", "warning"),
    [
        (make_cpus("0-3"), {3}, {0, 1, 2}, None),
        (make_cpus("0-7", cores=("0,4", "1,5", "2,6", "3,7")), {3}, {0, 1, 2, 4, 5, 6}, None),
        (make_cpus("0-7", isolated="4-5", nohz_full="6-7"), {4}, {0, 1, 2, 3}, None),
        (make_cpus("0-7", allowed="1-2"), {2}, {1}, None),
        (make_cpus("0-7", allowed="2"), {2}, {0, 1, 3, 4, 5, 6, 7}, None),
        (make_cpus("0-1", cores=("0,1",)), {1}, {0}, "tickmon itself shares a core with CPU 1"),
        (make_cpus("0-3", cores=("0,1", "2,3"), isolated="2-3"), {1}, {0}, "shares a core with CPU 1"),
        (make_cpus("0-3", isolated="1-3", cores=("0,1",)), {0}, {2, 3}, "runs on CPUs 2-3"),
        (make_cpus("3"), {3}, {3}, "runs on CPU 3 too"),
        (make_cpus("0-1"), {0, 1}, {0, 1}, "runs on CPUs 0-1 too"),
    ],
)
def test_own_threads_stay_away_from_the_measured_core(
    cpus: Cpus, sampled: set[int], home: set[int], warning: str | None
) -> None:
    found, words = choose_home(frozenset(sampled), cpus)
    assert found == frozenset(home)
    assert (words is None) if warning is None else (warning in (words or ""))


def test_every_thread_is_moved_also_one_that_starts_meanwhile(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/self/task/10/stat": "", "proc/self/task/11/stat": ""})
    moved: dict[int, Collection[int]] = {}

    def set_affinity(thread: int, cpus: Collection[int]) -> None:
        moved[thread] = cpus
        if thread == 11:
            plant(tmp_path, {"proc/self/task/12/stat": ""})

    assert keep_away({1}, make_cpus("0-1"), root=tmp_path, set_affinity=set_affinity) is None
    assert moved == {10: {0}, 11: {0}, 12: {0}}


def test_thread_that_vanished_is_no_error(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/self/task/10/stat": "", "proc/self/task/11/stat": ""})
    moved = []

    def set_affinity(thread: int, cpus: Collection[int]) -> None:
        if thread == 10:
            raise ProcessLookupError
        moved.append(thread)

    assert keep_away({1}, make_cpus("0-1"), root=tmp_path, set_affinity=set_affinity) is None
    assert moved == [11]


def test_refusal_of_the_kernel_is_told(tmp_path: Path) -> None:
    def set_affinity(thread: int, cpus: Collection[int]) -> None:
        raise OSError(22, "Invalid argument")

    words = keep_away({1}, make_cpus("0-1"), root=tmp_path, set_affinity=set_affinity)
    assert words == "tickmon's own threads could not be moved off CPU 1: Invalid argument"


def test_masks_may_be_of_any_size_and_change_again_and_again() -> None:
    # In a process of its own, whose threads may be moved. Numbers that the kernel does not have fall away.
    code = """
import os, threading
from tests.test_machine_choose import make_cpus
from tickmon.machine.affinity import keep_away
have = sorted(os.sched_getaffinity(0))
end = threading.Event()
thread = threading.Thread(target=end.wait)
thread.start()
cpus = make_cpus(",".join(map(str, [*have, 1500, 5000])))
for sampled in (have[0], have[-1], 5000, have[0]):
    assert keep_away({sampled}, cpus) is None or len(have) == 1
    for tid in (0, thread.native_id):
        assert os.sched_getaffinity(tid) == (set(have) - {sampled} or set(have)), sampled
end.set()
"""
    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("needs two CPUs")
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)


def test_moving_our_threads_needs_no_second_look_at_their_masks() -> None:
    before = os.sched_getaffinity(0)
    cpus = read_cpus()
    try:
        keep_away({max(cpus.usable)}, cpus)
        assert os.sched_getaffinity(0) <= cpus.usable
        assert os.sched_getaffinity(threading.get_native_id())
    finally:
        keep_away((), cpus)
    assert os.sched_getaffinity(0) == before


@pytest.mark.parametrize(
    ("runtime", "period", "refused"),
    [
        ("950000", "1000000", False),
        ("-1", "1000000", True),
        ("1000000", "1000000", True),
        ("950000", "", False),
    ],
)
def test_priority_is_refused_where_real_time_tasks_have_no_limit(
    tmp_path: Path, runtime: str, period: str, refused: bool
) -> None:
    plant(tmp_path, {"proc/sys/kernel/sched_rt_runtime_us": f"{runtime}\n"})
    plant(tmp_path, {"proc/sys/kernel/sched_rt_period_us": f"{period}\n"})
    refusal = priority_refusal(tmp_path)
    assert (refusal is not None) is refused
    if refusal:
        assert runtime in refusal


def test_priority_is_refused_where_the_limit_cannot_be_read(tmp_path: Path) -> None:
    assert "cannot be read" in (priority_refusal(tmp_path) or "")


def test_choosing_a_cpu_loads_nothing_that_starts_threads() -> None:
    # numpy's threads must not start before this process has left the measured CPU.
    code = """
import sys
import tickmon.machine.affinity, tickmon.machine.choose, tickmon.machine.cpus, tickmon.machine.limits
print({"numpy", "textual", "_cffi_backend"} & set(sys.modules))
import tickmon.machine.clock, tickmon.machine.host, tickmon.machine.interrupts, tickmon.machine.kernel
print({"textual", "_cffi_backend"} & set(sys.modules))
"""
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.split() == ["set()", "set()"]
