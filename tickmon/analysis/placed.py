"""The kernel's traced events, each in the interruption that it lies in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.readings import TraceCounts
from tickmon.windows import KernelEvent, RowChange, Trace, Window

_UNTRACED = frozenset({"HYP", "HRE", "PIN", "NPI", "PIW", "MCE"})
"""Rows of /proc/interrupts (arch/x86/kernel/irq.c) that have no counterpart among the kernel's trace points
(arch/x86/include/asm/trace/irq_vectors.h): a hypervisor's calls, KVM's asynchronous page faults among them,
its own for its guests, and machine checks. Hyper-V's timer (HVS) has none, but what expires in it has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placed:
    """The events of a window that lie in an interruption whose detail is known, in the order of time."""

    trace: Trace
    events: NDArray[np.void] = field(repr=False)
    """dtype TRACED."""
    detail: NDArray[np.int64] = field(repr=False)
    """For each of ``events`` the index of the window's detail; never descending."""
    astray: NDArray[np.void] = field(repr=False)
    """The events, dtype TRACED, that lie where the sampler ran undisturbed."""
    blind: int
    """Interrupts that the kernel counted in the window and has no trace point for."""

    @property
    def outside(self) -> int:
        """How many lie there."""
        return len(self.astray)

    @property
    def whole(self) -> bool:
        """Nothing is missing, and what was traced lies where it must: what no event lies in is unseen."""
        return not self.trace.lost and not self.outside and not self.blind

    @property
    def counts(self) -> TraceCounts:
        """In numbers."""
        return TraceCounts(events=len(self.trace.events), outside=self.outside, lost=self.trace.lost)

    def knows(self, event: KernelEvent) -> bool:
        """Where there is none of these events, there was none."""
        return event in self.trace.events_known and not self.trace.lost

    def is_a(self, *events: KernelEvent) -> NDArray[np.bool_]:
        """Which of the events are one of these."""
        return one_of(self.events["event"], events)

    def count(self, event: KernelEvent, details: int) -> NDArray[np.int64]:
        """How many of these events lie in each of the window's ``details``."""
        return np.bincount(self.detail[self.is_a(event)], minlength=details)


def one_of(found: NDArray[np.integer], events: Iterable[KernelEvent]) -> NDArray[np.bool_]:
    """Which of ``found`` are one of ``events``: np.isin, but faster."""
    table = np.zeros(max(KernelEvent) + 1, bool)
    table[list(events)] = True
    return np.asarray(table[found])


def place(window: Window) -> Placed | None:
    """Where the events of the window's trace lie; None where it has none.

    An event belongs to the interruption that covers it, else to the nearest that is no further away than its
    time is uncertain. One at the window's edge may belong to the window beside this, and what is excluded was
    taken from the interruptions: neither tells against the trace.
    """
    trace = window.trace
    if trace is None:
        return None
    starts = np.ascontiguousarray(window.details["start_cycles"])
    ends = starts + window.details["gap_cycles"]
    at, unsure = np.ascontiguousarray(trace.events["at_cycles"]), trace.uncertain_cycles
    after = np.searchsorted(starts, at, side="right")
    # With an end at minus and a start at plus infinity everything lies between two.
    far = np.iinfo(np.int64).max // 2
    beyond = at - np.concatenate([[-far], ends])[after]
    before = np.concatenate([starts, [far]])[after] - at
    detail = np.where(beyond <= np.maximum(before, 0), after - 1, after)
    near = np.minimum(beyond, before) <= unsure
    elsewhere = (at <= window.start_cycles + unsure) | (at >= window.end_cycles - unsure)
    for exclusion in window.excluded:
        since = at - exclusion.start_cycles
        elsewhere |= (since >= -unsure) & (since <= exclusion.cycles + unsure)
    return Placed(
        trace=trace,
        events=trace.events[near],
        detail=detail[near],
        astray=trace.events[~near & ~elsewhere],
        blind=blind_to(window.interrupts),
    )


def blind_to(interrupts: Iterable[RowChange]) -> int:
    """How many of ``interrupts`` no trace point sees."""
    return sum(change.count for change in interrupts if change.row in _UNTRACED)
