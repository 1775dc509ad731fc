"""What the kernel's trace calls the causes of interruptions: names, kinds, and the first of each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.placed import Placed, one_of
from tickmon.analysis.readings import PREEMPTION_BY
from tickmon.analysis.sources import Cause
from tickmon.text import harmless
from tickmon.units import cycles_to_ns, duration_text
from tickmon.windows import KernelEvent

TICK = "tick"
UNSEEN = "unseen by the kernel"
"""Nothing of the kernel's ran: what is left is a hypervisor's host, or the hardware."""

OTHERS = {
    "irq": "other timers and device interrupts",
    "softirq": "other softirqs",
    "ipi": "other IPIs",
    "preemption": f"{PREEMPTION_BY}other tasks",
    "nmi": "other NMIs",
}
"""What stands for the rarest of a kind where there are too many to tell apart."""

MANY = 24
"""So many tasks of one window are told apart, for any number of them may take turns on a CPU; and twice as
many other causes, of which a kernel has few."""

_PARTS = 8
"""So many causes of one interruption are named; a long one may hold hundreds."""

_IPIS = {
    "reschedule": "reschedule IPI",
    "call_function": "call function IPI",
    "call_function_single": "call function IPI",
    "irq_work": "irq work IPI",
}
_NOT_BEGINNING = (
    KernelEvent.TIMER_EXIT,
    KernelEvent.VECTOR_EXIT,
    KernelEvent.IRQ_EXIT,
    KernelEvent.SOFTIRQ_EXIT,
    KernelEvent.RESUME,
)
"""Ends of something: no causes."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KernelCauses:
    """The causes in a window's interruptions, as the kernel traced them, in the order of time."""

    placed: Placed
    kinds: tuple[str, ...]
    names: tuple[str, ...]
    """Of the causes; as many as ``kinds``."""
    cause: NDArray[np.int64] = field(repr=False)
    """What happened, as indices of ``names``."""
    detail: NDArray[np.int64] = field(repr=False)
    """In which of the window's details each happened; never descending."""

    def causes(self, details: int, *, tick_basis: str) -> tuple[Cause, ...]:
        """One for each name, and each interruption begins with one of them at most; a tick's comes last.

        Each interruption begins with its first cause, but a switch to another task takes all of it.
        """
        switches = np.array([kind == "preemption" for kind in self.kinds], bool)[self.cause]
        begun = np.full(details, -1)
        for order in (np.arange(len(self.cause)), np.flatnonzero(switches)):
            # Of several values for one place the last stands.
            begun[self.detail[order[::-1]]] = self.cause[order[::-1]]
        causes = []
        for index in sorted(range(len(self.names)), key=lambda i: self.kinds[i] == "tick"):
            inside = np.zeros(details, bool)
            inside[self.detail[self.cause == index]] = True
            causes.append(
                Cause(
                    name=self.names[index],
                    kind=self.kinds[index],
                    basis=tick_basis if self.kinds[index] == "tick" else "trace",
                    inside=inside,
                    begins=begun == index,
                )
            )
        return tuple(causes)

    def text(self, detail: int, start_cycles: int, end_cycles: int, tsc_hz: float) -> str | None:
        """What lies in one interruption, in words and in order; None where nothing was traced.

        ``tick + softirq TIMER, RCU``; ``reschedule IPI + preempted by kworker/1:1 for 41 µs``.
        """
        first, last = self.detail.searchsorted((detail, detail + 1)).tolist()
        found = dict.fromkeys(self.cause[first:last].tolist())
        groups: dict[str, list[str]] = {}
        for index in found:
            kind, name = self.kinds[index], self.names[index]
            what = kind if kind in ("softirq", "preemption") else name
            groups.setdefault(what, []).append(name)
        parts = []
        for what, names in groups.items():
            if what == "softirq":
                parts.append(f"softirq {_listed([name.removeprefix('softirq ') for name in names])}")
            elif what == "preemption":
                away = duration_text(
                    cycles_to_ns(self._away_cycles(detail, start_cycles, end_cycles), tsc_hz)
                )
                tasks = _listed([name.removeprefix(PREEMPTION_BY) for name in names])
                parts.append(f"preempted by {tasks} for {away}")
            else:
                parts.append(what)
        return _listed(parts, " + ") or None

    def _away_cycles(self, detail: int, start_cycles: int, end_cycles: int) -> int:
        """For how long other tasks than the sampler ran in an interruption."""
        first, last = self.placed.detail.searchsorted((detail, detail + 1)).tolist()
        events = self.placed.events[first:last]
        events = events[one_of(events["event"], (KernelEvent.SWITCH, KernelEvent.RESUME))]
        away = events["event"] == KernelEvent.SWITCH
        bounds = np.append(np.clip(events["at_cycles"], start_cycles, end_cycles), end_cycles)
        return int(np.diff(bounds)[away].sum())


