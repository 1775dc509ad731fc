from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.making import MONOTONIC_NS, ORIGIN_CYCLES, TSC_HZ, make_segment, make_window, read_at
from tickmon.analysis.clocks import Clocks, follow
from tickmon.analysis.timeline import Timeline, timeline
from tickmon.windows import ClockReading, Segment, Window

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
