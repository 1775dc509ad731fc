"""Where file systems are mounted, and which files of /proc and /sys a container has put others over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.files import read_text


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """One line of ``/proc/self/mountinfo`` (proc_pid_mountinfo(5))."""

    root: str
    """What part of the file system is mounted."""
    point: str
    """Where."""
    kind: str
    """The file system's type."""
    options: tuple[str, ...]
    """Of the file system, not of the mount: on cgroup v1 the controllers."""


def read_mounts(root: Path = Path("/")) -> tuple[Mount, ...]:
    """Every mount that this process sees; lines that cannot be understood are skipped."""
    mounts = []
    for line in (read_text(root / "proc/self/mountinfo") or "").splitlines():
        place, _, system = line.partition(" - ")
        places, systems = place.split(" "), system.split(" ")
        if len(places) >= 6 and len(systems) >= 3 and places[4].startswith("/"):
            options = tuple(systems[2].split(","))
            mount = Mount(
                root=_unescape(places[3]), point=_unescape(places[4]), kind=systems[0], options=options
            )
            mounts.append(mount)
    return tuple(mounts)


def is_covered(path: str, mounts: tuple[Mount, ...]) -> bool:
    """Something is mounted over this file of /proc or /sys, so it may tell of another machine.

    lxcfs does this: its /proc/stat and /sys/devices/system/cpu/online count the container's CPUs from 0.
    The mounts of /proc and /sys themselves and of what the kernel puts there are not meant.
    """
    return any(
        mount.kind not in ("proc", "sysfs")
        and mount.point.count("/") > 1
        and (path == mount.point or path.startswith(mount.point + "/"))
        for mount in mounts
    )


def _unescape(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)
