"""Disturbances that are made get the right name (root only); tests/bench/names.py measures it at length."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.known import KNOWN, RIGHT_LEAST, Known, tell
from tickmon.machine.affinity import keep_away
from tickmon.machine.facts import Machine, read_machine
from tickmon.sampling.trace import tracing

SECONDS = 1.0


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
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
    if known.name == "TLB shootdown" and os.uname().machine != "x86_64":
        pytest.skip("this processor flushes the others' translations without an interrupt")
    told = tell(machine, max(machine.cpus.usable), known, seconds=SECONDS)
    print(told)
    if not told.right_ns.any() and known.name == "disk":
        pytest.skip("the disk's interrupt goes to another CPU")
    assert told.right_share >= RIGHT_LEAST
    assert not told.missed, told.unseen_share()
    assert told.faults_named >= told.faults
