"""A run is what its windows are together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from tests.making import Life, make_segment, make_tick, make_window, simulate, simulate_loop
from tests.readings import read, read_one
from tickmon.analysis import Clocks, analyse, merge
from tickmon.analysis import total as total_module
from tickmon.analysis.readings import Analysis
from tickmon.analysis.spread import Spread
from tickmon.analysis.total import NO_TOTAL, Summary, add
from tickmon.formats.lines import summary_line
from tickmon.windows import Exclusion, ReadingWarning, RowChange, Window


def sum_up(windows: Sequence[Window]) -> Summary:
    total, clocks = NO_TOTAL, Clocks()
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        total = add(total, analysis)
    return total.summary()


def costs(analysis: Analysis) -> dict[str, tuple[int, int, int | None, int | None]]:
    return {
        source.name: (
            source.spread.n,
            source.overhead_cycles,
            source.spread.median_cycles,
            source.spread.p99_cycles,
        )
        for source in analysis.sources
    }


LIVELY = Life(host_hz=100.002, wakeups_hz=20, noise_hz=2000)


def test_run_of_touching_windows_says_what_the_one_long_window_says() -> None:
    windows = simulate(LIVELY, ends_ns=[1e9, 1.4e9, 3e9, 4e9])
    run = sum_up(windows).analysis
    whole, _ = analyse(merge(windows), Clocks())
    assert (run.window.interruptions, run.window.reads) == (whole.window.interruptions, whole.window.reads)
    assert run.window.end_cycles == whole.window.end_cycles
    assert run.overhead_cycles == whole.overhead_cycles
    assert run.overhead_share == pytest.approx(whole.overhead_share)
    assert run.typical_cycles == pytest.approx(whole.typical_cycles)
    for share in (0.9, 0.99, 0.999):
        assert run.spread.percentile_cycles(share) == whole.spread.percentile_cycles(share)
    assert run.tick is not None
    assert whole.tick is not None
    assert run.tick.spread.median_cycles == whole.tick.spread.median_cycles
    assert run.tick.spread.n == whole.tick.spread.n
    assert run.check == whole.check
    assert [worst.gap_cycles for worst in run.worst] == [worst.gap_cycles for worst in whole.worst]


def test_sources_of_a_run_add_up_to_its_interruptions_and_overhead_in_their_order() -> None:
    run = sum_up(simulate(LIVELY, ends_ns=[1e9, 2e9, 3e9])).analysis
    assert sum(source.spread.n for source in run.sources) == run.window.interruptions
    assert sum(source.overhead_cycles for source in run.sources) == run.overhead_cycles
    overheads = [source.overhead_cycles for source in run.sources]
    assert overheads == sorted(overheads, reverse=True)


def test_worst_of_a_run_keep_their_source_although_sources_change_places() -> None:
    calm, wild = simulate(Life(noise_hz=50, gaps=((1.5e9, 9e6),), wakeups_hz=0), ends_ns=[1e9, 2e9])
    run = sum_up((calm, wild)).analysis
    worst = run.worst[0]
    assert worst.source is not None
    assert run.sources[worst.source].spread.max_cycles == worst.gap_cycles
    assert all(
        worst.gap_cycles <= (run.sources[worst.source].spread.max_cycles or 0)
        for worst in run.worst
        if worst.source is not None
    )


def test_host_train_of_every_window_is_one_train_of_the_run() -> None:
    windows = simulate(
        Life(host_hz=1000.02), ends_ns=[1e9, 2e9, 3e9, 4e9, 5e9], segment=make_segment(guest=True)
    )
    run = sum_up(windows).analysis
    hosts = [train for train in run.trains if train.origin == "host"]
    assert len(hosts) == 1
    assert hosts[0].hz == pytest.approx(1000.02, rel=1e-5)
    assert hosts[0].seen <= hosts[0].expected


def test_train_whose_origin_is_known_only_later_is_one_row_of_trains_and_one_of_sources() -> None:
    life, ends_ns = Life(host_hz=1000.02), [1e9, 2e9, 3e9]
    unknown, known = (
        read(simulate(life, ends_ns=ends_ns, segment=make_segment(guest=guest))) for guest in (False, True)
    )
    for windows, kind, name in (
        ((unknown[0], known[1], known[2]), "host", "host tick 1000 Hz"),
        ((known[0], unknown[1], unknown[2]), "unknown", "train 1000 Hz"),
    ):
        total = NO_TOTAL
        for analysis in windows:
            total = add(total, analysis)
        run = total.summary().analysis
        (train,) = [train for train in run.trains if train.origin != "kernel"]
        assert (train.origin, train.seen) == (kind, 3_000)
        (source,) = [source for source in run.sources if source.name == name]
        assert source.kind == kind
        assert source.spread.n == train.spread.n == sum(a.trains[1].spread.n for a in windows)
        assert not [source for source in run.sources if "1000" in source.name and source.name != name]
        assert name in {part for source in run.sources for part in source.parts}


def test_two_trains_of_nearly_one_rate_stay_two() -> None:
    windows = read(simulate(Life(host_hz=1000.02), ends_ns=[1e9, 2e9], segment=make_segment(guest=True)))
    twice = [
        replace(a, trains=(*a.trains, replace(a.trains[1], hz=1000.3, origin="unknown"))) for a in windows
    ]
    run = add(add(NO_TOTAL, twice[0]), twice[1]).summary().analysis
    assert [round(train.hz, 1) for train in run.trains] == [250.0, 1000.0, 1000.3]
    assert [train.expected for train in run.trains[1:]] == [2_000, 2_000]


def test_stopped_windows_make_a_stopped_run_and_no_missing_ticks() -> None:
    segment = make_segment(kernel_tick=make_tick(may_stop=True))
    run = sum_up(simulate(Life(hz=None), ends_ns=[1e9, 2e9, 3e9], segment=segment)).analysis
    assert run.check.verdict == "stopped"


def test_ticks_missing_in_one_window_are_missing_in_the_run() -> None:
    run = sum_up(simulate(Life(missing=range(300, 330)), ends_ns=[1e9, 2e9, 3e9])).analysis
    assert run.check.verdict == "missing"
    assert run.check.expected is not None
    assert run.check.seen is not None
    assert run.check.expected - run.check.seen == pytest.approx(30, abs=3)


def test_segment_that_begins_anew_goes_on_where_the_last_one_ended() -> None:
    first, second = simulate(ends_ns=[1e9, 2e9])
    other = replace(make_segment(), segment=2, reason="jump")
    (restarted,) = simulate(Life(seed=5), ends_ns=[0.5e9], segment=other)
    run = sum_up((first, second, restarted)).analysis
    lengths = [window.length_cycles for window in (first, second, restarted)]
    assert run.window.length_cycles == sum(lengths)
    starts = [worst.start_cycles for worst in run.worst if worst.start_cycles is not None]
    assert min(starts) >= 0
    assert max(starts) < run.window.end_cycles


def test_time_asleep_is_no_part_of_what_a_runs_shares_refer_to() -> None:
    awake = sum_up(simulate(LIVELY, ends_ns=[1e9, 2e9, 3e9])).analysis
    asleep = replace(LIVELY, suspended=((1.5013e9, 3_600e9),))
    run = sum_up(simulate(asleep, ends_ns=[1e9, 2e9, 3e9])).analysis
    assert run.overhead_share == pytest.approx(awake.overhead_share, rel=0.02)
    assert run.tick is not None
    assert awake.tick is not None
    assert run.tick.overhead_share == pytest.approx(awake.tick.overhead_share, rel=0.02)
    assert run.trains[0].overhead_share == pytest.approx(awake.trains[0].overhead_share, rel=0.02)


def test_lost_details_of_one_window_leave_sums_exact_and_percentiles_binned() -> None:
    whole = make_window([(10_000, 900)] * 50, end_cycles=2_000_000_000)
    lossy = make_window(
        [(10_000 + 2_000_000_000, 900)] * 50,
        start_cycles=2_000_000_000,
        end_cycles=4_000_000_000,
        lost_cycles=[7_000] * 60,
    )
    run = sum_up((whole, lossy))
    spread = run.analysis.spread
    assert (spread.n, spread.sum_cycles, spread.max_cycles) == (160, 100 * 900 + 60 * 7_000, 7_000)
    assert not spread.exact
    assert spread.counts.sum() == 160
    assert run.mean_cycles == pytest.approx((100 * 900 + 60 * 7_000) / 160)
    assert [warning.code for warning in run.analysis.warnings].count("details_lost") == 1
    assert "60 of 160" in next(w.message for w in run.analysis.warnings if w.code == "details_lost")


def undated(number: int, switch_count: int | None, **changes: object) -> Window:
    """One second of a run in which no switch could be dated."""
    start_cycles = number * 2_000_000_000
    return replace(
        make_window(
            [(start_cycles + 1_000, 5_000)],
            start_cycles=start_cycles,
            end_cycles=start_cycles + 2_000_000_000,
            window=number + 1,
            switches=None,
            switch_count=switch_count,
        ),
        **changes,  # type: ignore[arg-type]
    )


def test_warnings_of_a_run_say_the_numbers_of_the_run() -> None:
    back = Exclusion(code="backwards", start_cycles=1_000, cycles=5)
    windows = [
        undated(number, count, switches_lost=count, excluded=(back,), excluded_count=count)
        for number, count in enumerate((3, 5_000, 7_000, 9_000))
    ]
    said = {w.code: w.message for w in sum_up(windows).analysis.warnings}
    assert said["tick_cost_mixed"].startswith("21,003 preemptions could not be dated")
    assert "dropped 21,003 records" in said["switches_lost"]
    assert "backwards 21,003 times" in said["backwards"]
    unknown = (*windows, undated(4, None))
    assert "an unknown number of preemptions" in str(sum_up(unknown).analysis.warnings)


def test_dated_switches_beside_the_interruptions_are_weighed_over_the_run() -> None:
    # Two such in each window are normal, but no more are dated.
    windows = [
        make_window(
            [(n * 2_000_000_000 + 1_000, 5_000)],
            start_cycles=n * 2_000_000_000,
            end_cycles=(n + 1) * 2_000_000_000,
            switches=[(n * 2_000_000_000 + at, n * 2_000_000_000 + at + 9) for at in (50_000, 90_000)],
        )
        for n in range(5)
    ]
    assert "tick_cost_mixed" not in [w.code for w in sum_up(windows[:1]).analysis.warnings]
    (said,) = [w.message for w in sum_up(windows).analysis.warnings if w.code == "tick_cost_mixed"]
    assert said.startswith("10 of 10 dated preemptions")


def test_switches_that_are_counted_and_not_dated_are_weighed_over_the_run() -> None:
    def window(number: int, counted: int) -> Window:
        start_cycles = number * 2_000_000_000
        at_cycles = [start_cycles + 10_000 * (i + 1) for i in range(10)]
        return make_window(
            [(at, 5_000) for at in at_cycles],
            start_cycles=start_cycles,
            end_cycles=start_cycles + 2_000_000_000,
            switches=[(at + 9, at + 4_000) for at in at_cycles],
            switch_count=counted,
        )

    def said(*counted: int) -> list[str]:
        run = sum_up([window(number, count) for number, count in enumerate(counted)]).analysis
        return [w.message for w in run.warnings if w.code == "tick_cost_mixed"]

    # Counted a little later than dated, one may fall into the window before.
    assert said(14, 6, 14, 6, 14, 6) == []
    assert said(15) == []
    (message,) = said(16)
    assert message.startswith("6 of 16 context switches are not dated")
    (message,) = said(12, 12, 12)
    assert message.startswith("6 of 36 context switches are not dated")


def test_warning_with_ever_other_numbers_is_kept_once() -> None:
    windows = [
        undated(number, 0, warnings=(ReadingWarning(code="not_measured", message=f"{number} s"),))
        for number in range(4)
    ]
    run = sum_up(windows).analysis
    assert [w.message for w in run.window.warnings] == [w.message for w in run.warnings] == ["0 s"]


def test_windows_in_which_ticks_cannot_be_seen_are_no_part_of_the_runs_check() -> None:
    seen = simulate(ends_ns=[1e9, 2e9])
    blind = make_window(start_cycles=seen[-1].end_cycles, end_cycles=seen[-1].end_cycles + 2_000_000_000)
    blind = replace(blind, segment=make_segment(segment=2))
    for windows in ((*seen, blind), (blind, *seen)):
        check = sum_up(windows).analysis.check
        assert (check.expected, check.seen, check.verdict) == (500, 500, "ok")
    check = sum_up((blind, replace(blind, segment=make_segment(segment=3)))).analysis.check
    assert (check.expected, check.seen, check.verdict) == (500, None, "unknown")


def test_kernels_count_of_a_run_is_known_only_when_it_is_of_every_window() -> None:
    first, second = simulate(ends_ns=[1e9, 2e9])
    both = sum_up((first, second)).analysis.check
    assert both.kernel == len(first.details) + len(second.details)
    assert sum_up((first, replace(second, interrupts=()))).analysis.check.kernel is None


def test_worst_of_a_run_may_be_one_without_detail() -> None:
    whole = make_window([(10_000, 900)] * 3)
    lossy = make_window(
        [(2_000_010_000, 950)],
        start_cycles=2_000_000_000,
        end_cycles=4_000_000_000,
        lost_cycles=[7_000, 6_000],
    )
    for run in (sum_up((whole, lossy)), sum_up((lossy, replace(whole, start_cycles=0)))):
        worst = run.analysis.worst[0]
        assert (worst.start_cycles, worst.gap_cycles, worst.at) == (None, 7_000, lossy.started_at)
        assert worst.source is not None
        assert run.analysis.sources[worst.source].name == "detail lost"


def test_ticks_that_are_few_in_each_window_may_be_enough_in_the_run() -> None:
    windows = simulate(Life(), ends_ns=[0.03e9, 0.06e9, 0.09e9])
    first, _ = analyse(windows[0], Clocks())
    assert "few_ticks" in [warning.code for warning in first.warnings]
    assert "few_ticks" not in [warning.code for warning in sum_up(windows).analysis.warnings]


@pytest.mark.parametrize("at_once", [2, 3, 8])
def test_windows_added_at_once_come_to_what_they_come_to_one_by_one(at_once: int) -> None:
    lively = read(simulate(LIVELY, ends_ns=[0.4e9, 0.9e9, 1.3e9]))
    lossy = make_window([(1_000, 9_000)], lost_cycles=(5_000, 6_000_000), segment=make_segment(segment=2))
    away = Exclusion(code="stopped", start_cycles=500, cycles=1_000)
    quiet = make_window(
        excluded=(away,), interrupts=(RowChange(row="LOC", name="timer", count=3, timer="LOC"),)
    )
    other = read(simulate(replace(LIVELY, host_hz=100.02), ends_ns=[0.6e9, 1e9]))
    analyses = [*lively, read_one(lossy), *other, read_one(quiet), lively[0]]
    one_by_one = at_once_added = NO_TOTAL
    for first in range(0, len(analyses), at_once):
        at_once_added = add(at_once_added, *analyses[first : first + at_once])
    for analysis in analyses:
        one_by_one = add(one_by_one, analysis)
    said = summary_line(one_by_one.summary(), windows=len(analyses))
    assert summary_line(at_once_added.summary(), windows=len(analyses)) == said


def test_ticks_share_of_a_run_is_of_the_whole_run_also_where_its_last_window_has_none() -> None:
    ticking = read(simulate(Life(), ends_ns=[1e9]))[0]
    alone, longer = add(NO_TOTAL, ticking), add(NO_TOTAL, ticking, read_one(make_window()))
    shares = [run.summary().analysis.tick for run in (alone, longer)]
    assert shares[0] is not None
    assert shares[1] is not None
    assert shares[0].overhead_share
    assert shares[1].overhead_share == pytest.approx(shares[0].overhead_share / 2, rel=1e-3)


def test_jitter_that_is_not_known_of_any_window_is_not_known_of_the_run() -> None:
    ticking = read(simulate(Life(), ends_ns=[1e9]))[0]
    unknown = replace(ticking, trains=tuple(replace(train, jitter_ns=None) for train in ticking.trains))
    run = add(NO_TOTAL, unknown, unknown).summary().analysis
    assert [train.jitter_ns for train in run.trains] == [None]


def test_worst_of_a_later_segment_lies_where_the_run_had_come_to() -> None:
    first = make_window([(1_000, 9_000)])
    second = make_window([(2_000, 90_000)], segment=make_segment(segment=2))
    run = add(NO_TOTAL, *read([first]), *read([second])).summary().analysis
    assert [worst.start_cycles for worst in run.worst] == [first.end_cycles + 2_000, 1_000]


def test_ticks_that_all_lost_details_of_a_run_may_hold_are_not_missing() -> None:
    lossy = read_one(make_window([(1_000, 9_000)], lost_cycles=(5_000, 5_000)))
    short = replace(lossy, check=replace(lossy.check, expected=100, seen=98, verdict="ok"))
    assert add(NO_TOTAL, short, short).summary().analysis.check.verdict == "unknown"


def spreads_of(run: Analysis) -> list[Spread]:
    assert run.tick is not None
    sources = [source.spread for source in run.sources]
    return [run.spread, run.tick.spread, *sources, *(train.spread for train in run.trains)]


def test_lengths_of_a_long_run_lie_in_few_pieces() -> None:
    window = make_window([(1_000 * at, 500 + at) for at in range(1, 6)], end_cycles=100_000)
    analysis, _ = analyse(window, Clocks())
    total = NO_TOTAL
    for number in range(1_000):
        total = add(total, analysis)
        if number % 111 == 0:
            assert total.analysis is not None
            pieces = total.analysis.spread.pieces
            assert pieces is not None
            assert len(pieces) <= math.log2(5 * number + 5) + 1
    run = total.summary().analysis
    assert run.spread.n == sum(source.spread.n for source in run.sources) == 5_000
    assert (run.spread.median_cycles, run.spread.min_cycles) == (503, 501)
    assert len(run.window.clocks) == 2


def test_all_spreads_of_a_run_together_are_bounded_and_the_costliest_go_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    windows = simulate(LIVELY, ends_ns=[1e9, 2e9, 3e9])
    sizes = [spread.n for spread in spreads_of(sum_up(windows).analysis)]
    bound = sum(sizes) - max(sizes)
    monkeypatch.setattr(total_module, "KEEP_IN_ALL", bound)
    spreads = spreads_of(sum_up(windows).analysis)
    assert [spread.n for spread in spreads] == sizes
    assert [spread.exact for spread in spreads] == [n < max(sizes) for n in sizes]
    assert sum(len(piece) for spread in spreads for piece in spread.pieces or ()) <= bound


def test_endless_exclusions_are_listed_only_up_to_a_bound_but_all_are_counted() -> None:
    back = tuple(Exclusion(code="backwards", start_cycles=at, cycles=1) for at in range(16))
    windows = [
        make_window(excluded=back, start_cycles=n * 10**9, end_cycles=(n + 1) * 10**9) for n in range(70)
    ]
    jump = Exclusion(code="jump", start_cycles=70 * 10**9 + 50, cycles=10**8)
    windows.append(make_window(excluded=(jump,), start_cycles=70 * 10**9, end_cycles=71 * 10**9))
    run = sum_up(windows).analysis.window
    assert (len(run.excluded), run.excluded_count) == (1000, 1121)
    # What takes time off the run is never left out.
    assert run.excluded[-1] == jump
    assert run.watched_cycles == 71 * 10**9 - 10**8


def test_time_that_was_left_out_is_not_watched_though_too_often_to_be_listed() -> None:
    def throttled(second: int) -> Exclusion:
        return Exclusion(code="throttled", start_cycles=second * 10**9 + 5, cycles=5 * 10**7)

    windows = [
        make_window(excluded=(throttled(n),), start_cycles=n * 10**9, end_cycles=(n + 1) * 10**9)
        for n in range(1_100)
    ]
    summary = sum_up(windows)
    run = summary.analysis.window
    assert (len(run.excluded), run.excluded_count) == (1000, 1100)
    assert run.watched_cycles == 1_100 * (10**9 - 5 * 10**7)
    said = summary_line(summary, windows=1_100)
    assert said["excluded_cycles"] == 1_100 * 5 * 10**7


def test_run_of_the_loop_method_has_mode_and_the_verdict_of_its_worst_window() -> None:
    steady = simulate_loop(samples=4000)
    rng = np.random.default_rng(3)
    wandering = simulate_loop(loop_cycles=rng.integers(6_000, 30_000, 4000), samples=4000)
    wandering = replace(
        wandering,
        start_cycles=wandering.start_cycles + steady.end_cycles,
        end_cycles=wandering.end_cycles + steady.end_cycles,
    )
    run = sum_up((steady, wandering)).analysis
    assert run.baseline_verdict is not None
    assert run.baseline_verdict.holds is False
    assert run.mode_cycles == 6_800
    assert sum_up((steady,)).analysis.baseline_verdict != run.baseline_verdict


def test_nothing_measured_cannot_be_summed_up() -> None:
    with pytest.raises(ValueError, match="no windows"):
        NO_TOTAL.summary()
