"""Disturbances that are known because they are made: what is done to the sampled CPU, and when.

Each is a small program that notes the two moments (CLOCK_MONOTONIC_RAW) between which it did something. Some
run on the sampled CPU themselves; the others have its kernel do something from another CPU, and wait until it
has been done.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_HEAD = """
import ctypes, json, mmap, os, random, socket, sys, time
cpu, away, seconds = int(sys.argv[1]), json.loads(sys.argv[2]), float(sys.argv[3])
pid, folder = sys.argv[4:6]
raw = lambda: time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
here = lambda: os.sched_setaffinity(0, [cpu])
there = lambda: os.sched_setaffinity(0, away)
def called(name):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
"""
_TAIL = """
done, end = [], time.monotonic() + seconds
while time.monotonic() < end:
    time.sleep(random.uniform(0.002, 0.004))
    begun = raw()
    disturb()
    done.append((begun, raw()))
print(json.dumps(done))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One disturbance."""

    name: str
    cause: str
    """What tickmon has to call it begins with this."""
    script: str = field(repr=False)
    """Defines ``disturb``."""


_CALLING = """
there()
attr = (ctypes.c_uint32 * 32)(1, 128)
event = ctypes.CDLL(None).syscall({"x86_64": 298, "aarch64": 241}[os.uname().machine], attr, -1, cpu, -1, 8)
def disturb():
    os.read(event, 8)
"""
"""To read a counter of another CPU that one is asked (perf_event_read in kernel/events/core.c)."""

_PAGE_TAKEN = f"""{_CALLING}
call = disturb
where = next(line.split()[0] for line in open(f"/proc/{{pid}}/maps") if "/memfd:tickmon" in line)
region = os.open(f"/proc/{{pid}}/map_files/{{where}}", os.O_RDWR)
size, ring = os.fstat(region).st_size, 1 << 22
shown = memoryview(mmap.mmap(region, size)).cast("B")[size - ring:].cast("q")
punch = ctypes.CDLL(None).fallocate
punch.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
def take(ahead):
    newest = (size - ring + max(range(0, ring // 8, 256), key=shown.__getitem__) * 8) // 4096
    first, end = (size - ring) // 4096 + 1, size // 4096
    punch(region, 3, (first + (newest + ahead - first) % (end - first)) * 4096, 4096)
"""
"""A page that the sampler's ring comes to some time is taken away: its CPU must forget where that was."""

KNOWN = (
    Known(
        name="waking task",
        cause="preemption by tm-waker",
        script="""
here(); called("tm-waker")
def disturb():
    for _ in range(random.randrange(200, 4000)): pass
""",
    ),
    Known(
        name="loopback network",
        cause="preemption by tm-net",
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
        cause="irq ",
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
    Known(name="function call IPI", cause="call function IPI", script=_CALLING),
    Known(
        name="TLB shootdown",
        cause="TLB shootdown",
        # Another one each time, and none that may not have been read yet.
        script=f"""{_PAGE_TAKEN}
taken = 0
def disturb():
    global taken
    take(2 + taken % 1000)
    taken += 1
""",
    ),
    Known(
        name="page fault",
        cause="page fault",
        # The sampler is interrupted until its ring comes to the page, and has to fault for another.
        script=f"""{_PAGE_TAKEN}
def disturb():
    take(2)
    for _ in range(1000): call()
""",
    ),
)


def make(known: Known, *, cpu: int, others: Sequence[int], sampler: int, seconds: float) -> NDArray[np.int64]:
    """Makes it for so long to ``cpu`` or from ``others``; when that was, shape (n, 2), in raw ns.

    ``sampler`` is the process that samples ``cpu``.
    """
    # Not where temporary files are: those may lie in memory, and no disk would have to be read.
    with tempfile.TemporaryDirectory(dir=Path(__file__).parent) as folder:
        argv = [str(cpu), json.dumps(list(others)), str(seconds), str(sampler), folder]
        run = subprocess.run(
            [sys.executable, "-c", _HEAD + known.script + _TAIL, *argv],
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
    return np.array(json.loads(run.stdout), np.int64).reshape(-1, 2)
