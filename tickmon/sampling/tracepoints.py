"""Which of the kernel's trace points say what happens on a CPU, and how each is to be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from tickmon.machine.files import folders_in
from tickmon.machine.tracefs import Place, read_format, read_strings
from tickmon.windows import KernelEvent as Event

TICK_FUNCTIONS = ("tick_sched_timer", "tick_nohz_highres_handler", "tick_nohz_handler")
"""Who handles the expiry of the tick's timer: kernels to 6.7, 6.8, and from 6.9 on."""

REMOTE_SHOOTDOWN = 1
"""Of enum tlb_flush_reason (include/linux/mm_types.h), the same since tlb_flush came with Linux 3.15."""

_ARM_TIMER = "arch_timer"
_LOCAL_TIMER = "local_timer"

_IPIS = {
    "Rescheduling interrupts": "reschedule",
    "Function call interrupts": "call_function",
    "CPU stop interrupts": "stop",
    "CPU stop (for crash dump) interrupts": "crash_stop",
    "Timer broadcast interrupts": "timer_broadcast",
    "IRQ work interrupts": "irq_work",
    "CPU backtrace interrupts": "backtrace",
    "KGDB roundup interrupts": "kgdb_roundup",
}
"""arm64's words (arch/arm64/kernel/smp.c, ipi_types) in those of x86's trace points."""


class Naming(Enum):
    """How the name of an event is found."""

    FIXED = "fixed"
    """Always the same, or none."""
    SYMBOL = "symbol"
    """The value is a kernel function's address."""
    WORD = "word"
    """The point has a word for each value."""
    IRQ = "irq"
    """The value is a device interrupt's number, the text its name."""
    TASK = "task"
    """The value is a task's number, the text its name."""
    FLUSH = "flush"
    """None; only flushes for another CPU count."""
    FAULT = "fault"
    """None; only those of the sampler count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePoint:
    """One event that the kernel can be asked to write down."""

    path: str
    id: int
    event: Event
    naming: Naming = Naming.FIXED
    name: str | None = None
    value: Place | None = None
    text: Place | None = None
    words: dict[int, str] = field(default_factory=dict)

    @property
    def events(self) -> frozenset[Event]:
        """What its records may become."""
        match self.naming:
            case Naming.TASK:
                return frozenset({Event.SWITCH, Event.RESUME})
            case Naming.IRQ if self.name == _ARM_TIMER:
                entry = self.event is Event.IRQ_ENTRY
                return frozenset({self.event, Event.TIMER_ENTRY if entry else Event.TIMER_EXIT})
        return frozenset({self.event})

    def event_of(self, irq_name: str) -> Event:
        """What a device interrupt of that name is: arm64's timer is one of them."""
        if irq_name != _ARM_TIMER:
            return self.event
        return Event.TIMER_ENTRY if self.event is Event.IRQ_ENTRY else Event.TIMER_EXIT


def find_points(tracefs: Path) -> tuple[TracePoint, ...]:
    """Those that this kernel has, page faults first: they need no tracefs."""
    vectors = {path.name for path in folders_in(tracefs / "events/irq_vectors")}
    found: list[TracePoint | None] = [
        TracePoint(path="page-faults", id=0, event=Event.PAGE_FAULT, naming=Naming.FAULT)
    ]
    for stem in sorted(name.removesuffix("_entry") for name in vectors if name.endswith("_entry")):
        timer = stem == _LOCAL_TIMER
        for event, suffix in (
            (Event.TIMER_ENTRY if timer else Event.VECTOR_ENTRY, "entry"),
            (Event.TIMER_EXIT if timer else Event.VECTOR_EXIT, "exit"),
        ):
            name = None if timer else stem
            found.append(_point(tracefs, f"irq_vectors/{stem}_{suffix}", event, name=name))
    # Where there are no vectors the timer's interrupt is a device's.
    timer_name = None if vectors else _ARM_TIMER
    strings = {address: _IPIS.get(text, text) for address, text in read_strings(tracefs).items()}
    found += [
        _point(tracefs, "ipi/ipi_entry", Event.VECTOR_ENTRY, Naming.WORD, "reason", words=strings),
        _point(tracefs, "ipi/ipi_exit", Event.VECTOR_EXIT, Naming.WORD, "reason", words=strings),
        _point(tracefs, "timer/hrtimer_expire_entry", Event.TIMER, Naming.SYMBOL, "function"),
        _point(tracefs, "irq/irq_handler_entry", Event.IRQ_ENTRY, Naming.IRQ, "irq", "name", name=timer_name),
        _point(tracefs, "irq/irq_handler_exit", Event.IRQ_EXIT, Naming.IRQ, "irq", name=timer_name),
        _point(tracefs, "irq/softirq_entry", Event.SOFTIRQ_ENTRY, Naming.WORD, "vec"),
        _point(tracefs, "irq/softirq_exit", Event.SOFTIRQ_EXIT, Naming.WORD, "vec"),
        _point(tracefs, "sched/sched_switch", Event.SWITCH, Naming.TASK, "next_pid", "next_comm"),
        _point(tracefs, "tlb/tlb_flush", Event.TLB_FLUSH, Naming.FLUSH, "reason"),
        _point(tracefs, "nmi/nmi_handler", Event.NMI, Naming.SYMBOL, "handler"),
    ]
    return tuple(point for point in found if point is not None)


def _point(
    tracefs: Path,
    path: str,
    event: Event,
    naming: Naming = Naming.FIXED,
    value: str | None = None,
    text: str | None = None,
    *,
    name: str | None = None,
    words: dict[int, str] | None = None,
) -> TracePoint | None:
    """None where the kernel has no such point, or it lacks one of these fields."""
    known = read_format(tracefs, path)
    if known is None or {value, text} - {None} - known.places.keys():
        return None
    return TracePoint(
        path=path,
        id=known.id,
        event=event,
        naming=naming,
        name=name,
        value=known.places[value] if value else None,
        text=known.places[text] if text else None,
        words=words or known.symbols,
    )
