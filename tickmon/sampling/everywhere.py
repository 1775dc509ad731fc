"""All CPUs at once: a sampler on each idle one, less the core that the screen needs."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from tickmon.errors import TickmonError
from tickmon.machine.cpus import Cpus, cpus_text
from tickmon.sampling.survey import (
    Failed,
    Looked,
    Means,
    Sampling,
    Seen,
    Survey,
    SurveyEvent,
    stop_all,
    with_warning,
)
from tickmon.windows import Ended, Window, WindowSource

LOOK_EVERY_S = 2.0
"""So often the CPUs without a sampler are looked at."""

WINDOWS_PER_S = 20
"""Windows are made so long that no more are to be analysed: they cost some 5 ms each."""


def window_s_for(count: int) -> float:
    """How long the windows of ``count`` CPUs are: whole seconds."""
    return float(max(1, -(-count // WINDOWS_PER_S)))


def spare_core(cpus: Cpus, fit: frozenset[int]) -> frozenset[int]:
    """Those of ``fit`` that are left to the screen; none where it has a place among the others.

    It is the lowest that is not set apart for somebody, with its whole core where others remain.
    """
    if cpus.usable - fit - cpus.quiet or not fit:
        return frozenset()
    cpu = min(fit - cpus.quiet or fit)
    core = frozenset({cpu}) | cpus.siblings.get(cpu, frozenset()) & fit
    return core if fit - core else frozenset({cpu})


def sample_everywhere(means: Means, tell: Callable[[SurveyEvent], None], survey: Survey) -> None:
    """Measures every CPU that is fit for it at first, until ``survey`` is to stop.

    What is busy then is left alone until the end, and looked at now and then.
    """
    order = sorted(means.cpus.usable)
    uses = means.look(order)
    tell(Looked(uses=uses))
    fit = means.fit(uses)
    spared = spare_core(means.cpus, fit)
    running = fit - spared
    nearness = means.keep_away(running) if running else None
    settings = replace(means.settings, window_s=window_s_for(len(running)))
    sources: dict[int, WindowSource] = {}
    try:
        for cpu in sorted(running):
            sources[cpu] = means.open_source(replace(settings, cpu=cpu))
            try:
                sources[cpu].start(partial(survey.hear, cpu))
            except TickmonError as refusal:
                survey.hear(cpu, Ended(error=str(refusal)))
        tell(Sampling(cpus=running, spared=spared))
        look_due_s = time.monotonic() + LOOK_EVERY_S
        while not survey.stopping:
            match survey.next_event(look_due_s - time.monotonic()):
                case cpu, Window(provisional=False) as window:
                    window = with_warning(window, "near", nearness)
                    beside = means.cpus.siblings.get(cpu, frozenset()) & running
                    sharing = f"a sampler runs on its sibling {cpus_text(beside)} too" if beside else None
                    tell(Seen(cpu=cpu, window=with_warning(window, "sibling", sharing)))
                case cpu, Ended(error=error):
                    running -= {cpu}
                    tell(Failed(cpu=cpu, why=error or "the sampler ended"))
                    tell(Sampling(cpus=running, spared=spared))
            if time.monotonic() >= look_due_s:
                others = [cpu for cpu in order if cpu not in running]
                if others:
                    tell(Looked(uses=means.look(others)))
                look_due_s = time.monotonic() + LOOK_EVERY_S
    finally:
        stop_all(sources.values())
