from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.making import MONOTONIC_NS, TSC_HZ, Life, make_segment, make_tick, make_window, simulate
from tickmon.analysis import Clocks, analyse, merge
from tickmon.analysis.readings import Analysis
from tickmon.windows import Exclusion, RowChange, Segment, Window

SECONDS = tuple(second * 1e9 for second in range(1, 6))
QUIET = Life(noise_hz=0.0)
PERIOD_NS = 4_000_000
BETWEEN_SLOTS_NS = MONOTONIC_NS + 1_000_000


def analyse_all(windows: Sequence[Window], clocks: Clocks | None = None) -> tuple[list[Analysis], Clocks]:
    clocks = clocks or Clocks()
    analyses = []
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        analyses.append(analysis)
    return analyses, clocks


def last_of(life: Life, segment: Segment | None = None, **changes: object) -> Analysis:
    """The analysis of the fifth second."""
    analyses, _ = analyse_all(simulate(life, segment=segment, ends_ns=SECONDS, **changes))  # type: ignore[arg-type]
    return analyses[-1]


def found(analysis: Analysis) -> tuple[int | None, int | None, str]:
    return analysis.check.expected, analysis.check.seen, analysis.check.verdict


def codes(analysis: Analysis) -> list[str]:
    return [warning.code for warning in analysis.warnings]


# Rates, phases and clocks


@pytest.mark.parametrize("hz", [100, 250, 300, 1000, 1024])
def test_every_tick_is_seen_at_every_rate(hz: int) -> None:
    analysis = last_of(Life(hz=hz), make_segment(kernel_tick=make_tick(hz)))
    assert found(analysis) == (hz, hz, "ok")
    assert analysis.tick is not None
    assert analysis.tick.spread.n == hz
    assert analysis.ticks.sum() == hz


def test_a_period_of_no_whole_nanoseconds_is_right_after_years_of_uptime() -> None:
    segment = make_segment(kernel_tick=make_tick(300))
    windows = simulate(
        Life(hz=300), segment=segment, ends_ns=SECONDS, monotonic_ns=5 * 365 * 86_400 * 10**9 + 7
    )
    analyses, _ = analyse_all(windows)
    assert {a.check.verdict for a in analyses} == {"ok"}
    assert analyses[-1].tick is not None
    assert analyses[-1].tick.phase_ns == 0


def test_the_skewed_phase_is_taken_when_the_first_candidate_is_empty() -> None:
    segment = make_segment(kernel_tick=make_tick(phases_ns=(0, 500_000)))
    analysis = last_of(Life(phase_ns=500_000), segment)
    assert found(analysis) == (250, 250, "ok")
    assert analysis.tick is not None
    assert analysis.tick.phase_ns == 500_000


def test_a_phase_at_which_every_fourth_slot_is_held_is_not_the_ticks() -> None:
    # Another timer keeps whole 16 ms of CLOCK_MONOTONIC; the tick is due elsewhere.
    timer = tuple((16e6 * number + 500, 3_000.0) for number in range(1, 312))
    segment = make_segment(kernel_tick=make_tick(phases_ns=(2_000_000, 0)))
    analysis = last_of(Life(phase_ns=500_000, gaps=timer), segment)
    assert found(analysis) == (250, 250, "ok")
    assert analysis.tick is not None
    assert analysis.tick.phase_ns == pytest.approx(500_000, abs=1_000)


@pytest.mark.parametrize("phase_ns", [1_234_567, 3_900_000])
def test_an_unknown_phase_is_fitted_and_kept(phase_ns: int) -> None:
    analyses, clocks = analyse_all(simulate(Life(phase_ns=phase_ns), ends_ns=SECONDS))
    assert {found(a) for a in analyses} == {(250, 250, "ok")}
    assert clocks.phase_ns is not None
    assert clocks.phase_ns == pytest.approx(phase_ns, abs=1_000)
    phases = {a.tick.phase_ns for a in analyses if a.tick}
    assert phases == {float(clocks.phase_ns)}


