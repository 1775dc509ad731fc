"""One sampler that goes round: a quarter of a second on each idle CPU, one after another."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse
from tickmon.sampling.survey import (
    Failed,
    Looked,
    Means,
    Sampling,
    Seen,
    Survey,
    SurveyEvent,
    with_warning,
)
from tickmon.windows import Ended, Window

VISIT_S = 0.25
"""So long the sampler stays on a CPU: 25 ticks at 100 Hz, 250 at 1000 Hz."""

OVERDUE_S = 6.0
"""A visit that takes longer is given up. A little more than a collector waits for its sampler to begin."""

REST_S = 0.5
"""So long it rests when there is no CPU to go to."""


def next_in_turn(order: Sequence[int], after: int | None, fit: Collection[int]) -> int | None:
    """The first of ``order`` behind ``after``, round and round, that is one of ``fit``; None: none is."""
    start = order.index(after) + 1 if after in order else 0
    return next((cpu for cpu in (*order[start:], *order[:start]) if cpu in fit), None)


def scan(means: Means, tell: Callable[[SurveyEvent], None], survey: Survey) -> None:
    """Goes round until ``survey`` is to stop; never is more than one CPU kept busy.

    While one is sampled the others are looked at, so that each was seen to be idle right before its turn.
    ``tell`` may take its time: no sampler runs meanwhile, except when it is told of a look.
    """
    order = sorted(means.cpus.usable)
    cpu: int | None = None
    turn: int | None = None
    known: dict[int, CpuUse] = {}
    while not survey.stopping:
        if turn is None:
            uses = means.look(order)
            tell(Looked(uses=uses))
            turn = next_in_turn(order, cpu, means.fit(uses))
            known |= uses
        if turn is None:
            survey.next_event(REST_S)
        else:
            cpu = turn
            uses = _visit(cpu, order, means, tell, survey)
            turn = next_in_turn(order, cpu, means.fit(uses, known))
            known |= uses


def _visit(
    cpu: int, order: Sequence[int], means: Means, tell: Callable[[SurveyEvent], None], survey: Survey
) -> Mapping[int, CpuUse]:
    """Measures ``cpu``, and returns what was seen of the others meanwhile."""
    tell(Sampling(cpus=frozenset({cpu})))
    nearness = means.keep_away((cpu,))
    source = means.open_source(replace(means.settings, cpu=cpu, window_s=VISIT_S))
    try:
        source.start(lambda event: survey.hear(cpu, event))
    except TickmonError as refusal:
        survey.hear(cpu, Ended(error=str(refusal)))
    try:
        others = [other for other in order if other != cpu]
        uses: Mapping[int, CpuUse] = means.look(others) if others else {}
        tell(Looked(uses=uses))
        seen = _await_window(cpu, survey)
    finally:
        source.stop()
        survey.forget_events()
    tell(Sampling(cpus=frozenset()))
    if isinstance(seen, Seen):
        seen = replace(seen, window=with_warning(seen.window, "near", nearness))
    if seen is not None:
        tell(seen)
    return uses


def _await_window(cpu: int, survey: Survey) -> Seen | Failed | None:
    """What the visit came to; None when it is to stop."""
    give_up_s = time.monotonic() + OVERDUE_S
    while not survey.stopping:
        match survey.next_event(give_up_s - time.monotonic()):
            case _, Window(provisional=False) as window:
                return Seen(cpu=cpu, window=window)
            case _, Ended(error=error):
                return Failed(cpu=cpu, why=error or "the sampler ended before its window was complete")
        if time.monotonic() >= give_up_s:
            return Failed(cpu=cpu, why=f"CPU {cpu} gave the sampler no time within {OVERDUE_S:.0f} s")
    return None
