"""Whether a CPU is idle, and what runs there if not: tickmon spins on no CPU that somebody uses."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tickmon.machine.cpus import read_online
from tickmon.machine.files import read_text
from tickmon.machine.mounts import is_covered, read_mounts
from tickmon.machine.threads import Thread, own_pid, read_account, read_thread, read_threads
from tickmon.units import NS_PER_S, share_text

LOOK_S = 0.2
IDLE_SHARE = 0.99

_JIFFY_NS = NS_PER_S // os.sysconf("SC_CLK_TCK")
"""What /proc/stat counts in: 10 ms, whatever HZ is."""
_POLL_S = 0.001
_POLLS = 14
"""Together longer than a jiffy, so that the count of a CPU steps meanwhile unless a quarter of it is used."""


SAMPLER_NAME = "tickmon-sampler"
"""What the kernel calls the process that samples; another tickmon's is somebody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupant:
    """A thread of somebody else that ran on the CPU."""

    name: str
    pid: int
    """Of its process."""
    share: float | None
    """Of the CPU's time; None when it was only seen running there."""
    kernel: bool = False
    """A thread of the kernel's own, which comes and goes and mostly cannot be moved."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuUse:
    """How one CPU was used while it was looked at."""

    cpu: int
    idle_share: float | None
    """Time of the tickmon process itself counts as idle. None when it cannot be told."""
    occupants: tuple[Occupant, ...]
    """The greatest share first."""
    offline: bool = False
    """The kernel has taken it out of use."""

    @property
    def idle(self) -> bool:
        """Nobody is known to lose anything when this CPU is taken."""
        return self.idle_share is not None and self.idle_share >= IDLE_SHARE and not self.occupants

    @property
    def text(self) -> str:
        """What it does: ``is idle``, ``runs python3 (98 %), cat``, ``is 3.1 % busy``, ``is offline``."""
        if self.offline:
            return "is offline"
        if self.idle:
            return "is idle"
        if self.occupants:
            return "runs " + ", ".join(_occupant_text(occupant) for occupant in self.occupants[:3])
        if self.idle_share is None:
            return "cannot be seen to be idle"
        return f"is {share_text(1 - self.idle_share)} busy"


def look(
    cpus: Collection[int],
    *,
    look_s: float = LOOK_S,
    root: Path = Path("/"),
    pause: Callable[[float], None] = time.sleep,
    now_ns: Callable[[], int] = time.monotonic_ns,
) -> dict[int, CpuUse]:
    """Looks at ``cpus`` for ``look_s`` seconds: how idle each is, and which threads ran there.

    Two sources, because neither suffices. /proc/stat knows of all work, whoever's, but not whose, and
    counts in steps of 10 ms: see ``idle_share``. The threads have names and are counted in ns, but those of
    other containers and users may be hidden. Work that either shows makes a CPU busy. What this process
    itself runs meanwhile is nobody's loss. Costs 30 reads of /proc/stat, one of each thread's ``stat``, and
    two of its ``schedstat`` if it was last seen on one of ``cpus``.
    """
    cpus = frozenset(cpus)
    begin_ns = now_ns()
    readings = _poll(cpus, root, pause, now_ns)
    before = [(thread, read_account(thread), now_ns()) for thread in read_threads(root) if thread.cpu in cpus]
    pause(max(0.0, look_s - _POLLS * _POLL_S - (now_ns() - begin_ns) / NS_PER_S))
    occupants: dict[int, list[Occupant]] = {cpu: [] for cpu in cpus}
    own_shares = dict.fromkeys(cpus, 0.0)
    me = own_pid(root)
    for thread, account, at_ns in before:
        for cpu, share in _ran_on(thread, account, now_ns() - at_ns).items():
            if cpu not in occupants:
                continue
            if thread.pid == me:
                own_shares[cpu] += share or 0.0
            else:
                occupants[cpu].append(
                    Occupant(name=thread.name, pid=thread.pid, share=share, kernel=thread.kernel)
                )
    readings += _poll(cpus, root, pause, now_ns)
    mounts = read_mounts(root)
    online = read_online(root, mounts) or cpus
    if is_covered("/proc/stat", mounts):
        readings = []  # Some other machine's, or a container's with CPUs numbered anew.

    uses = {}
    for cpu in sorted(cpus):
        share = idle_share([(at_ns, idle[cpu]) for at_ns, idle in readings if cpu in idle])
        uses[cpu] = CpuUse(
            cpu=cpu,
            idle_share=None if share is None else min(1.0, share + own_shares[cpu]),
            occupants=tuple(sorted(occupants[cpu], key=lambda occupant: -(occupant.share or 0.0))),
            offline=cpu not in online,
        )
    return uses


def idle_share(readings: Sequence[tuple[int, int]], *, jiffy_ns: int = _JIFFY_NS) -> float | None:
    """The idle share from ``(moment in ns, idle time in jiffies)``, oldest first; None without two readings.

    A jiffy of /proc/stat is 5 % of 200 ms, so two readings cannot tell 99 % from 94 %. But the count of a
    CPU that idles steps at exact moments: the kernel adds up idle time in µs and shows whole jiffies of it
    (fs/proc/stat.c, ``get_idle_time()``). Timing one step near the start and one near the end to within a
    poll of 1 ms gives the share to about 1 %: so many jiffies from step to step.

    Without a step in each half there is no such pair, and only what is certain counts: one jiffy less than
    the counts differ by. A count may go backwards for a moment; such steps are passed over.
    """
    if len(readings) < 2 or readings[-1][0] <= readings[0][0]:
        return None
    begin_ns, end_ns = readings[0][0], readings[-1][0]
    idle_ns = (readings[-1][1] - readings[0][1] - 1) * jiffy_ns
    steps = [step for step in pairwise(readings) if step[1][1] > step[0][1]]
    early = [step for step in steps if 2 * step[1][0] <= begin_ns + end_ns]
    late = [step for step in steps if 2 * step[0][0] >= begin_ns + end_ns]
    if early and late:
        # Of two readings the closer together, the better known is the moment of the step between them.
        first, last = min(early, key=_width_ns), min(late, key=_width_ns)
        begin_ns, end_ns = (first[0][0] + first[1][0]) // 2, (last[0][0] + last[1][0]) // 2
        idle_ns = (last[1][1] - first[1][1]) * jiffy_ns
    return min(1.0, max(0.0, idle_ns / (end_ns - begin_ns)))


def _width_ns(step: tuple[tuple[int, int], tuple[int, int]]) -> int:
    return step[1][0] - step[0][0]


def _poll(
    cpus: Collection[int], root: Path, pause: Callable[[float], None], now_ns: Callable[[], int]
) -> list[tuple[int, Mapping[int, int]]]:
    """Readings of the idle time of ``cpus`` in jiffies for a little longer than a jiffy."""
    readings: list[tuple[int, Mapping[int, int]]] = []
    for _ in range(_POLLS + 1):
        begin_ns = now_ns()
        idle = _read_idle(cpus, root)
        readings.append(((begin_ns + now_ns()) // 2, idle))
        pause(_POLL_S)
    return readings


def _read_idle(cpus: Collection[int], root: Path) -> dict[int, int]:
    """Idle and waiting for I/O: the CPU does nothing in both."""
    idle = {}
    for line in (read_text(root / "proc/stat") or "").splitlines():
        if not line.startswith("cpu"):
            break
        name, *counts = line.split(maxsplit=6)[:6]
        cpu = name.removeprefix("cpu")
        if cpu.isdecimal() and int(cpu) in cpus and len(counts) == 5 and all(map(str.isdecimal, counts)):
            idle[int(cpu)] = int(counts[3]) + int(counts[4])
    return idle


def _ran_on(thread: Thread, account: tuple[int, ...] | None, elapsed_ns: int) -> dict[int, float | None]:
    """Where ``thread`` was seen running, now or before, with its share of that CPU's time since."""
    later_account = read_account(thread)
    if account is not None and account == later_account and not thread.running:
        return {}  # It slept all the time: most do.
    places: dict[int, float | None] = {thread.cpu: None} if thread.running else {}
    later = read_thread(thread.path, thread.pid)
    if later is None:
        return places
    if later.running:
        places.setdefault(later.cpu, None)
    if later.cpu == thread.cpu and account is not None and later_account is not None and elapsed_ns > 0:
        share = min(1.0, (later_account[0] - account[0]) / elapsed_ns)
        # A thread that never left a nohz_full CPU was not charged yet: it runs all the same.
        if share > 1 - IDLE_SHARE:
            places[thread.cpu] = share
    return places


def _occupant_text(occupant: Occupant) -> str:
    return occupant.name if occupant.share is None else f"{occupant.name} ({share_text(occupant.share)})"
