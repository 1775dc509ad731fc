"""What an analysis says of a window beside its ticks: baseline, overhead, the worst, warnings."""

from __future__ import annotations

import ast
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import tickmon
from tests.making import Life, make_segment, make_window, simulate
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.caveats import EXCLUDED, GRAVEST_FIRST, gravest_first
from tickmon.analysis.readings import Analysis
from tickmon.windows import Exclusion, Method, ReadingWarning, Window


def analysed(window: Window) -> Analysis:
    return analyse(window, Clocks())[0]


def codes(analysis: Analysis) -> list[str]:
    return [warning.code for warning in analysis.warnings]


def warnings(*names: str) -> list[ReadingWarning]:
    return [ReadingWarning(code=name, message=name) for name in names]


def test_baseline_typical_read_and_overhead_are_those_of_the_contract() -> None:
    window = make_window([(1_000, 5_040), (90_000, 840)], end_cycles=1_000_000, reads=20_000)
    analysis = analysed(window)
    assert analysis.baseline_cycles == 40
    assert analysis.typical_cycles == (1_000_000 - 5_880) / 19_998
    assert analysis.overhead_cycles == 5_000 + 800
    assert analysis.overhead_share == 5_800 / 1_000_000
    assert analysis.tsc_hz == pytest.approx(2e9)


def test_a_coarse_counters_baseline_may_be_zero() -> None:
    window = replace(make_window([(1_000, 500)]), min_cycles=0)
    assert analysed(window).baseline_cycles == 0
    assert analysed(window).overhead_cycles == 500


def test_foreign_train_is_not_due_where_nobody_watched_and_is_not_forgotten_for_it() -> None:
    windows = simulate(
        Life(host_hz=1000.02), ends_ns=[1e9, 2e9, 3e9], segment=make_segment(guest=True), dated=False
    )
    hz = windows[1].segment.tsc_hz
    stop = Exclusion(
        code="stopped", start_cycles=windows[1].start_cycles + round(0.2 * hz), cycles=round(0.6 * hz)
    )
    details = windows[1].details
    outside = (details["start_cycles"] < stop.start_cycles) | (
        details["start_cycles"] >= stop.start_cycles + stop.cycles
    )
    # Sums do not matter to trains.
    stopped = replace(windows[1], details=details[outside], excluded=(stop,), excluded_count=1)
    clocks = Clocks()
    seen = []
    for window in (windows[0], stopped, windows[2]):
        analysis, clocks = analyse(window, clocks)
        seen += [(train.expected, train.seen) for train in analysis.trains if train.origin == "host"]
    assert seen == [(1000, 1000), (400, 400), (1000, 1000)]


def test_time_that_is_excluded_is_no_reads_time() -> None:
    window = make_window([(1_000, 5_000)], end_cycles=1_000_000, reads=1_001)
    moved = Exclusion(code="moved", start_cycles=500_000, cycles=100_000)
    back = Exclusion(code="backwards", start_cycles=500_000, cycles=100_000)
    assert analysed(replace(window, excluded=(moved,))).typical_cycles == 895.0
    assert analysed(replace(window, excluded=(back,))).typical_cycles == 1_095.0


def test_shares_of_a_window_with_an_hour_asleep_are_those_of_the_time_awake() -> None:
    quiet = Life(noise_hz=0.0)
    awake, _ = analyse(simulate(quiet)[0], Clocks())
    asleep, _ = analyse(simulate(replace(quiet, suspended=((501.5e6, 3_600e9),)))[0], Clocks())
    assert asleep.overhead_share == pytest.approx(awake.overhead_share, rel=0.01)
    assert asleep.tick is not None
    assert awake.tick is not None
    assert asleep.tick.overhead_share == pytest.approx(awake.tick.overhead_share, rel=0.01)
    assert asleep.trains[0].overhead_share == pytest.approx(awake.trains[0].overhead_share, rel=0.01)
    assert asleep.typical_cycles == pytest.approx(50, rel=0.001)


