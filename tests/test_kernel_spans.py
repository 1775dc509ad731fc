"""What a trace of the kernel's says happened is read as it is meant."""

from __future__ import annotations

from tests.kernel_spans import spans


def switch(at: int, before: str, after: str) -> tuple[int, str, str]:
    """Between tasks that are called like their numbers."""
    text = f"prev_comm=t{before} prev_pid={before} prev_state=R ==> next_comm=t{after} next_pid={after}"
    return at, "sched_switch", text


def told(*records: tuple[int, str, str]) -> list[tuple[int, int, str]]:
    """What happened between two switches, in which task 7 has a turn."""
    whole = [switch(10, "1", "7"), *records, switch(90, "7", "1")]
    return [(s.start_cycles, s.end_cycles, s.cause) for s in spans(whole, faults=range(0x1000, 0x2000))]


TURN = (10, 90, "preemption by t7")


def test_handler_takes_from_its_entry_to_its_exit() -> None:
    entry, exit_ = (20, "irq_handler_entry", "irq=36 name=virtio1-req.0"), (30, "irq_handler_exit", "irq=36")
    assert told(entry, (25, "softirq_raise", "vec=4"), exit_) == [(20, 30, "irq 36 virtio1-req.0"), TURN]


def test_function_call_is_a_shootdown_where_another_cpu_asked_for_a_flush() -> None:
    entry, exit_ = (20, "call_function_entry", "vector=252"), (30, "call_function_exit", "vector=252")
    own = (25, "tlb_flush", "pages:1 reason:local shootdown (2)")
    other = (25, "tlb_flush", "pages:1 reason:remote shootdown (1)")
    assert told(entry, own, exit_)[0] == (20, 30, "call function IPI")
    assert told(entry, other, exit_)[0] == (20, 30, "TLB shootdown")
    assert told(other, entry, exit_)[0] == (20, 30, "call function IPI")


def test_only_faults_in_the_range_count() -> None:
    here, there = (20, "page_fault_user", "address=0x1800 ip=0x1"), (30, "page_fault_user", "address=0x2000")
    assert told(here, there) == [(20, 21, "page fault"), TURN]


def test_nothing_is_told_of_a_turn_whose_end_is_not_in_the_trace() -> None:
    fault = (20, "page_fault_user", "address=0x1800 ip=0x1")
    assert told(fault, switch(40, "8", "7")) == [(40, 90, "preemption by t7")]