def test_a_fitted_phase_lies_where_the_ticks_start_whatever_runs_just_before_them() -> None:
    # Something short comes 20 to 50 us before every tick, so a slot well before the ticks is held as well.
    rng = np.random.default_rng(1)
    before_ns = np.arange(1, 1_250) * 4e6 + 1_234_567 - rng.uniform(20_000, 50_000, 1_249)
    life = Life(phase_ns=1_234_567, gaps=tuple((at_ns, 300.0) for at_ns in before_ns), tick_ns=60_000)
    analyses, clocks = analyse_all(simulate(life, ends_ns=SECONDS))
    assert clocks.phase_ns == pytest.approx(1_234_567, abs=1_000)
    assert analyses[-1].tick is not None
    assert analyses[-1].tick.spread.median_cycles == pytest.approx(120_000, rel=0.05)


@pytest.mark.parametrize("phase_ns", [0, 20_000, 3_990_000])
def test_a_phase_at_either_end_of_the_period_is_fitted_like_any_other(phase_ns: int) -> None:
    segment = make_segment(kernel_tick=make_tick(phases_ns=(1_000_000,)))
    _, clocks = analyse_all(simulate(Life(phase_ns=phase_ns), segment=segment, ends_ns=(1e9,)))
    assert clocks.phase_ns is not None
    off_ns = (clocks.phase_ns - phase_ns + 2_000_000) % 4_000_000 - 2_000_000
    assert abs(off_ns) < 1_000


@pytest.mark.parametrize("host_hz", [249.995, 250.0005])
def test_a_fitted_phase_is_the_kernels_and_not_that_of_a_host_at_the_same_rate(host_hz: float) -> None:
    segment = make_segment(guest=True)
    life = Life(phase_ns=2_500_000, host_hz=host_hz, host_ns=20_000)
    analyses, clocks = analyse_all(simulate(life, segment=segment, ends_ns=SECONDS))
    assert clocks.phase_ns == pytest.approx(2_500_000, abs=2_000)
    assert {found(a) for a in analyses} == {(250, 250, "ok")}


def test_slots_that_a_drifting_host_passes_are_not_taken_for_the_ticks() -> None:
    # Its host's train lies on phase 0 for a second, where the tick might be, but the tick is elsewhere.
    start_ns = MONOTONIC_NS - round(0.3 * PERIOD_NS)
    life = Life(phase_ns=2_000_000, host_hz=249.995)
    segment = make_segment(guest=True)
    _, clocks = analyse_all(simulate(life, segment=segment, ends_ns=(1e9,), monotonic_ns=start_ns))
    assert clocks.phase_ns == pytest.approx(2_000_000, abs=2_000)


def test_the_known_phase_stays_while_no_tick_comes() -> None:
    segment = make_segment(kernel_tick=make_tick(may_stop=True))
    ticking, clocks = analyse_all(simulate(Life(phase_ns=1_234_567), segment=segment, ends_ns=(1e9,)))
    assert found(ticking[0]) == (250, 250, "ok")
    stopped = simulate(Life(hz=None), segment=segment, ends_ns=SECONDS)[1:]
    analyses, after = analyse_all(stopped, clocks)
    assert {a.check.verdict for a in analyses} == {"stopped"}
    assert after.phase_ns == clocks.phase_ns


def test_a_known_phase_whose_slots_are_empty_is_found_anew() -> None:
    first, second = simulate(Life(phase_ns=1_234_567), ends_ns=(1e9, 2e9))
    _, clocks = analyse(first, Clocks())
    analysis, after = analyse(second, replace(clocks, phase_ns=3_000_000))
    assert after.phase_ns == pytest.approx(1_234_567, abs=1_000)
    assert found(analysis)[2] == "ok"


