"""Foreign trains are found where they are, followed while they last, and never invented."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.bench.trains import (
    CASES,
    MOST_OWN_PPM,
    MOST_PPM,
    TRAINLESS,
    Events,
    Recording,
    first_slot_ns,
    hunt,
    hunted,
    invented,
    own_rate_ppm,
    poisson,
    recording,
    sleep_loop,
    train,
)
from tickmon.analysis.trains import FoundTrain, TrainState, follow_trains

S = 1e9
HZ = 1000.02


def a_host_tick(seconds: float, *, hz: float = HZ, seed: int = 1, others_hz: float = 2000.0) -> Recording:
    rng = np.random.default_rng(seed)
    return recording(rng, [train(rng, hz, seconds * S), poisson(rng, others_hz, seconds * S)], seconds * S)


def only(found: tuple[FoundTrain, ...]) -> FoundTrain:
    (one,) = found
    return one


def last(record: Recording, window_ns: float = S) -> tuple[FoundTrain, ...]:
    return list(record.trains(window_ns))[-1]


# All rates in all cases, many times: python -m tests.bench.trains
@pytest.mark.parametrize(
    ("hz", "case"),
    [
        (24.0, "500 % foreign"),
        (100.0, "10 % missing"),
        (250.0, "two at once"),
        (256.0, "alone"),
        (300.0, "500 % foreign"),
        (1000.0, "two at once"),
        (1024.0, "10 % missing"),
        (1024.0, "500 % foreign"),
    ],
)
def test_train_of_a_clock_of_its_own_is_found_after_ten_seconds_to_10_ppm(hz: float, case: str) -> None:
    result = hunt(1, hz, window_s=5.0, **CASES[case])  # type: ignore[arg-type]
    assert (result.found, result.invented) == (result.sought, 0)
    assert result.worst_ppm < MOST_PPM


def test_kernels_own_rate_comes_out_within_1_ppm_after_a_minute() -> None:
    assert own_rate_ppm(250.0, window_s=6.0) < MOST_OWN_PPM


@pytest.mark.parametrize("make", TRAINLESS)
def test_nothing_is_invented_where_no_train_is(make: object) -> None:
    assert [invented(seed, make, windows=4) for seed in range(3)] == [0] * 3  # type: ignore[arg-type]


def test_fast_train_is_found_in_the_first_second() -> None:
    assert only(last(a_host_tick(1.0))).hz == pytest.approx(HZ, rel=5e-6)


def test_train_is_found_and_followed_through_short_windows() -> None:
    record = a_host_tick(2.0)
    found = list(record.trains(0.1 * S))
    assert all(only(window).hz == pytest.approx(HZ, rel=10e-6) for window in found[5:])
    assert sum(only(window).expected for window in found[5:]) == pytest.approx(1500, abs=2)


def test_long_window_is_judged_as_a_whole() -> None:
    one = only(last(a_host_tick(40.0, others_hz=100.0), window_ns=40 * S))
    assert one.expected == pytest.approx(40_001, abs=1)
    assert one.seen > 0.97 * one.expected
    assert len(one.members) > 0.97 * one.expected


def test_slots_and_members_are_the_trains_own() -> None:
    rng = np.random.default_rng(3)
    starts_ns, gaps_ns = train(rng, HZ, 4 * S, jitter_ns=5_000)
    record = recording(rng, [(starts_ns, gaps_ns), poisson(rng, 2000, 4 * S)], 4 * S)
    one = only(last(record))
    window_ns = record.starts_ns[record.starts_ns >= 3 * S]
    found_ns = window_ns[one.members]
    true_ns = starts_ns[starts_ns >= 3 * S]
    assert np.isin(found_ns, true_ns).mean() > 0.97
    assert np.isin(true_ns, found_ns).mean() > 0.95
    turns = (found_ns - one.phase_ns) * one.hz / S
    assert np.abs(turns - np.rint(turns)).max() < 0.03
    assert one.jitter_ns == pytest.approx(5_000, rel=0.2)
    assert one.expected == pytest.approx(1000, abs=1)


def test_stated_error_is_the_real_one() -> None:
    off_sigmas = []
    for seed in range(12):
        one = only(last(a_host_tick(1.0, seed=seed, others_hz=500.0)))
        off_sigmas.append((one.hz / HZ - 1) * 1e6 / one.hz_error_ppm)
    assert 0.4 < np.std(off_sigmas) < 2


def test_train_that_stops_is_dropped_and_one_that_begins_is_found_in_three_windows() -> None:
    rng = np.random.default_rng(4)
    starts_ns, gaps_ns = train(rng, HZ, 13 * S)
    there = (starts_ns > 2 * S) & (starts_ns < 11 * S)
    events: list[Events] = [(starts_ns[there], gaps_ns[there]), poisson(rng, 1000, 13 * S)]
    found = [len(window) for window in recording(rng, events, 13 * S).trains()]
    assert found[:2] == [0] * 2
    assert found[4:11] == [1] * 7
    assert found[11:] == [0] * 2


def test_train_that_fills_but_the_end_of_a_long_window_is_not_yet_said_to_be_in_it() -> None:
    rng = np.random.default_rng(15)
    starts_ns, gaps_ns = train(rng, HZ, 16 * S)
    there = starts_ns > 6 * S
    events: list[Events] = [(starts_ns[there], gaps_ns[there]), poisson(rng, 500, 16 * S)]
    assert [len(window) for window in recording(rng, events, 16 * S).trains(8 * S)] == [0, 1]


def test_nothing_is_said_of_a_window_in_which_something_else_ran_all_the_time() -> None:
    rng = np.random.default_rng(13)
    taken = (np.array([1.9 * S]), np.array([1.2 * S]))
    record = recording(rng, [train(rng, HZ, 4 * S), taken], 4 * S)
    assert [len(window) for window in record.trains()] == [1, 1, 0, 1]


def test_train_is_kept_while_its_clock_is_corrected() -> None:
    rng = np.random.default_rng(5)
    # So long that the new starts cover the old slots.
    starts_ns, gaps_ns = train(rng, HZ, 12 * S, jitter_ns=2_000, gap_ns=60_000)
    # From then on for two seconds the clock runs 20 ppm faster.
    starts_ns = starts_ns - 20e-6 * np.clip(starts_ns - 7.3 * S, 0, 2 * S)
    record = recording(rng, [(starts_ns, gaps_ns), poisson(rng, 200, 12 * S)], 12 * S)
    found, states = zip(*record.windows(), strict=True)
    assert [len(window) for window in found[1:]] == [1] * 11
    assert [len(state.fits) for state in states[1:]] == [1] * 11
    assert only(found[8]).hz == pytest.approx(HZ * (1 + 20e-6), rel=5e-6)
    assert only(found[11]).hz == pytest.approx(HZ, rel=1e-6)


def test_what_keeps_exactly_the_kernels_time_is_left_out() -> None:
    rng = np.random.default_rng(6)
    first_ns = first_slot_ns(np.random.default_rng(0), 4e6)
    # Two milliseconds after every tick, or sooner after every second or fifth.
    for every, after_ns in ((1, 2e6), (2, 250e3), (5, 400e3)):
        own_ns = np.arange(first_ns, 5 * S, every * 4e6) + after_ns
        work = (own_ns + rng.gamma(2.0, 2_000, len(own_ns)), np.full(len(own_ns), 3_000.0))
        record = recording(np.random.default_rng(0), [work, poisson(rng, 300, 5 * S)], 5 * S)
        assert hunted(record, [], window_ns=2.5 * S).invented == 0


def test_kernels_tick_itself_is_found_when_its_period_is_not_known() -> None:
    record = a_host_tick(5.0)
    state = TrainState()
    found, state = follow_trains(
        record.starts_ns,
        record.gaps_ns,
        free=np.ones(len(record.starts_ns), bool),
        unwatched_ns=np.zeros((0, 2)),
        start_ns=0.0,
        end_ns=5 * S,
        kernel_period_ns=None,
        state=state,
    )
    assert sorted(round(one.hz, 1) for one in found) == [250.0, 1000.0]


def test_timer_of_the_kernel_that_is_no_part_of_its_tick_is_a_train() -> None:
    rng = np.random.default_rng(7)
    record = recording(rng, [train(rng, 400.0, 6 * S), poisson(rng, 300, 6 * S)], 6 * S)
    assert only(last(record)).hz == pytest.approx(400.0, rel=2e-6)


def test_slowest_clock_is_the_answer_and_all_of_it() -> None:
    rng = np.random.default_rng(8)
    for hz in (60.004, 333.3, 750.01, 2000.1, 4100.0):
        record = recording(rng, [train(rng, hz, 4 * S, jitter_ns=3_000)], 4 * S)
        assert only(last(record, 4 * S)).hz == pytest.approx(hz, rel=2e-6)


def test_train_is_found_by_its_long_gaps_among_a_mass_of_short_ones() -> None:
    rng = np.random.default_rng(9)
    mass = poisson(rng, 40_000, 3 * S, middle_ns=100, spread=0.5)
    record = recording(rng, [train(rng, HZ, 3 * S, gap_ns=6_000), mass], 3 * S)
    assert only(last(record)).hz == pytest.approx(HZ, rel=2e-6)


def test_hidden_slots_count_as_seen_but_prove_nothing() -> None:
    rng = np.random.default_rng(10)
    # Another task runs half of the time, in slices of 4 ms that begin anywhere.
    slices = (np.cumsum(rng.uniform(6e6, 10e6, 700)), np.full(700, 4e6))
    record = recording(rng, [train(rng, HZ, 5 * S), slices], 5 * S)
    one = only(last(record))
    assert one.seen >= 0.97 * one.expected
    assert len(one.members) < 0.7 * one.expected


def test_train_is_found_beside_a_task_that_takes_every_second_slice() -> None:
    rng = np.random.default_rng(12)
    # The slices begin with ticks; nothing can start while they last, and that keeps the kernel's time.
    slices_ns = np.arange(first_slot_ns(np.random.default_rng(0), 4e6), 6 * S, 8e6) + 500
    task = (slices_ns, np.full(len(slices_ns), 4e6 - 3e3))
    short = poisson(rng, 16_000, 6 * S, middle_ns=800)
    events = [train(rng, HZ, 6 * S, jitter_ns=5_000, gap_ns=1_500), short, task]
    record = recording(np.random.default_rng(0), events, 6 * S)
    assert only(last(record, 2 * S)).hz == pytest.approx(HZ, rel=2e-6)


def test_slow_train_is_found_beside_much_that_every_tick_leaves_over() -> None:
    rng = np.random.default_rng(14)
    ticks_ns = np.arange(first_slot_ns(np.random.default_rng(0), 4e6), 10 * S, 4e6)
    events = [train(rng, 24.001, 10 * S, jitter_ns=5_000, gap_ns=1_500), poisson(rng, 1_500, 10 * S)]
    for share, after_ns in ((0.6, 20e3), (0.5, 45e3), (0.3, 110e3)):
        starts_ns = ticks_ns[rng.random(len(ticks_ns)) < share] + after_ns
        starts_ns = starts_ns + rng.gamma(2.0, 2_000, len(starts_ns))
        events.append((starts_ns, np.full(len(starts_ns), 1_500.0)))
    record = recording(np.random.default_rng(0), events, 10 * S)
    assert only(last(record, 5 * S)).hz == pytest.approx(24.001, rel=5e-6)


def test_loop_that_hardly_strays_is_no_train() -> None:
    # Steps of less than a thousandth of a period: in a second most slots of the best line are filled.
    for seed in range(4):
        rng = np.random.default_rng(seed)
        loop = sleep_loop(rng, 4e6, 3 * S, work_ns=2_000)
        assert hunted(recording(rng, [loop, poisson(rng, 200, 3 * S)], 3 * S), []).invented == 0


def test_memory_is_bounded() -> None:
    rng = np.random.default_rng(11)
    state = TrainState()
    for second in range(3):
        starts_ns = np.sort(rng.uniform(second * S, (second + 1) * S, 300_000))
        _, state = follow_trains(
            starts_ns,
            rng.lognormal(6, 2, len(starts_ns)),
            free=np.ones(len(starts_ns), bool),
            unwatched_ns=np.zeros((0, 2)),
            start_ns=second * S,
            end_ns=(second + 1) * S,
            kernel_period_ns=4e6,
            state=state,
        )
    assert state.memory is not None
    assert len(state.memory.starts_ns) < 200_000


def test_empty_windows_and_single_interruptions_are_no_trouble() -> None:
    record = a_host_tick(3.0)
    none = np.zeros(0)
    empty = replace(record, starts_ns=none, gaps_ns=none, free=np.zeros(0, bool))
    single = replace(record, starts_ns=record.starts_ns[:1], gaps_ns=record.gaps_ns[:1], free=record.free[:1])
    assert list(empty.trains()) == list(single.trains()) == [()] * 3
