from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.making import make_segment, make_trace, make_window, simulate
from tickmon.analysis import merge
from tickmon.windows import Exclusion, KernelEvent, ReadingWarning, RowChange

COARSE = ReadingWarning(code="coarse_counter", message="coarse")
MIXED = ReadingWarning(code="tick_cost_mixed", message="mixed")


def test_a_merged_window_has_the_sums_the_extremes_and_all_the_details() -> None:
    first = make_window([(100, 5_000), (9_000, 800)], end_cycles=50_000, reads=700, lost_cycles=[70_000])
    second = make_window([(60_000, 900)], start_cycles=50_000, end_cycles=90_000, reads=300)
    second = replace(second, min_cycles=38)
    whole = merge([first, second])
    assert (whole.start_cycles, whole.end_cycles) == (0, 90_000)
    # The reading between them is of both.
    assert whole.clocks == (*first.clocks, second.clocks[1])
    assert whole.started_at == first.started_at
    assert (whole.reads, whole.interruptions, whole.lost) == (1_000, 4, 1)
    assert whole.gap_sum_cycles == 5_000 + 800 + 70_000 + 900
    assert (whole.min_cycles, whole.max_cycles) == (38, 70_000)
    assert whole.details["start_cycles"].tolist() == [100, 9_000, 60_000]
    assert whole.counts.tolist() == (first.counts + second.counts).tolist()


def test_a_window_cut_in_two_and_merged_is_the_whole_one() -> None:
    (whole,) = simulate(ends_ns=(2e9,))
    merged = merge(simulate(ends_ns=(0.7e9, 2e9)))
    assert np.array_equal(merged.details, whole.details)
    assert np.array_equal(merged.counts, whole.counts)
    assert (merged.interruptions, merged.gap_sum_cycles) == (whole.interruptions, whole.gap_sum_cycles)
    assert merged.length_cycles == whole.length_cycles


def test_rows_of_interrupts_are_added_and_warnings_said_once() -> None:
    loc = RowChange(row="LOC", name="loc", count=5, timer="LOC")
    res = RowChange(row="RES", name="res", count=5)
    moved = Exclusion(code="moved", start_cycles=10, cycles=5)
    first = make_window(end_cycles=100, interrupts=(loc,), warnings=(COARSE,), excluded=(moved,))
    second = make_window(
        start_cycles=100, end_cycles=200, interrupts=(res, loc), warnings=(MIXED, COARSE), excluded=(moved,)
    )
    whole = merge([first, second])
    assert whole.interrupts == (replace(loc, count=10), res)
    assert whole.warnings == (COARSE, MIXED)
    assert whole.excluded == (moved, moved)


def test_what_is_excluded_and_which_records_of_switches_are_lost_is_counted_in_all_parts() -> None:
    first = replace(make_window(end_cycles=100, switches_lost=3), excluded_count=400)
    second = replace(make_window(start_cycles=100, end_cycles=200, switches_lost=4), excluded_count=1)
    assert merge([first, second]).excluded_count == 401
    assert merge([first, second]).switches_lost == 7


def test_switches_that_are_not_dated_in_one_part_are_not_dated_in_the_whole() -> None:
    dated = make_window(end_cycles=100, switches=[(10, 20)])
    again = make_window(start_cycles=100, end_cycles=200, switches=[(110, 120)])
    undated = make_window(start_cycles=100, end_cycles=200, switches=None, switch_count=3)
    both = merge([dated, again])
    assert both.switches is not None
    assert both.switches["out_cycles"].tolist() == [10, 110]
    assert both.switch_count == 2
    assert merge([dated, undated]).switches is None
    assert merge([dated, undated]).switch_count == 4
    assert merge([dated, replace(undated, switch_count=None)]).switch_count is None


def test_traces_are_joined_and_know_what_is_known_of_all_parts() -> None:
    first = make_trace((10, KernelEvent.SWITCH, "sh"), (20, KernelEvent.RESUME, None), lost=1)
    irqs = frozenset({KernelEvent.IRQ_ENTRY, KernelEvent.SWITCH})
    second = make_trace(
        (110, KernelEvent.IRQ_ENTRY, "9 disk"),
        (120, KernelEvent.SWITCH, "sh"),
        lost=2,
        known=irqs,
        uncertain_cycles=7,
    )
    before = replace(make_window(end_cycles=100), trace=first)
    after = replace(make_window(start_cycles=100, end_cycles=200), trace=second)
    whole = merge([before, after]).trace
    assert whole is not None
    named = [(at, whole.names[name] if name >= 0 else None) for at, _event, name in whole.events.tolist()]
    assert named == [(10, "sh"), (20, None), (110, "9 disk"), (120, "sh")]
    assert (whole.lost, whole.events_known, whole.uncertain_cycles) == (3, irqs, 7)
    assert second.events["name"].tolist() == [0, 1]
    assert merge([before, replace(after, trace=None)]).trace is None


def test_extremes_are_of_the_parts_that_have_any() -> None:
    empty = replace(make_window(end_cycles=100), min_cycles=None, max_cycles=None)
    full = make_window([(150, 900)], start_cycles=100, end_cycles=2_000)
    assert (merge([empty, full]).min_cycles, merge([empty, full]).max_cycles) == (40, 900)
    assert merge([empty, replace(empty, start_cycles=100, end_cycles=200)]).min_cycles is None


def test_the_whole_is_provisional_while_its_last_part_is() -> None:
    open_part = make_window(start_cycles=100, end_cycles=200, provisional=True)
    assert merge([make_window(end_cycles=100), open_part]).provisional


def test_a_single_window_is_itself() -> None:
    window = make_window()
    assert merge([window]) is window


def test_windows_that_do_not_touch_or_are_of_two_segments_are_refused() -> None:
    first, later = make_window(end_cycles=100), make_window(start_cycles=101, end_cycles=200)
    other = make_window(start_cycles=100, end_cycles=200, segment=make_segment(segment=2))
    for windows in ([first, later], [first, other], [], [later, first]):
        with pytest.raises(ValueError, match=r"touch|no windows"):
            merge(windows)
