from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tickmon.analysis.slots import LATE_NS, Gaps, Lattice, start_delays, weigh

PERIOD_NS = 4_000_000.0


def gaps_at(*stretches: tuple[float, float], step_ns: float = 0.0) -> Gaps:
    array = np.array(stretches, np.float64).reshape(-1, 2)
    return Gaps(starts_ns=array[:, 0], ends_ns=array.sum(axis=1), step_ns=step_ns)


def holders(gaps: Gaps, *slots_ns: float) -> list[int]:
    return [int(holder) for holder in gaps.holding(np.array(slots_ns))]


def test_a_slot_is_held_by_the_interruption_that_covers_it() -> None:
    assert holders(gaps_at((100, 50), (300, 50)), 120, 310) == [0, 1]


def test_a_slot_that_nothing_covers_is_held_by_the_first_interruption_soon_after_it() -> None:
    assert holders(gaps_at((100, 50), (300, 50), (400, 50)), 200) == [1]


def test_an_interruption_that_ended_before_the_slot_does_not_hold_it() -> None:
    assert holders(gaps_at((100, 50)), 200) == [-1]
    assert holders(gaps_at((100, 100)), 200) == [-1]


def test_an_interruption_later_than_sixty_microseconds_does_not_hold_the_slot() -> None:
    assert holders(gaps_at((LATE_NS, 50)), 0) == [0]
    assert holders(gaps_at((LATE_NS + 1, 50)), 0) == [-1]


def test_a_coarse_counter_is_allowed_one_step_more() -> None:
    assert holders(gaps_at((LATE_NS + 40, 50), step_ns=41.7), 0) == [0]
    assert holders(gaps_at((LATE_NS + 43, 50), step_ns=41.7), 0) == [-1]


def test_one_interruption_can_hold_many_slots() -> None:
    assert holders(gaps_at((100, 60e9)), 4e6, 8e6, 59e9) == [0, 0, 0]


def test_without_interruptions_no_slot_is_held() -> None:
    assert holders(gaps_at(), 1, 2) == [-1, -1]


@given(
    st.integers(1_000_000, 10_000_000),
    st.integers(0, 10_000_000),
    st.integers(0, 10**15),
    st.integers(0, 50_000_000),
)
def test_slots_from_start_to_end_are_those_of_whole_numbers(
    period: int, offset: int, from_ns: int, length: int
) -> None:
    slots = Lattice(period_ns=period, offset_ns=offset).between(from_ns, from_ns + length)
    first = -((offset - from_ns) // period)
    expected = [
        offset + k * period
        for k in range(first, first + 60)
        if from_ns <= offset + k * period < from_ns + length
    ]
    assert slots.tolist() == expected


def test_slots_end_before_the_end_and_begin_at_the_beginning() -> None:
    slots = Lattice(period_ns=10, offset_ns=3)
    assert slots.between(3, 23).tolist() == [3, 13]
    assert slots.between(4, 13).tolist() == []
    assert slots.between(13, 3).tolist() == []


def ticking(*, drift_ns: float = 0.0, noise_hz: float = 0.0, seed: int = 1) -> Gaps:
    """250 ticks, each 1 us after its slot and 4 us long, the last ``drift_ns`` later; and noise."""
    rng = np.random.default_rng(seed)
    starts = np.arange(250) * PERIOD_NS + 1_000 + np.linspace(0, drift_ns, 250) + rng.normal(0, 300, 250)
    noise = rng.uniform(0, 250 * PERIOD_NS, rng.poisson(noise_hz))
    starts = np.concatenate([starts, noise])
    lengths = np.concatenate([np.full(250, 4_000.0), np.full(len(noise), 300.0)])
    order = np.argsort(starts)
    return Gaps(starts_ns=starts[order], ends_ns=(starts + lengths)[order])


def due(phase_ns: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.asarray(np.arange(250) * PERIOD_NS + phase_ns)


def test_slots_that_are_all_held_convince_and_the_same_ones_elsewhere_do_not() -> None:
    gaps = ticking()
    assert weigh(gaps, due(0), PERIOD_NS).convincing
    elsewhere = weigh(gaps, due(1e6), PERIOD_NS)
    assert elsewhere.held == 0
    assert not elsewhere.beyond_chance


def test_chance_is_what_is_held_where_nothing_is_due() -> None:
    share = weigh(ticking(noise_hz=10_000), due(0), PERIOD_NS).chance_share
    assert abs(share - (1 - np.exp(-10_000 * LATE_NS / 1e9))) < 0.05


def test_noise_that_holds_every_slot_is_no_evidence_for_any_phase() -> None:
    dense = weigh(ticking(noise_hz=200_000), due(1e6), PERIOD_NS)
    assert dense.full
    assert not dense.beyond_chance
    assert not dense.telling
    assert not dense.convincing


def test_slots_held_by_chance_alone_are_not_mostly_held_however_many_they_are() -> None:
    noisy = weigh(ticking(noise_hz=20_000), due(1e6), PERIOD_NS)
    assert noisy.held > 0.6 * noisy.slots
    assert not noisy.mostly_held
    assert weigh(ticking(noise_hz=20_000), due(0), PERIOD_NS).mostly_held


def test_an_interruption_that_began_long_before_its_slot_says_nothing_of_a_delay() -> None:
    gaps = gaps_at((0, 500_000), (1_000_000, 4_000), (1_999_300, 4_000))
    slots = np.array([400_000.0, 999_000.0, 2_000_000.0])
    assert start_delays(gaps, slots, gaps.holding(slots)).tolist() == [1_000.0, -700.0]


def test_a_train_that_drifts_through_the_slots_is_not_the_kernels() -> None:
    drifting = weigh(ticking(drift_ns=20_000), due(0), PERIOD_NS)
    assert drifting.full
    assert drifting.beyond_chance
    assert not drifting.steady()
    assert weigh(ticking(drift_ns=500), due(0), PERIOD_NS).steady()


def test_a_few_held_slots_are_not_more_than_chance() -> None:
    few = weigh(gaps_at((1_000, 4_000)), due(0)[:2], PERIOD_NS)
    assert few.held == 1
    assert not few.beyond_chance
    assert not few.telling
