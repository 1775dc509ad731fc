from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.making import Life, make_segment, make_tick, make_window, simulate_loop
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.loop import baseline_verdict, disturbed, mode_cycles
from tickmon.analysis.readings import Analysis
from tickmon.windows import Method, Window

QUIET = Life(noise_hz=0.0, tick_ns=6_000.0)


def analysed(window: Window) -> Analysis:
    return analyse(window, Clocks())[0]


def steady_loops(samples: int = 300_000) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Loops of 6,800 cycles that differ by a few."""
    return np.asarray(6_800 + np.random.default_rng(1).integers(0, 8, samples))


def turbo_loops(samples: int = 300_000) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Loops of some 11,800 cycles, and one in a thousand of 6,022: what a modern CPU does."""
    rng = np.random.default_rng(1)
    loops = rng.normal(11_800, 60, samples).astype(np.int64)
    loops[rng.random(samples) < 0.001] = 6_022
    return loops


def test_the_seeds_numbers_minimum_mode_and_overhead_above_the_minimum() -> None:
    samples = [6_800, 6_810, 6_800, 8_000, 6_800]
    window = make_window(
        [(0, gap) for gap in samples], segment=make_segment(method=Method.LOOP), end_cycles=sum(samples)
    )
    analysis = analysed(window)
    assert (analysis.baseline_cycles, analysis.mode_cycles) == (6_800, 6_800)
    assert analysis.overhead_cycles == 10 + 1_200
    assert analysis.spread.n == 5
    assert analysis.typical_cycles is None
    assert analysis.trains == ()


def test_the_mode_is_the_shortest_of_the_commonest_samples() -> None:
    assert mode_cycles(np.array([9, 5, 9, 5, 7])) == 5
    assert mode_cycles(np.zeros(0, np.int64)) is None


def test_ticks_are_seen_in_the_samples_that_they_disturb() -> None:
    window = simulate_loop(QUIET, loop_cycles=steady_loops(), samples=300_000)
    analysis = analysed(window)
    assert analysis.check.verdict == "ok"
    assert analysis.check.seen == analysis.check.expected
    assert analysis.check.expected == pytest.approx(250 * window.length_cycles / 2e9, abs=1)
    assert analysis.tick is not None
    assert analysis.tick.spread.median_cycles == pytest.approx(6_800 + 12_000, rel=0.05)


def test_a_tick_that_comes_between_two_samples_is_not_missing_but_was_not_watched() -> None:
    window = simulate_loop(QUIET, loop_cycles=steady_loops(), samples=300_000)
    whole = analysed(window).check
    details = window.details.copy()
    ticked = np.flatnonzero(details["gap_cycles"] > 10_000)
    # Every tenth comes after the sample before and before its own.
    for i in ticked[::10]:
        details["start_cycles"][i] += details["gap_cycles"][i] - 6_800
        details["gap_cycles"][i] = 6_800
    check = analysed(replace(window, details=details)).check
    assert check.verdict == "ok"
    assert check.expected == check.seen
    assert (whole.seen or 0) - (check.seen or 0) == len(ticked[::10])


def test_a_tick_that_did_not_come_is_missing_from_the_samples_too() -> None:
    life = replace(QUIET, missing=tuple(range(20, 40)))
    check = analysed(simulate_loop(life, loop_cycles=steady_loops(), samples=300_000)).check
    assert check.verdict == "missing"
    assert (check.expected or 0) - (check.seen or 0) == 20


def test_a_baseline_holds_while_the_minimum_is_nearer_the_median_than_what_a_tick_adds() -> None:
    analysis = analysed(simulate_loop(QUIET, loop_cycles=steady_loops(), samples=300_000))
    verdict = analysis.baseline_verdict
    assert verdict is not None
    assert verdict.holds is True
    assert "3 cycles below" in verdict.reason or "4 cycles below" in verdict.reason


def test_a_baseline_that_is_a_rare_fast_loop_does_not_hold_and_the_reason_has_figures() -> None:
    analysis = analysed(
        simulate_loop(Life(noise_hz=0, tick_ns=2_000), loop_cycles=turbo_loops(), samples=300_000)
    )
    verdict = analysis.baseline_verdict
    assert verdict is not None
    assert verdict.holds is False
    assert "5,7" in verdict.reason
    assert "tick adds only 4,0" in verdict.reason
    assert analysis.check.verdict == "ok"


