"""Cutting what a sampler delivers into windows, with scripted deliveries."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tests.making import ORIGIN_CYCLES, make_segment, read_at
from tickmon.analysis.histogram import count_bins
from tickmon.sampling.sampler import RawWindow
from tickmon.sampling.windower import Windower
from tickmon.windows import INTERRUPTION, Exclusion, RowChange

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


def windower() -> Windower:
    return Windower(SEGMENT, first_window=1, opened=read_at(0, SEGMENT))


def add(to: Windower, piece: RawWindow, *, dated: bool = True) -> None:
    closed = read_at(piece.end_cycles - ORIGIN_CYCLES, SEGMENT)
    to.add_piece(piece, closed=closed, switch_count=0, dated=dated)


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
        "clocks",
    ):
        assert getattr(seen, name) == getattr(unseen, name)
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
    now = read_at(20_000, SEGMENT)
    per_ns = SEGMENT.tsc_hz / 1e9
    outs_ins = np.array([[4_000, 4_600], [12_000, 12_400]]) - 20_000
    cutting.add_switches(np.rint(outs_ins / per_ns).astype(np.int64) + now.monotonic_raw_ns, now)
    add(cutting, raw(0, 10_000, []))
    first = cutting.close(())
    assert first.switches is not None
    assert first.switches.tolist() == [(4_000, 4_600)]
    add(cutting, raw(10_000, 20_000, []))
    second = cutting.close(())
    assert second.switches is not None
    assert second.switches.tolist() == [(12_000, 12_400)]


def test_switches_that_cannot_be_dated_are_unknown_rather_than_none() -> None:
    cutting = windower()
    add(cutting, raw(0, 10_000, []), dated=False)
    assert cutting.close(()).switches is None


def test_window_closes_with_the_rows_that_moved_meanwhile() -> None:
    cutting = windower()
    add(cutting, raw(0, 10_000, []))
    row = RowChange(row="LOC", name="Local timer interrupts", count=3)
    assert cutting.close((row,)).interrupts == (row,)


def test_stretch_that_has_no_length_is_left_out_with_its_details() -> None:
    cutting = windower()
    cutting.add_details(details((100, 900), (200, 800)))
    cutting.drop_piece(raw(0, -50, [900]), closed=read_at(0, SEGMENT))
    assert cutting.open_pieces == 0
    add(cutting, raw(0, 10_000, [800]))
    assert cutting.close(()).details["gap_cycles"].tolist() == [800]


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
