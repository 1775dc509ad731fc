from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.making import MONOTONIC_NS, ORIGIN_CYCLES, TSC_HZ, make_segment, make_window, read_at
from tickmon.analysis.clocks import Clocks, follow
from tickmon.analysis.timeline import Timeline, timeline
from tickmon.windows import ClockReading, Exclusion, Segment, Window

DAY_CYCLES = round(86_400 * TSC_HZ)


def placed(window: Window, clocks: Clocks | None = None) -> tuple[Timeline, Clocks]:
    clocks = follow(clocks or Clocks(), window)
    return timeline(window, clocks), clocks


def test_times_are_those_of_clock_monotonic_less_the_epoch() -> None:
    window = make_window([(2_000_000, 8_000)])
    line, clocks = placed(window)
    assert clocks.epoch_ns == MONOTONIC_NS
    assert line.starts_ns.tolist() == pytest.approx([1_000_000.0])
    assert line.ends_ns.tolist() == pytest.approx([1_004_000.0])
    assert (line.start_ns, line.end_ns) == pytest.approx((0.0, 1e9))


def test_a_slewed_clock_is_followed_and_not_the_counter() -> None:
    segment = make_segment()
    clocks = (read_at(0, segment, slew_ppm=500), read_at(TSC_HZ, segment, slew_ppm=500))
    line, _ = placed(make_window([(round(TSC_HZ), 1_000)], clocks=clocks))
    assert line.starts_ns[0] == pytest.approx(1_000_500_000, abs=1)


def test_between_two_readings_time_is_a_straight_line_and_at_each_it_may_bend() -> None:
    segment = make_segment()
    # 500 ppm faster in the second half of the second.
    middle, end = read_at(TSC_HZ / 2, segment), read_at(TSC_HZ, segment)
    steered = replace(end, monotonic_ns=end.monotonic_ns + 250_000)
    clocks = (read_at(0, segment), middle, steered)
    line, _ = placed(make_window([(500_000_000, 2_000), (1_500_000_000, 2_000)], clocks=clocks))
    assert line.starts_ns.tolist() == pytest.approx([250e6, 750e6 + 125_000], abs=1)
    assert (line.start_ns, line.end_ns) == pytest.approx((0.0, 1e9 + 250_000), abs=1)


@pytest.mark.parametrize("place", [0, 5, 10])
def test_one_reading_that_was_interrupted_bends_nothing(place: int) -> None:
    segment = make_segment()
    clocks = [read_at(TSC_HZ / 10 * n, segment) for n in range(11)]
    late_ns = clocks[place].monotonic_ns + 20_000
    clocks[place] = replace(clocks[place], monotonic_ns=late_ns, uncertain_cycles=40_000)
    at = [round(TSC_HZ / 10 * n) for n in range(11)]
    line, _ = placed(make_window([(cycles, 1_000) for cycles in at], clocks=tuple(clocks)))
    assert line.starts_ns - line.starts_ns[0] == pytest.approx(np.arange(11) * 1e8, abs=1)


def test_readings_that_are_uncertain_for_long_are_better_than_none() -> None:
    segment = make_segment()
    # From the second on the clock is steered, and the machine so busy that no reading is a good one.
    clocks = [read_at(TSC_HZ / 10 * n, segment) for n in range(31)]
    for n in range(11, 31):
        late_ns = clocks[n].monotonic_ns + 50_000 * (n - 10)
        clocks[n] = replace(clocks[n], monotonic_ns=late_ns, uncertain_cycles=4_000)
    line, _ = placed(make_window([(6_000_000_000, 1_000)], end_cycles=6_000_000_000, clocks=tuple(clocks)))
    assert line.starts_ns[0] == pytest.approx(3e9 + 1_000_000, abs=1)


