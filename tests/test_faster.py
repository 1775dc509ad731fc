"""Whether a tick faster than the rate in force is found, and nothing else taken for one."""

from __future__ import annotations

import numpy as np
import pytest

from tickmon.analysis import faster
from tickmon.analysis.faster import faster_hz
from tickmon.analysis.phase import Stretch, locate
from tickmon.analysis.slots import Gaps
from tickmon.windows import KernelTick

S = 1e9
TICK = KernelTick(
    hz=100.0, period_ns=10_000_000, source="a test", basis="option", phases_ns=(0,), may_stop=False
)
STRETCH = Stretch(from_ns=0.0, until_ns=S, epoch_ns=0)


def found_hz(gaps: Gaps, preempted: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None) -> float | None:
    if preempted is None:
        preempted = np.zeros(len(gaps.starts_ns), bool)
    return faster_hz(gaps, preempted, TICK, STRETCH, locate(gaps, TICK, STRETCH, known_ns=None))


def gaps_of(starts_ns: np.ndarray[tuple[int], np.dtype[np.float64]], length_ns: float) -> Gaps:
    return Gaps(starts_ns=starts_ns, ends_ns=starts_ns + length_ns)


@pytest.mark.parametrize("hz", [200, 250, 300, 500, 1000])
def test_a_tick_that_runs_faster_than_the_option_says_is_found(hz: int) -> None:
    assert found_hz(gaps_of(np.arange(hz) * S / hz + 1_000.0, 5_000.0)) == hz


@pytest.mark.parametrize("hz", [100, 200, 500, 1000])
@pytest.mark.parametrize("gone_share", [0.0, 0.05, 0.09, 0.11, 0.5])
@pytest.mark.parametrize("preempted_share", [0.0, 0.3, 0.9])
def test_no_rate_is_ruled_out_early_that_a_look_at_all_slots_finds(
    monkeypatch: pytest.MonkeyPatch, hz: int, gone_share: float, preempted_share: float
) -> None:
    rng = np.random.default_rng(hz)
    early, late = [], []
    for _ in range(5):
        starts_ns = np.arange(hz) * S / hz + 1_000.0
        # Those that are gone come first, where the early look is.
        gone = (np.arange(hz) < 2 * gone_share * hz) & (rng.random(hz) < 0.5)
        gaps = gaps_of(starts_ns[~gone], 5_000.0)
        preempted = rng.random(len(gaps.starts_ns)) < preempted_share
        early.append(found_hz(gaps, preempted))
        with monkeypatch.context() as patch:
            patch.setattr(faster, "_mostly_held", lambda _gaps, slots: slots)
            late.append(found_hz(gaps, preempted))
    assert early == late
    if gone_share < 0.05 and not preempted_share:
        assert early == [hz if hz > TICK.hz else None] * 5


def test_the_tick_at_the_rate_in_force_is_no_faster_one() -> None:
    assert found_hz(gaps_of(np.arange(100) * S / 100 + 1_000.0, 5_000.0)) is None


def test_interruptions_that_all_began_long_before_the_slots_that_they_cover_are_bearable() -> None:
    slots_ns = np.arange(1, 1001) * S / 1000
    gaps = Gaps(starts_ns=slots_ns - 100_000, ends_ns=slots_ns + 100_000)
    assert found_hz(gaps) == 1000
