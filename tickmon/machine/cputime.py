"""What a CPU's time went to since boot, by the kernel's own account."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.files import read_text
from tickmon.machine.mounts import is_covered, read_mounts


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuTime:
    """One row of /proc/stat, in jiffies of 10 ms (proc_stat(5))."""

    steal: int
    """What a hypervisor gave to others, if it says so."""
    total: int


def read_cpu_time(cpu: int, root: Path = Path("/")) -> CpuTime | None:
    """None when there is no such row, or it is a container's own."""
    if is_covered("/proc/stat", read_mounts(root)):
        return None
    for line in (read_text(root / "proc/stat") or "").splitlines():
        name, *counts = line.split()
        if name == f"cpu{cpu}" and len(counts) >= 8 and all(map(str.isdecimal, counts)):
            # Guests' time is in user and nice already.
            return CpuTime(steal=int(counts[7]), total=sum(map(int, counts[:8])))
    return None
