from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.making import Life, make_segment, make_tick, make_window, read_at, simulate
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.causes import origin_of, preempted_of
from tickmon.analysis.readings import Analysis, Source
from tickmon.analysis.trains import FoundTrain
from tickmon.windows import Segment, Window

TICK = "kernel tick 250 Hz"
SECONDS = tuple(second * 1e9 for second in range(1, 6))


def last_of(life: Life, segment: Segment | None = None, *, dated: bool = True) -> Analysis:
    clocks = Clocks()
    for window in simulate(life, segment=segment, ends_ns=SECONDS, dated=dated):
        analysis, clocks = analyse(window, clocks)
    return analysis


def named(analysis: Analysis, name: str) -> Source:
    return next(source for source in analysis.sources if source.name == name)


def tick_median(analysis: Analysis) -> int:
    assert analysis.tick is not None
    median = analysis.tick.spread.median_cycles
    assert median is not None
    return median


# Preemptions


def marked(window: Window) -> list[bool]:
    return [bool(mark) for mark in preempted_of(window)[0]]


def test_an_interruption_with_a_dated_switch_is_a_preemption() -> None:
    window = make_window([(1_000, 500), (5_000, 90_000), (200_000, 500)], switches=[(5_400, 94_000)])
    assert marked(window) == [False, True, False]


def test_a_switch_in_no_recorded_gap_marks_nothing() -> None:
    window = make_window(
        [(1_000, 500), (200_000, 500)], switches=[(10, 20), (50_000, 60_000), (900_000, 950_000)]
    )
    assert marked(window) == [False, False]
    assert preempted_of(window)[1] == 3


def test_a_switch_may_be_dated_a_little_beside_its_gap() -> None:
    window = make_window([(1_000, 500)], switches=[(1_510, 1_600)])
    assert window.clocks[0].uncertain_cycles == 30
    assert marked(window) == [True]
    assert marked(make_window([(1_000, 500)], switches=[(975, 1_600)])) == [True]
    assert marked(make_window([(1_000, 500)], switches=[(1_540, 1_600)])) == [False]


def test_a_switch_is_dated_as_well_as_the_clocks_were_read_around_it() -> None:
    # Both switches lie 3,000 cycles beside an interruption, and the third reading was interrupted.
    readings = [read_at(at, make_segment()) for at in (0, 400_000, 800_000, 1_200_000)]
    readings[2] = replace(readings[2], uncertain_cycles=4_000)
    details = [(300_000, 500), (700_000, 500)]
    switches = [(303_500, 304_000), (703_500, 704_000)]
    window = make_window(details, end_cycles=1_200_000, clocks=tuple(readings), switches=switches)
    assert marked(window) == [False, True]


def test_a_preemption_that_starts_at_a_tick_does_not_become_a_ticks_cost() -> None:
    alone, shared = last_of(Life()), last_of(Life(busy=True))
    assert tick_median(shared) == pytest.approx(tick_median(alone), rel=0.05)
    assert shared.tick is not None
    assert shared.tick.spread.max_cycles is not None
    assert shared.tick.spread.max_cycles < 20_000
    assert 80 <= shared.tick.spread.n <= 85
    assert shared.check.seen == shared.check.expected


def test_preemptions_with_ticks_in_them_have_both_among_their_parts() -> None:
    preemption = named(last_of(Life(busy=True)), "preemption")
    assert (preemption.kind, preemption.basis) == ("preemption", "switch")
    assert preemption.parts == ("preemption", TICK)
    assert preemption.spread.n in (83, 84)


def test_a_source_has_no_part_that_lies_in_others_only() -> None:
    analysis = last_of(Life(busy=True))
    assert named(analysis, TICK).parts == (TICK,)
    assert named(analysis, "unexplained").parts == ()


def test_a_slice_that_holds_a_single_tick_is_no_ticks_cost() -> None:
    details = [(slot * 8_000_000, 8_000 if slot % 3 else 4_000_000) for slot in range(250)]
    switches = [(start + 3_000, start + gap) for start, gap in details if gap > 8_000]
    analysis, _ = analyse(make_window(details, switches=switches), Clocks())
    assert analysis.ticks.tolist() == [1] * 250
    assert analysis.tick is not None
    assert (analysis.tick.spread.n, analysis.tick.spread.max_cycles) == (166, 8_000)


def test_preemptions_that_cannot_be_dated_are_said_to_be_part_of_a_ticks_cost() -> None:
    analysis = last_of(Life(busy=True), dated=False)
    warning = next(w for w in analysis.warnings if w.code == "tick_cost_mixed")
    assert warning.message.startswith(("83", "84"))
    assert not [s for s in analysis.sources if s.kind == "preemption"]


@pytest.mark.parametrize(("switch_count", "warned"), [(0, False), (3, True), (None, True)])
def test_without_dates_only_no_switch_at_all_is_good(switch_count: int | None, warned: bool) -> None:
    (window,) = simulate(dated=False)
    analysis, _ = analyse(replace(window, switch_count=switch_count), Clocks())
    assert ("tick_cost_mixed" in [w.code for w in analysis.warnings]) is warned