def test_beyond_the_outermost_readings_their_own_errors_do_not_tilt_the_line() -> None:
    segment = make_segment()
    # The last two lie 50 us apart, and one of them is 50 ns off: a thousand ppm, were it a slope.
    clocks = [read_at(at, segment) for at in (0, 1_000_000_000, 1_799_900_000)]
    close = read_at(1_800_000_000, segment)
    clocks.append(replace(close, monotonic_ns=close.monotonic_ns + 50))
    line, _ = placed(make_window([(2_000_000_000, 1_000)], clocks=tuple(clocks)))
    assert line.starts_ns[0] == pytest.approx(1e9, abs=70)
    first = replace(clocks[0], monotonic_ns=clocks[0].monotonic_ns - 50)
    tilted = (first, read_at(100_000, segment), *clocks[1:])
    line, _ = placed(make_window([(-200_000_000, 1_000)], clocks=tilted))
    assert line.starts_ns[0] + first.monotonic_ns == pytest.approx(MONOTONIC_NS - 1e8, abs=70)


def test_two_readings_too_close_for_a_slope_leave_the_known_frequency() -> None:
    segment = make_segment()
    close = read_at(100_000, segment)
    clocks = (read_at(0, segment), replace(close, monotonic_ns=close.monotonic_ns + 50))
    line, _ = placed(make_window([(2_000_000_000, 1_000)], clocks=clocks))
    assert line.starts_ns[0] == pytest.approx(1e9, abs=60)


def slept(
    *, at: int, cycles: int, clocks: tuple[ClockReading, ...], details: list[tuple[int, int]]
) -> Window:
    """A window up to its last reading, with a jump in it."""
    jump = Exclusion(code="jump", start_cycles=at, cycles=cycles)
    end_cycles = clocks[-1].cycles - ORIGIN_CYCLES
    return make_window(details, end_cycles=end_cycles, clocks=clocks, excluded=(jump,))


HOUR_CYCLES = 3_600 * 2_000_000_000


def awake_again(at: int) -> ClockReading:
    """A reading after an hour in which only the counter ran, as many cycles after the start without it."""
    awake = read_at(at, make_segment())
    return replace(awake, cycles=awake.cycles + HOUR_CYCLES)


def test_beside_a_jump_times_keep_their_distance_to_the_readings_on_their_own_side() -> None:
    segment = make_segment()
    # Read at 0 and 0.2 s, asleep at 0.25 s, read again at 0.3 s and 0.5 s.
    asleep_at = (read_at(0, segment), read_at(400_000_000, segment))
    clocks = (*asleep_at, awake_again(600_000_000), awake_again(1_000_000_000))
    before, after = 480_000_000, HOUR_CYCLES + 520_000_000
    window = slept(
        at=500_000_000, cycles=HOUR_CYCLES, clocks=clocks, details=[(before, 1_000), (after, 1_000)]
    )
    line, _ = placed(window)
    assert line.starts_ns.tolist() == pytest.approx([240e6, 260e6], abs=1)
    assert line.unwatched_ns.tolist() == [pytest.approx([250e6, 250e6], abs=1)]
    assert line.end_ns == pytest.approx(500e6, abs=1)


def test_a_reading_taken_while_the_sampler_did_not_run_yet_is_on_the_far_side_of_the_jump() -> None:
    segment = make_segment()
    asleep_at = (read_at(0, segment), read_at(400_000_000, segment))
    clocks = (*asleep_at, awake_again(500_200_000), awake_again(700_000_000))
    # It had stood for 10 us before the sleep, and for 0.1 ms after that reading.
    details = [(480_000_000, 1_000), (HOUR_CYCLES + 600_000_000, 1_000)]
    window = slept(at=499_980_000, cycles=HOUR_CYCLES + 420_000, clocks=clocks, details=details)
    line, _ = placed(window)
    assert line.starts_ns.tolist() == pytest.approx([240e6, 300e6], abs=1)


def test_a_jump_whose_place_is_not_known_may_be_anywhere_before_the_next_reading() -> None:
    segment = make_segment()
    clocks = (read_at(0, segment), read_at(400_000_000, segment), awake_again(600_000_000))
    window = slept(at=400_000_000, cycles=0, clocks=clocks, details=[(480_000_000, 1_000)])
    line, _ = placed(window)
    assert line.unwatched_ns.tolist() == [pytest.approx([200e6, 300e6], abs=1)]
    assert np.all(np.diff(line.starts_ns) >= 0)


