"""From the facts to all findings about a CPU."""

from __future__ import annotations

from itertools import chain

from tickmon.doctor.clocks import clocks
from tickmon.doctor.company import company
from tickmon.doctor.facts import Facts, gather
from tickmon.doctor.findings import Diagnosis, diagnosis
from tickmon.doctor.housework import housework
from tickmon.doctor.isolation import isolation
from tickmon.doctor.limits import limits
from tickmon.doctor.rights import rights
from tickmon.doctor.speed import speed

_TOPICS = (company, limits, clocks, isolation, housework, rights, speed)


def conclude(facts: Facts) -> Diagnosis:
    """What the facts mean for a measurement: a function of them alone."""
    return diagnosis(facts.cpu, chain.from_iterable(topic(facts) for topic in _TOPICS))


def examine(cpu: int) -> Diagnosis:
    """Looks at a CPU of this machine: see ``gather``."""
    return conclude(gather(cpu))
