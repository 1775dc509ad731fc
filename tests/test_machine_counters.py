"""What the kernel counts of one CPU, read from made-up trees."""

from __future__ import annotations

import os
from pathlib import Path

from tests.trees import mounts, plant
from tickmon.machine.counters import Counted, counters_between, read_counters
from tickmon.machine.quota import cpu_groups
from tickmon.windows import SoftirqCount

TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

STAT = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 1 0 2 50 0 0 0 7 0 0\ncpu11 1 0 2 50 0 0 0 8 0 0\nintr 5\n"
SOFTIRQS = (
    "                    CPU0       CPU2       CPU11\n"
    "          HI:          0          1          2\n"
    "       TIMER:         10         20         30\n"
    "      NET_RX:        100        200        300\n"
)


def files(pid: int = 77, **more: str) -> dict[str, str]:
    return {
        "proc/stat": STAT,
        "proc/softirqs": SOFTIRQS,
        f"proc/{pid}/schedstat": "123456 7890 12\n",
        **more,
    }


def test_columns_are_found_by_the_cpus_number_and_not_by_their_place(tmp_path: Path) -> None:
    counted = read_counters(11, 77, None, plant(tmp_path, files()))
    assert counted.softirqs == {"HI": 2, "TIMER": 30, "NET_RX": 300}
    assert counted.steal_ns == 8 * TICK_NS
    assert counted.run_delay_ns == 7890


def test_cpu_without_a_column_has_no_counts_rather_than_none_of_them(tmp_path: Path) -> None:
    counted = read_counters(1, 77, None, plant(tmp_path, files()))
    assert counted.softirqs is None
    assert counted.steal_ns == 7 * TICK_NS


V2 = mounts("/ /sys/fs/cgroup cgroup2 rw")


def counted_in(root: Path, cgroup: str, **more: str) -> Counted:
    """What is counted in the tree of ``files()`` and ``more`` by the groups that it shows."""
    plant(root, files() | {"proc/self/cgroup": cgroup} | more)
    return read_counters(11, 77, cpu_groups(root), root)


def test_throttling_is_read_in_both_versions_of_control_groups(tmp_path: Path) -> None:
    second = V2 | {
        "sys/fs/cgroup/a/b/cpu.stat": "usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 250\n"
    }
    counted = counted_in(tmp_path / "2", "0::/a/b\n", **second)
    assert (counted.throttled_count, counted.throttled_ns) == (4, 250_000)
    first = mounts("/ /sys/fs/cgroup/cpu,cpuacct cgroup rw,cpu,cpuacct") | {
        "sys/fs/cgroup/cpu,cpuacct/a/cpu.stat": "nr_periods 9\nnr_throttled 3\nthrottled_time 777\n"
    }
    groups = "3:cpuset:/\n2:cpu,cpuacct:/a\n1:name=systemd:/x\n0::/\n"
    counted = counted_in(tmp_path / "1", groups, **first)
    assert (counted.throttled_count, counted.throttled_ns) == (3, 777)


def test_limit_of_a_group_above_throttles_too(tmp_path: Path) -> None:
    tree = V2 | {
        "sys/fs/cgroup/pod/cpu.stat": "usage_usec 5\nnr_throttled 4\nthrottled_usec 250\n",
        "sys/fs/cgroup/pod/own/cpu.stat": "usage_usec 5\nnr_throttled 0\nthrottled_usec 0\n",
        "sys/fs/cgroup/cpu.stat": "usage_usec 5\n",
    }
    counted = counted_in(tmp_path, "0::/pod/own\n", **tree)
    assert (counted.throttled_count, counted.throttled_ns) == (4, 250_000)


def test_container_that_does_not_see_its_own_path_reads_what_it_sees(tmp_path: Path) -> None:
    tree = mounts("/docker/1 /sys/fs/cgroup/cpu cgroup rw,cpu") | {
        "sys/fs/cgroup/cpu/cpu.stat": "nr_periods 9\nnr_throttled 3\nthrottled_time 777\n"
    }
    counted = counted_in(tmp_path, "2:cpu:/docker/1\n", **tree)
    assert (counted.throttled_count, counted.throttled_ns) == (3, 777)


def test_group_without_a_limit_says_nothing_of_throttling(tmp_path: Path) -> None:
    tree = V2 | {"sys/fs/cgroup/a/cpu.stat": "usage_usec 5\nuser_usec 3\n"}
    counted = counted_in(tmp_path, "0::/a\n", **tree)
    assert (counted.throttled_count, counted.throttled_ns) == (None, None)


def test_what_cannot_be_read_is_unknown_and_not_zero(tmp_path: Path) -> None:
    nothing = read_counters(0, 1, cpu_groups(tmp_path), tmp_path)
    between = counters_between(nothing, nothing)
    assert (between.run_delay_ns, between.steal_ns, between.throttled_ns, between.softirqs) == (None,) * 4


def test_changes_are_what_came_between_two_readings(tmp_path: Path) -> None:
    before = read_counters(11, 77, None, plant(tmp_path, files()))
    plant(
        tmp_path,
        {
            "proc/softirqs": SOFTIRQS.replace("300", "305"),
            "proc/77/schedstat": "200000 9000 13\n",
            "proc/stat": STAT.replace("cpu11 1 0 2 50 0 0 0 8", "cpu11 1 0 2 50 0 0 0 9"),
        },
    )
    between = counters_between(before, read_counters(11, 77, None, tmp_path))
    assert between.softirqs == (SoftirqCount(name="NET_RX", count=5),)
    assert (between.run_delay_ns, between.steal_ns) == (1110, TICK_NS)


def test_odd_files_break_nothing(tmp_path: Path) -> None:
    odd = {
        "proc/stat": "cpu11\ncpu11 a b c d e f g h\n\n",
        "proc/softirqs": "CPU11\nTIMER: x\n: 5\nno colon\nNET_RX: 99999999999999999999\n\x1b[2J: 3\n",
        "proc/77/schedstat": "nonsense",
        **V2,
        "proc/self/cgroup": "::\nx\n1:cpu\n0::/a\n",
        "sys/fs/cgroup/a/cpu.stat": "\nnr_throttled\nnr_throttled x\n\x1b 5\n",
    }
    counted = read_counters(11, 77, cpu_groups(plant(tmp_path, odd)), tmp_path)
    assert counted.softirqs == {"": 5, "NET_RX": 99999999999999999999, "?[2J": 3}
    assert (counted.run_delay_ns, counted.steal_ns) == (None, None)
