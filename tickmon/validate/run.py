"""Gathers what is judged: a quiet stretch, one with injections, one with the kernel's trace, and the loop."""

from __future__ import annotations

import contextlib
import math
import queue
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis import Clocks, analyse
from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.machine.facts import Machine
from tickmon.machine.limits import priority_refusal
from tickmon.sampling.collector import Collector
from tickmon.sampling.injector import INJECTED, MOST, PLANNED, Injector
from tickmon.sampling.native import SamplerError
from tickmon.windows import Ended, Event, Method, Settings, Window

WINDOW_S = 0.5
"""Long enough for a tick's median at 100 Hz, short enough for many windows."""

_LEAST_WINDOW_S = 0.1
_WINDOWS = 16
"""So many undisturbed ones are made also in a short run."""

LEAST_NS = 10_000.0
MOST_NS = 1_000_000.0
MOST_FIFO_NS = 10_000_000.0
"""Only a real-time task spins for so long undivided."""

_EMPTY_SHARE = 0.3
"""So many injections take no time: what they cost is the measure of all others."""
_SLEEP_NS = (2_000_000, 14_000_000)
_FIFO_PRIORITY = 1
_SHARES = {"loop": 0.05, "quiet": 0.3, "injected": 0.45, "traced": 0.2}
"""Of the whole time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Gathered:
    """What a run brought together."""

    quiet: tuple[Analysis, ...] = field(repr=False)
    disturbed: tuple[Analysis, ...] = field(repr=False)
    """While injections were made."""
    injected: NDArray[np.void] = field(repr=False)
    """Dtype INJECTED."""
    priority: int
    """The injector's, of SCHED_FIFO; 0: an ordinary task."""
    traced: tuple[Analysis, ...] = field(repr=False)
    loop: Analysis | None = field(repr=False)


def gather(
    settings: Settings, machine: Machine, *, duration_s: float, say: Callable[[str], None]
) -> Gathered:
    """Measures one CPU for about ``duration_s``; TickmonError when it cannot be sampled at all.

    ``settings`` are of the gap method. ``say`` hears what begins.
    """
    lengths_s = {name: share * duration_s for name, share in _SHARES.items()}
    window_s = min(WINDOW_S, max(_LEAST_WINDOW_S, lengths_s["quiet"] / _WINDOWS))
    settings = replace(settings, window_s=window_s)
    say(f"CPU {settings.cpu}: {duration_s:g} s; first the loop method …")
    loop = _measured(replace(settings, method=Method.LOOP, window_s=60.0), machine, lengths_s["loop"])
    say(f"undisturbed, for {lengths_s['quiet']:.1f} s …")
    quiet = _measured(settings, machine, lengths_s["quiet"])
    say(f"with disturbances of known length, for {lengths_s['injected']:.1f} s …")
    threshold_cycles = quiet[-1].window.segment.threshold_cycles or 1
    disturbed, injected, priority = _disturbed(
        settings, machine, lengths_s["injected"], threshold_cycles=threshold_cycles, tsc_hz=quiet[-1].tsc_hz
    )
    say(f"with the kernel's trace, for {lengths_s['traced']:.1f} s …")
    traced = _measured(replace(settings, trace=True), machine, lengths_s["traced"])
    return Gathered(
        quiet=quiet,
        disturbed=disturbed,
        injected=injected,
        priority=priority,
        traced=traced,
        loop=loop[-1],
    )


def plan_injections(
    duration_s: float, *, most_ns: float, tsc_hz: float, rng: np.random.Generator
) -> NDArray[np.void]:
    """Injections (dtype PLANNED) for ``duration_s``: at random times, a share of no length.

    Half of the others are spread evenly over the logarithm from LEAST_NS to ``most_ns``, as many short ones
    as long ones; the other half lie below ``most_ns``, where they tell most of the slope.
    """
    count = min(MOST, math.ceil(duration_s * 1e9 / _SLEEP_NS[0]))
    spin_ns = np.exp(rng.uniform(math.log(LEAST_NS), math.log(most_ns), count))
    spin_ns = np.where(rng.random(count) < 0.5, spin_ns, rng.uniform(most_ns / 2, most_ns, count))
    spin_ns[rng.random(count) < _EMPTY_SHARE] = 0
    plan = np.zeros(count, PLANNED)
    plan["sleep_ns"] = rng.integers(*_SLEEP_NS, count)
    plan["spin_cycles"] = np.round(spin_ns * tsc_hz / 1e9)
    elapsed_s = np.cumsum(plan["sleep_ns"] + spin_ns) / 1e9
    return plan[: max(1, int(np.searchsorted(elapsed_s, duration_s)))]


def _disturbed(
    settings: Settings, machine: Machine, duration_s: float, *, threshold_cycles: int, tsc_hz: float
) -> tuple[tuple[Analysis, ...], NDArray[np.void], int]:
    """Analyses, injections and the injector's priority."""
    injector, priority = _open_injector(settings.cpu, threshold_cycles, limit_s=duration_s)
    most_ns = MOST_FIFO_NS if priority else MOST_NS
    plan = plan_injections(0.9 * duration_s, most_ns=most_ns, tsc_hz=tsc_hz, rng=np.random.default_rng())
    injected = np.zeros(0, INJECTED)
    with injector, _collecting(settings, machine, duration_s) as windows:
        kept = [next(windows)]
        injector.begin(plan)
        kept += windows
        injected = injector.results()
    return tuple(_analyses(kept)), injected, priority


def _open_injector(cpu: int, threshold_cycles: int, *, limit_s: float) -> tuple[Injector, int]:
    """The injector and its priority: a real-time one where that is permitted and cannot hang the CPU."""
    if priority_refusal() is None:
        try:
            opened = Injector(
                cpu=cpu, threshold_cycles=threshold_cycles, limit_s=limit_s, priority=_FIFO_PRIORITY
            )
        except SamplerError:
            pass
        else:
            return opened, _FIFO_PRIORITY
    return Injector(cpu=cpu, threshold_cycles=threshold_cycles, limit_s=limit_s), 0


def _measured(settings: Settings, machine: Machine, duration_s: float) -> tuple[Analysis, ...]:
    """At least one analysis."""
    with _collecting(settings, machine, duration_s) as windows:
        kept = list(windows)
    return tuple(_analyses(kept))


@contextlib.contextmanager
def _collecting(settings: Settings, machine: Machine, duration_s: float) -> Iterator[Iterator[Window]]:
    """The windows of ``duration_s`` as they come, at least one; the sampler is gone afterwards, whatever
    happens."""
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    collector = Collector(settings, machine, duration_s=duration_s, looks=False)
    collector.start(events.put)
    try:
        yield _windows(events, settings.cpu)
    finally:
        collector.stop()


def _windows(events: queue.SimpleQueue[Event], cpu: int) -> Iterator[Window]:
    """At least one; TickmonError where none comes, and where the sampler does not come to its end."""
    none_yet = True
    while not isinstance(event := events.get(), Ended):
        if isinstance(event, Window) and not event.provisional:
            none_yet = False
            yield event
    if event.error is not None:
        raise TickmonError(event.error)
    if none_yet:
        raise TickmonError(f"nothing could be measured on CPU {cpu}: choose another with --cpu")


def _analyses(windows: list[Window]) -> Iterator[Analysis]:
    clocks = Clocks()
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        yield analysis
