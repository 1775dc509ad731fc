"""How much CPU time the cgroups of this process grant it: ordinary (CFS bandwidth) and real-time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from tickmon.machine.cgroups import hierarchy, own_groups, under, upwards
from tickmon.machine.files import read_word
from tickmon.machine.mounts import Mount, read_mounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One cgroup that lets its tasks run ``quota_us`` of every ``period_us``, on all CPUs together."""

    path: str
    """Of the file that says so."""
    quota_us: int
    period_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Grants:
    """What the own cgroup and those above it grant."""

    version: int | None
    """Of the cgroup hierarchy with the cpu controller; None when none can be seen."""
    quotas: tuple[Quota, ...]
    rt_runtime_us: int | None
    """Of real-time tasks in the own cgroup; None where the kernel does not count by group."""
    rt_path: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuGroups:
    """Where the own cgroup of the cpu controller and those above it lie."""

    version: int
    folders: tuple[PurePosixPath, ...]
    """The own one first."""


def cpu_groups(root: Path = Path("/"), mounts: tuple[Mount, ...] | None = None) -> CpuGroups | None:
    """Those of this process; None where none can be seen."""
    groups = own_groups(root)
    mounts = read_mounts(root) if mounts is None else mounts
    # Where v1 has the controller, v2 has not.
    for mount in sorted(mounts, key=lambda mount: mount.kind == "cgroup2"):
        name = hierarchy(mount, "cpu")
        if name is None or name not in groups:
            continue
        folders = list(dict.fromkeys(upwards(groups[name], mount)))
        version = 2 if mount.kind == "cgroup2" else 1
        if (
            version == 2
            and "cpu" not in (read_word(under(root, folders[-1]) / "cgroup.controllers") or "cpu").split()
        ):
            continue
        return CpuGroups(version=version, folders=tuple(folders))
    return None


def read_grants(root: Path = Path("/"), mounts: tuple[Mount, ...] | None = None) -> Grants:
    """The limits that hold for this process (Documentation/scheduler/sched-bwc.rst, sched-rt-group.rst)."""
    groups = cpu_groups(root, mounts)
    if groups is None:
        return Grants(version=None, quotas=(), rt_runtime_us=None, rt_path=None)
    read = _v2 if groups.version == 2 else _v1
    found = (read(root, folder) for folder in groups.folders)
    rt_path = groups.folders[0] / "cpu.rt_runtime_us"
    rt_runtime_us = _number(read_word(under(root, rt_path)))
    return Grants(
        version=groups.version,
        quotas=tuple(quota for quota in found if quota),
        rt_runtime_us=rt_runtime_us,
        rt_path=None if rt_runtime_us is None else str(rt_path),
    )


def _v1(root: Path, folder: PurePosixPath) -> Quota | None:
    file = folder / "cpu.cfs_quota_us"
    quota_us = _number(read_word(under(root, file)))
    period_us = _number(read_word(under(root, folder / "cpu.cfs_period_us")))
    return _quota(file, quota_us, period_us)


def _v2(root: Path, folder: PurePosixPath) -> Quota | None:
    file = folder / "cpu.max"
    words = (read_word(under(root, file)) or "max").split()
    return _quota(file, _number(words[0]), _number(words[1] if len(words) > 1 else "100000"))


def _quota(file: PurePosixPath, quota_us: int | None, period_us: int | None) -> Quota | None:
    if quota_us is None or period_us is None or quota_us < 0:
        return None
    return Quota(path=str(file), quota_us=quota_us, period_us=period_us)


def _number(word: str | None) -> int | None:
    try:
        return int(word or "")
    except ValueError:
        return None
