"""What a screen remembers of the windows before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.making import Life, make_window, simulate
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.trend import NO_TREND, Trend, extend
from tickmon.windows import Window


def trend_of(windows: Sequence[Window]) -> Trend:
    trend, clocks = NO_TREND, Clocks()
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        trend = extend(trend, analysis)
    return trend


def test_recent_ticks_are_those_of_the_last_minute() -> None:
    windows = simulate(Life(noise_hz=20), ends_ns=[(n + 1) * 1e9 for n in range(70)])
    trend = trend_of(windows)
    assert 59.9 < trend.recent_tick_s < 60.1
    assert 0.98 * 60 * 250 < trend.recent_tick.n <= 60 * 250
    assert trend.windows == 70
    assert trend.since == windows[0].started_at


def test_time_asleep_is_no_part_of_the_last_minute() -> None:
    asleep = Life(noise_hz=20, suspended=((2.5013e9, 3_600e9),))
    trend = trend_of(simulate(asleep, ends_ns=[(n + 1) * 1e9 for n in range(5)]))
    assert 4.9 < trend.recent_tick_s < 5.0
    assert trend.recent_tick.n > 1_200


def test_window_longer_than_a_minute_is_kept_whole() -> None:
    trend = trend_of(simulate(Life(noise_hz=20), ends_ns=[90e9]))
    assert 89.9 < trend.recent_tick_s < 90.1


def test_ninety_ninth_percentile_of_a_tick_needs_more_than_one_window() -> None:
    windows = simulate(Life(noise_hz=20), ends_ns=[(n + 1) * 1e9 for n in range(6)])
    assert trend_of(windows[:1]).recent_tick.p99_cycles is None
    assert trend_of(windows).recent_tick.p99_cycles is not None


def test_worst_interruption_stays_with_its_name_while_calmer_windows_follow() -> None:
    windows = simulate(Life(gaps=((1.5013e9, 2e6),)), ends_ns=[1e9, 2e9, 3e9])
    trend = trend_of(windows)
    assert trend.worst is not None
    assert trend.worst.gap_cycles > 2e6 * 2
    assert windows[1].started_at < trend.worst.at < windows[2].started_at
    assert trend.worst_source


def test_worst_interruption_may_be_one_without_detail() -> None:
    trend = trend_of([make_window([(1_000, 9_000)], lost_cycles=[6_000_000])])
    assert trend.worst is not None
    assert (trend.worst.gap_cycles, trend.worst_source) == (6_000_000, "detail lost")


def test_baseline_remembers_where_it_began_and_how_far_it_went() -> None:
    baselines = [40, 44, 38, 41]
    windows = [
        make_window([(100, cycles)], reads=10, start_cycles=n * 1000, end_cycles=(n + 1) * 1000)
        for n, cycles in enumerate(baselines)
    ]
    trend = trend_of(
        [_with_baseline(window, cycles) for window, cycles in zip(windows, baselines, strict=True)]
    )
    assert (trend.baseline_first_cycles, trend.baseline_cycles) == (40, 41)
    assert (trend.baseline_low_cycles, trend.baseline_high_cycles) == (38, 44)


def _with_baseline(window: Window, cycles: int) -> Window:
    return replace(window, min_cycles=cycles)


def test_no_windows_leave_everything_unknown() -> None:
    assert NO_TREND.worst is None
    assert NO_TREND.baseline_cycles is None
    assert NO_TREND.recent_tick.median_cycles is None
