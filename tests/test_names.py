"""Disturbances that are made get the right name (root only); tests/bench/names.py measures it at length."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.kernel_trace import require_kernel_trace
from tests.known import KNOWN, Known
from tests.named import tell
from tickmon.machine.affinity import keep_away
from tickmon.machine.facts import Machine, read_machine
from tickmon.sampling.trace import tracing

SECONDS = 1.0


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    require_kernel_trace()
    machine = read_machine()
    if len(machine.cpus.usable) < 2:
        pytest.skip("one CPU alone cannot be sampled and disturbed from another")
    with tracing(max(machine.cpus.usable)) as (tracer, warnings):
        if tracer is None or warnings:
            pytest.skip(warnings[0].message)
    before = os.sched_getaffinity(0)
    keep_away([max(machine.cpus.usable)], machine.cpus)
    yield machine
    os.sched_setaffinity(0, before)


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_a_known_disturbance_gets_its_name(machine: Machine, known: Known) -> None:
    told = tell(machine, max(machine.cpus.usable), known, seconds=SECONDS)
    print(told)
    if known.name == "disk" and 2 * told.times < told.made:
        pytest.skip("the disk's interrupt goes to another CPU")
    assert told.times
    assert told.holds
