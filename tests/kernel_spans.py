"""What the kernel's own trace of a CPU says happened there, from when until when, and what that is called."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SPAN_EVENTS = ("irq_vectors", "irq", "sched/sched_switch", "exceptions", "tlb/tlb_flush")
"""What has to be recorded by ``tests.kernel_trace.KernelTrace``; an event, or all of a kind."""

_CALLS = ("call_function", "call_function_single")
_FIELD = re.compile(r"(\w+)=(\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that happened on the CPU."""

    start_cycles: int
    end_cycles: int
    cause: str
    """In tickmon's words."""


def spans(records: Sequence[tuple[int, str, str]], *, faults: range) -> Iterator[Span]:
    """All that is known here: device interrupts, function calls, tasks that run, page faults.

    Of page faults only those at the addresses ``faults``. Their end is not traced, so they have no length
    but a cycle. Interrupts do not interrupt each other, and each ends what it began.

    What happened in a task's turn is told only where the task that came is the one that went: there are tasks
    in whose turns the kernel leaves out some of its events, in this trace and in others.
    """
    turn: list[Span] = []
    since, task, pid = 0, "", ""
    begun, cause = 0, ""
    for at, event, text in records:
        told = dict(_FIELD.findall(text))
        match event.rpartition("_"):
            case "irq_handler", _, "entry":
                begun, cause = at, f"irq {told['irq']} {told['name']}"
            case vector, _, "entry" if vector in _CALLS:
                begun, cause = at, "call function IPI"
            case "tlb", _, "flush" if cause and "reason:remote shootdown" in text:
                cause = "TLB shootdown"
            case (("irq_handler" | "call_function" | "call_function_single"), _, "exit") if cause:
                turn.append(Span(start_cycles=begun, end_cycles=at, cause=cause))
                cause = ""
            case "page_fault", _, "user" if int(told["address"], 16) in faults:
                turn.append(Span(start_cycles=at, end_cycles=at + 1, cause="page fault"))
            case "sched", _, "switch":
                if told["prev_pid"] == pid:
                    yield from turn
                    yield Span(start_cycles=since, end_cycles=at, cause=f"preemption by {task}")
                turn.clear()
                since, task, pid = at, told["next_comm"], told["next_pid"]