def test_a_window_in_which_nothing_was_read_has_no_numbers() -> None:
    window = replace(make_window(reads=0), min_cycles=None, max_cycles=None)
    analysis = analysed(window)
    assert (analysis.baseline_cycles, analysis.typical_cycles, analysis.overhead_cycles) == (None, None, 0)
    assert analysis.spread.max_cycles is None
    assert list(analysis.worst) == []
    assert analysis.sources == ()


def test_a_window_without_interruptions_has_no_longest_one() -> None:
    window = make_window()
    assert window.max_cycles is not None
    assert analysed(window).spread.max_cycles is None


def test_the_worst_are_the_hundred_longest_with_their_time_of_day_and_what_they_were() -> None:
    (window,) = simulate(Life(gaps=((300e6 + 2e6, 70_000.0), (700e6 + 2e6, 90_000.0))))
    analysis = analysed(window)
    gaps = [worst.gap_cycles for worst in analysis.worst]
    assert gaps == sorted(window.details["gap_cycles"].tolist(), reverse=True)[:100]
    first = analysis.worst[0]
    assert first.at - window.started_at == pytest.approx(
        timedelta(seconds=0.702), abs=timedelta(microseconds=2)
    )
    assert first.source is not None
    assert analysis.sources[first.source].name == "unexplained"


def test_of_equally_long_interruptions_the_earlier_one_is_worse() -> None:
    analysis = analysed(make_window([(1_000, 900), (5_000, 900), (9_000, 901)]))
    assert [worst.start_cycles for worst in analysis.worst] == [9_000, 1_000, 5_000]
    many = analysed(make_window([(1_000 * number, 900 + number % 2) for number in range(1, 91)]))
    starts = [worst.start_cycles for worst in many.worst]
    assert starts == [*range(1_000, 90_001, 2_000), *range(2_000, 90_001, 2_000)]


def test_the_worst_without_detail_is_the_worst_all_the_same_and_where_it_was_is_not_known() -> None:
    window = make_window([(1_000, 9_000), (50_000, 700_000)], lost_cycles=(5_000, 6_000_000))
    analysis = analysed(window)
    assert [worst.gap_cycles for worst in analysis.worst] == [6_000_000, 700_000, 9_000]
    worst = analysis.worst[0]
    assert (worst.start_cycles, worst.at) == (None, window.started_at)
    assert worst.source is not None
    assert analysis.sources[worst.source].name == "detail lost"


def test_details_that_were_lost_add_no_worst_while_the_longest_is_known() -> None:
    analysis = analysed(make_window([(1_000, 9_000), (50_000, 700_000)], lost_cycles=(5_000, 700_000)))
    assert [worst.start_cycles for worst in analysis.worst] == [50_000, 1_000]
    many = analysed(make_window([(1_000 * n, 500) for n in range(150)], lost_cycles=(5_000,)))
    assert (len(many.worst), many.worst[0].start_cycles) == (100, None)