def test_a_jump_that_does_not_fit_between_its_readings_is_not_placed() -> None:
    segment = make_segment()
    clocks = (read_at(0, segment), read_at(400_000_000, segment), awake_again(600_000_000))
    # It was longer: what is excluded was another interruption.
    details = [(420_000_000, 1_000), (HOUR_CYCLES // 2, 1_000), (HOUR_CYCLES + 590_000_000, 1_000)]
    line, _ = placed(slept(at=500_000_000, cycles=2_000, clocks=clocks, details=details))
    assert np.all(np.diff(line.starts_ns) > 0)
    assert 200e6 < line.starts_ns[0] < line.starts_ns[-1] < 300e6


def test_times_never_descend_although_the_counter_went_back_twice_after_an_interruption() -> None:
    back = Exclusion(code="backwards", start_cycles=1_500, cycles=390)
    window = make_window([(1_000, 500), (900, 450), (5_000, 500)], excluded=(back, back))
    line, _ = placed(window)
    assert np.all(np.diff(line.starts_ns) >= 0)
    assert np.all(line.ends_ns >= line.starts_ns)
    assert line.unwatched_ns.tolist() == [[750.0, 750.0]] * 2


def test_readings_need_not_lie_at_the_windows_ends() -> None:
    segment = make_segment()
    clocks = (read_at(40_000, segment), read_at(TSC_HZ + 90_000, segment))
    line, epoch = placed(make_window([(2_000_000, 8_000)], clocks=clocks))
    assert line.starts_ns[0] + epoch.epoch_ns == pytest.approx(MONOTONIC_NS + 1_000_000, abs=1)


def test_after_months_a_time_is_still_right_to_the_nanosecond() -> None:
    first = make_window()
    late_cycles = 100 * DAY_CYCLES
    late = make_window(
        [(late_cycles + 2_000_000, 2_000)], start_cycles=late_cycles, end_cycles=late_cycles + round(TSC_HZ)
    )
    _, clocks = placed(first)
    line, same = placed(late, clocks)
    assert same.epoch_ns == clocks.epoch_ns
    assert line.starts_ns[0] == pytest.approx(100 * 86_400e9 + 1_000_000, abs=2)


def test_after_years_of_uptime_a_time_is_still_right_to_the_nanosecond() -> None:
    years_ns = 5 * 365 * 86_400 * 10**9
    first, late = (
        replace(reading, monotonic_ns=years_ns + ns)
        for reading, ns in ((read_at(0, make_segment()), 7), (read_at(TSC_HZ, make_segment()), 10**9 + 20))
    )
    second = (late, replace(read_at(2 * TSC_HZ, make_segment()), monotonic_ns=years_ns + 2 * 10**9 + 20))
    _, clocks = placed(make_window(clocks=(first, late)))
    line, _ = placed(make_window([(2_000_000_010, 800)], start_cycles=2_000_000_000, clocks=second), clocks)
    assert line.starts_ns[0] == pytest.approx(1e9 + 13 + 5, abs=0.01)


def test_windows_that_touch_meet_at_the_same_time() -> None:
    segment = make_segment()
    first = make_window(end_cycles=1_999_999_990)
    second = make_window(start_cycles=1_999_999_990, end_cycles=4_000_000_000)
    before, clocks = placed(first)
    after, _ = placed(second, clocks)
    assert after.start_ns == pytest.approx(before.end_ns, abs=2)
    assert segment == second.segment


def test_readings_without_a_distance_in_time_leave_the_segments_frequency() -> None:
    reading = read_at(0, make_segment())
    line, _ = placed(make_window([(2_000_000, 8_000)], clocks=(reading, reading)))
    assert line.starts_ns[0] == pytest.approx(1_000_000.0)


def test_without_synchronised_counters_time_is_the_counters_own() -> None:
    segment = make_segment(counter_synchronised=False)
    # The second reading was taken on a third CPU.
    first, second = (replace(read_at(at, segment), cycles=2 * at + 123) for at in (0, 1_500_000_000))
    line, clocks = placed(make_window([(2_000_000, 8_000)], segment=segment, clocks=(first, second)))
    assert line.starts_ns.tolist() == [1_000_000.0]
    assert clocks.epoch_ns == 0
    assert clocks.tsc_hz == TSC_HZ


def reading(cycles: float, raw_ns: int) -> ClockReading:
    counter = ORIGIN_CYCLES + round(cycles)
    return replace(read_at(0, make_segment()), cycles=counter, monotonic_raw_ns=raw_ns, uncertain_cycles=0)


def windows_with(segment: Segment, *readings: ClockReading) -> list[Window]:
    pairs = enumerate(pairwise(readings), 1)
    return [make_window(segment=segment, window=number, clocks=pair) for number, pair in pairs]


def test_the_frequency_is_refined_from_the_first_reading_of_the_segment_to_the_newest() -> None:
    segment = make_segment(tsc_hz=1_999_000_000.0)
    # The second reading came 100 ns late: over one second 0.1 ppm, over ten 0.01.
    readings = (reading(0, 0), reading(2_000_000_000, 10**9 + 100), reading(20_000_000_000, 10**10))
    clocks = Clocks()
    hz = []
    for window in windows_with(segment, *readings):
        clocks = follow(clocks, window)
        hz.append(clocks.tsc_hz)
    assert hz[0] == pytest.approx(2e9 / (1 + 1e-7))
    assert hz[1] == pytest.approx(2e9, rel=1e-12)


def test_a_reading_that_was_interrupted_does_not_spoil_the_frequency() -> None:
    segment = make_segment()
    clocks = [read_at(TSC_HZ / 10 * n, segment) for n in range(11)]
    for end in (0, -1):
        late_ns = clocks[end].monotonic_raw_ns + 20_000
        clocks[end] = replace(clocks[end], monotonic_raw_ns=late_ns, uncertain_cycles=40_000)
    assert follow(Clocks(), make_window(clocks=tuple(clocks))).tsc_hz == pytest.approx(2e9, rel=1e-9)


def test_a_line_that_departs_from_what_the_segment_began_with_is_no_frequency() -> None:
    segment = make_segment(tsc_hz=2_000_100_000.0)
    good, slept_through = windows_with(
        segment, reading(0, 0), reading(2_000_000_000, 10**9), reading(4_010_000_000, 2 * 10**9)
    )
    clocks = follow(Clocks(), good)
    assert clocks.tsc_hz == pytest.approx(2e9)
    assert follow(clocks, slept_through).tsc_hz == clocks.tsc_hz
    assert follow(Clocks(), slept_through).tsc_hz == 2_000_100_000.0


def test_no_line_leads_from_before_a_jump_to_after_it() -> None:
    # Too short a sleep to stand out from the frequency of a long segment.
    segment = make_segment()
    first = make_window(segment=segment, clocks=(reading(0, 0), reading(2_000_000_000, 10**9)))
    jump = Exclusion(code="jump", start_cycles=4_000_000_000, cycles=200_000_000)
    clocks = (reading(2_000_000_000, 10**9), reading(2_000_000_000_000, 10**12 - 10**8))
    jumped = make_window(segment=segment, clocks=clocks, excluded=(jump,))
    later = make_window(segment=segment, clocks=(clocks[-1], reading(2_002_000_000_000, 10**12 + 9 * 10**8)))
    known = follow(Clocks(), first)
    across = follow(known, jumped)
    assert across.tsc_hz == known.tsc_hz
    assert follow(across, later).tsc_hz == pytest.approx(2e9, rel=1e-12)


@pytest.mark.parametrize("source", ["option --tsc-hz", "stated by the hardware"])
def test_a_given_frequency_is_kept(source: str) -> None:
    segment = make_segment(tsc_hz=1_999_000_000.0, tsc_hz_source=source)
    (window,) = windows_with(segment, reading(0, 0), reading(2_000_000_000, 10**9))
    assert follow(Clocks(), window).tsc_hz == 1_999_000_000.0


def test_another_segment_begins_with_nothing_known() -> None:
    clocks = replace(follow(Clocks(), make_window()), phase_ns=77, judged_ns=5.0)
    assert follow(clocks, make_window()).phase_ns == 77
    fresh = follow(clocks, make_window(segment=make_segment(segment=2)))
    assert fresh.phase_ns is None
    assert np.isinf(fresh.judged_ns)
