"""Cutting what a sampler delivers into windows, with scripted deliveries."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from tests.making import ORIGIN_CYCLES, make_segment, read_at
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.histogram import count_bins
from tickmon.sampling.sampler import RawWindow
from tickmon.sampling.trace import RAW_EVENT, TraceBatch
from tickmon.sampling.windower import Windower
from tickmon.windows import INTERRUPTION, ClockReading, Exclusion, KernelEvent, RowChange, Window

SEGMENT = make_segment()


def details(*pairs: tuple[int, int]) -> NDArray[np.void]:
    """Interruptions given from the origin, as the ring delivers them: in absolute counter values."""
    array = np.array(list(pairs), INTERRUPTION)
    array["start_cycles"] += ORIGIN_CYCLES
    return array


def raw(start: int, end: int, gaps: list[int], *, lost: int = 0) -> RawWindow:
    return RawWindow(
        start_cycles=ORIGIN_CYCLES + start,
        end_cycles=ORIGIN_CYCLES + end,
        reads=1000,
        interruptions=len(gaps) + lost,
        lost=lost,
        gap_sum_cycles=sum(gaps),
        min_cycles=40,
        max_cycles=max(gaps, default=60),
        exclusions=(),
        exclusion_count=0,
        counts=count_bins(np.array(gaps, np.int64)),
    )


def windower(*, throttled_ns: float = math.inf) -> Windower:
    opened = read_at(0, SEGMENT)
    return Windower(
        SEGMENT, first_window=1, opened=opened, counter_hz=SEGMENT.tsc_hz, throttled_ns=throttled_ns
    )


def add(to: Windower, piece: RawWindow, *, dated: bool = True, closed: ClockReading | None = None) -> bool:
    closed = closed or read_at(piece.end_cycles - ORIGIN_CYCLES, SEGMENT)
    return to.add_piece(piece, closed=closed, switch_count=0, dated=dated)


def switched(*outs_ins: tuple[int, int], stopped: bool = False) -> NDArray[np.int64]:
    """Switches given in cycles from the origin, as the kernel tells them."""
    at_ns = raw_ns(np.array(outs_ins, np.int64).reshape(-1, 2))
    return np.column_stack([at_ns, np.full(len(at_ns), stopped, np.int64)])


def raw_ns(cycles: NDArray[np.int64]) -> NDArray[np.int64]:
    """CLOCK_MONOTONIC_RAW at these cycles from the origin."""
    zero = read_at(0, SEGMENT)
    return np.rint(cycles / (SEGMENT.tsc_hz / 1e9)).astype(np.int64) + zero.monotonic_raw_ns


def test_interruption_after_the_cut_waits_for_the_next_window() -> None:
    cutting = windower()
    cutting.add_details(details((100, 900), (5_000, 700), (10_500, 800)))
    add(cutting, raw(0, 10_000, [900, 700]))
    first = cutting.close(())
    assert first.details["start_cycles"].tolist() == [100, 5_000]
    add(cutting, raw(10_000, 20_000, [800]))
    second = cutting.close(())
    assert second.details["start_cycles"].tolist() == [10_500]
    assert (first.window, second.window) == (1, 2)
    assert first.end_cycles == second.start_cycles


def test_details_belong_to_a_window_by_their_number_even_when_the_counter_went_back() -> None:
    cutting = windower()
    cutting.add_details(details((9_000, 900), (2_000, 700), (9_500, 800)))
    add(cutting, raw(0, 10_000, [900, 700]))
    assert cutting.close(()).details["start_cycles"].tolist() == [9_000, 2_000]


def test_look_at_an_open_window_changes_nothing_of_what_it_becomes() -> None:
    looked, whole = windower(), windower()
    for cutting in (looked, whole):
        cutting.add_details(details((100, 900), (12_000, 700)))
    add(looked, raw(0, 10_000, [900]))
    provisional = looked.look()
    assert provisional.provisional
    assert provisional.end_cycles == 10_000
    add(looked, raw(10_000, 20_000, [700]))
    add(whole, replace(raw(0, 20_000, [900, 700]), reads=2000))
    seen, unseen = looked.close(()), whole.close(())
    assert not seen.provisional
    assert seen.window == provisional.window == unseen.window
    for name in (
        "start_cycles",
        "end_cycles",
        "reads",
        "interruptions",
        "gap_sum_cycles",
        "max_cycles",
    ):
        assert getattr(seen, name) == getattr(unseen, name)
    assert (seen.clocks[0], seen.clocks[-1]) == (unseen.clocks[0], unseen.clocks[-1])
    assert seen.counts.tolist() == unseen.counts.tolist()
    assert seen.details.tolist() == unseen.details.tolist()


def test_lost_details_are_not_taken_from_the_next_window() -> None:
    cutting = windower()
    cutting.add_details(details((100, 900), (10_500, 800)))
    add(cutting, raw(0, 10_000, [900], lost=3))
    first = cutting.close(())
    assert (first.interruptions, first.lost, len(first.details)) == (4, 3, 1)
    add(cutting, raw(10_000, 20_000, [800]))
    assert cutting.close(()).details["gap_cycles"].tolist() == [800]


def test_switch_is_mapped_to_the_counter_and_to_the_window_in_which_it_began() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(20_000, SEGMENT))
    cutting.add_switches(switched((4_000, 4_600), (12_000, 12_400)), 0)
    add(cutting, raw(0, 10_000, []), closed=read_at(20_100, SEGMENT))
    first = cutting.close(())
    assert first.switches is not None
    assert first.switches.tolist() == [(4_000, 4_600)]
    add(cutting, raw(10_000, 20_000, []))
    second = cutting.close(())
    assert second.switches is not None
    assert second.switches.tolist() == [(12_000, 12_400)]


def test_switch_before_the_first_read_belongs_to_nobody() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(5_000, SEGMENT))
    cutting.add_switches(switched((-9_000, -4_000), (-1_000, 400), (2_000, 2_600)), 0)
    add(cutting, raw(0, 10_000, []))
    window = cutting.close(())
    assert window.switches is not None
    assert window.switches["in_cycles"].tolist() == [400, 2_600]


def test_switches_are_dated_by_the_clocks_whatever_frequency_the_user_gave() -> None:
    wrong = replace(SEGMENT, tsc_hz=SEGMENT.tsc_hz / 2, tsc_hz_source="option --tsc-hz")
    cutting = Windower(wrong, first_window=1, opened=read_at(0, SEGMENT), counter_hz=SEGMENT.tsc_hz)
    cutting.add_clocks(read_at(200_000_000, SEGMENT))
    cutting.add_switches(switched((4_000, 4_600)), 0)
    add(cutting, raw(0, 10_000, []))
    window = cutting.close(())
    assert window.switches is not None
    assert window.switches.tolist() == [(4_000, 4_600)]


def test_records_that_the_kernel_dropped_are_counted_in_their_window() -> None:
    cutting = windower()
    cutting.add_switches(switched(), 3)
    cutting.add_switches(switched(), 4)
    add(cutting, raw(0, 10_000, []))
    assert cutting.close(()).switches_lost == 7
    add(cutting, raw(10_000, 20_000, []))
    assert cutting.close(()).switches_lost == 0


def test_switches_that_cannot_be_dated_are_unknown_rather_than_none() -> None:
    cutting = windower()
    add(cutting, raw(0, 10_000, []), dated=False)
    assert cutting.close(()).switches is None


def traced(*events: tuple[int, KernelEvent, str], lost: tuple[tuple[int, int], ...] = ()) -> TraceBatch:
    """Events given in cycles from the origin, as the kernel tells them; ``lost`` likewise, and how many."""
    names = tuple(dict.fromkeys(name for _at, _event, name in events))
    rows = [(at, event, names.index(name)) for at, event, name in events]
    made = np.array(rows, RAW_EVENT)
    made["raw_ns"] = raw_ns(made["raw_ns"])
    return TraceBatch(
        events=made,
        names=names,
        lost=tuple((int(raw_ns(np.array(at))), count) for at, count in lost),
        events_known=frozenset(KernelEvent),
    )


def named(window: Window) -> list[tuple[int, str]]:
    assert window.trace is not None
    return [(at, window.trace.names[name]) for at, _event, name in window.trace.events.tolist()]


def test_trace_is_cut_where_the_window_is_and_has_the_names_that_lie_in_it() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(20_000, SEGMENT))
    sh, disk = (4_000, KernelEvent.SWITCH, "sh"), (9_998, KernelEvent.IRQ_ENTRY, "36 disk")
    cutting.add_trace(traced((-500, KernelEvent.SWITCH, "before"), sh, disk))
    cutting.add_trace(traced((12_000, KernelEvent.SWITCH, "cc"), (10_000, KernelEvent.IRQ_EXIT, "36 disk")))
    add(cutting, raw(0, 10_000, []))
    first = cutting.close(())
    assert named(first) == [(4_000, "sh"), (9_998, "36 disk")]
    add(cutting, raw(10_000, 20_000, []))
    second = cutting.close(())
    assert named(second) == [(10_000, "36 disk"), (12_000, "cc")]
    assert second.trace is not None
    assert set(second.trace.names) == {"36 disk", "cc"}
    assert second.trace.events_known == frozenset(KernelEvent)


def test_early_look_and_the_rest_make_the_whole_trace() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(20_000, SEGMENT))
    events = [(at, KernelEvent.SWITCH, f"task {at}") for at in range(1_000, 20_000, 1_000)]
    cutting.add_trace(traced(*events, lost=((3_000, 7), (15_000, 5))))
    add(cutting, raw(0, 10_000, []))
    look = cutting.look()
    assert look.trace is not None
    assert (len(look.trace.events), look.trace.lost) == (9, 7)
    add(cutting, raw(10_000, 20_000, []))
    whole = cutting.close(())
    assert named(whole) == [(at, name) for at, _event, name in events]
    assert whole.trace is not None
    assert whole.trace.lost == 12


def test_trace_goes_on_in_a_new_segment_from_its_own_origin() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(20_000, SEGMENT))
    cutting.add_trace(traced((15_000, KernelEvent.SWITCH, "sh"), lost=((15_000, 4),)))
    add(cutting, raw(0, 10_000, []))
    cutting.close(())
    cutting.begin_segment(replace(SEGMENT, segment=2, origin_cycles=ORIGIN_CYCLES + 10_000, reason="jump"))
    add(cutting, raw(10_000, 20_000, []))
    window = cutting.close(())
    assert named(window) == [(5_000, "sh")]
    assert window.trace is not None
    assert window.trace.lost == 4


def test_window_without_a_trace_has_none_and_one_without_events_an_empty_one() -> None:
    cutting = windower()
    add(cutting, raw(0, 10_000, []))
    assert cutting.close(()).trace is None
    cutting.add_clocks(read_at(20_000, SEGMENT))
    cutting.add_trace(traced())
    add(cutting, raw(10_000, 20_000, []))
    assert named(cutting.close(())) == []


def test_interrupted_reading_of_the_clocks_misleads_no_event() -> None:
    cutting = windower()
    off = replace(read_at(10_000, SEGMENT), uncertain_cycles=90_000)
    cutting.add_clocks(replace(off, monotonic_raw_ns=off.monotonic_raw_ns + 3_000))
    cutting.add_clocks(read_at(20_000, SEGMENT))
    cutting.add_trace(traced((9_000, KernelEvent.SWITCH, "sh")))
    add(cutting, raw(0, 20_000, []))
    window = cutting.close(())
    assert named(window) == [(9_000, "sh")]
    assert window.trace is not None
    assert window.trace.uncertain_cycles == 30


def test_window_closes_with_the_rows_that_moved_meanwhile() -> None:
    cutting = windower()
    add(cutting, raw(0, 10_000, []))
    row = RowChange(row="LOC", name="Local timer interrupts", count=3)
    assert cutting.close((row,)).interrupts == (row,)


def test_all_readings_of_the_clocks_go_with_their_window_and_the_last_with_the_next_too() -> None:
    cutting = windower()
    for at in (2_000, 6_000):
        cutting.add_clocks(read_at(at, SEGMENT))
    add(cutting, raw(0, 10_000, []))
    first = cutting.close(())
    assert [reading.cycles - ORIGIN_CYCLES for reading in first.clocks] == [0, 2_000, 6_000, 10_000]
    add(cutting, raw(10_000, 20_000, []))
    second = cutting.close(())
    assert [reading.cycles - ORIGIN_CYCLES for reading in second.clocks] == [10_000, 20_000]


def slept(at: int, *, hours: float) -> ClockReading:
    """The clocks at ``at`` after a suspend, in which the counter ran on and CLOCK_MONOTONIC stood."""
    asleep = round(hours * 3600 * SEGMENT.tsc_hz)
    return replace(read_at(at, SEGMENT), cycles=ORIGIN_CYCLES + at + asleep)


def test_suspend_is_excluded_and_the_rest_of_the_window_stands() -> None:
    cutting = windower()
    asleep = round(3600 * SEGMENT.tsc_hz)
    cutting.add_details(details((100, 900), (5_000, asleep + 300), (7_000 + asleep, 700)))
    cutting.add_clocks(read_at(4_000, SEGMENT))
    cutting.add_clocks(slept(6_000, hours=1))
    gaps = [900, asleep + 300, 700]
    assert add(cutting, raw(0, 10_000 + asleep, gaps), closed=slept(10_000, hours=1))
    window = cutting.close(())
    assert window.excluded == (Exclusion(code="jump", start_cycles=5_000, cycles=asleep + 300),)
    assert window.details["gap_cycles"].tolist() == [900, 700]
    assert (window.interruptions, window.gap_sum_cycles, window.max_cycles) == (2, 1_600, 900)
    assert window.counts.tolist() == count_bins(np.array([900, 700])).tolist()
    assert window.watched_cycles == 9_700


def test_jump_without_a_gap_is_told_and_takes_nothing_away() -> None:
    cutting = windower()
    cutting.add_details(details((100, 900)))
    forward = replace(read_at(6_000, SEGMENT), monotonic_ns=read_at(6_000, SEGMENT).monotonic_ns + 10**9)
    cutting.add_clocks(read_at(4_000, SEGMENT))
    assert add(cutting, raw(0, 10_000, [900]), closed=forward)
    window = cutting.close(())
    assert [(e.code, e.cycles) for e in window.excluded] == [("jump", 0)]
    assert window.interruptions == 1


def test_steered_clock_is_no_jump_and_neither_is_a_long_gap() -> None:
    cutting = windower()
    second = round(SEGMENT.tsc_hz)
    cutting.add_details(details((1_000, 60 * second)))
    steered = read_at(61 * second, SEGMENT, slew_ppm=500)
    assert not add(cutting, raw(0, 61 * second, [60 * second]), closed=steered)
    assert cutting.close(()).excluded == ()


def test_counters_out_of_step_tell_nothing_of_a_jump() -> None:
    apart = replace(SEGMENT, counter_synchronised=False)
    cutting = Windower(apart, first_window=1, opened=read_at(0, SEGMENT), counter_hz=SEGMENT.tsc_hz)
    assert not add(cutting, raw(0, 10_000, []), closed=slept(10_000, hours=1))


def test_new_segment_counts_from_its_own_origin() -> None:
    cutting = windower()
    cutting.add_details(details((100, 900), (15_000, 800)))
    add(cutting, raw(0, 10_000, [900]))
    cutting.close(())
    segment = replace(SEGMENT, segment=2, origin_cycles=ORIGIN_CYCLES + 10_000, reason="jump")
    cutting.begin_segment(segment)
    add(cutting, raw(10_000, 20_000, [800]))
    window = cutting.close(())
    assert (window.start_cycles, window.end_cycles) == (0, 10_000)
    assert window.details["start_cycles"].tolist() == [5_000]
    assert window.segment is segment


def test_exclusions_count_from_the_origin_too() -> None:
    cutting = windower()
    excluded = Exclusion(code="backwards", start_cycles=ORIGIN_CYCLES + 700, cycles=30)
    add(cutting, replace(raw(0, 10_000, []), exclusions=(excluded,)))
    assert cutting.close(()).excluded == (Exclusion(code="backwards", start_cycles=700, cycles=30),)


def test_time_of_day_is_that_of_the_windows_own_start() -> None:
    cutting = windower()
    add(cutting, raw(2_000_000_000, 4_000_000_000, []))
    window = cutting.close(())
    origin_s = read_at(0, SEGMENT).realtime_ns / 1e9
    assert abs(window.started_at.timestamp() - (origin_s + 1.0)) < 1e-5


def test_clock_that_was_set_back_changes_the_time_of_day_and_nothing_else() -> None:
    windows = []
    for back_ns in (0, 3600 * 10**9):
        cutting = windower()
        closed = read_at(1_000_000_000, SEGMENT)
        closed = replace(closed, realtime_ns=closed.realtime_ns - back_ns)
        add(cutting, raw(0, 1_000_000_000, [900]), closed=closed)
        cutting.close(())
        add(cutting, raw(1_000_000_000, 2_000_000_000, [900]))
        windows.append(cutting.close(()))
    usual, back = windows
    assert usual.started_at - back.started_at == timedelta(hours=1)
    assert (usual.start_cycles, usual.end_cycles) == (back.start_cycles, back.end_cycles)
    assert usual.gap_sum_cycles == back.gap_sum_cycles
    assert [reading.monotonic_ns for reading in usual.clocks] == [r.monotonic_ns for r in back.clocks]


def test_time_in_which_the_sampler_was_stopped_is_no_interruption_and_no_switch() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(20_000, SEGMENT))
    cutting.add_details(details((100, 900), (3_900, 2_000), (7_000, 500)))
    cutting.add_switches(switched((4_000, 5_800), stopped=True), 0)
    cutting.add_switches(switched((7_100, 7_400)), 0)
    cutting.add_piece(
        raw(0, 10_000, [900, 2_000, 500]), closed=read_at(10_000, SEGMENT), switch_count=2, dated=True
    )
    window = cutting.close(())
    assert window.excluded == (Exclusion(code="stopped", start_cycles=3_900, cycles=2_000),)
    assert window.switches is not None
    assert window.switches.tolist() == [(7_100, 7_400)]
    assert (window.switch_count, window.interruptions, window.gap_sum_cycles) == (1, 2, 1_400)
    assert (window.max_cycles, window.watched_cycles) == (900, 8_000)
    assert window.details["gap_cycles"].tolist() == [900, 500]
    assert window.counts.sum() == 2


def test_stop_waits_for_the_window_that_its_interruption_is_in() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(30_000, SEGMENT))
    cutting.add_details(details((100, 900), (12_000, 4_000)))
    cutting.add_switches(switched((12_100, 15_900), stopped=True), 0)
    add(cutting, raw(0, 10_000, [900]))
    assert cutting.close(()).excluded == ()
    add(cutting, raw(10_000, 20_000, [4_000]))
    window = cutting.close(())
    assert [exclusion.code for exclusion in window.excluded] == ["stopped"]
    assert window.interruptions == 0


def test_several_stops_in_one_interruption_take_no_other_one_out() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(20_000, SEGMENT))
    cutting.add_details(details((3_900, 2_000), (5_950, 300)))
    cutting.add_switches(switched((4_000, 4_800), (4_900, 5_800), stopped=True), 0)
    add(cutting, raw(0, 10_000, [2_000, 300]))
    window = cutting.close(())
    assert window.excluded == (Exclusion(code="stopped", start_cycles=3_900, cycles=2_000),)
    assert window.details["gap_cycles"].tolist() == [300]


def test_stop_is_known_where_switches_are_not_dated_from_the_sampler_having_been_seen_in_it() -> None:
    cutting = windower()
    cutting.add_details(details((100, 900), (3_900, 2_000)))
    cutting.add_stop(read_at(4_700, SEGMENT))
    cutting.add_stop(read_at(5_200, SEGMENT))
    cutting.add_piece(
        raw(0, 10_000, [900, 2_000]), closed=read_at(10_000, SEGMENT), switch_count=5, dated=False
    )
    window = cutting.close(())
    assert window.excluded == (Exclusion(code="stopped", start_cycles=3_900, cycles=2_000),)
    assert window.interruptions == 1
    # It was one stop, however often it was seen.
    assert window.switch_count == 4


def test_longest_that_stays_is_known_by_its_bin_where_its_detail_was_lost() -> None:
    cutting = windower()
    cutting.add_clocks(read_at(20_000, SEGMENT))
    cutting.add_details(details((3_900, 2_000)))
    cutting.add_switches(switched((4_000, 5_800), stopped=True), 0)
    lost = raw(0, 10_000, [2_000, 1_500])
    add(cutting, replace(lost, lost=1))
    window = cutting.close(())
    assert (window.interruptions, window.lost, window.gap_sum_cycles) == (1, 1, 1_500)
    assert window.max_cycles is not None
    assert 1_500 * 7 / 8 < window.max_cycles <= 1_500


def test_long_loss_of_the_cpu_with_a_priority_is_throttling_and_a_short_one_a_preemption() -> None:
    held_ns = 1_800 / (SEGMENT.tsc_hz / 1e9)
    for throttled_ns, codes, preempted in ((held_ns / 2, ["throttled"], 1), (math.inf, [], 2)):
        cutting = windower(throttled_ns=throttled_ns)
        cutting.add_clocks(read_at(20_000, SEGMENT))
        cutting.add_details(details((3_900, 2_000), (7_000, 500)))
        cutting.add_switches(switched((4_000, 5_800), (7_100, 7_400)), 0)
        add(cutting, raw(0, 10_000, [2_000, 500]))
        window = cutting.close(())
        assert [exclusion.code for exclusion in window.excluded] == codes
        assert window.switches is not None
        assert len(window.switches) == preempted


def test_window_in_which_the_kernel_gave_up_the_counter_is_left_out_whole() -> None:
    cutting = windower()
    cutting.add_details(details((100, 900)))
    add(cutting, raw(0, 10_000, [900]))
    window = cutting.close((), untrusted=True)
    assert window.excluded == (Exclusion(code="untrusted", start_cycles=0, cycles=10_000),)
    assert (window.reads, window.interruptions, window.gap_sum_cycles, window.watched_cycles) == (0, 0, 0, 0)
    analysis, _ = analyse(window, Clocks())
    assert analysis.overhead_share is None
    assert (analysis.baseline_cycles, analysis.check.expected) == (None, 0)
