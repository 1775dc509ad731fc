"""Each part of a validation passes on a right instrument and fails on one that is wrong in a known way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests import validation
from tests.making import Life, simulate
from tests.readings import loop_window, quiet_window, read, three_windows
from tests.validation import Fault, by_code, disturbed
from tickmon.analysis.readings import Analysis, BaselineVerdict
from tickmon.validate.baseline import judge_baseline
from tickmon.validate.counters import judge_counters
from tickmon.validate.findings import Finding, Outcome, verdict_of
from tickmon.validate.injections import judge_injections, see
from tickmon.validate.presence import judge_presence
from tickmon.validate.repeat import judge_repeats
from tickmon.validate.slope import theil_sen
from tickmon.validate.traced import judge_trace
from tickmon.windows import KernelEvent, ReadingWarning


def judged(fault: Fault | None = None) -> dict[str, Finding]:
    windows, injected = disturbed()
    if fault is not None:
        windows = tuple(map(fault, windows))
    tsc_hz = windows[0].segment.tsc_hz
    return by_code(judge_injections(see(windows, injected), tsc_hz=tsc_hz))


def test_right_sampler_finds_every_injection_as_long_as_it_was() -> None:
    found = judged()
    assert {f.outcome for f in found.values()} == {Outcome.PASS, Outcome.NOTED}
    assert found["slope"].value == pytest.approx(1.0, abs=0.002)


def test_two_switches_cost_what_they_were_made_to_cost() -> None:
    found = judged()
    both_ns = validation.BEFORE_NS + validation.AFTER_NS
    for code in ("intercept", "empty"):
        assert found[code].value == pytest.approx(both_ns + 800, rel=0.2)


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (validation.drops_gaps, "found"),
        (validation.comes_late, "found"),
        (validation.counts_twice, "slope"),
        (validation.counts_twice, "excess"),
        (validation.clock_is_scaled, "slope"),
    ],
)
def test_wrong_sampler_fails_on_injections(fault: Fault, code: str) -> None:
    assert judged(fault)[code].outcome is Outcome.FAIL


def test_injection_in_several_gaps_is_found_when_they_add_up_to_what_the_injector_ran() -> None:
    windows, injected = disturbed(host_hz=None)
    which = int(np.argmax(injected["spin_cycles"]))
    first, last = int(injected["first_cycles"][which]), int(injected["last_cycles"][which])
    origin = windows[0].segment.origin_cycles
    pieces = []
    for window in windows:
        details = window.details
        starts = details["start_cycles"] + origin
        inside = (starts <= first) & (starts + details["gap_cycles"] >= last)
        if inside.any():
            # The sampler ran between the two halves for as long as the injector says that it did not.
            half = details[inside].copy()
            half["gap_cycles"] = (last - first) // 2 - 10_000
            other = half.copy()
            other["start_cycles"] += (last - first) // 2 + 50_000
            other["gap_cycles"] += 60_000
            details = np.sort(np.concatenate([details[~inside], half, other]), order="start_cycles")
        pieces.append(replace(window, details=details))
    assert not see(pieces, injected).found[which]
    injected = injected.copy()
    injected["lost_cycles"][which] = 80_000
    injected["switches"][which] = 1
    seen = see(pieces, injected)
    assert seen.found[which]
    assert seen.shared[which]


def test_injections_where_details_were_lost_are_not_judged() -> None:
    windows, injected = disturbed()
    seen = see(tuple(replace(w, lost=1) if w.window == 3 else w for w in windows), injected)
    assert seen.unseen > 20
    assert seen.found.all()


def test_task_beside_an_injection_is_told_by_the_dates_of_the_switches() -> None:
    windows, injected = disturbed()
    switches = windows[4].switches
    assert switches is not None
    switches = switches.copy()
    switches["in_cycles"][2] += round(200_000 * validation.CYCLES_PER_NS)
    windows = tuple(replace(w, switches=switches) if w.window == 5 else w for w in windows)
    assert np.count_nonzero(see(windows, injected).shared) == 1


def test_too_few_injections_leave_the_length_open() -> None:
    windows, injected = disturbed()
    found = by_code(judge_injections(see(windows, injected[:40]), tsc_hz=2e9))
    assert found["found"].outcome is Outcome.PASS
    assert found["slope"].outcome is Outcome.UNJUDGED
    none = by_code(judge_injections(see(windows, injected[:0]), tsc_hz=2e9))
    assert none["found"].outcome is Outcome.UNJUDGED


def test_quarter_of_wrong_points_moves_the_slope_little_and_the_interval_holds_it() -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(0, 1e6, 400)
    y = 5_000 + x + rng.normal(0, 500, 400)
    y[rng.random(400) < 0.25] += 4e6
    line = theil_sen(x, y)
    assert line is not None
    assert line.low <= line.slope <= line.high
    assert abs(line.slope - 1) < 0.01


def test_interval_of_the_slope_misses_the_truth_once_in_a_hundred_times() -> None:
    rng = np.random.default_rng(4)
    misses = 0
    for _ in range(400):
        x = rng.uniform(0, 100, 60)
        line = theil_sen(x, 2 * x + rng.exponential(5, 60))
        assert line is not None
        misses += not line.low <= 2 <= line.high
    assert misses <= 14


def test_points_without_any_width_have_no_slope() -> None:
    assert theil_sen(np.zeros(50), np.ones(50)) is None
    assert theil_sen(np.arange(5.0), np.ones(5)) is None


def test_ticks_and_switches_of_a_right_sampler_agree_with_the_kernels_counts() -> None:
    windows, _ = disturbed()
    assert {f.outcome for f in judge_counters([read(windows)])} == {Outcome.PASS}


def test_switches_outside_gaps_fail() -> None:
    windows, _ = disturbed()
    found = by_code(judge_counters([read(map(validation.drops_gaps, windows))]))
    assert found["switches_placed"].outcome is Outcome.FAIL


def test_missing_ticks_fail() -> None:
    analyses = read(simulate(Life(missing=range(20, 60)), ends_ns=(1e9, 2e9)))
    assert by_code(judge_counters([analyses]))["ticks_due"].outcome is Outcome.FAIL


def test_train_that_runs_faster_than_the_tick_fails_when_it_is_there_most_of_the_time() -> None:
    analyses = three_windows()
    often = [replace(a, check=replace(a.check, verdict="extra")) for a in analyses]
    assert by_code(judge_counters([often]))["ticks_due"].outcome is Outcome.FAIL
    assert by_code(judge_counters([[*analyses, often[0]]]))["ticks_due"].outcome is Outcome.PASS


def test_more_ticks_than_timer_interrupts_fail() -> None:
    analyses = [
        replace(
            a, window=replace(a.window, interrupts=tuple(replace(r, count=100) for r in a.window.interrupts))
        )
        for a in three_windows()
    ]
    assert by_code(judge_counters([analyses]))["timer_row"].outcome is Outcome.FAIL


def test_switches_that_were_counted_and_not_dated_fail() -> None:
    windows, _ = disturbed()
    analyses = [
        replace(a, window=replace(a.window, switch_count=(a.window.switch_count or 0) + 10))
        for a in read(windows)
    ]
    assert by_code(judge_counters([analyses]))["switches"].outcome is Outcome.FAIL


def test_what_was_not_measured_is_not_judged_by_counters() -> None:
    found = by_code(judge_counters([[replace(quiet_window(), window=simulate(dated=False)[0])]]))
    assert found["switches"].outcome is Outcome.UNJUDGED
    assert found["switches_placed"].outcome is Outcome.UNJUDGED
    assert found["ticks_due"].outcome is Outcome.UNJUDGED


def test_windows_of_one_life_repeat_each_other() -> None:
    analyses = read(simulate(Life(host_hz=999.98), ends_ns=[0.5e9 * (k + 1) for k in range(12)]))
    assert {f.outcome for f in judge_repeats(analyses)} == {Outcome.PASS, Outcome.NOTED}


def test_every_other_window_counted_twice_does_not_repeat() -> None:
    windows = simulate(Life(host_hz=999.98), ends_ns=[0.5e9 * (k + 1) for k in range(16)])
    analyses = read(windows)
    analyses = [
        replace(a, overhead_share=2 * (a.overhead_share or 0.0)) if k % 2 else a
        for k, a in enumerate(analyses)
    ]
    assert by_code(judge_repeats(analyses))["overhead_halves"].outcome is Outcome.FAIL


def test_windows_that_differ_by_chance_are_not_judged() -> None:
    analyses = three_windows() * 4
    shares = [0.01, 0.02, 0.05, 0.01, 0.03, 0.06, 0.01, 0.02, 0.05, 0.01, 0.04, 0.07]
    analyses = [replace(a, overhead_share=share) for a, share in zip(analyses, shares, strict=True)]
    assert by_code(judge_repeats(analyses))["overhead_halves"].outcome is Outcome.UNJUDGED


def test_few_windows_are_not_judged() -> None:
    assert {f.outcome for f in judge_repeats(three_windows())} == {Outcome.UNJUDGED}


def with_sampler_running(share: float) -> list[Analysis]:
    return [replace(a, overhead_cycles=round((1 - share) * a.window.watched_cycles)) for a in three_windows()]


def test_sampler_that_hardly_ran_leaves_the_verdict_open() -> None:
    finding = judge_presence(with_sampler_running(0.004))
    verdict = verdict_of([*judged().values(), finding])
    assert (finding.outcome, finding.result) == (Outcome.UNJUDGED, "0.400 %")
    assert verdict.exit_code == 1
    assert "the sampler had only 0.400 % of this CPU" in verdict.sentence


def test_verdict_says_that_others_used_the_cpu_and_nothing_where_they_did_not() -> None:
    shared, alone = (judge_presence(with_sampler_running(share)) for share in (0.5, 0.95))
    assert (shared.outcome, alone.outcome) == (Outcome.PASS, Outcome.PASS)
    verdict = verdict_of([*judged().values(), shared])
    assert verdict.exit_code == 0
    assert "the sampler had only 50.0 % of this CPU" in verdict.sentence
    assert "had only" not in verdict_of([*judged().values(), alone]).sentence


def test_sampler_that_never_ran_leaves_the_verdict_open() -> None:
    assert verdict_of([judge_presence([])]).exit_code == 1


def test_right_reading_agrees_with_the_kernels_trace() -> None:
    found = by_code(judge_trace(validation.traced()))
    assert set(found) == {"events", "precision", "recall", "handler"}
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    # 1,800 cycles of 2 GHz in the handler.
    assert "900 ns in the handler" in found["handler"].reason


def test_gaps_that_were_dropped_fail_against_the_trace() -> None:
    analyses = []
    for analysis in validation.traced():
        keep = np.arange(len(analysis.ticks)) % 20 != 7
        window = replace(analysis.window, details=analysis.window.details[keep])
        analyses.append(replace(analysis, window=window, ticks=analysis.ticks[keep]))
    assert by_code(judge_trace(analyses))["events"].outcome is Outcome.FAIL


def test_ticks_that_were_put_elsewhere_fail_against_the_trace() -> None:
    analyses = [replace(a, ticks=np.roll(a.ticks, 1)) for a in validation.traced()]
    found = by_code(judge_trace(analyses))
    assert found["precision"].outcome is Outcome.FAIL
    assert found["recall"].outcome is Outcome.FAIL


def test_ticks_that_the_kernel_skipped_are_told_apart() -> None:
    analyses = []
    for analysis in validation.traced():
        trace = analysis.window.trace
        assert trace is not None
        # Nine of the 250 in each second, one after the other.
        kept = trace.events[abs(np.arange(len(trace.events)) // 3 - 100) >= 5]
        analyses.append(replace(analysis, window=replace(analysis.window, trace=replace(trace, events=kept))))
    precision = by_code(judge_trace(analyses))["precision"]
    assert precision.outcome is Outcome.PASS
    assert "that the kernel itself skipped" in precision.reason


def test_gap_shorter_than_its_tick_fails_against_the_trace() -> None:
    analyses = []
    for analysis in validation.traced():
        details = analysis.window.details.copy()
        middle = details["start_cycles"] + details["gap_cycles"] // 2
        details["gap_cycles"] = 400
        details["start_cycles"] = middle - 1_000
        analyses.append(replace(analysis, window=replace(analysis.window, details=details)))
    assert by_code(judge_trace(analyses))["handler"].outcome is Outcome.FAIL


def test_reading_that_was_not_traced_says_what_that_needs() -> None:
    (finding,) = judge_trace(three_windows())
    assert finding.outcome is Outcome.UNJUDGED
    assert "needs root" in finding.reason
    warning = ReadingWarning(code="not_traced", message="not traced: tracefs cannot be read; run it as root")
    analyses = [
        replace(a, window=replace(a.window, warnings=(*a.window.warnings, warning))) for a in three_windows()
    ]
    (finding,) = judge_trace(analyses)
    assert finding.reason == "tracefs cannot be read; run it as root"


def test_trace_without_symbols_cannot_judge_ticks() -> None:
    analyses = []
    for analysis in validation.traced():
        trace = analysis.window.trace
        assert trace is not None
        trace = replace(trace, events_known=trace.events_known - {KernelEvent.TICK})
        analyses.append(replace(analysis, window=replace(analysis.window, trace=trace)))
    found = by_code(judge_trace(analyses))
    assert found["events"].outcome is Outcome.PASS
    assert found["recall"].outcome is Outcome.UNJUDGED


def test_baseline_that_does_not_hold_is_said_and_does_not_make_the_reading_invalid() -> None:
    verdict = BaselineVerdict(holds=False, reason="The minimum is a rare fast loop.")
    finding = judge_baseline(replace(loop_window(), baseline_verdict=verdict))
    assert finding.outcome is Outcome.NOTED
    said = verdict_of([*judged().values(), finding])
    assert said.exit_code == 0
    assert "baseline does not hold here" in said.sentence


def test_verdict_names_what_failed() -> None:
    verdict = verdict_of(list(judged(validation.clock_is_scaled).values()))
    assert verdict.exit_code == 3
    assert "slope" in verdict.sentence


def test_verdict_is_open_where_an_essential_check_is() -> None:
    windows, injected = disturbed()
    findings = judge_injections(see(windows, injected[:20]), tsc_hz=2e9)
    assert verdict_of(findings).exit_code == 1


def test_verdict_without_the_trace_is_valid_and_says_so() -> None:
    verdict = verdict_of([*judged().values(), *judge_trace(three_windows())])
    assert verdict.exit_code == 0
    assert "trace was not compared (it needs root" in verdict.sentence