def test_a_slewed_clock_does_not_make_the_count_drift() -> None:
    ends_ns = [10e9 * part for part in range(1, 31)]
    analyses, _ = analyse_all(simulate(replace(QUIET, slew_ppm=500), ends_ns=ends_ns))
    expected = sum(a.check.expected or 0 for a in analyses)
    assert expected in (75_000, 74_999)
    assert sum(a.check.seen or 0 for a in analyses) == expected


@pytest.mark.parametrize(("length_s", "ppm"), [(1.0, 500.0), (60.0, 5.0), (60.0, -500.0)])
def test_a_clock_that_is_steered_otherwise_within_a_window_holds_all_its_ticks(
    length_s: float, ppm: float
) -> None:
    life = Life(steered=((length_s / 2 * 1e9, ppm),), reading_ns=50.0)
    (window,) = simulate(life, ends_ns=(length_s * 1e9,), monotonic_ns=BETWEEN_SLOTS_NS)
    slots = round(250 * length_s)
    assert found(analyse(window, Clocks())[0]) == (slots, slots, "ok")


def test_windows_that_a_clock_is_steered_in_say_together_what_the_one_long_window_says() -> None:
    life = Life(steered=((3.3e9, 400.0), (6.6e9, -400.0)), reading_ns=50.0)
    windows = simulate(life, ends_ns=[n * 1e9 for n in range(1, 11)], monotonic_ns=BETWEEN_SLOTS_NS)
    analyses, _ = analyse_all(windows)
    assert sum(a.check.seen or 0 for a in analyses) == sum(a.check.expected or 0 for a in analyses) == 2_500
    assert found(analyse(merge(windows), Clocks())[0]) == (2_500, 2_500, "ok")


def test_a_counter_that_steps_back_a_little_again_and_again_holds_its_ticks() -> None:
    steps = tuple((n * 10e6 + 1_000_300.0, 390) for n in range(100))
    windows = simulate(replace(QUIET, steps_back=steps), ends_ns=SECONDS)
    assert windows[0].excluded_count == 100
    assert windows[0].length_cycles == 2_000_000_000 - 100 * 390
    analyses, _ = analyse_all(windows)
    assert {found(a) for a in analyses} == {(250, 250, "ok")}


def test_a_coarse_counter_holds_the_same_slots() -> None:
    segment = make_segment(tsc_hz=24e6, step_cycles=1, threshold_cycles=5)
    analysis = last_of(Life(), segment)
    assert found(analysis) == (250, 250, "ok")


def test_many_short_interruptions_do_not_hide_the_ticks() -> None:
    assert found(last_of(Life(noise_hz=20_000))) == (250, 250, "ok")


# The verdict


def test_a_stopped_tick_is_stopped_where_it_may_stop_and_nothing_is_called_a_tick() -> None:
    analysis = last_of(Life(hz=None), make_segment(kernel_tick=make_tick(may_stop=True)))
    assert analysis.check.verdict == "stopped"
    assert analysis.tick is None
    assert analysis.trains == ()
    assert [source.name for source in analysis.sources] == ["unexplained"]


def test_on_a_cpu_that_is_fully_stopped_the_kernel_counted_nothing() -> None:
    segment = make_segment(kernel_tick=make_tick(may_stop=True))
    (window,) = simulate(Life(hz=None, noise_hz=0), segment=segment)
    still = RowChange(row="LOC", name="Local timer interrupts", count=0, timer="LOC")
    analysis, _ = analyse(replace(window, interrupts=(still,)), Clocks())
    assert (analysis.check.kernel, analysis.check.kernel_row) == (0, "LOC")


def test_the_few_ticks_of_a_stopped_tick_are_ticks() -> None:
    segment = make_segment(kernel_tick=make_tick(may_stop=True))
    few = tuple(n for n in range(1_250) if n % 50)
    analysis = last_of(replace(QUIET, missing=few), segment)
    assert found(analysis) == (250, 5, "stopped")
    assert analysis.tick is not None
    assert analysis.tick.spread.n == 5
    assert "few_ticks" not in codes(analysis)


