"""What the kernel traced in an interruption is its cause, and what it did not trace is told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.making import Life, make_segment, make_trace, make_window, simulate
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.kernel_causes import MANY, UNSEEN
from tickmon.analysis.placed import place
from tickmon.analysis.readings import Analysis, Source
from tickmon.analysis.rows import SOURCES
from tickmon.analysis.total import NO_TOTAL, add
from tickmon.windows import (
    TRACED,
    Exclusion,
    KernelEvent,
    Method,
    RowChange,
    Segment,
    Trace,
    Window,
)

E = KernelEvent
Happened = tuple[int, KernelEvent, str | None]

BARE = make_segment(kernel_tick=None)
"""Without HZ, so that only the trace names anything."""


def traced(
    details: list[tuple[int, int]], *events: Happened, segment: Segment = BARE, **changes: object
) -> Analysis:
    window = make_window(details, segment=segment)
    window = replace(window, trace=make_trace(*events), **changes)  # type: ignore[arg-type]
    return analyse(window, Clocks())[0]


def timer(at: int, expired: KernelEvent = E.TICK, name: str | None = None) -> list[Happened]:
    return [(at, E.TIMER_ENTRY, None), (at + 50, expired, name), (at + 900, E.TIMER_EXIT, None)]


def preemption(at: int, long: int, *tasks: str) -> list[Happened]:
    """The tasks, one after the other, share that time evenly."""
    away: list[Happened] = [(at + n * long // len(tasks), E.SWITCH, task) for n, task in enumerate(tasks)]
    return [*away, (at + long, E.RESUME, None)]


def named(analysis: Analysis, name: str) -> Source:
    return next(source for source in analysis.sources if source.name == name)


def kinds(analysis: Analysis) -> dict[str, str]:
    return {source.name: source.kind for source in analysis.sources}


def words(*events: Happened, gap_cycles: int = 200_000) -> str | None:
    """All that is said of one interruption that these lie in."""
    return traced([(1_000, gap_cycles)], *events).worst[0].causes


# Names


@pytest.mark.parametrize(
    ("event", "name", "kind", "source"),
    [
        (E.TICK, None, "tick", "tick"),
        (E.TIMER, "hrtimer_wakeup", "irq", "timer hrtimer_wakeup"),
        (E.TIMER_ENTRY, None, "irq", "timer interrupt"),
        (E.IRQ_ENTRY, "36 virtio1-req.0", "irq", "irq 36 virtio1-req.0"),
        (E.VECTOR_ENTRY, "reschedule", "ipi", "reschedule IPI"),
        (E.VECTOR_ENTRY, "call_function", "ipi", "call function IPI"),
        (E.VECTOR_ENTRY, "call_function_single", "ipi", "call function IPI"),
        (E.VECTOR_ENTRY, "irq_work", "ipi", "irq work IPI"),
        (E.VECTOR_ENTRY, "thermal_apic", "irq", "thermal_apic interrupt"),
        (E.SOFTIRQ_ENTRY, "NET_RX", "softirq", "softirq NET_RX"),
        (E.SWITCH, "kworker/1:1", "preemption", "preemption by kworker/1:1"),
        (E.PAGE_FAULT, None, "page-fault", "page fault"),
        (E.NMI, "perf_event_nmi_handler", "nmi", "NMI perf_event_nmi_handler"),
    ],
)
def test_each_kind_of_event_names_its_interruption(
    event: KernelEvent, name: str | None, kind: str, source: str
) -> None:
    analysis = traced([(1_000, 5_000)], (1_500, event, name))
    assert kinds(analysis) == {source: kind}
    assert named(analysis, source).basis == "trace"
    assert analysis.worst[0].causes is not None


def test_timers_interrupt_is_what_expires_in_it() -> None:
    analysis = traced([(1_000, 5_000), (9_000, 5_000)], *timer(1_200), *timer(9_200, E.TIMER, "it_real_fn"))
    assert kinds(analysis) == {"tick": "tick", "timer it_real_fn": "irq"}


def test_call_of_a_function_is_a_shootdown_only_where_a_flush_lies_in_it() -> None:
    analysis = traced(
        [(1_000, 5_000), (9_000, 5_000)],
        (1_100, E.VECTOR_ENTRY, "call_function_single"),
        (1_200, E.TLB_FLUSH, None),
        (1_300, E.VECTOR_EXIT, "call_function_single"),
        (9_100, E.VECTOR_ENTRY, "call_function_single"),
        (9_300, E.VECTOR_EXIT, "call_function_single"),
    )
    assert kinds(analysis) == {"TLB shootdown": "ipi", "call function IPI": "ipi"}


def test_first_cause_is_to_blame_and_all_are_parts() -> None:
    analysis = traced(
        [(1_000, 9_000)],
        *timer(1_200),
        (2_200, E.SOFTIRQ_ENTRY, "TIMER"),
        (2_900, E.SOFTIRQ_EXIT, "TIMER"),
        (3_000, E.SOFTIRQ_ENTRY, "RCU"),
    )
    assert kinds(analysis) == {"tick": "tick"}
    assert named(analysis, "tick").parts == ("softirq TIMER", "softirq RCU", "tick")
    assert analysis.worst[0].causes == "tick + softirq TIMER, RCU"


def test_switch_to_another_task_takes_the_whole_interruption() -> None:
    analysis = traced([(1_000, 90_000)], *timer(1_200), *preemption(3_000, 82_000, "kworker/1:1"))
    assert kinds(analysis) == {"preemption by kworker/1:1": "preemption"}
    assert analysis.worst[0].causes == "tick + preempted by kworker/1:1 for 41.0 µs"


def test_every_task_of_a_preemption_is_named_with_their_time_together() -> None:
    assert (
        words(*preemption(2_000, 20_000, "sh", "ksoftirqd/1")) == "preempted by sh, ksoftirqd/1 for 10.0 µs"
    )


def test_preemption_that_the_sampler_returns_from_later_lasts_until_its_gap_ends() -> None:
    assert words((101_000, E.SWITCH, "sh"), gap_cycles=120_000) == "preempted by sh for 10.0 µs"


def test_sources_of_traced_interruptions_add_up() -> None:
    details = [(start, 5_000) for start in range(1_000, 1_000_000, 10_000)]
    events = [event for start, _ in details[::2] for event in timer(start + 100)]
    analysis = traced(details, *events, *preemption(995_000, 400, "sh"))
    assert sum(source.spread.n for source in analysis.sources) == len(details)
    assert sum(source.overhead_cycles for source in analysis.sources) == analysis.overhead_cycles


def test_kernels_text_is_made_harmless() -> None:
    assert words((2_000, E.SWITCH, "\x1b[2Jevil")) == "preempted by ?[2Jevil for 99.5 µs"


def test_very_many_causes_of_one_interruption_are_not_all_said() -> None:
    text = words(*((2_000 + n, E.IRQ_ENTRY, f"{n} dev") for n in range(20)))
    assert text is not None
    assert text.endswith("irq 7 dev + 12 more")


def test_very_many_tasks_become_few_sources_in_a_window_and_in_a_run() -> None:
    def window_of(first: int) -> Analysis:
        details = [(1_000 + 100_000 * n, 50_000) for n in range(60)]
        events = [
            event
            for n, (start, _) in enumerate(details)
            for event in preemption(start + 100, 40_000, f"task-{first + n}")
        ]
        return traced(details, *events)

    total = NO_TOTAL
    for first in range(0, 600, 60):
        analysis = window_of(first)
        assert len(analysis.sources) == MANY + 1
        assert named(analysis, "preemption by other tasks").spread.n == 60 - MANY
        total = add(total, analysis)
    run = total.summary().analysis
    assert len(run.sources) <= SOURCES
    assert sum(source.spread.n for source in run.sources) == 600
    for worst in run.worst:
        assert worst.source is not None
        assert worst.causes is not None
        name = run.sources[worst.source].name
        assert name == "preemption by other tasks" or name.split()[-1] in worst.causes


def test_a_rare_interrupt_keeps_its_name_among_very_many_tasks() -> None:
    details = [(1_000 + 100_000 * n, 50_000) for n in range(60)]
    events = [
        event
        for n, (start, _) in enumerate(details)
        for event in preemption(start + 100, 40_000, *[f"task-{n}"] * 2)
    ]
    analysis = traced([*details, (7_000_000, 5_000)], *events, (7_000_100, E.VECTOR_ENTRY, "irq_work"))
    assert kinds(analysis)["irq work IPI"] == "ipi"


# Where events lie


def outside(window: Window, *at: int, uncertain_cycles: int = 100) -> int:
    events = [(cycles, E.PAGE_FAULT, None) for cycles in at]
    placed = place(replace(window, trace=make_trace(*events, uncertain_cycles=uncertain_cycles)))
    assert placed is not None
    return placed.outside


def test_event_may_lie_beside_its_interruption_by_as_much_as_its_time_is_uncertain() -> None:
    window = make_window([(5_000, 1_000), (8_000, 500)])
    assert outside(window, 4_900, 5_000, 6_000, 6_100, 7_900, 8_600) == 0
    assert outside(window, 4_899, 6_101, 7_899, 8_601) == 4


def test_event_between_two_interruptions_belongs_to_the_nearer() -> None:
    window = make_window([(5_000, 1_000), (6_100, 1_000)])
    trace = make_trace((6_040, E.PAGE_FAULT, None), (6_060, E.PAGE_FAULT, None), uncertain_cycles=200)
    placed = place(replace(window, trace=trace))
    assert placed is not None
    assert placed.detail.tolist() == [0, 1]


def test_event_at_the_edge_of_a_window_or_in_what_is_excluded_tells_nothing_against_the_trace() -> None:
    jump = Exclusion(code="jump", start_cycles=50_000, cycles=10_000)
    window = make_window([(5_000, 1_000)], start_cycles=1_000, end_cycles=100_000, excluded=(jump,))
    assert outside(window, 1_050, 55_000, 99_950) == 0
    assert outside(window, 1_200, 49_000, 61_000, 99_800) == 4


def test_window_without_interruptions_has_all_events_outside() -> None:
    assert outside(make_window(), 5_000, 6_000) == 2


# Unseen by the kernel


def test_interruption_without_any_event_is_unseen_by_the_kernel() -> None:
    analysis = traced([(1_000, 5_000), (9_000, 5_000)], *timer(1_200))
    assert kinds(analysis) == {"tick": "tick", UNSEEN: "unknown"}
    assert (named(analysis, UNSEEN).basis, named(analysis, UNSEEN).parts) == ("trace", ())


@pytest.mark.parametrize("spoiled", ["a lost record", "an event where the sampler ran", "a lost detail"])
def test_nothing_is_called_unseen_where_the_trace_is_not_whole(spoiled: str) -> None:
    window = make_window(
        [(1_000, 5_000), (9_000, 5_000)],
        segment=BARE,
        lost_cycles=[4_000] if spoiled == "a lost detail" else (),
    )
    events = timer(1_200) if spoiled == "a lost record" else [*timer(1_200), (500_000, E.PAGE_FAULT, None)]
    trace = make_trace(*events, lost=1 if spoiled == "a lost record" else 0)
    analysis, _ = analyse(replace(window, trace=trace), Clocks())
    assert UNSEEN not in kinds(analysis)
    assert named(analysis, "unexplained").basis == "phase"
    assert kinds(analysis)["tick"] == "tick"


def test_nothing_is_called_unseen_beside_an_interrupt_that_cannot_be_traced() -> None:
    details, rows = [(1_000, 5_000), (9_000, 5_000)], (RowChange(row="HYP", name="Hypervisor", count=2),)
    analysis = traced(details, *timer(1_200), interrupts=rows)
    assert kinds(analysis) == {"tick": "tick", "unexplained": "unknown"}
    warning = next(warning for warning in analysis.warnings if warning.code == "trace_not_whole")
    assert warning.message.startswith("2 interrupts came of a kind")
    other = traced(details, *timer(1_200), interrupts=(RowChange(row="RES", name="", count=2),))
    assert UNSEEN in kinds(other)
    assert "trace_not_whole" not in {warning.code for warning in other.warnings}


def test_hosts_tick_keeps_its_name_where_the_kernel_saw_nothing() -> None:
    segment = make_segment(guest=True)
    clocks = Clocks()
    for window in simulate(Life(host_hz=1000.02, noise_hz=0), segment=segment, ends_ns=(1e9, 2e9, 3e9)):
        window = replace(window, trace=trace_of_ticks(window))
        analysis, clocks = analyse(window, clocks)
    assert kinds(analysis)["host tick 1000 Hz"] == "host"
    assert kinds(analysis)["tick"] == "tick"


def test_undisturbed_samples_of_the_loop_method_are_not_called_unseen() -> None:
    segment = make_segment(method=Method.LOOP, kernel_tick=None)
    details = [(n * 7_000, 7_000) for n in range(50)]
    assert UNSEEN not in kinds(traced(details, *timer(7_100), segment=segment))


# Ticks


def trace_of_ticks(window: Window, *, known: frozenset[KernelEvent] = frozenset(E)) -> Trace:
    """A tick in each interruption that a slot lies in, or that follows one at once."""
    held = analyse(window, Clocks())[0].ticks > 0
    starts = window.details["start_cycles"][held]
    rows = [
        (int(start) + after, event, -1)
        for start in starts
        for after, event in ((50, E.TIMER_ENTRY), (90, E.TICK if E.TICK in known else E.TIMER))
    ]
    return Trace(
        events=np.array(rows, TRACED),
        names=(),
        lost=0,
        events_known=known,
        uncertain_cycles=20,
    )


def test_trace_decides_which_interruptions_a_ticks_cost_is_taken_from() -> None:
    # All begin at a slot, but in every second one no tick's timer expired.
    details = [(slot * 8_000_000, 4_000 if slot % 2 else 90_000) for slot in range(250)]
    events = [event for start, gap in details if gap == 4_000 for event in timer(start + 100)]
    analysis = traced(details, *events, segment=make_segment())
    assert analysis.tick is not None
    assert (analysis.tick.basis, analysis.tick.spread.n, analysis.tick.spread.max_cycles) == (
        "trace",
        125,
        4_000,
    )
    # The check goes on asking whether something came when a tick was due.
    assert (analysis.check.expected, analysis.check.seen) == (250, 250)
    assert analysis.ticks.tolist() == [1] * 250
    assert named(analysis, "tick").spread.n == 125


def test_a_traced_preemption_is_no_cost_of_a_tick() -> None:
    details = [(slot * 8_000_000, 4_000 if slot % 2 else 90_000) for slot in range(250)]
    events = [event for start, _ in details for event in timer(start + 100)]
    events += [e for start, gap in details if gap > 4_000 for e in preemption(start + 2_000, 80_000, "sh")]
    analysis = traced(details, *sorted(events, key=lambda event: event[0]), segment=make_segment())
    assert analysis.tick is not None
    assert (analysis.tick.spread.n, analysis.tick.spread.max_cycles) == (125, 4_000)
    assert analysis.switches.dated == 125
    assert analysis.switches.undated == 0


def test_switches_in_time_that_is_left_out_are_no_preemptions_without_an_interruption() -> None:
    stop = Exclusion(code="stopped", start_cycles=10_000, cycles=80_000)
    others = preemption(12_000, 70_000, *(f"task{n}" for n in range(20)))
    analysis = traced([(1_000, 500)], *others, excluded=(stop,), excluded_count=1)
    assert (analysis.switches.dated, analysis.switches.unplaced) == (0, 0)
    assert "tick_cost_mixed" not in [warning.code for warning in analysis.warnings]


def test_with_lost_records_ticks_are_told_by_their_slots_again() -> None:
    window = simulate(Life())[0]
    trace = replace(trace_of_ticks(window), events=np.array([], TRACED), lost=3)
    without, _ = analyse(window, Clocks())
    analysis, _ = analyse(replace(window, trace=trace), Clocks())
    assert analysis.tick is not None
    assert without.tick is not None
    assert (analysis.tick.basis, analysis.tick.spread.n) == ("phase", without.tick.spread.n)
    assert kinds(analysis) == kinds(without)


def test_where_the_kernels_symbols_are_hidden_a_slots_timer_is_the_tick() -> None:
    window = simulate(Life(wakeups_hz=20))[0]
    trace = trace_of_ticks(window, known=frozenset(E) - {E.TICK})
    analysis, _ = analyse(replace(window, trace=trace), Clocks())
    assert (named(analysis, "tick").kind, named(analysis, "tick").basis) == ("tick", "phase")
    assert named(analysis, "tick").spread.n == 250
    assert analysis.tick is not None
    assert analysis.tick.basis == "phase"


def test_switches_that_the_trace_does_not_know_are_dated_as_without_it() -> None:
    window = simulate(Life(busy=True))[0]
    trace = replace(trace_of_ticks(window), events_known=frozenset({E.TIMER_ENTRY, E.TICK}))
    analysis, _ = analyse(replace(window, trace=trace), Clocks())
    assert (named(analysis, "preemption").kind, named(analysis, "preemption").basis) == (
        "preemption",
        "switch",
    )
