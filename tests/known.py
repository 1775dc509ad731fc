"""Disturbances that are known because they are made: what is done to the sampled CPU, and when.

Each is a small program that notes the two moments (CLOCK_MONOTONIC_RAW) between which it did something. Some
work on the sampled CPU itself: there all of that time is theirs. The others make the sampled CPU's kernel do
something from another CPU, and wait until it has been done.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.conftest import samplers
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.kernel_causes import UNSEEN, kernel_causes
from tickmon.analysis.placed import place
from tickmon.machine.facts import Machine
from tickmon.sampling.clockline import line_of
from tickmon.sampling.collector import Collector
from tickmon.windows import Ended, Event, KernelEvent, Settings, Window

RIGHT_LEAST = 0.99
UNSEEN_MOST = 0.001
ENOUGH_TIMES = 100
NAMED_LEAST = 0.995
EDGE = 5

_ENTRIES = (KernelEvent.TIMER_ENTRY, KernelEvent.VECTOR_ENTRY, KernelEvent.IRQ_ENTRY)
_NOT_ONE_MORE = ("TLB", "NMI", "PMI", "MCE", "MCP")
"""Rows of /proc/interrupts that count what another row counts, or what is no interrupt with an entry."""

_HEAD = """
import ctypes, json, mmap, os, random, socket, sys, time
cpu, away, seconds = int(sys.argv[1]), json.loads(sys.argv[2]), float(sys.argv[3])
pid, folder = sys.argv[4:6]
raw = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
here = lambda: os.sched_setaffinity(0, [cpu])
there = lambda: os.sched_setaffinity(0, away)
ready = lambda: True
def called(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
"""
_TAIL = """
done, end = [], time.monotonic() + seconds
while time.monotonic() < end:
    time.sleep(random.uniform(0.002, 0.004))
    if ready():
        begun = raw()
        disturb()
        done.append((begun, raw()))
print(json.dumps(done))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One disturbance."""

    name: str
    causes: tuple[str, ...]
    """Right names begin with one of these."""
    local: bool
    """It runs on the sampled CPU itself."""
    script: str = field(repr=False)
    """Defines ``disturb``."""


KNOWN = (
    Known(
        name="waking task",
        causes=("preemption by tm-waker",),
        local=True,
        script="""
here(); called("tm-waker")
def disturb():
    for _ in range(random.randrange(200, 4000)): pass
""",
    ),
    Known(
        name="loopback network",
        causes=("preemption by tm-net",),
        local=True,
        script="""
here(); called("tm-net")
end_a, end_b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
end_a.bind(("127.0.0.1", 0)); end_b.connect(end_a.getsockname())
def disturb():
    for _ in range(8):
        end_b.send(b"x" * 1000); end_a.recv(2000)
""",
    ),
    Known(
        name="disk",
        causes=("irq ",),
        local=False,
        script="""
there()
path = os.path.join(folder, "disk")
with open(path, "wb") as file:
    file.write(os.urandom(1 << 22)); os.fsync(file.fileno())
disk, page = os.open(path, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 4096)
def disturb():
    os.preadv(disk, [page], random.randrange(1024) * 4096)
""",
    ),
    Known(
        name="function call IPI",
        causes=("call function IPI",),
        local=False,
        # To read a counter of another CPU that one is asked (perf_event_read in kernel/events/core.c).
        script="""
there()
attr = (ctypes.c_uint32 * 32)(1, 128)
event = ctypes.CDLL(None).syscall({"x86_64": 298, "aarch64": 241}[os.uname().machine], attr, -1, cpu, -1, 8)
def disturb():
    os.read(event, 8)
""",
    ),
    Known(
        name="TLB shootdown",
        causes=("TLB shootdown",),
        local=False,
        # The page that the sampler's ring comes to next is taken away, and it has to fault for another.
        script="""
there()
where = next(line.split()[0] for line in open(f"/proc/{pid}/maps") if "/memfd:tickmon" in line)
region = os.open(f"/proc/{pid}/map_files/{where}", os.O_RDWR)
size, ring = os.fstat(region).st_size, 1 << 22
shown = memoryview(mmap.mmap(region, size)).cast("B")[size - ring:].cast("q")
punch = ctypes.CDLL(None).fallocate
punch.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
page = 0
def ready():
    global page
    newest = max(range(0, ring // 8, 256), key=shown.__getitem__)
    before, page = page, (size - ring + newest * 8) // 4096 + 2
    return page != before and (page + 1) * 4096 < size
def disturb():
    punch(region, 3, page * 4096, 4096)
""",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the reading says of one disturbance."""

    name: str
    times: int
    right_ns: NDArray[np.float64] = field(repr=False)
    """For each time it was made, how much of its time has the right kind among its causes …"""
    wrong_ns: NDArray[np.float64] = field(repr=False)
    """… how much has others only …"""
    unseen_ns: NDArray[np.float64] = field(repr=False)
    """… how much is called unseen by the kernel, less what was so in an equal time beside it."""

    faults: int
    """Page faults of the sampler, as the kernel counted them meanwhile …"""
    faults_named: int
    """… and as they were traced in interruptions."""
    interrupts: int
    """Of the sampled CPU, as the kernel counted them in the whole run …"""
    interrupts_named: int
    """… and as they were traced in interruptions."""
    quiet_share: float
    """Of the time between two disturbances that is called unseen."""
    warnings: tuple[str, ...]
    """The codes of all."""

    @property
    def total_ns(self) -> float:
        """The disturbance's own time, as far as the kernel saw it."""
        return float(self.right_ns.sum() + self.wrong_ns.sum())

    @property
    def all_named(self) -> bool:
        """The kernel counted no interrupt or page fault that is not traced in an interruption.

        What is called unseen beside them is none of its work, then. It is read a moment before or after the
        window's end, so a few may lie between.
        """
        most_missing = max(EDGE, (1 - NAMED_LEAST) * self.interrupts)
        return self.interrupts - self.interrupts_named <= most_missing and self.faults_named >= self.faults

    @property
    def more_is_unseen(self) -> bool:
        """Surely more than 0.1 % of its time is called unseen. A few times are too few to be sure of that."""
        return self.times >= ENOUGH_TIMES and self.unseen_share()[1] > UNSEEN_MOST

    @property
    def missed(self) -> bool:
        """Less has the right kind than must, or time is called unseen that may have been the kernel's."""
        return self.right_share < RIGHT_LEAST or (self.more_is_unseen and not self.all_named)

    @property
    def right_share(self) -> float:
        """Of the disturbance's time; NaN when it did not reach the sampled CPU."""
        return float(self.right_ns.sum()) / self.total_ns if self.total_ns else float("nan")

    def unseen_share(self) -> tuple[float, float, float]:
        """The share of its time that is called unseen, and its 99 % interval by bootstrap over the times.

        What a host takes comes in lumps, so a single one may be in the disturbance's time by chance.
        """
        rng = np.random.default_rng(1)
        seen = self.right_ns + self.wrong_ns
        picks = rng.integers(0, self.times, (1000, self.times))
        shares = self.unseen_ns[picks].sum(axis=1) / np.maximum(seen[picks].sum(axis=1), 1.0)
        low, high = np.quantile(shares, [0.005, 0.995]).tolist()
        return float(self.unseen_ns.sum() / max(seen.sum(), 1.0)), low, high


def tell(machine: Machine, cpu: int, known: Known, *, seconds: float) -> Told:
    """Makes one disturbance for so long while ``cpu`` is sampled with the kernel's trace."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    collector = Collector(Settings(cpu=cpu, trace=True), machine, looks=False)
    collector.start(events.put)
    while not (pids := samplers()):
        time.sleep(0.01)
    # It has touched all its pages by then.
    time.sleep(0.2)
    opened = _minor_faults(pids[-1])
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
        away = sorted(set(machine.cpus.usable) - {cpu})
        argv = [str(cpu), json.dumps(away), str(seconds), str(pids[-1]), folder]
        run = subprocess.run(
            [sys.executable, "-c", _HEAD + known.script + _TAIL, *argv],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    faults = _minor_faults(pids[-1]) - opened
    made_ns = np.array(json.loads(run.stdout), np.int64)
    collector.stop()
    windows = []
    while not events.empty():
        event = events.get()
        assert not isinstance(event, Ended), event.error
        if isinstance(event, Window):
            windows.append(event)
    return _told(known, windows, made_ns, faults=faults)


def _minor_faults(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[7])


def _holds(window: Window, known: Known) -> NDArray[np.bool_]:
    """The details of the window among whose causes the disturbance is."""
    held = np.zeros(len(window.details), bool)
    placed = place(window)
    if placed is not None:
        causes = kernel_causes(placed, held)
        right = np.array([name.startswith(known.causes) for name in causes.names], bool)
        held[causes.detail[right[causes.cause]]] = True
    return held


def _told(known: Known, windows: Sequence[Window], made_ns: NDArray[np.int64], *, faults: int) -> Told:
    origin = windows[0].segment.origin_cycles
    line = line_of([reading for window in windows for reading in window.clocks], origin_cycles=origin)
    made = line.cycles_at(made_ns)
    inside = (made[:, 0] > windows[0].start_cycles) & (made[:, 1] < windows[-1].end_cycles)
    made = made[inside]
    # Right in the middle between two times lies as much time without the disturbance.
    middle = (made[:-1, 1] + made[1:, 0]) // 2
    half = np.minimum(made[:-1, 1] - made[:-1, 0], made[1:, 0] - made[:-1, 1]) // 2
    beside = np.column_stack([middle - half, middle + half])
    made = made[:-1]

    starts, ends, right, unseen, away = [], [], [], [], []
    clocks, codes, faults_named, interrupts_named = Clocks(), set[str](), 0, 0
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        codes |= {warning.code for warning in analysis.warnings}
        if (placed := place(window)) is not None:
            away.append(placed.count(KernelEvent.SWITCH, len(window.details)) > 0)
            faults_named += int(placed.is_a(KernelEvent.PAGE_FAULT).sum())
            interrupts_named += int(placed.is_a(*_ENTRIES).sum())
        starts.append(window.details["start_cycles"])
        ends.append(window.details["start_cycles"] + window.details["gap_cycles"])
        is_unseen = np.array([source.name == UNSEEN for source in analysis.sources], bool)
        unseen.append(is_unseen[analysis.source_of])
        right.append(_holds(window, known))
    all_starts, all_ends = np.concatenate(starts), np.concatenate(ends)
    is_right, is_unseen, is_away = np.concatenate(right), np.concatenate(unseen), np.concatenate(away)
    per_ns = windows[-1].segment.tsc_hz / 1e9

    def within(spans: NDArray[np.int64], which: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Of each span the time in those interruptions."""
        lengths = np.where(which, all_ends - all_starts, 0)
        before = np.concatenate([[0], np.cumsum(lengths)])

        def until(at: NDArray[np.int64]) -> NDArray[np.int64]:
            index = np.searchsorted(all_starts, at, side="right") - 1
            under_way = np.clip(at - all_starts[index], 0, lengths[index])
            return np.asarray(before[np.maximum(index, 0)] + np.where(index >= 0, under_way, 0))

        return (until(spans[:, 1]) - until(spans[:, 0])) / per_ns

    right_ns, unseen_ns = within(made, is_right), within(made, is_unseen)
    named_ns = within(made, ~is_right & ~is_unseen)
    beside_ns = within(beside, is_unseen)
    if known.local:
        wrong_ns, beside_ns = named_ns, np.zeros(len(made))
    else:
        # Other things may well have happened meanwhile; they are the disturbance's only where it is missing,
        # and it is not missing where the sampler, whom it was meant for, did not run.
        elsewhere = within(made, is_away) > 0
        wrong_ns = np.where((right_ns > 0) | elsewhere, 0.0, named_ns)
    pauses = np.column_stack([made[:-1, 1], made[1:, 0]])
    return Told(
        name=known.name,
        times=len(made),
        right_ns=right_ns,
        wrong_ns=wrong_ns,
        unseen_ns=unseen_ns - beside_ns,
        faults=faults,
        faults_named=faults_named,
        interrupts=sum(
            row.count for window in windows for row in window.interrupts if row.row not in _NOT_ONE_MORE
        ),
        interrupts_named=interrupts_named,
        quiet_share=float(within(pauses, is_unseen).sum() / ((pauses[:, 1] - pauses[:, 0]).sum() / per_ns)),
        warnings=tuple(sorted(codes)),
    )