def test_dates_that_lie_beside_the_interruptions_are_not_trusted() -> None:
    (window,) = simulate(Life(wakeups_hz=100))
    assert window.switches is not None
    few, many = window.switches.copy(), window.switches.copy()
    few["out_cycles"][:5] += 300_000
    many["out_cycles"] += 300_000
    for switches, warned in ((few, False), (many, True)):
        analysis, _ = analyse(replace(window, switches=switches), Clocks())
        assert ("tick_cost_mixed" in [w.code for w in analysis.warnings]) is warned


def test_a_wakeup_at_any_time_is_a_preemption_and_no_tick() -> None:
    analysis = last_of(Life(wakeups_hz=100))
    assert named(analysis, "preemption").spread.n > 60
    assert tick_median(analysis) == pytest.approx(tick_median(last_of(Life())), rel=0.05)


# Ticks, trains and the rest


def test_a_ticks_cost_is_taken_from_interruptions_that_hold_exactly_one() -> None:
    # Three slots lie in one long gap.
    (window,) = simulate(Life(noise_hz=0, gaps=((20e6 - 100_000, 8.2e6),)))
    analysis, _ = analyse(window, Clocks())
    assert analysis.ticks.max() == 3
    assert analysis.tick is not None
    assert analysis.tick.spread.n == 247
    assert analysis.check.seen == 250


def test_what_a_tick_fell_into_is_not_called_a_tick() -> None:
    # One gap holds three slots, one began 200 us before its slot, one 10 us before.
    gaps = ((20e6 - 1_000, 8.2e6), (100e6 - 200_000, 250_000.0), (200e6 - 10_000, 50_000.0))
    (window,) = simulate(Life(noise_hz=0, gaps=gaps))
    analysis, _ = analyse(window, Clocks())
    assert analysis.check.seen == 250
    assert named(analysis, TICK).spread.n == 246
    unexplained = named(analysis, "unexplained")
    assert unexplained.spread.n == 2
    assert unexplained.parts == (TICK,)


def test_a_ticks_jitter_is_how_differently_late_it_starts() -> None:
    window = make_window([(slot * 8_000_000 + 2 * slot, 8_000) for slot in range(250)], switch_count=0)
    analysis, _ = analyse(window, Clocks())
    assert analysis.tick is not None
    # Slot n starts n ns late; from the 5th to the 95th percentile.
    assert analysis.tick.jitter_ns == pytest.approx(0.9 * 249, abs=1)


def test_a_tick_inside_an_interruption_is_not_late() -> None:
    window = make_window([(slot * 8_000_000 - 100 * slot, 80_000) for slot in range(250)])
    analysis, _ = analyse(window, Clocks())
    assert analysis.tick is not None
    assert analysis.tick.jitter_ns == 0


def test_a_guests_host_tick_is_named_and_apart_from_the_kernels() -> None:
    analysis = last_of(Life(host_hz=999.98), make_segment(guest=True))
    host = named(analysis, "host tick 1000 Hz")
    assert (host.kind, host.basis) == ("host", "phase")
    assert host.spread.n > 990
    assert [train.origin for train in analysis.trains] == ["kernel", "host"]
    assert analysis.trains[0].spread.n == named(analysis, TICK).spread.n
    assert analysis.trains[1].spread.n == host.spread.n
    period_ns = 1e9 / 999.98
    assert analysis.trains[1].phase_ns == pytest.approx((0.3 * period_ns - 4e9) % period_ns, abs=1_000)
    assert analysis.trains[1].hz == pytest.approx(999.98, abs=0.001)
    assert tick_median(analysis) == pytest.approx(tick_median(last_of(Life())), rel=0.05)


def test_the_same_train_on_bare_metal_is_of_unknown_origin() -> None:
    analysis = last_of(Life(host_hz=999.98))
    train = named(analysis, "train 1000 Hz")
    assert train.kind == "unknown"
    assert [train.origin for train in analysis.trains] == ["kernel", "unknown"]


def found_train(hz: float, error_ppm: float = 0.5) -> FoundTrain:
    nobody = np.zeros(0, np.int64)
    return FoundTrain(
        hz=hz, hz_error_ppm=error_ppm, phase_ns=0, jitter_ns=0, expected=1, seen=1, members=nobody
    )


@pytest.mark.parametrize(
    ("hz", "origin"),
    [
        (999.98, "host"),
        (250.005, "host"),
        (300.01, "host"),
        (1000.0, "unknown"),
        (300.00003, "unknown"),
        (24.0, "unknown"),
        (980.0, "unknown"),
    ],
)
def test_a_host_ticks_at_a_rate_that_kernels_have_but_drifts(hz: float, origin: str) -> None:
    assert origin_of(found_train(hz), guest=True) == origin
    assert origin_of(found_train(hz), guest=False) == "unknown"