def _listed(texts: list[str], between: str = ", ") -> str:
    more = len(texts) - _PARTS
    return between.join(texts if more <= 0 else [*texts[:_PARTS], f"{more} more"])


def kernel_causes(placed: Placed, tick_begins: NDArray[np.bool_]) -> KernelCauses:
    """The causes among the placed events.

    Where ticks cannot be told from other timers, the first timer of a detail that a tick's slot says begins
    with a tick (``tick_begins``, for each detail) is taken for it.
    """
    events = placed.events["event"].astype(np.int64)
    names = placed.events["name"].astype(np.int64)
    # A timer's interrupt is what expires in it, a call of a function the flush that was called for.
    absorbed = _followed(events, KernelEvent.TIMER_ENTRY, (KernelEvent.TICK, KernelEvent.TIMER))
    flushing = _followed(events, KernelEvent.VECTOR_ENTRY, (KernelEvent.TLB_FLUSH,))
    keep = ~one_of(events, _NOT_BEGINNING)
    keep[absorbed] = keep[flushing] = False
    if KernelEvent.TICK not in placed.trace.events_known:
        timers = np.flatnonzero(keep & one_of(events, (KernelEvent.TIMER, KernelEvent.TIMER_ENTRY)))
        at, which = np.unique(placed.detail[timers], return_index=True)
        ticks = timers[which[tick_begins[at]]]
        events[ticks], names[ticks] = KernelEvent.TICK, -1
    events, names = events[keep], names[keep]
    detail = placed.detail[keep]

    known = placed.trace.names
    keys = events * (len(known) + 1) + names + 1
    found = np.flatnonzero(np.bincount(keys, minlength=1))
    named = [
        _named(KernelEvent(event), ("", *known)[name])
        for event, name in (divmod(key, len(known) + 1) for key in found.tolist())
    ]
    return _few(placed, named, np.searchsorted(found, keys), detail)


def _few(
    placed: Placed, named: list[tuple[str, str]], cause: NDArray[np.int64], detail: NDArray[np.int64]
) -> KernelCauses:
    """With one index for each kind and name, and the rarest under one name for all of their kind."""
    often: Counter[tuple[str, str]] = Counter()
    for pair, count in zip(named, np.bincount(cause, minlength=len(named)).tolist(), strict=True):
        often[pair] += count
    ranked = [pair for pair, _ in often.most_common()]
    tasks = [pair for pair in ranked if pair[0] == "preemption"]
    kept = {*tasks[:MANY], *[pair for pair in ranked if pair[0] != "preemption"][: 2 * MANY]}
    called = [pair if pair in kept else (pair[0], OTHERS.get(pair[0], pair[1])) for pair in named]
    places = {pair: place for place, pair in enumerate(dict.fromkeys(called))}
    return KernelCauses(
        placed=placed,
        kinds=tuple(kind for kind, _ in places),
        names=tuple(name for _, name in places),
        cause=np.array([places[pair] for pair in called], np.int64)[cause],
        detail=detail,
    )


def _followed(
    events: NDArray[np.int64], entry: KernelEvent, what: tuple[KernelEvent, ...]
) -> NDArray[np.int64]:
    """The indices of ``entry`` after which one of ``what`` comes before any exit and any other entry."""
    among = np.flatnonzero(one_of(events, (entry, KernelEvent(entry + 1), *what)))
    heads = (events[among][:-1] == entry) & one_of(events[among][1:], what)
    return np.asarray(among[:-1][heads])


def _named(event: KernelEvent, name: str) -> tuple[str, str]:
    """Kind and name of a cause."""
    name = harmless(name)
    match event:
        case KernelEvent.TICK:
            return "tick", TICK
        case KernelEvent.TIMER_ENTRY:
            return "irq", "timer interrupt"
        case KernelEvent.TIMER:
            return "irq", f"timer {name}" if name else "timer interrupt"
        case KernelEvent.VECTOR_ENTRY:
            return ("ipi", _IPIS[name]) if name in _IPIS else ("irq", f"{name or 'unnamed'} interrupt")
        case KernelEvent.TLB_FLUSH:
            return "ipi", "TLB shootdown"
        case KernelEvent.IRQ_ENTRY:
            return "irq", f"irq {name}"
        case KernelEvent.SOFTIRQ_ENTRY:
            return "softirq", f"softirq {name}"
        case KernelEvent.SWITCH:
            return "preemption", PREEMPTION_BY + (name or "another task")
        case KernelEvent.PAGE_FAULT:
            return "page-fault", "page fault"
        case KernelEvent.NMI:
            return "nmi", f"NMI {name}" if name else "NMI"
    raise ValueError(f"{event!r} begins nothing")
