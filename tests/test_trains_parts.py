"""The parts of the finder of trains: periodogram, fit, rate, proof and memory."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from tickmon.analysis.memory import FLOORS_NS, KEEP, SPAN_NS, Memory
from tickmon.analysis.periodogram import periodogram, strongest_comb_hz
from tickmon.analysis.proof import convincing
from tickmon.analysis.timetable import Timetable, View, fill
from tickmon.analysis.trainfit import at_right_rate, fitted, strongest_phase

S = 1e9

Floats = NDArray[np.float64]


def view_of(
    starts_ns: Floats, seconds: float, *, ticks_ns: Floats | None = None, tick_ns: float = 0.0
) -> View:
    """Starts of short interruptions, and ticks that last ``tick_ns``."""
    ticks = np.zeros(0) if ticks_ns is None else ticks_ns
    starts = np.sort(starts_ns[(starts_ns >= 0) & (starts_ns < seconds * S)])
    order = np.argsort(np.concatenate([starts, ticks]), kind="stable")
    ends = np.concatenate([starts + 100, ticks + tick_ns])[order]
    return View(
        start_ns=0.0,
        end_ns=seconds * S,
        starts_ns=starts,
        others_ns=ticks,
        all_starts_ns=np.concatenate([starts, ticks])[order],
        all_ends_ns=np.maximum.accumulate(ends),
    )


def slots(hz: float, seconds: float, *, first_ns: float = 123_456.0) -> Floats:
    return np.arange(first_ns, seconds * S, S / hz)


def times(hz: float, *, slot_ns: float = 123_456.0, reach_ns: float = 5_000.0) -> Timetable:
    return Timetable(slot_ns=slot_ns, period_ns=S / hz, reach_ns=reach_ns, error_ppm=0.1)


def noise(rng: np.random.Generator, rate_hz: float, seconds: float) -> Floats:
    return np.asarray(rng.uniform(0, seconds * S, int(rate_hz * seconds)))


def test_noise_has_a_mean_power_of_one_and_proposes_nothing() -> None:
    rng = np.random.default_rng(1)
    for rate_hz in (30.0, 1_000.0, 20_000.0):
        found = periodogram(view_of(noise(rng, rate_hz, 4), 4))
        assert np.median(found.power) == pytest.approx(math.log(2), rel=0.1)
        assert strongest_comb_hz(found) is None


def test_crowded_noise_is_measured_by_what_is_usual_in_it() -> None:
    rng = np.random.default_rng(12)
    crowds_ns = np.repeat(noise(rng, 100, 8), 40) + rng.exponential(100e3, 800 * 40)
    found = periodogram(view_of(crowds_ns, 8))
    assert np.median(found.power) == pytest.approx(math.log(2), rel=0.1)
    assert strongest_comb_hz(found) is None


def test_slow_train_is_proposed_although_each_of_its_lines_is_lost_in_noise() -> None:
    rng = np.random.default_rng(2)
    found = periodogram(view_of(np.append(slots(24.0, 10), noise(rng, 2_500, 10)), 10))
    lines = found.power[np.rint(np.arange(1, 50) * 24.0 / found.step_hz).astype(np.int64)]
    assert lines.max() < 15 < math.log(len(found.power)) + math.log(1e6)
    proposed_hz = strongest_comb_hz(found)
    assert proposed_hz is not None
    assert proposed_hz * round(48.0 / proposed_hz) == pytest.approx(48.0, rel=1e-4)


def test_time_taken_by_ticks_leaves_no_line() -> None:
    rng = np.random.default_rng(3)
    ticks_ns = slots(250.0, 10)
    starts_ns = noise(rng, 5_000, 10)
    seen_ns = starts_ns[(starts_ns - 123_456.0) % 4e6 > 200_000]
    assert strongest_comb_hz(periodogram(view_of(seen_ns, 10, ticks_ns=ticks_ns, tick_ns=200_000))) is None
    assert strongest_comb_hz(periodogram(view_of(seen_ns, 10))) is not None


def test_line_is_drawn_through_members_not_through_what_follows_them() -> None:
    rng = np.random.default_rng(4)
    own_ns = slots(1000.0, 2) + rng.normal(0, 1_000, 2000)
    after_ns = own_ns[::2] + 30_000
    view = view_of(np.concatenate([own_ns, after_ns, noise(rng, 500, 2)]), 2)
    line = fitted(view, times(1000.0 * (1 + 8e-6), slot_ns=118_000.0, reach_ns=60_000.0))
    assert line is not None
    assert abs(line.hz / 1000.0 - 1) * 1e6 < 4 * line.error_ppm < 1
    assert abs(float(line.offsets_ns(np.array([123_456.0]))[0])) < 200
    assert 3_000 < line.reach_ns < 8_000


@pytest.mark.parametrize("factor", [2, 3, 5, 7, 1 / 2, 1 / 3, 1 / 5, 1 / 7, 2 / 3, 3 / 2, 17 / 4])
def test_rate_is_put_right(factor: float) -> None:
    rng = np.random.default_rng(5)
    starts_ns = slots(200.0, 8) + rng.normal(0, 1_000, 1600)
    view = view_of(np.append(starts_ns, noise(rng, 300, 8)), 8)
    right = at_right_rate(view, times(200.0 * factor))
    assert right is not None
    assert right.hz == pytest.approx(200.0, rel=1e-6)


def test_no_rate_is_right_for_noise_and_for_a_train_that_is_mostly_missing() -> None:
    rng = np.random.default_rng(6)
    some_ns = slots(200.0, 8)[rng.random(1600) < 0.6]
    assert at_right_rate(view_of(some_ns, 8), times(200.0)) is None
    view = view_of(noise(rng, 3_000, 8), 8)
    assert at_right_rate(view, strongest_phase(view.starts_ns, 200.0, start_ns=view.start_ns)) is None


def train_view(
    *,
    hz: float = 200.0,
    filled: float = 1.0,
    jitter_ns: float = 1_000.0,
    walk_ns: float = 0.0,
    others_hz: float = 0.0,
) -> View:
    rng = np.random.default_rng(7)
    starts_ns = slots(hz, 8)
    starts_ns = (
        starts_ns
        + rng.normal(0, jitter_ns, len(starts_ns))
        + np.cumsum(rng.normal(0, walk_ns, len(starts_ns)))
    )
    return view_of(np.append(starts_ns[rng.random(len(starts_ns)) < filled], noise(rng, others_hz, 8)), 8)


def test_a_train_convinces_and_what_lacks_one_thing_does_not() -> None:
    own = times(200.0)
    assert convincing(train_view(), own)
    assert convincing(train_view(filled=0.9, others_hz=1_000.0), own)
    assert not convincing(train_view(filled=0.7), own)
    assert not convincing(train_view(walk_ns=200.0), own)
    assert not convincing(train_view(hz=11.0), times(11.0))
    # Starts that are spread as far as one looks do not gather.
    assert not convincing(train_view(jitter_ns=30_000.0), times(200.0, reach_ns=60_000.0))
    # Nearly every slot of anything is hit where so much happens.
    crowd = view_of(noise(np.random.default_rng(8), 200_000, 8), 8)
    assert fill(crowd, times(200.0, reach_ns=50_000.0)).hit.all()
    assert not convincing(crowd, times(200.0, reach_ns=50_000.0))


def test_train_that_was_there_for_a_part_of_the_time_does_not_convince() -> None:
    view = train_view()
    assert not convincing(replace(view, starts_ns=view.starts_ns[view.starts_ns > 1.7 * S]), times(200.0))


def test_rate_is_uncertain_while_a_tick_hides_the_slots_that_would_tell() -> None:
    slots_ns = slots(100.0, 8)
    ticks_ns = np.arange(slots_ns[1] - 5_000 - 8e6, 8 * S, 4e6)
    hidden = view_of(slots_ns[::2], 8, ticks_ns=ticks_ns, tick_ns=20_000)
    assert fill(hidden, times(50.0)).share > 0.99
    assert not convincing(hidden, times(50.0))
    assert convincing(view_of(slots_ns[::2], 8), times(50.0))


def test_hidden_slot_says_nothing_for_nor_against() -> None:
    slots_ns = slots(100.0, 4)
    view = view_of(slots_ns[::2], 4, ticks_ns=slots_ns[1::2] - 50_000, tick_ns=100_000)
    found = fill(view, times(100.0))
    assert found.visible.tolist() == [True, False] * 200
    assert found.hit.tolist() == [True, False] * 200
    assert found.covered[1::2].all()
    assert found.share == pytest.approx(1.0, abs=0.01)


def test_consequence_has_the_period_of_its_cause_or_follows_some_of_its_slots() -> None:
    tick = times(250.0)
    same = replace(tick, slot_ns=tick.slot_ns + 1.7e6)
    assert same.echoes(tick, 10 * S)
    assert not replace(same, period_ns=4e6 * (1 + 3e-6)).echoes(tick, 10 * S)
    # A second is too short to see such a drift.
    assert replace(same, period_ns=4e6 * (1 + 3e-6)).echoes(tick, 1 * S)
    assert replace(tick, period_ns=20e6, slot_ns=tick.slot_ns + 300e3).echoes(tick, 10 * S)
    assert not replace(tick, period_ns=20e6, slot_ns=tick.slot_ns + 1.7e6).echoes(tick, 10 * S)
    assert not times(400.0).echoes(tick, 10 * S)


def memory_of(starts_ns: Floats, gaps_ns: Floats, free: NDArray[np.bool_], seconds: float) -> Memory:
    return Memory(
        end_ns=seconds * S, starts_ns=starts_ns, gaps_ns=gaps_ns, free=free, since_ns=(0.0,) * len(FLOORS_NS)
    )


def test_what_a_tick_leaves_over_is_counted_as_part_of_it() -> None:
    rng = np.random.default_rng(9)
    ticks_ns = slots(250.0, 4)
    after_ns = ticks_ns + 5_000 + rng.uniform(20_000, 55_000, len(ticks_ns))
    starts_ns = np.concatenate([ticks_ns, after_ns, noise(rng, 300, 4)])
    order = np.argsort(starts_ns)
    is_tick = order < len(ticks_ns)
    memory = memory_of(starts_ns[order], np.where(is_tick, 5_000.0, 300.0), ~is_tick, 4)
    left = memory.without_consequences()
    after = (order >= len(ticks_ns)) & (order < 2 * len(ticks_ns))
    assert not left.free[after].any()
    assert left.free[order >= 2 * len(ticks_ns)].mean() > 0.95
    assert left.gaps_ns[is_tick].min() == pytest.approx(65_000, abs=5_001)


def test_nothing_is_a_consequence_where_nothing_is_more_frequent_after_ticks() -> None:
    rng = np.random.default_rng(10)
    starts_ns = np.sort(noise(rng, 3_000, 4))
    is_tick = np.arange(len(starts_ns)) % 12 == 0
    memory = memory_of(starts_ns, np.full(len(starts_ns), 300.0), ~is_tick, 4)
    assert memory.without_consequences() is memory


def test_of_each_class_the_newest_are_remembered_and_nothing_else() -> None:
    rng = np.random.default_rng(12)
    starts_ns = np.sort(noise(rng, 9_000, 20))
    gaps_ns = 10 ** rng.uniform(2, 5.2, len(starts_ns))
    free = rng.random(len(starts_ns)) < 0.9
    whole = replace(memory_of(starts_ns, gaps_ns, free, 20), since_ns=(1e9, 2e9, 9e9, 12e9, 3e9))
    stays = np.zeros(len(starts_ns), bool)
    since_ns = []
    for floor_ns, known_ns in zip(FLOORS_NS, whole.since_ns, strict=True):
        of_class = np.flatnonzero(gaps_ns >= floor_ns)
        since_ns.append(max(known_ns, 20e9 - SPAN_NS))
        if len(of_class) > KEEP:
            since_ns[-1] = max(since_ns[-1], starts_ns[of_class[-KEEP]])
        stays[of_class[starts_ns[of_class] >= since_ns[-1]]] = True
    memory = whole.bounded()
    assert memory.since_ns == tuple(since_ns)
    assert 0 < np.count_nonzero(stays) < len(stays)
    for left, before in ((memory.starts_ns, starts_ns), (memory.gaps_ns, gaps_ns), (memory.free, free)):
        assert np.array_equal(left, before[stays])


def test_long_interruptions_are_remembered_longest() -> None:
    rng = np.random.default_rng(11)
    starts_ns = np.sort(noise(rng, 50_000, 10))
    gaps_ns = np.where(np.arange(len(starts_ns)) % 100 == 0, 20_000.0, 300.0)
    memory = memory_of(starts_ns, gaps_ns, np.ones(len(starts_ns), bool), 10).bounded()
    assert np.count_nonzero(memory.gaps_ns == 20_000.0) == 5_000
    assert memory.since_ns[0] > 9 * S
    assert memory.since_ns[3] == 0.0
    assert len(memory.starts_ns) < 40_000
