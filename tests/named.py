"""Whether the reading gives the right names, by a trace of the kernel's that it knows nothing of."""

from __future__ import annotations

import queue
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.conftest import samplers
from tests.kernel_spans import SPAN_EVENTS, Span, spans
from tests.kernel_trace import KernelTrace
from tests.known import Known, make
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.kernel_causes import UNSEEN, kernel_causes
from tickmon.analysis.placed import place
from tickmon.machine.facts import Machine
from tickmon.sampling.clockline import line_of
from tickmon.sampling.collector import Collector
from tickmon.windows import Ended, Event, Settings, Window

RIGHT_LEAST = 0.99
UNSEEN_MOST = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the reading says of one disturbance."""

    name: str
    times: int
    """So often it came to the sampled CPU, as that CPU's kernel traced it."""
    total_ns: float
    """For so long it took the CPU, by the same trace …"""
    right_ns: float
    """… of which so much lies in interruptions that have its very name among their causes …"""
    unseen_ns: float
    """… and so much in such that are called unseen by the kernel."""
    unseen: int
    """Interruptions that are called so, in the whole run …"""
    belied: int
    """… and the kernel's traced events, of any kind, that lie in them."""
    made_ns: NDArray[np.float64] = field(repr=False)
    """For each time it was made, how long that took, to the maker …"""
    meanwhile_ns: NDArray[np.float64] = field(repr=False)
    """… how much of that time is called unseen …"""
    beside_ns: NDArray[np.float64] = field(repr=False)
    """… and how much of as much time right beside it."""
    warnings: tuple[str, ...]
    """The codes of all."""

    @property
    def right_share(self) -> float:
        """Of the disturbance's time; NaN when it did not reach the sampled CPU."""
        return self.right_ns / self.total_ns if self.times else float("nan")

    @property
    def unseen_share(self) -> float:
        """The same."""
        return self.unseen_ns / self.total_ns if self.times else float("nan")

    @property
    def made(self) -> int:
        """So often it was made."""
        return len(self.made_ns)

    @property
    def meanwhile_share(self) -> float:
        """How much is called unseen while it is made …"""
        return float(self.meanwhile_ns.sum() / self.made_ns.sum())

    @property
    def beside_share(self) -> float:
        """… and beside it."""
        return float(self.beside_ns.sum() / self.made_ns.sum())

    @property
    def holds(self) -> bool:
        """As much has the right name as must, and nothing of the kernel's is called unseen that may not."""
        return self.right_share >= RIGHT_LEAST and self.unseen_share < UNSEEN_MOST and not self.belied

    def excess_ns(self) -> tuple[float, float, float]:
        """How much more is called unseen while it is made than beside it, and the 99 % interval of that.

        By bootstrap over the times: what a host takes comes in lumps.
        """
        excess = self.meanwhile_ns - self.beside_ns
        picks = np.random.default_rng(1).integers(0, len(excess), (1000, len(excess)))
        low, high = np.quantile(excess[picks].mean(axis=1), [0.005, 0.995]).tolist()
        return float(excess.mean()), low, high


def tell(machine: Machine, cpu: int, known: Known, *, seconds: float) -> Told:
    """Makes one disturbance for so long while ``cpu`` is sampled, and traced twice."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    collector = Collector(Settings(cpu=cpu, trace=True), machine, looks=False)
    with KernelTrace(cpu, SPAN_EVENTS) as truth:
        truth.start()
        collector.start(events.put)
        while not (pids := samplers()):
            time.sleep(0.01)
        # It has touched all its pages by then.
        time.sleep(0.2)
        region = _region(pids[-1])
        others = sorted(set(machine.cpus.usable) - {cpu})
        made_ns = make(known, cpu=cpu, others=others, sampler=pids[-1], seconds=seconds)
        collector.stop()
        records = truth.stop()
    windows = []
    while not events.empty():
        event = events.get()
        assert not isinstance(event, Ended), event.error
        if isinstance(event, Window):
            windows.append(event)
    assert windows, "the sampler did not come to run: others keep its CPU busy"
    origin = windows[0].segment.origin_cycles
    line = line_of([reading for window in windows for reading in window.clocks], origin_cycles=origin)
    since = [(at - origin, event, text) for at, event, text in records]
    return _told(known, windows, line.cycles_at(made_ns), since, faults=region)


def _region(pid: int) -> range:
    """Where the sampler has the memory that it shares."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    start, end = next(line.split()[0] for line in maps if "/memfd:tickmon" in line).split("-")
    return range(int(start, 16), int(end, 16))


