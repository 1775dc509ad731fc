"""What cpusets (cgroup v1 and v2) let this process use, and which CPUs they isolate."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from tickmon.machine.cgroups import hierarchy, own_groups, under, upwards
from tickmon.machine.cpulist import read_cpu_list
from tickmon.machine.files import folders_in, read_word
from tickmon.machine.mounts import Mount

_EFFECTIVE_V1 = ("cpuset.effective_cpus", "cpuset.cpus")
_EFFECTIVE_V2 = ("cpuset.cpus.effective",)


def accepted_cpus(root: Path, mounts: tuple[Mount, ...]) -> frozenset[int] | None:
    """The CPUs on which the cpuset of this process lets it run; None when no cpuset can be read.

    The own cgroup may not have the controller: then its nearest ancestor's cpuset holds.
    """
    hierarchies = own_groups(root)
    for mount in mounts:
        controller = hierarchy(mount, "cpuset")
        if controller is None or controller not in hierarchies:
            continue
        names = _EFFECTIVE_V2 if mount.kind == "cgroup2" else _EFFECTIVE_V1
        for folder in upwards(hierarchies[controller], mount):
            cpus = _effective(under(root, folder), names)
            if cpus:
                return cpus
    return None


def isolated_by_cpusets(root: Path, mounts: tuple[Mount, ...]) -> frozenset[int]:
    """The CPUs that a cpuset keeps the scheduler from balancing tasks on.

    On v2 partitions of the type ``isolated``; on v1 CPUs of no cpuset with ``sched_load_balance``
    (Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cpusets.rst, section 1.7).
    """
    isolated: frozenset[int] = frozenset()
    for mount in mounts:
        if hierarchy(mount, "cpuset") is not None:
            find = _isolated_v2 if mount.kind == "cgroup2" else _unbalanced_v1
            isolated |= find(under(root, PurePosixPath(mount.point)))
    return isolated


def _effective(folder: Path, names: tuple[str, ...]) -> frozenset[int]:
    lists = (read_cpu_list(folder / name) for name in names)
    return next((cpus for cpus in lists if cpus), frozenset())


def _isolated_v2(top: Path) -> frozenset[int]:
    listed = read_cpu_list(top / "cpuset.cpus.isolated")
    if listed is not None:
        return listed
    # Before Linux 6.7 there was no such file, and whatever holds a partition was one itself.
    isolated: set[int] = set()
    pending = [top]
    while pending:
        for folder in folders_in(pending.pop()):
            kind = read_word(folder / "cpuset.cpus.partition")
            if kind in ("root", "isolated"):
                pending.append(folder)
            if kind == "isolated":
                isolated |= _effective(folder, _EFFECTIVE_V2)
    return frozenset(isolated)


def _unbalanced_v1(top: Path) -> frozenset[int]:
    if read_word(top / "cpuset.sched_load_balance") != "0":
        return frozenset()
    balanced: set[int] = set()
    pending = [top]
    while pending:
        for folder in folders_in(pending.pop()):
            if read_word(folder / "cpuset.sched_load_balance") == "0":
                pending.append(folder)
            else:
                balanced |= _effective(folder, _EFFECTIVE_V1)
    return _effective(top, _EFFECTIVE_V1) - balanced