def test_without_ticks_a_baseline_cannot_be_judged() -> None:
    verdict = analysed(simulate_loop(Life(hz=None, noise_hz=0), loop_cycles=steady_loops(), samples=300_000))
    assert verdict.baseline_verdict is not None
    assert verdict.baseline_verdict.holds is None


def test_what_holds_a_slot_by_chance_is_nothing_to_compare_a_baseline_with() -> None:
    segment = make_segment(method=Method.LOOP, kernel_tick=make_tick(may_stop=True))
    life = Life(hz=None, noise_hz=300, noise_ns=5_000)
    window = simulate_loop(life, loop_cycles=steady_loops(), samples=300_000, segment=segment)
    analysis = analysed(window)
    assert analysis.ticks.any()
    assert analysis.baseline_verdict is not None
    assert analysis.baseline_verdict.holds is None


def test_a_baseline_as_far_from_the_median_as_a_tick_adds_still_holds() -> None:
    samples = np.array([900, 1_000, 1_100])
    ticked = np.array([False, False, True])
    assert baseline_verdict(samples, ticked, ticked).holds is True
    assert baseline_verdict(samples - np.array([1, 0, 0]), ticked, ticked).holds is False


def test_a_baseline_that_finds_most_of_its_overhead_where_nothing_disturbed_does_not_hold() -> None:
    # Turbo for three loops of ten, and a tick of 30 us: ten times as far away as the minimum.
    rng = np.random.default_rng(1)
    loops = np.where(rng.random(200_000) < 0.3, 6_000, 11_800) + rng.integers(0, 40, 200_000)
    analysis = analysed(simulate_loop(Life(tick_ns=30_000), loop_cycles=loops, samples=200_000))
    verdict = analysis.baseline_verdict
    assert verdict is not None
    assert verdict.holds is False
    assert "5,81" in verdict.reason
    assert "97.8 % of what sample - minimum calls overhead" in verdict.reason


def test_a_baseline_with_half_of_its_overhead_where_nothing_disturbed_still_holds() -> None:
    samples = np.array([1_000, 1_010, 1_010, 1_020])
    ticked = np.array([False, False, False, True])
    assert baseline_verdict(samples, ticked, ticked).holds is True
    assert baseline_verdict(samples + np.array([0, 0, 1, 0]), ticked, ticked).holds is False


def test_a_sample_is_disturbed_from_200_ns_or_a_counter_step_above_the_median() -> None:
    samples = np.array([1_000, 1_000, 1_000, 1_399, 1_400])
    assert disturbed(samples, cycles_per_ns=2.0, step_cycles=2).tolist() == [False] * 4 + [True]
    assert disturbed(samples, cycles_per_ns=2.0, step_cycles=401).tolist() == [False] * 5
    assert disturbed(samples[:0], cycles_per_ns=2.0, step_cycles=2).tolist() == []


def test_undisturbed_samples_are_a_source_of_their_own_so_that_all_add_up() -> None:
    window = simulate_loop(Life(), loop_cycles=turbo_loops(), samples=300_000)
    analysis = analysed(window)
    names = {source.name for source in analysis.sources}
    assert names == {"kernel tick 250 Hz", "undisturbed", "unexplained"}
    undisturbed = next(source for source in analysis.sources if source.name == "undisturbed")
    assert undisturbed.spread.n > 0.99 * window.interruptions
    assert sum(source.spread.n for source in analysis.sources) == window.interruptions
    assert sum(source.overhead_cycles for source in analysis.sources) == analysis.overhead_cycles


def test_samples_as_long_as_a_tick_period_say_nothing_of_ticks() -> None:
    for may_stop in (False, True):
        segment = make_segment(method=Method.LOOP, kernel_tick=make_tick(may_stop=may_stop))
        window = simulate_loop(QUIET, loop_cycles=5_000_000, samples=500, segment=segment)
        analysis = analysed(window)
        assert analysis.check.verdict == "unknown"
        assert analysis.check.seen is None
        assert analysis.tick is None


def test_without_a_sample_there_is_neither_baseline_nor_mode() -> None:
    window = make_window(segment=make_segment(method=Method.LOOP))
    analysis = analysed(window)
    assert (analysis.baseline_cycles, analysis.mode_cycles, analysis.overhead_cycles) == (None, None, 0)
    assert analysis.sources == ()