def _told(
    known: Known,
    windows: Sequence[Window],
    made: NDArray[np.int64],
    records: Sequence[tuple[int, str, str]],
    *,
    faults: range,
) -> Told:
    first, last = windows[0].start_cycles, windows[-1].end_cycles
    made = made[(made[:, 0] > first) & (made[:, 1] < last)]
    found = _found(windows)
    happened = [
        span
        for span in spans(records, faults=faults)
        if span.cause.startswith(known.cause)
        and first < span.start_cycles
        and span.end_cycles < last
        and np.any((made[:, 0] < span.end_cycles) & (made[:, 1] > span.start_cycles))
    ]
    times = np.array([(span.start_cycles, span.end_cycles) for span in happened], np.int64).reshape(-1, 2)
    traced = np.array([at for at, _event, _text in records if first < at < last], np.int64)
    # Right in the middle between two times lies as much time without the disturbance.
    middle = (made[:-1, 1] + made[1:, 0]) // 2
    half = np.minimum(made[:-1, 1] - made[:-1, 0], made[1:, 0] - made[:-1, 1]) // 2
    per_ns = windows[-1].segment.tsc_hz / 1e9
    return Told(
        name=known.name,
        times=len(happened),
        total_ns=float(np.diff(times).sum()) / per_ns,
        right_ns=sum(map(found.right_cycles, happened)) / per_ns,
        unseen_ns=float(found.unseen_cycles(times).sum()) / per_ns,
        unseen=int(found.is_unseen.sum()),
        belied=found.belied(traced),
        made_ns=np.diff(made[:-1])[:, 0] / per_ns,
        meanwhile_ns=found.unseen_cycles(made[:-1]) / per_ns,
        beside_ns=found.unseen_cycles(np.column_stack([middle - half, middle + half])) / per_ns,
        warnings=found.codes,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Found:
    """The interruptions of a run, in the order of time, and what the reading says of them."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    is_unseen: NDArray[np.bool_]
    named: frozenset[tuple[int, str]]
    """Which of them has which name among its causes."""
    codes: tuple[str, ...]

    def right_cycles(self, span: Span) -> int:
        """How much of it lies in an interruption that has its name."""
        index = int(np.searchsorted(self.starts, span.start_cycles, side="right")) - 1
        if (index, span.cause) not in self.named:
            return 0
        return max(0, min(span.end_cycles, int(self.ends[index])) - span.start_cycles)

    def unseen_cycles(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """How much of each (from, until), shape (n, 2), lies in interruptions that are called unseen."""
        lengths = np.where(self.is_unseen, self.ends - self.starts, 0)
        before = np.concatenate([[0], np.cumsum(lengths)])
        index = np.searchsorted(self.starts, times, side="right") - 1
        under_way = np.clip(times - self.starts[index], 0, lengths[index])
        until = before[np.maximum(index, 0)] + np.where(index >= 0, under_way, 0)
        return np.asarray(until[:, 1] - until[:, 0])

    def belied(self, traced: NDArray[np.int64]) -> int:
        """How many of these moments lie in interruptions that are called unseen."""
        index = np.searchsorted(self.starts, traced, side="right") - 1
        return int(np.count_nonzero((index >= 0) & self.is_unseen[index] & (traced < self.ends[index])))


def _found(windows: Sequence[Window]) -> _Found:
    starts, ends, unseen, named, codes = [], [], [], set[tuple[int, str]](), set[str]()
    clocks, before = Clocks(), 0
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        codes |= {warning.code for warning in analysis.warnings}
        details = window.details
        starts.append(details["start_cycles"])
        ends.append(details["start_cycles"] + details["gap_cycles"])
        unseen.append(
            np.array([source.name == UNSEEN for source in analysis.sources], bool)[analysis.source_of]
        )
        if (placed := place(window)) is not None:
            causes = kernel_causes(placed, np.zeros(len(details), bool))
            for detail, cause in zip((causes.detail + before).tolist(), causes.cause.tolist(), strict=True):
                named.add((detail, causes.names[cause]))
        before += len(details)
    return _Found(
        starts=np.concatenate(starts),
        ends=np.concatenate(ends),
        is_unseen=np.concatenate(unseen),
        named=frozenset(named),
        codes=tuple(sorted(codes)),
    )