def test_a_tick_that_cannot_stop_and_is_not_found_is_unknown() -> None:
    analysis = last_of(Life(hz=None))
    assert found(analysis) == (250, None, "unknown")
    assert analysis.tick is None
    assert analysis.ticks.sum() == 0


def test_ticks_that_do_not_come_are_missing() -> None:
    analysis = last_of(Life(missing=tuple(range(1_000, 1_060))))
    assert analysis.check.expected == 250
    assert analysis.check.verdict == "missing"
    assert analysis.check.seen is not None
    assert 190 <= analysis.check.seen <= 195


def test_ticks_that_cease_at_a_known_phase_are_missing_and_not_unknown() -> None:
    _, clocks = analyse(simulate(Life(), ends_ns=(1e9,))[0], Clocks())
    analysis, _ = analyse(simulate(Life(hz=None), ends_ns=(1e9, 2e9))[1], clocks)
    assert analysis.check.verdict == "missing"
    assert analysis.check.seen is not None
    assert analysis.check.seen < 15


def test_too_few_slots_to_tell_are_believed_to_be_the_ticks() -> None:
    (window,) = simulate(replace(QUIET, missing=(0, 1)), ends_ns=(7e6,))
    assert found(analyse(window, Clocks())[0]) == (2, 0, "ok")


@pytest.mark.parametrize(
    ("given_hz", "real_hz"), [(100, 250), (100, 1000), (250, 1000), (250, 300), (125, 250)]
)
def test_a_rate_given_too_low_is_extra_and_the_real_one_is_named(given_hz: int, real_hz: int) -> None:
    segment = make_segment(kernel_tick=make_tick(given_hz, basis="option"))
    analysis = last_of(Life(hz=real_hz), segment)
    assert analysis.check.verdict == "extra"
    assert analysis.check.basis == "option"
    warning = next(w for w in analysis.warnings if w.code == "rate_faster")
    assert f"runs at {real_hz} Hz" in warning.message


def test_a_rate_given_too_low_is_extra_at_an_unknown_phase_too() -> None:
    segment = make_segment(kernel_tick=make_tick(100, basis="option"))
    assert last_of(Life(hz=250, phase_ns=1_234_567), segment).check.verdict == "extra"


def test_a_rate_given_too_low_is_extra_beside_a_busy_task() -> None:
    segment = make_segment(kernel_tick=make_tick(100, basis="option"))
    assert last_of(Life(hz=250, busy=True), segment).check.verdict == "extra"


def test_a_rate_given_too_high_leaves_ticks_missing() -> None:
    segment = make_segment(kernel_tick=make_tick(1000, basis="option"))
    analysis = last_of(Life(hz=250), segment)
    assert analysis.check.verdict == "missing"
    assert analysis.check.expected == 1000


@pytest.mark.parametrize("host_hz", [999.98, 1000.003])
def test_a_drifting_host_tick_is_not_extra(host_hz: float) -> None:
    # Its 0.3 ms after the second lie on a slot of 1000 Hz, so it passes right over the tick's phase.
    segment = make_segment(guest=True)
    life = Life(host_hz=host_hz)
    windows = simulate(life, segment=segment, ends_ns=SECONDS, monotonic_ns=MONOTONIC_NS - 300_000)
    analyses, _ = analyse_all(windows)
    assert {a.check.verdict for a in analyses} == {"ok"}


def test_a_host_that_keeps_the_kernels_time_but_starts_later_than_the_tick_is_not_extra() -> None:
    segment = make_segment(guest=True)
    windows = simulate(
        Life(host_hz=1000), segment=segment, ends_ns=SECONDS, monotonic_ns=MONOTONIC_NS - 280_000
    )
    analyses, _ = analyse_all(windows)
    assert {a.check.verdict for a in analyses} == {"ok"}


