"""Two readings side by side: known changes are found, and where nothing changed nothing is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.making import Life, make_segment, make_tick, make_window, simulate
from tests.readings import loop_window, read, read_one
from tests.stretches import dependent, make_stretches
from tickmon.analysis.change import Change
from tickmon.analysis.compare import Comparison, change_between, compare
from tickmon.analysis.difference import are_independent, difference, holm
from tickmon.analysis.figures import SOURCES_MOST
from tickmon.analysis.readings import Analysis
from tickmon.analysis.stretches import Cost, Stretch, parts_of, stretch_of
from tickmon.windows import Exclusion

QUIET = Life(noise_hz=40.0)
"""Little enough to be analysed in no time."""


def lived(seconds: int, **changes: object) -> list[Analysis]:
    """Windows of a second of a life."""
    life = replace(QUIET, **changes)  # type: ignore[arg-type]
    return read(simulate(life, ends_ns=[(i + 1) * 1e9 for i in range(seconds)]))


def named(comparison: Comparison, name: str, of: str | None = None) -> Change:
    """One figure."""
    (change,) = [c for c in comparison.changes if (c.name, c.of) == (name, of)]
    return change


def called_different(comparison: Comparison) -> bool:
    """Whether any figure is."""
    return any(change.verdict in ("better", "worse") for change in comparison.changes)


# -- known changes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("tick_ns", "verdict"), [(1_200.0, "better"), (1_800.0, "worse")])
def test_tick_that_costs_a_fifth_more_or_less_is_found(tick_ns: float, verdict: str) -> None:
    for seed in range(20):
        comparison = compare(make_stretches(seed), make_stretches(1_000 + seed, tick_ns=tick_ns))
        change = named(comparison, "tick_median_ns")
        assert change.verdict == verdict
        assert change.change_share is not None
        assert change.uncertain_share is not None
        assert change.change_share == pytest.approx(tick_ns / 1_500 - 1, abs=2 * change.uncertain_share)
        assert change.uncertain_share < 0.03
        assert comparison.verdict == verdict


def test_interruption_that_fills_a_window_is_not_compared_in_parts_of_it() -> None:
    before, after = (
        [read_one(make_window([(5_000, gap_cycles)], end_cycles=gap_cycles + 100_000)) for _ in range(2)]
        for gap_cycles in (2_900_000_000, 4_100_000_000)
    )
    share = named(change_between(before, after), "overhead_share")
    assert share.verdict == "unknown"
    assert share.before is not None
    assert share.before < 1
    assert share.after is not None
    assert share.after < 1


def test_windows_are_compared_as_they_were_analysed() -> None:
    comparison = change_between(lived(10), lived(12, seed=2, tick_ns=3_000.0))
    tick = named(comparison, "tick_median_ns")
    assert tick.before == pytest.approx(4_000, rel=0.02)
    assert tick.after == pytest.approx(3_000, rel=0.02)
    assert tick.verdict == "better"
    assert named(comparison, "source_share", "kernel tick").verdict == "better"
    assert named(comparison, "source_per_s", "kernel tick").verdict == "same"
    assert comparison.verdict == "better"
    assert comparison.span_s == pytest.approx((10, 12))


def test_single_windows_are_compared_by_their_parts() -> None:
    comparison = change_between(lived(1), lived(1, seed=2, tick_ns=3_000.0))
    assert named(comparison, "tick_median_ns").verdict == "better"
    assert named(comparison, "worst_ns").block_s == pytest.approx(0.025)
    same = change_between(lived(1), lived(1, seed=2))
    assert same.verdict == "same"


def test_windows_of_which_more_is_excluded_than_they_last_hold_no_time() -> None:
    stop = Exclusion(code="stop", start_cycles=0, cycles=2**52)
    stopped = [replace(one, window=replace(one.window, excluded=(stop,))) for one in lived(8)]
    comparison = change_between(stopped, lived(8))
    assert comparison.span_s[0] == 0
    assert named(comparison, "overhead_share").before is None


def test_a_worst_that_is_not_known_is_not_warned_of_by_numpy(recwarn: pytest.WarningsRecorder) -> None:
    unknown = [replace(one, worst_ns=None) for one in make_stretches(1)]
    assert named(compare(unknown, make_stretches(2)), "worst_ns").before is None
    assert not recwarn.list


def test_another_hz_is_a_change_of_one_source() -> None:
    ticking = make_segment(kernel_tick=make_tick(1000.0))
    ends_ns = [(i + 1) * 1e9 for i in range(8)]
    faster = read(simulate(replace(QUIET, hz=1000.0, seed=2), segment=ticking, ends_ns=ends_ns))
    change = named(change_between(lived(8), faster), "source_per_s", "kernel tick")
    assert change.before == pytest.approx(250, rel=0.01)
    assert change.after == pytest.approx(1000, rel=0.01)
    assert change.verdict == "worse"


def test_source_that_comes_or_goes_is_a_change() -> None:
    before = make_stretches(1)
    gone = [
        replace(s, sources={name: cost for name, cost in s.sources.items() if name != "unexplained"})
        for s in make_stretches(2)
    ]
    change = named(compare(before, gone), "source_per_s", "unexplained")
    assert (change.after, change.change_share, change.verdict) == (0.0, -1.0, "better")
    change = named(compare(gone, before), "source_per_s", "unexplained")
    assert (change.before, change.change_share, change.verdict) == (0.0, None, "worse")


def test_train_is_one_however_its_rate_was_fitted() -> None:
    def with_train(stretches: list[Stretch], *fits: tuple[str, float]) -> list[Stretch]:
        cost = Cost(n=1000, overhead_ns=9e6, median_ns=9_000.0)
        return [
            replace(s, sources={**s.sources, name: cost}, trains_hz={name: hz})
            for s, (name, hz) in zip(stretches, fits * len(stretches), strict=False)
        ]

    before = with_train(make_stretches(1), ("train 1000 Hz", 1000.0), ("host tick 999.9 Hz", 999.9))
    after = with_train(make_stretches(2), ("host tick 999.9 Hz", 999.9))
    comparison = compare(before, after)
    (train,) = [change for change in comparison.changes if change.name == "train_median_ns"]
    assert (train.of, train.before, train.verdict) == ("host tick 999.9 Hz", 9_000.0, "same")
    assert named(comparison, "source_per_s", "host tick 999.9 Hz").before == pytest.approx(1000)


def test_better_in_one_and_worse_in_another_is_mixed_unless_the_cpu_has_more_or_less() -> None:
    def with_noise(stretches: list[Stretch], *, n: int) -> list[Stretch]:
        cost = Cost(n=n, overhead_ns=1.0, median_ns=None)
        return [
            replace(s, sources={"unexplained": cost}, overhead_ns=1e5 + i % 7)
            for i, s in enumerate(stretches)
        ]

    before = with_noise(make_stretches(1), n=5)
    mixed = compare(before, with_noise(make_stretches(2, tick_ns=1_000), n=50))
    assert mixed.verdict == "mixed"
    costly = [
        replace(s, overhead_ns=s.overhead_ns * 2) for s in with_noise(make_stretches(2, tick_ns=1_000), n=5)
    ]
    assert compare(before, costly).verdict == "worse"


def with_tasks(stretches: list[Stretch], count: int) -> list[Stretch]:
    """The same beside so many other tasks, each costing more than the one before."""
    tasks = {f"task {i}": Cost(n=i + 1, overhead_ns=1e3 * (i + 1), median_ns=None) for i in range(count)}
    return [replace(s, sources={**s.sources, **tasks}) for s in stretches]


def test_sources_beyond_the_costliest_are_named_but_not_judged() -> None:
    many = with_tasks(make_stretches(1), 30)
    comparison = compare(many, with_tasks(make_stretches(2), 29))
    compared = {change.of for change in comparison.changes if change.of}
    left_out = {change.of for change in comparison.left_out}
    assert len(compared) == SOURCES_MOST
    assert compared | left_out == set(many[0].sources)
    assert not compared & left_out
    assert {(change.verdict, change.p, change.reason) for change in comparison.left_out} == {
        ("unknown", None, "left out")
    }
    cheap = {change.name: change.before for change in comparison.left_out if change.of == "task 3"}
    assert cheap == {"source_per_s": pytest.approx(4.0), "source_share": pytest.approx(4e-6)}
    assert compare(make_stretches(1), make_stretches(2)).left_out == ()


def test_readings_in_which_nothing_was_watched_cannot_be_told() -> None:
    nothing = [replace(stretch, length_s=0.0) for stretch in with_tasks(make_stretches(1), 30)]
    comparison = compare(nothing, make_stretches(2))
    assert comparison.verdict == "unknown"
    assert {change.before for change in comparison.left_out} == {None}


# -- no change --------------------------------------------------------------------------------------


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6])
def test_where_nothing_changed_few_are_called_different(correlation: float) -> None:
    pairs = 40
    different = sum(
        called_different(
            compare(
                make_stretches(2 * seed, correlation=correlation),
                make_stretches(2 * seed + 1, correlation=correlation),
            )
        )
        for seed in range(pairs)
    )
    # So many come in one of a thousand such trials when 5 % are wrong.
    assert different <= 7


def test_odd_windows_are_no_different_from_even_ones() -> None:
    windows = lived(16)
    comparison = change_between(windows[::2], windows[1::2])
    assert not called_different(comparison)
    assert comparison.verdict == "same"


def test_figure_that_drifts_cannot_be_told() -> None:
    drifting = [
        replace(s, overhead_ns=s.overhead_ns + 1e6 * i) for i, s in enumerate(make_stretches(1, rare_share=0))
    ]
    share = named(compare(drifting[:30], drifting[30:]), "overhead_share")
    assert (share.verdict, share.reason, share.p) == ("unknown", "it drifts", None)
    assert share.change_share is not None


def test_too_few_windows_cannot_be_told() -> None:
    comparison = compare(make_stretches(1, 5), make_stretches(2, 60, tick_ns=500))
    assert {change.verdict for change in comparison.changes} == {"unknown"}
    assert comparison.verdict == "unknown"
    assert named(comparison, "tick_median_ns").reason == "too short"


def test_nothing_is_not_compared() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        change_between([], lived(1))


def test_samples_of_the_loop_are_compared() -> None:
    comparison = change_between([loop_window()] * 8, [loop_window()] * 8)
    assert named(comparison, "sample_median_ns").before == pytest.approx(3_401.5)
    assert "interruptions_per_s" not in {change.name for change in comparison.changes}


# -- the parts --------------------------------------------------------------------------------------


def test_parts_of_a_window_add_up_to_it() -> None:
    (analysis,) = lived(1, wakeups_hz=20.0)
    whole, parts = stretch_of(analysis), list(parts_of(analysis, 7))
    assert sum(part.length_s for part in parts) == pytest.approx(whole.length_s)
    assert sum(part.interruptions for part in parts) == whole.interruptions
    assert sum(part.overhead_ns for part in parts) == pytest.approx(whole.overhead_ns)
    assert max(part.worst_ns or 0 for part in parts) == whole.worst_ns
    for name, cost in whole.sources.items():
        assert sum(part.sources[name].n for part in parts) == cost.n
        assert sum(part.sources[name].overhead_ns for part in parts) == pytest.approx(cost.overhead_ns)
    assert whole.tick is not None
    assert sum(part.tick.n for part in parts if part.tick) == whole.tick.n


def test_neighbours_that_are_alike_are_not_independent() -> None:
    rng = np.random.default_rng(1)
    assert not are_independent([dependent(rng, 100, 0.5)])
    assert not are_independent([np.arange(10.0), np.arange(10.0)])
    assert are_independent([np.tile([1.0, 2.0], 20)])
    assert are_independent([np.ones(20)])
    independent = sum(are_independent([rng.normal(size=40), rng.normal(size=40)]) for _ in range(200))
    assert independent >= 150


def test_holm_counts_each_beside_those_that_are_larger() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=30))
def test_holm_makes_nothing_more_probable_and_keeps_the_order(probabilities: list[float]) -> None:
    adjusted = holm(probabilities)
    assert all(p <= a <= 1 for p, a in zip(probabilities, adjusted, strict=True))
    order = sorted(range(len(adjusted)), key=lambda i: probabilities[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_difference_within_the_resolution_is_none() -> None:
    same = difference(np.full(20, 2_420.0), np.full(20, 2_422.0), resolution=2.0, known={})
    more = difference(np.full(20, 2_420.0), np.full(20, 2_426.0), resolution=2.0, known={})
    assert same is not None
    assert more is not None
    assert (same.p, more.p < 0.001, more.uncertain) == (1.0, True, 2.0)
    assert difference(np.ones(5), np.ones(20), resolution=1.0, known={}) is None


@pytest.mark.parametrize("sizes", [(6, 6), (8, 40), (40, 40)])
def test_probabilities_are_what_they_say_whatever_the_values(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    known: dict[tuple[int, int], np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = {}
    below = 0
    for _ in range(200):
        before, after = (rng.lognormal(0, 1.5, size) for size in sizes)
        found = difference(before, after, resolution=1e-9, known=known)
        below += found is not None and found.p <= 0.05
    # 5 % of 200 are 10; more than 20 come in one of a thousand such trials.
    assert below <= 20
