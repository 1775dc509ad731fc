"""The data that flows: settings go in, windows of one CPU's interruptions come out.

Everything in a window is in cycles of the counter. ``start_cycles`` and ``end_cycles`` count from the
segment's origin, so that they stay small; only ``Segment.origin_cycles`` and ``ClockReading.cycles`` are
absolute counter values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

INTERRUPTION = np.dtype([("start_cycles", np.int64), ("gap_cycles", np.int64)])
"""One interruption: the counter read before it, and the distance to the next read."""

SWITCH = np.dtype([("out_cycles", np.int64), ("in_cycles", np.int64)])
"""The sampler's process was switched out, and in again."""

TRACED = np.dtype([("at_cycles", np.int64), ("event", np.uint8), ("name", np.int32)])
"""One event of the kernel's own trace: ``event`` is a KernelEvent, ``name`` an index into ``Trace.names`` or
-1 for none."""


class Method(StrEnum):
    """How the CPU is watched."""

    GAP = "gap"
    """Read the counter without pause; an interruption is a gap above the threshold."""
    LOOP = "loop"
    """The 2004 program: time a fixed loop again and again; the minimum is the undisturbed loop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the user chose for one CPU. Other settings make another source, and a new segment."""

    cpu: int
    method: Method = Method.GAP
    window_s: float = 1.0
    threshold_ns: float | None = None
    """None: found by the sampler in its first moments."""
    loop_size: int = 6800
    samples: int | None = None
    """Loop method: the samples of one pass, after which the source ends; None: without end."""
    kernel_hz: float | None = None
    """Overrides what the kernel says."""
    tsc_hz: float | None = None
    """Overrides what was found."""
    priority: int = 0
    """Of SCHED_FIFO; 0 leaves the policy alone."""
    trace: bool = False
    """Have the kernel trace what it does on that CPU."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockReading:
    """All clocks at one moment, ``cycles`` being an absolute counter value."""

    cycles: int
    uncertain_cycles: int
    """The clocks were read within so many cycles of ``cycles``."""
    monotonic_ns: int
    monotonic_raw_ns: int
    """As the kernel itself has it, in whose records times are, whatever time namespace tickmon is in."""
    realtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTick:
    """What this machine says of its kernel's tick on one CPU, before anything is measured."""

    hz: float
    period_ns: int
    """The kernel's TICK_NSEC."""
    source: str
    """Where ``hz`` is from, in words for the user."""
    basis: str
    """``kernel`` when the kernel said it, ``option`` when the user did."""
    phases_ns: tuple[int, ...]
    """Offsets from k * period of CLOCK_MONOTONIC at which the tick may be due, likeliest first."""
    may_stop: bool
    """The kernel may stop the tick on this CPU while one task runs there (``nohz_full``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Windows taken alike: they touch, and nothing falls between. Cycles of two segments never mix."""

    segment: int
    cpu: int
    method: Method
    origin_cycles: int
    tsc_hz: float
    tsc_hz_error_ppm: float | None
    tsc_hz_source: str
    counter_synchronised: bool
    """Reads on this CPU and on another can be compared, so a CLOCK_MONOTONIC time can be had."""
    kernel_tick: KernelTick | None
    """None: HZ is not known."""
    guest: bool
    """A hypervisor runs this kernel, so a foreign train may be its host's."""
    threshold_cycles: int | None
    """None for the loop method."""
    step_cycles: int
    """The smallest step of the counter: nothing finer can be told apart."""
    window_s: float
    loop_size: int | None
    """None for the gap method."""
    priority: int | None
    """Of SCHED_FIFO; 0: an ordinary task; None: not known."""
    reason: str
    """Why it began: ``start``, ``cpu``, ``method``, ``settings``, ``trace``, ``reset``, ``jump`` or
    ``scan``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowChange:
    """How far one row of ``/proc/interrupts`` moved on the sampled CPU during a window."""

    row: str
    name: str
    count: int
    timer: str | None = None
    """The contract's word for the row when it counts this platform's timer interrupts: LOC, HVS, …"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftirqCount:
    """How often one kind of softirq ran on the sampled CPU during a window."""

    name: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counters:
    """What the kernel counted during a window: how much of a thing, but not when, so no interruption is
    its. What cannot be read is None."""

    run_delay_ns: int | None
    """The sampler could have run and waited for its CPU."""
    steal_ns: int | None
    """The hypervisor ran somebody else on the sampled CPU, in steps of 10 ms or so."""
    throttled_ns: int | None
    """Tasks were kept off all CPUs by the CPU limits of the sampler's control group and those above, added
    up."""
    throttled_count: int | None
    """In so many of the limits' periods."""
    softirqs: tuple[SoftirqCount, ...] | None
    """Those that ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion:
    """Something that is no interruption and stays out of the overhead."""

    code: str
    """``backwards`` (the counter went back), ``moved`` (the sampler was on another CPU), ``jump`` (the
    counter and the kernel's clock say different things of how long it was: suspend, migration), ``stopped``
    (the sampler could not have run: a stop signal, a debugger, a freezer), ``throttled`` (the kernel took
    the CPU from the sampler for its real-time priority) or ``untrusted`` (the kernel gave the counter up)."""
    start_cycles: int
    cycles: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingWarning:
    """One thing that the reader of a window should know before believing it."""

    code: str
    message: str


class KernelEvent(IntEnum):
    """What the kernel did on the sampled CPU. The numbers are no format: they may change."""

    TIMER_ENTRY = 1
    """The local timer's interrupt begins (x86: vector local_timer; arm64: device interrupt arch_timer)."""
    TIMER_EXIT = 2
    VECTOR_ENTRY = 3
    """Another vector's or inter-processor interrupt begins. Name: reschedule, call_function,
    call_function_single, irq_work, … (arm64's are given the same names)."""
    VECTOR_EXIT = 4
    TICK = 5
    """The tick's timer expired. Told apart from TIMER only where the kernel's symbols can be read:
    otherwise it is not among ``Trace.events_known``."""
    TIMER = 6
    """Another high-resolution timer expired. Name: its function, none where symbols cannot be read."""
    IRQ_ENTRY = 7
    """A device's interrupt handler begins. Name: number and name, "36 virtio1-req.0"."""
    IRQ_EXIT = 8
    SOFTIRQ_ENTRY = 9
    """A softirq begins. Name: TIMER, NET_RX, RCU, SCHED, …"""
    SOFTIRQ_EXIT = 10
    SWITCH = 11
    """Another task than the sampler runs from now on. Name: the task's."""
    RESUME = 12
    """The sampler runs from now on."""
    PAGE_FAULT = 13
    """The sampler touched a page that was not there."""
    TLB_FLUSH = 14
    """Another CPU has had this one's translations flushed: inside a call_function interrupt."""
    NMI = 15
    """A handler of a non-maskable interrupt has returned. Name: its function, where symbols can be read."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """What the kernel's own trace of that CPU says of one window."""

    events: NDArray[np.void] = field(repr=False)
    """Those within the window, in the order of time, dtype TRACED. An exit, or the switch back, may lie in
    the window after its entry's."""
    names: tuple[str, ...]
    """What ``name`` points into; made harmless, each once."""
    lost: int
    """Records that the kernel dropped: so many may be missing among the events."""
    events_known: frozenset[KernelEvent]
    """What could be traced here: the absence of any other event says nothing."""
    uncertain_cycles: int
    """A time may be off by so much, as far as the fit of the clocks goes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Window:
    """One stretch of time ``[start_cycles, end_cycles)`` with its interruptions, as the sampler saw it.

    For the loop method an "interruption" is a sample, whatever its length, and ``reads`` is the number
    of samples.
    """

    window: int
    """Number through the run, from 1. A provisional window has the number of the one to come."""
    segment: Segment
    provisional: bool
    """An early look at a window that is still open: shown, never recorded."""
    started_at: datetime
    """UTC."""
    start_cycles: int
    end_cycles: int
    clocks: tuple[ClockReading, ...]
    """At least two, in the order of time, from near the start to near the end, some ten a second.

    Between two of them CLOCK_MONOTONIC is a straight line; over a whole minute it is none, since the
    clock is steered.
    """
    reads: int
    interruptions: int
    lost: int
    """Interruptions whose detail was dropped; every count, sum and maximum holds them nevertheless."""
    gap_sum_cycles: int
    """Of the interruptions."""
    min_cycles: int | None
    """The smallest gap of all reads; None when nothing was read."""
    max_cycles: int | None
    """The largest gap of all reads."""
    counts: NDArray[np.int64] = field(repr=False)
    """Interruptions by the length of their gap, in the bins of ``tickmon.analysis.histogram``."""
    details: NDArray[np.void] = field(repr=False)
    """``interruptions - lost`` of dtype INTERRUPTION, in the order of time."""
    switches: NDArray[np.void] | None = field(repr=False)
    """When the sampler was switched out, dtype SWITCH; None where that could not be dated."""
    switch_count: int | None
    """How often it was switched out, whether dated or not; None when unknown."""
    interrupts: tuple[RowChange, ...] = ()
    counters: Counters | None = None
    """None while the window is open."""
    excluded: tuple[Exclusion, ...] = ()
    """The first of them."""
    excluded_count: int = 0
    """Of all."""
    unlisted_cycles: int = 0
    """Of the time that those took which are not listed, as far as it is known."""
    switches_lost: int = 0
    """Records of switches that the kernel dropped: so many may be missing among the dated ones."""
    trace: Trace | None = None
    """None: not traced."""
    warnings: tuple[ReadingWarning, ...] = ()

    @property
    def length_cycles(self) -> int:
        """From start to end."""
        return self.end_cycles - self.start_cycles

    @property
    def watched_cycles(self) -> int:
        """The time that shares and rates refer to: without what is excluded, of which a file may say more."""
        return max(self.length_cycles - self.excluded_cycles, 0)

    @property
    def excluded_cycles(self) -> int:
        """The time that exclusions took: where the counter went back there is none."""
        return self.unlisted_cycles + sum(e.cycles for e in self.excluded if e.code != "backwards")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGap:
    """No mark has come from the sampler for a while: the program on that CPU is not running now."""

    since: datetime
    """UTC: the last published read."""
    gap_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The source makes no more windows."""

    error: str | None
    """None when it had come to its end; else one line that says what happened and what to do."""
    fault: Exception | None = None
    """An error of tickmon's own, or a lack of memory, that ``error`` tells of."""


Event = Window | OpenGap | Ended
"""What a source hands on, from a thread of its own; all of it immutable."""


class WindowSource(Protocol):
    """Whoever makes windows: the collector, a recording, the script of a test."""

    def start(self, on_event: Callable[[Event], None]) -> None:
        """Begins; returns at once. ``on_event`` is called from a thread of the source, one at a time."""

    def stop(self) -> None:
        """Ends it and waits until it is gone: no call of ``on_event`` follows. May be called twice."""