def test_the_kernels_own_word_for_its_rate_is_not_outdone_by_another_train() -> None:
    # The tick is stopped, and something else keeps the kernel's time at 300 Hz.
    segment = make_segment(kernel_tick=make_tick(250, may_stop=True))
    assert last_of(Life(hz=300), segment).check.verdict == "stopped"


def test_what_runs_faster_at_the_ticks_phase_does_not_make_the_kernel_wrong_of_its_own_rate() -> None:
    # A timer of no task that could be dated, on every whole millisecond and as late as the tick.
    rng = np.random.default_rng(1)
    between_ns = np.delete(np.arange(5_000), np.arange(0, 5_000, 4)) * 1e6
    fires_ns = between_ns + 400 + rng.exponential(800, len(between_ns))
    analysis, _ = analyse(
        simulate(Life(gaps=tuple((at_ns, 4_000.0) for at_ns in fires_ns)), ends_ns=(5e9,))[0], Clocks()
    )
    assert (analysis.check.basis, analysis.check.verdict) == ("kernel", "extra")
    (said,) = [w.message for w in analysis.warnings if w.code == "rate_faster"]
    assert said.startswith("something else runs at 1000 Hz")
    assert "not at 250 Hz" not in said


def test_another_tasks_timer_on_whole_milliseconds_is_not_extra() -> None:
    rng = np.random.default_rng(1)
    wakes_ns = np.arange(0, 5e9, 1e6) + 700 + rng.exponential(800, 5_000)
    life = Life(gaps=tuple((wake_ns, 20_000.0) for wake_ns in wakes_ns))
    (window,) = simulate(life, ends_ns=(5e9,))
    wakes = window.details["gap_cycles"] > 30_000
    switches = np.stack(
        [window.details["start_cycles"][wakes] + 3_000, window.details["start_cycles"][wakes] + 9_000]
    )
    dated = make_window(
        window.details, end_cycles=window.end_cycles, switches=[(int(a), int(b)) for a, b in switches.T]
    )
    analysis, _ = analyse(dated, Clocks())
    assert found(analysis) == (1250, 1250, "ok")


def test_a_gap_of_a_minute_holds_all_the_slots_in_it() -> None:
    life = Life(gaps=((500e6 + 1, 60e9),))
    (window,) = simulate(life, ends_ns=(62e9,))
    analysis, _ = analyse(window, Clocks())
    assert found(analysis) == (15_500, 15_500, "ok")
    longest = int(np.argmax(window.details["gap_cycles"]))
    # The one at 0.5 s, just before it, and those of the minute.
    assert analysis.ticks[longest] == 15_001
    assert analysis.tick is not None
    assert analysis.tick.spread.max_cycles is not None
    assert analysis.tick.spread.max_cycles < 50_000


def test_a_lost_detail_makes_a_deficit_unknown_and_not_missing() -> None:
    (window,) = simulate(QUIET)
    kept, lost = window.details[::2], window.details["gap_cycles"][1::2].tolist()
    analysis, _ = analyse(make_window(kept, lost_cycles=lost), Clocks())
    assert found(analysis) == (250, 125, "unknown")
    assert "details_lost" in codes(analysis)


def test_excluded_time_takes_its_slots_out_of_what_is_expected() -> None:
    (window,) = simulate(QUIET)
    moved = Exclusion(code="moved", start_cycles=1_000_000_000, cycles=200_000_000)
    starts = window.details["start_cycles"]
    watched = window.details[(starts < 1_000_000_000) | (starts > 1_200_000_000)]
    analysis, _ = analyse(make_window(watched, excluded=(moved,)), Clocks())
    # From 0.5 s on; the tick that is due at 0.6 s comes after it.
    assert found(analysis) == (225, 225, "ok")