def test_a_drift_within_the_fits_error_is_no_drift() -> None:
    assert origin_of(found_train(999.98, error_ppm=10.0), guest=True) == "unknown"
    assert origin_of(found_train(999.98, error_ppm=5.0), guest=True) == "host"
    # The clock readings have an error as well.
    assert origin_of(found_train(250.00001, error_ppm=0.001), guest=True) == "unknown"
    # A kernel's period has whole nanoseconds, so at HZ=1024 it ticks 0.3 ppm slower.
    assert origin_of(found_train(1e9 / 976_563, error_ppm=0.001), guest=True) == "unknown"


def test_nothing_but_noise_is_unexplained() -> None:
    (source,) = last_of(Life(hz=None)).sources
    assert (source.name, source.kind, source.basis, source.parts) == ("unexplained", "unknown", "phase", ())


# Sums


def with_lost(window: Window, every: int) -> Window:
    """``window`` after its ring was full once in ``every`` interruptions."""
    lost = np.arange(len(window.details)) % every == every - 1
    return make_window(
        window.details[~lost],
        end_cycles=window.end_cycles,
        lost_cycles=window.details["gap_cycles"][lost].tolist(),
        switches=window.switches,
    )


@pytest.mark.parametrize(
    "life",
    [
        Life(),
        Life(busy=True),
        Life(wakeups_hz=200, host_hz=999.98),
        Life(hz=None),
        Life(hz=None, noise_hz=0),
    ],
)
@pytest.mark.parametrize("every", [None, 7])
def test_counts_and_overheads_of_the_sources_add_up_to_the_windows(life: Life, every: int | None) -> None:
    (window,) = simulate(life)
    window = window if every is None else with_lost(window, every)
    analysis, _ = analyse(window, Clocks())
    assert sum(source.spread.n for source in analysis.sources) == window.interruptions
    assert sum(source.overhead_cycles for source in analysis.sources) == analysis.overhead_cycles
    assert sum(int(source.spread.counts.sum()) for source in analysis.sources) == window.interruptions
    overheads = [source.overhead_cycles for source in analysis.sources]
    assert overheads == sorted(overheads, reverse=True)


def test_every_detail_points_at_the_source_that_counts_it() -> None:
    (window,) = simulate(Life(busy=True, wakeups_hz=50, host_hz=999.98))
    analysis, _ = analyse(window, Clocks())
    for index, source in enumerate(analysis.sources):
        mine = analysis.source_of == index
        assert np.count_nonzero(mine) == source.spread.n
        assert window.details["gap_cycles"][mine].sum() == source.spread.sum_cycles
    ticks = analysis.sources.index(named(analysis, TICK))
    assert np.all(analysis.ticks[analysis.source_of == ticks] > 0)


def lost_maximum(kept: Sequence[tuple[int, int]], lost_cycles: Sequence[int]) -> int | None:
    analysis, _ = analyse(make_window(kept, lost_cycles=lost_cycles), Clocks())
    return named(analysis, "detail lost").spread.max_cycles


def test_the_longest_of_the_lost_is_only_known_when_it_is_the_longest_of_all() -> None:
    assert lost_maximum([(10, 500)], [9_001, 700]) == 9_001
    assert lost_maximum([(10, 9_001)], [500, 700]) is None


def test_lost_details_make_percentiles_binned_and_leave_sums_and_maximum_exact() -> None:
    (whole,) = simulate()
    lossy = with_lost(whole, 3)
    analysis, _ = analyse(lossy, Clocks())
    exact, _ = analyse(whole, Clocks())
    assert exact.spread.exact
    assert not analysis.spread.exact
    assert (analysis.spread.n, analysis.spread.sum_cycles) == (exact.spread.n, exact.spread.sum_cycles)
    assert analysis.spread.max_cycles == exact.spread.max_cycles
    assert analysis.spread.median_cycles == pytest.approx(exact.spread.median_cycles, rel=0.125)
    assert analysis.overhead_cycles == exact.overhead_cycles
    lost = named(analysis, "detail lost")
    assert (lost.kind, lost.spread.n) == ("detail-lost", lossy.lost)


def test_train_is_not_named_by_a_part_of_its_rate_while_ticks_hide_the_rest_of_its_slots() -> None:
    # Every third of its slots moves through the kernel's ticks; what is left looks like two trains of 100 Hz.
    segment = make_segment(guest=True, kernel_tick=make_tick(1000))
    clocks, rates_hz = Clocks(), []
    for window in simulate(Life(hz=1000, host_hz=300.002), ends_ns=[1e9, 2e9, 3e9], segment=segment):
        analysis, clocks = analyse(window, clocks)
        rates_hz += [round(train.hz, 2) for train in analysis.trains if train.origin != "kernel"]
    assert rates_hz
    assert set(rates_hz) == {300.0}