def test_percentiles_of_known_details_are_exact() -> None:
    (window,) = simulate()
    ordered = np.sort(window.details["gap_cycles"])
    analysis = analysed(window)
    assert analysis.spread.exact
    assert analysis.spread.median_cycles == ordered[-(-len(ordered) // 2) - 1]


# Warnings


def test_the_gravest_warning_is_said_first_and_each_once() -> None:
    given = warnings("strange", "few_ticks", "details_lost", "backwards", "strange", "counter_untrusted")
    said = [warning.code for warning in gravest_first(given)]
    assert said == ["backwards", "counter_untrusted", "details_lost", "few_ticks", "strange"]


def codes_in(source: str) -> set[str]:
    """The codes that a ReadingWarning is made with, as far as they are written there."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    made = [call for call in calls if getattr(call.func, "id", None) == "ReadingWarning"]
    given = [keyword.value for call in made for keyword in call.keywords if keyword.arg == "code"]
    assert len(given) == len(made)
    return {str(value.value) for value in given if isinstance(value, ast.Constant)}


def test_every_code_that_is_said_anywhere_has_a_rank_and_no_other_code_has_one() -> None:
    sources = Path(tickmon.__file__).parent.rglob("*.py")
    said = set(EXCLUDED).union(*(codes_in(path.read_text()) for path in sources))
    assert said == set(GRAVEST_FIRST)
    assert len(set(GRAVEST_FIRST)) == len(GRAVEST_FIRST)


def test_the_windows_own_warnings_stay_and_are_not_repeated() -> None:
    (window,) = simulate(dated=False)
    own = ReadingWarning(code="tick_cost_mixed", message="3 preemptions could not be dated")
    analysis = analysed(replace(window, switch_count=5, warnings=(own, *warnings("strange"))))
    assert codes(analysis) == ["tick_cost_mixed", "strange"]
    # What can be counted is said with the count of the whole window.
    assert analysis.warnings[0].message.startswith("5 preemptions")


def test_exclusions_are_said_with_how_often() -> None:
    back = Exclusion(code="backwards", start_cycles=1_000, cycles=5)
    moved = Exclusion(code="moved", start_cycles=1_000, cycles=5)
    jump = Exclusion(code="jump", start_cycles=1_000, cycles=5)
    analysis = analysed(replace(simulate()[0], excluded=(jump, moved, back, back), excluded_count=4))
    assert codes(analysis) == ["backwards", "moved", "jump"]
    said = [warning.message for warning in analysis.warnings]
    assert "backwards 2 times" in said[0]
    assert "another CPU once" in said[1]
    assert "suspended, migrated, or the clock was corrected) once" in said[2]


def test_exclusions_of_which_only_the_first_are_listed_are_all_counted() -> None:
    back = Exclusion(code="backwards", start_cycles=1_000, cycles=5)
    moved = Exclusion(code="moved", start_cycles=1_000, cycles=5)
    analysis = analysed(replace(simulate()[0], excluded=(back,) * 16, excluded_count=5_000))
    assert "backwards 5,000 times" in analysis.warnings[0].message
    analysis = analysed(replace(simulate()[0], excluded=(back, moved), excluded_count=5_000))
    assert "backwards at least once" in analysis.warnings[0].message
    assert "another CPU at least once" in analysis.warnings[1].message


def test_records_of_switches_that_the_kernel_dropped_are_counted() -> None:
    analysis = analysed(replace(simulate()[0], switches_lost=7_000))
    assert codes(analysis) == ["switches_lost"]
    assert "dropped 7,000 records" in analysis.warnings[0].message


def test_reads_that_come_far_apart_are_said_to_miss_what_is_below_the_threshold() -> None:
    fine = simulate(segment=make_segment(tsc_hz=24e6, step_cycles=1, threshold_cycles=5))
    coarse = simulate(segment=make_segment(tsc_hz=1e6, step_cycles=1, threshold_cycles=3))
    assert "coarse_counter" not in codes(analysed(fine[0]))
    (said,) = [w.message for w in analysed(coarse[0]).warnings if w.code == "coarse_counter"]
    assert said.startswith("reads of the counter come no closer than 1.00 µs")
    assert "shorter than 3.00 µs are not seen" in said
    # A read of a fine counter that takes long, and a threshold of the user's own.
    slow = analysed(simulate(segment=make_segment(step_cycles=2_000, threshold_cycles=20_000))[0])
    (said,) = [w.message for w in slow.warnings if w.code == "coarse_counter"]
    assert "shorter than 10.0 µs are not seen" in said
    loop = make_segment(method=Method.LOOP, tsc_hz=1e6, step_cycles=1)
    (said,) = [w.message for w in analysed(make_window(segment=loop)).warnings if w.code == "coarse_counter"]
    assert "shorter than 1.00 µs are not seen" in said


def test_a_check_that_could_hardly_fail_is_said_to_be_weak() -> None:
    assert "check_weak" in codes(analysed(simulate(Life(noise_hz=200_000))[0]))
    assert "check_weak" not in codes(analysed(simulate(Life(noise_hz=2_000))[0]))


def test_a_quiet_window_has_no_warning() -> None:
    assert codes(analysed(simulate()[0])) == []


def test_too_few_single_ticks_are_said() -> None:
    assert "few_ticks" in codes(analysed(simulate(ends_ns=(35e6,))[0]))
    assert "few_ticks" not in codes(analysed(simulate(ends_ns=(45e6,))[0]))
