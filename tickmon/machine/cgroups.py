"""Where this process's own cgroup lies, on v1 and v2."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tickmon.machine.files import read_text
from tickmon.machine.mounts import Mount


def own_groups(root: Path) -> dict[str, str]:
    """The path of the own cgroup for each controller; that of the v2 hierarchy has no name."""
    groups = {}
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def hierarchy(mount: Mount, controller: str) -> str | None:
    """What /proc/self/cgroup calls the hierarchy that ``mount`` shows, if it can hold ``controller``."""
    if mount.kind == "cgroup2":
        return ""
    return controller if mount.kind == "cgroup" and controller in mount.options else None


def upwards(group: str, mount: Mount) -> Iterator[PurePosixPath]:
    """Where ``mount`` shows ``group``, then each ancestor up to the mount point."""
    path, shown = PurePosixPath(group), PurePosixPath(mount.root)
    point = PurePosixPath(mount.point)
    if path.is_relative_to(shown):
        for folder in (path, *path.parents):
            if folder != shown:
                yield point / folder.relative_to(shown)
            else:
                break
    # A container may see another path than its own: what it does see is all that it has.
    yield point


def under(root: Path, folder: PurePosixPath) -> Path:
    """The folder as it is found below ``root``."""
    return root / folder.relative_to("/")