def test_a_slot_right_before_excluded_time_is_not_expected() -> None:
    # The tick due at 0.5 s would have come in the 30 us until the sampler was elsewhere, or then.
    (window,) = simulate(replace(QUIET, missing=(125,)))
    moved = Exclusion(code="moved", start_cycles=1_000_060_000, cycles=1_000_000)
    assert found(analyse(replace(window, excluded=(moved,)), Clocks())[0]) == (249, 249, "ok")
    assert found(analyse(window, Clocks())[0]) == (250, 249, "ok")


def test_a_window_that_ends_where_the_counter_went_far_back_keeps_its_slots() -> None:
    (window,) = simulate(QUIET)
    back = Exclusion(code="backwards", start_cycles=window.end_cycles, cycles=10**15)
    assert found(analyse(replace(window, excluded=(back,)), Clocks())[0]) == (250, 250, "ok")


@pytest.mark.parametrize("asleep_at_ns", [500e6 + 40_000, 500e6 - 40_000, 501.5e6])
def test_an_hour_asleep_holds_no_slots_and_hides_none_beside_it(asleep_at_ns: float) -> None:
    (window,) = simulate(Life(suspended=((asleep_at_ns, 3_600e9),)))
    assert window.length_cycles > 3_600 * TSC_HZ
    analysis, _ = analyse(window, Clocks())
    expected, seen, verdict = found(analysis)
    # The machine sleeps while a tick is due, or not.
    assert seen == expected
    assert expected in (249, 250)
    assert verdict == "ok"
    assert analysis.tsc_hz == TSC_HZ


# Where HZ or CLOCK_MONOTONIC is not known


@pytest.mark.parametrize(
    "segment",
    [make_segment(kernel_tick=None), make_segment(counter_synchronised=False)],
    ids=["hz unknown", "counters not synchronised"],
)
def test_without_hz_or_clock_a_regular_train_is_checked_against_itself(segment: Segment) -> None:
    analysis = last_of(Life(missing=tuple(range(1_000, 1_020))), segment)
    assert analysis.check.basis == "measured"
    assert analysis.check.verdict == "missing"
    assert analysis.check.expected in (249, 250, 251)
    assert analysis.tick is not None
    assert analysis.tick.phase_ns is None
    assert analysis.tick.jitter_ns == pytest.approx(2_400, rel=0.2)
    assert analysis.trains[0].origin == "kernel"
    assert "check_measured" in codes(analysis)
    assert found(last_of(Life(), segment))[2] == "ok"


def test_of_several_trains_the_one_that_keeps_a_kernels_rate_best_is_measured() -> None:
    segment = make_segment(kernel_tick=None, guest=True)
    analysis = last_of(Life(host_hz=999.995), segment)
    assert analysis.check.verdict == "ok"
    assert analysis.trains[0].hz == pytest.approx(250)
    assert [train.origin for train in analysis.trains] == ["kernel", "host"]


def test_without_hz_and_without_a_train_nothing_is_checked() -> None:
    analysis = last_of(Life(hz=None), make_segment(kernel_tick=None))
    assert found(analysis) == (None, None, "unknown")
    assert analysis.tick is None
    assert "check_measured" in codes(analysis)


def test_measured_ticks_of_touching_windows_are_counted_once() -> None:
    segment = make_segment(counter_synchronised=False)
    analyses, _ = analyse_all(simulate(Life(), segment=segment, ends_ns=[1e9 + 0.75e9 * n for n in range(9)]))
    total = sum(a.check.expected or 0 for a in analyses)
    assert total == pytest.approx(7 * 250, abs=1)


# Borders of windows


def test_a_slot_at_the_end_waits_for_the_window_that_shows_what_holds_it() -> None:
    # The tick due at 1 s comes 30 us late; the first window ends 10 us after the slot.
    late = ((1e9 + 30_000, 4_000.0),)
    life = replace(QUIET, missing=(250,), gaps=late)
    (first, second), _ = analyse_all(simulate(life, ends_ns=(1e9 + 10_000, 1.5e9)))
    assert found(first) == (250, 250, "ok")
    assert found(second) == (125, 125, "ok")
    assert second.ticks[0] == 1


