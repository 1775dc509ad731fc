"""Which CPUs there are and what they are, on machines that are not here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.trees import cpu_files, mounts, plant, siblings
from tickmon.errors import TickmonError
from tickmon.machine.cpus import Cpus, read_cpus

V2 = "/ /sys/fs/cgroup cgroup2 rw"
V1 = "/ /sys/fs/cgroup/cpuset cgroup rw,cpuset"


def cpus_of(root: Path, *parts: dict[str, str]) -> Cpus:
    for files in parts:
        plant(root, files)
    return read_cpus(root)


def allowed(text: str) -> dict[str, str]:
    return {"proc/self/status": f"Name:\tpython3\nCpus_allowed:\tff\nCpus_allowed_list:\t{text}\n"}


def test_plain_machine_has_all_its_cpus(tmp_path: Path) -> None:
    cpus = cpus_of(tmp_path, cpu_files(online="0-3", possible="0-7", isolated=""), allowed("0-3"))
    assert cpus.online == cpus.usable == cpus.allowed == {0, 1, 2, 3}
    assert len(cpus.possible) == 8
    assert not cpus.quiet
    assert cpus.describe(2) == ""


def test_holes_of_offline_cpus_keep_the_kernels_numbers(tmp_path: Path) -> None:
    assert cpus_of(tmp_path, cpu_files(online="0,2-3,64")).usable == {0, 2, 3, 64}


def test_inherited_mask_does_not_limit_what_is_usable(tmp_path: Path) -> None:
    cpus = cpus_of(tmp_path, cpu_files(online="0-3"), allowed("0-1"))
    assert cpus.allowed == {0, 1}
    assert cpus.usable == {0, 1, 2, 3}


def test_cpu_is_described_by_all_that_it_is(tmp_path: Path) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7", isolated="1-2", nohz_full="1,3"),
        siblings("0,4", "1,5", "2,6", "3,7"),
    )
    assert cpus.describe(1) == "isolated · nohz_full · sibling of CPU 5"
    assert cpus.describe(2) == "isolated · sibling of CPU 6"
    assert cpus.describe(3) == "nohz_full · sibling of CPU 7"
    assert cpus.describe(5) == "sibling of CPU 1"
    assert cpus.quiet == {1, 2, 3}


def test_core_of_four_threads_names_the_other_three(tmp_path: Path) -> None:
    cpus = cpus_of(tmp_path, cpu_files(online="0-3"), siblings("0,1,2,3"))
    assert cpus.describe(1) == "sibling of CPUs 0,2-3"


def test_cpu_that_vanishes_between_two_reads_has_no_siblings(tmp_path: Path) -> None:
    cpus = cpus_of(tmp_path, cpu_files(online="0-2"), siblings("0,2"))
    assert cpus.siblings == {0: {2}, 2: {0}}
    assert cpus.describe(1) == ""


def test_machine_of_1280_cpus_is_read_whole(tmp_path: Path) -> None:
    cores = [f"{cpu},{cpu + 640}" for cpu in range(640)]
    cpus = cpus_of(tmp_path, cpu_files(online="0-1279", isolated="640-1279"), siblings(*cores))
    assert len(cpus.usable) == 1280
    assert cpus.describe(1279) == "isolated · sibling of CPU 639"


def test_empty_nohz_full_of_an_old_kernel_is_none(tmp_path: Path) -> None:
    assert not cpus_of(tmp_path, cpu_files(online="0-3", nohz_full="(null)")).nohz_full


@pytest.mark.parametrize(
    ("cmdline", "isolated", "nohz_full"),
    [
        ("quiet isolcpus=1-3 nohz_full=2-N", {1, 2, 3}, {2, 3}),
        ("isolcpus=nohz,domain,managed_irq,3", {3}, set()),
        ("isolcpus=managed_irq,3", set(), set()),
        ("isolcpus=1 isolcpus=2", {2}, set()),
        ("xisolcpus=1 isolcpus", set(), set()),
        ("isolcpus=nonsense", set(), set()),
    ],
)
def test_command_line_speaks_where_sys_is_silent(
    tmp_path: Path, cmdline: str, isolated: set[int], nohz_full: set[int]
) -> None:
    cpus = cpus_of(tmp_path, cpu_files(online="0-3"), {"proc/cmdline": f"{cmdline}\n"})
    assert cpus.isolated == isolated
    assert cpus.nohz_full == nohz_full


def test_command_line_is_not_asked_where_sys_speaks(tmp_path: Path) -> None:
    files = cpu_files(online="0-3", isolated="", nohz_full="")
    cpus = cpus_of(tmp_path, files, {"proc/cmdline": "isolcpus=1 nohz_full=1\n"})
    assert not cpus.quiet


def test_cpuset_of_cgroup_v2_decides_what_is_usable(tmp_path: Path) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7"),
        mounts(V2),
        {
            "proc/self/cgroup": "0::/system.slice/job\n",
            "sys/fs/cgroup/cpuset.cpus.effective": "0-7\n",
            "sys/fs/cgroup/system.slice/job/cpuset.cpus.effective": "2-3,9\n",
        },
    )
    assert cpus.usable == {2, 3}


def test_nearest_ancestor_with_a_cpuset_decides(tmp_path: Path) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7"),
        mounts(V2),
        {
            "proc/self/cgroup": "0::/user.slice/session/deep\n",
            "sys/fs/cgroup/cpuset.cpus.effective": "0-7\n",
            "sys/fs/cgroup/user.slice/cpuset.cpus.effective": "4-7\n",
            "sys/fs/cgroup/user.slice/session/deep/cgroup.procs": "1\n",
        },
    )
    assert cpus.usable == {4, 5, 6, 7}


@pytest.mark.parametrize("name", ["cpuset.effective_cpus", "cpuset.cpus"])
def test_cpuset_of_cgroup_v1_decides_what_is_usable(tmp_path: Path, name: str) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7"),
        mounts("/ /sys/fs/cgroup/cpu cgroup rw,cpu", V1, "/ /sys/fs/cgroup/unified cgroup2 rw"),
        {
            "proc/self/cgroup": "5:cpuset:/box\n1:name=systemd:/\n0::/\n",
            f"sys/fs/cgroup/cpuset/box/{name}": "1,3\n",
        },
    )
    assert cpus.usable == {1, 3}


def test_container_finds_its_cpuset_below_the_part_that_it_sees(tmp_path: Path) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7"),
        mounts("/docker/f00 /sys/fs/cgroup/cpuset cgroup ro,cpuset"),
        {
            "proc/self/cgroup": "5:cpuset:/docker/f00/inner\n",
            "sys/fs/cgroup/cpuset/cpuset.effective_cpus": "0-5\n",
            "sys/fs/cgroup/cpuset/inner/cpuset.effective_cpus": "5\n",
        },
    )
    assert cpus.usable == {5}


@pytest.mark.parametrize("group", ["/docker/f00", "/../other", "/elsewhere (deleted)", ""])
def test_container_that_sees_another_path_than_its_own_uses_what_it_sees(tmp_path: Path, group: str) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7"),
        mounts(V2),
        {"proc/self/cgroup": f"0::{group}\n", "sys/fs/cgroup/cpuset.cpus.effective": "6-7\n"},
    )
    assert cpus.usable == {6, 7}


def test_numbers_made_up_by_lxcfs_are_not_believed(tmp_path: Path) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-1"),
        mounts("/ /sys sysfs rw", "/sys/cpu /sys/devices/system/cpu fuse.lxcfs rw"),
        allowed("8-9"),
    )
    assert cpus.usable == {8, 9}


def test_isolated_partitions_are_listed_by_newer_kernels(tmp_path: Path) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7", isolated="7"),
        mounts(V2),
        {"sys/fs/cgroup/cpuset.cpus.isolated": "4-5\n"},
    )
    assert cpus.isolated == {4, 5, 7}


def test_isolated_partitions_are_looked_for_on_older_kernels(tmp_path: Path) -> None:
    top = "sys/fs/cgroup"
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-7"),
        mounts(V2),
        {
            f"{top}/quiet/cpuset.cpus.partition": "isolated\n",
            f"{top}/quiet/cpuset.cpus.effective": "2\n",
            f"{top}/part/cpuset.cpus.partition": "root\n",
            f"{top}/part/cpuset.cpus.effective": "4-6\n",
            f"{top}/part/inner/cpuset.cpus.partition": "isolated\n",
            f"{top}/part/inner/cpuset.cpus.effective": "6\n",
            f"{top}/failed/cpuset.cpus.partition": "isolated invalid (Cpu list empty)\n",
            f"{top}/failed/cpuset.cpus.effective": "3\n",
            f"{top}/common/cpuset.cpus.partition": "member\n",
            f"{top}/common/cpuset.cpus.effective": "0-1\n",
        },
    )
    assert cpus.isolated == {2, 6}


def test_cpus_that_no_v1_cpuset_balances_are_isolated(tmp_path: Path) -> None:
    top = "sys/fs/cgroup/cpuset"
    files = {
        f"{top}/cpuset.cpus": "0-7\n",
        f"{top}/cpuset.sched_load_balance": "0\n",
        f"{top}/system/cpuset.cpus": "0-1\n",
        f"{top}/system/cpuset.sched_load_balance": "1\n",
        f"{top}/user/cpuset.cpus": "2-7\n",
        f"{top}/user/cpuset.sched_load_balance": "0\n",
        f"{top}/user/shared/cpuset.cpus": "2-3\n",
        f"{top}/user/shared/cpuset.sched_load_balance": "1\n",
    }
    assert cpus_of(tmp_path, cpu_files(online="0-7"), mounts(V1), files).isolated == {4, 5, 6, 7}
    plant(tmp_path, {f"{top}/cpuset.sched_load_balance": "1\n"})
    assert not read_cpus(tmp_path).isolated


def test_without_sys_the_mask_tells_which_cpus_there_are(tmp_path: Path) -> None:
    cpus = cpus_of(tmp_path, allowed("0-1,3"))
    assert cpus.online == cpus.usable == cpus.possible == {0, 1, 3}


def test_without_anything_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(TickmonError, match="cannot tell which CPUs there are"):
        read_cpus(tmp_path)


def test_garbled_files_are_as_good_as_missing_ones(tmp_path: Path) -> None:
    cpus = cpus_of(
        tmp_path,
        cpu_files(online="0-1", isolated="?", nohz_full="-", possible="lots"),
        {
            "proc/self/mountinfo": "\x00 - \n36 35\n- - - - - - -\n1 1 0:1 x y rw - cgroup2 c rw\n",
            "proc/self/cgroup": "::::\nx\n",
            "proc/self/status": "Cpus_allowed_list:\tmany\n",
            "proc/cmdline": "\xff isolcpus=\n",
        },
    )
    assert cpus.usable == {0, 1}
    assert not cpus.quiet


def test_real_machine_lets_this_process_use_what_it_runs_on() -> None:
    cpus = read_cpus()
    assert cpus.usable <= cpus.online <= cpus.possible
    assert os.sched_getaffinity(0) <= cpus.usable


def test_each_cpu_belongs_to_a_node_where_the_kernel_says_so(tmp_path: Path) -> None:
    folder = "sys/devices/system/node"
    nodes = {
        f"{folder}/node0/cpulist": "0-1\n",
        f"{folder}/node10/cpulist": "2-3\n",
        f"{folder}/possible": "0,10\n",
    }
    assert cpus_of(tmp_path, cpu_files(online="0-3"), nodes).nodes == {0: 0, 1: 0, 2: 10, 3: 10}


def test_without_nodes_there_are_none(tmp_path: Path) -> None:
    assert cpus_of(tmp_path, cpu_files(online="0-3")).nodes == {}
