"""What is known of a CPU before it is sampled."""

from __future__ import annotations

import pytest

from tickmon.machine.facts import Machine, read_machine
from tickmon.sampling.segment import gather_facts
from tickmon.windows import Settings


@pytest.fixture(scope="module")
def machine() -> Machine:
    return read_machine()


def test_users_frequency_is_used_and_a_wrong_one_is_said(machine: Machine) -> None:
    honest = gather_facts(Settings(cpu=0), machine)
    wrong = gather_facts(Settings(cpu=0, tsc_hz=honest.rate.hz / 3), machine)
    assert wrong.rate.hz == honest.rate.hz / 3
    assert wrong.measured_hz == pytest.approx(honest.measured_hz, rel=1e-3)
    assert [warning.code for warning in wrong.warnings if warning not in honest.warnings] == [
        "tsc_hz_contradiction"
    ]
    right = gather_facts(Settings(cpu=0, tsc_hz=honest.rate.hz * 1.0001), machine)
    assert right.warnings == honest.warnings


def test_users_hz_is_the_tick_that_is_expected(machine: Machine) -> None:
    facts = gather_facts(Settings(cpu=0, kernel_hz=300.0), machine)
    assert facts.kernel_tick is not None
    assert (facts.kernel_tick.hz, facts.kernel_tick.basis) == (300.0, "option")