def test_a_slot_at_the_end_that_is_covered_is_judged_at_once() -> None:
    life = replace(QUIET, missing=(250,), gaps=((1e9 - 1_000, 5_000.0),))
    (first, second), _ = analyse_all(simulate(life, ends_ns=(1e9 + 10_000, 1.5e9)))
    assert found(first) == (251, 251, "ok")
    assert first.ticks[-1] == 1
    assert found(second) == (124, 124, "ok")


def test_a_slot_that_waited_in_vain_is_missing_in_the_next_window() -> None:
    life = replace(QUIET, missing=(250,))
    (first, second), _ = analyse_all(simulate(life, ends_ns=(1e9 + 10_000, 1.5e9)))
    assert found(first) == (250, 250, "ok")
    assert (second.check.expected, second.check.seen) == (125, 124)


def test_a_slot_right_before_the_first_window_is_not_expected_in_it() -> None:
    (window,) = simulate(QUIET, monotonic_ns=MONOTONIC_NS + 30_000)
    assert found(analyse(window, Clocks())[0]) == (250, 250, "ok")


def test_a_provisional_look_leaves_the_whole_window_as_it_is() -> None:
    first, second, whole = (*simulate(ends_ns=(1e9, 1.3e9)), simulate(ends_ns=(1e9, 2e9))[1])
    _, clocks = analyse(first, Clocks())
    analyse(replace(second, provisional=True), clocks)
    analysis, _ = analyse(whole, clocks)
    assert found(analysis) == (250, 250, "ok")


@settings(max_examples=15, deadline=None, derandomize=True)
@example(seed=225, hz=250, cuts=[(3, 0), (30, 0)], busy=True, delay_ns=15_000.0)
@example(seed=1418, hz=100, cuts=[(17, 0)], busy=False, delay_ns=15_000.0)
@example(seed=485, hz=100, cuts=[(100, 0)], busy=True, delay_ns=15_000.0)
@given(
    seed=st.integers(1, 10_000),
    hz=st.sampled_from([100, 250, 300, 1000]),
    cuts=st.lists(st.tuples(st.integers(0, 120), st.integers(-80_000, 80_000)), min_size=1, max_size=6),
    busy=st.booleans(),
    delay_ns=st.sampled_from([500.0, 15_000.0]),
)
def test_windows_one_after_the_other_add_up_to_the_one_long_window(
    seed: int, hz: int, cuts: list[tuple[int, int]], busy: bool, delay_ns: float
) -> None:
    end_ns = 130e9 / hz
    # Cuts lie around slots, where it matters.
    ends_ns = sorted(
        {slot * 1e9 / hz + off for slot, off in cuts if slot * 1e9 / hz + off > 1_000} | {end_ns}
    )
    life = Life(hz=hz, seed=seed, busy=busy, delay_ns=delay_ns, noise_hz=500, missing=(5, 100), wakeups_hz=50)
    windows = simulate(life, segment=make_segment(kernel_tick=make_tick(hz)), ends_ns=ends_ns)
    parts, _ = analyse_all(windows)
    whole, _ = analyse(merge(windows), Clocks())
    assert sum(p.check.expected or 0 for p in parts) == whole.check.expected
    assert sum(p.check.seen or 0 for p in parts) == whole.check.seen
    assert np.concatenate([p.ticks for p in parts]).tolist() == whole.ticks.tolist()
    assert sum(p.overhead_cycles for p in parts) == whole.overhead_cycles
    for source in whole.sources:
        same = [s for p in parts for s in p.sources if s.name == source.name]
        assert sum(s.spread.n for s in same) == source.spread.n
        assert sum(s.overhead_cycles for s in same) == source.overhead_cycles
    assert sum(p.tick.spread.n for p in parts if p.tick) == (whole.tick.spread.n if whole.tick else 0)
