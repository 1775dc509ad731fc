"""A machine that exists only here: scripted windows for the screen, and a source that plays them.

``python -m tests.scripted`` opens the live screen on it.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from tickmon.analysis.histogram import count_bins
from tickmon.analysis.readings import Analysis
from tickmon.machine.busy import CpuUse, Occupant
from tickmon.machine.cpus import Cpus
from tickmon.windows import (
    INTERRUPTION,
    SWITCH,
    ClockReading,
    Event,
    KernelTick,
    Method,
    ReadingWarning,
    RowChange,
    Segment,
    Settings,
    Window,
)

TSC_HZ = 2_100_000_000.0
START = datetime(2025, 11, 30, 15, 16, 17, tzinfo=UTC)
MONOTONIC_NS = 86_400_000_000_000
"""CLOCK_MONOTONIC at the origin: a slot of every common tick."""
BASELINE_CYCLES = 34
LOOP_BASELINE_CYCLES = 6_022


def scripted_cpus(count: int = 4, **changes: object) -> Cpus:
    """A machine of ``count`` CPUs, of which the second half are hyper-threads of the first."""
    everything = frozenset(range(count))
    half = count // 2
    siblings = {cpu: frozenset({(cpu + half) % count}) for cpu in range(count)} if count > 3 else {}
    common = Cpus(
        possible=everything,
        online=everything,
        usable=everything,
        allowed=everything,
        isolated=frozenset({count - 1}),
        nohz_full=frozenset({count - 1}),
        siblings=siblings,
    )
    return replace(common, **changes)  # type: ignore[arg-type]


def look_idle(cpus: Collection[int]) -> Mapping[int, CpuUse]:
    """Every CPU is idle, except that CPU 2 has a trader on it."""
    trader = (Occupant(name="trader", pid=4711, share=0.98),)
    return {
        cpu: CpuUse(cpu=cpu, idle_share=0.02 if cpu == 2 else 1.0, occupants=trader if cpu == 2 else ())
        for cpu in cpus
    }


def scripted_segment(settings: Settings, *, segment: int = 1, reason: str = "start") -> Segment:
    """What the machine says of itself."""
    loop = settings.method is Method.LOOP
    return Segment(
        segment=segment,
        cpu=settings.cpu,
        method=settings.method,
        origin_cycles=10**15,
        tsc_hz=TSC_HZ,
        tsc_hz_error_ppm=None,
        tsc_hz_source="kernel, unverified",
        counter_synchronised=True,
        kernel_tick=KernelTick(
            hz=250, period_ns=4_000_000, source="clock_getres", basis="kernel", phases_ns=(0,), may_stop=False
        ),
        guest=True,
        threshold_cycles=None if loop else 420,
        step_cycles=2,
        window_s=settings.window_s,
        loop_size=settings.loop_size if loop else None,
        reason=reason,
    )


def scripted_window(
    segment: Segment,
    *,
    number: int = 1,
    start_s: float = 0.0,
    length_s: float | None = None,
    provisional: bool = False,
    quiet: bool = False,
    warnings: tuple[ReadingWarning, ...] = (),
) -> Window:
    """A window as a virtual machine shows it: kernel tick, host tick, preemptions and crumbs.

    ``quiet``: nothing but the kernel's tick. Same arguments, same window.
    """
    length_s = segment.window_s if length_s is None else length_s
    rng = np.random.default_rng([number, segment.cpu])
    if segment.method is Method.LOOP:
        return _loop_window(segment, rng, number, start_s, length_s, provisional, warnings)
    events = [_train(rng, start_s, length_s, hz=250.0, late_us=1.5, cost_us=11.0, spread=0.18)]
    if not quiet:
        events += [
            _train(rng, start_s, length_s, hz=999.98, late_us=6.0, cost_us=5.2, spread=0.12),
            _random(rng, start_s, length_s, per_s=330.0, cost_us=0.9, spread=0.7),
            _random(rng, start_s, length_s, per_s=4.0, cost_us=70.0, spread=0.8),
        ]
        if number % 17 == 5:
            events.append(_random(rng, start_s, length_s, per_s=1.0, cost_us=1_900.0, spread=0.4))
    details = _without_overlap(np.concatenate(events), _cycles(start_s), _cycles(start_s + length_s))
    gaps = details["gap_cycles"]
    long = details[gaps > _cycles(40e-6)]
    switches = np.zeros(len(long), SWITCH)
    switches["out_cycles"] = long["start_cycles"] + _cycles(3e-6)
    switches["in_cycles"] = long["start_cycles"] + long["gap_cycles"] - _cycles(2e-6)
    reads = (_cycles(length_s) - int(gaps.sum())) // 54 + len(gaps)
    ticks = round(250 * length_s)
    return _window(
        segment,
        number=number,
        start_s=start_s,
        length_s=length_s,
        provisional=provisional,
        reads=reads,
        minimum=BASELINE_CYCLES + int(rng.integers(0, 3)),
        details=details,
        switches=switches,
        interrupts=(
            RowChange(row="LOC", name="Local timer interrupts", count=ticks + int(rng.integers(5, 20))),
            RowChange(row="RES", name="Rescheduling interrupts", count=int(rng.integers(1, 4))),
        ),
        warnings=warnings,
    )


def _loop_window(
    segment: Segment,
    rng: np.random.Generator,
    number: int,
    start_s: float,
    length_s: float,
    provisional: bool,
    warnings: tuple[ReadingWarning, ...],
) -> Window:
    count = int(length_s * TSC_HZ / 11_900)
    gaps = np.rint(rng.normal(11_780, 60, count)).astype(np.int64)
    gaps[rng.integers(0, count, count // 90)] = LOOP_BASELINE_CYCLES + rng.integers(0, 900, count // 90)
    starts = _cycles(start_s) + np.cumsum(gaps) - gaps
    slots = np.arange(np.ceil(start_s * 250), np.floor((start_s + length_s) * 250)) / 250 * TSC_HZ
    held = np.clip(np.searchsorted(starts, slots, side="right") - 1, 0, count - 1)
    gaps[held] += np.rint(rng.lognormal(np.log(23_000), 0.15, len(held))).astype(np.int64)
    details = np.zeros(count, INTERRUPTION)
    details["start_cycles"] = _cycles(start_s) + np.cumsum(gaps) - gaps
    details["gap_cycles"] = gaps
    details = details[details["start_cycles"] + gaps <= _cycles(start_s + length_s)]
    return _window(
        segment,
        number=number,
        start_s=start_s,
        length_s=length_s,
        provisional=provisional,
        reads=len(details),
        minimum=int(details["gap_cycles"].min()),
        details=details,
        switches=np.zeros(0, SWITCH),
        interrupts=(RowChange(row="LOC", name="Local timer interrupts", count=264),),
        warnings=warnings,
    )


def _window(
    segment: Segment,
    *,
    number: int,
    start_s: float,
    length_s: float,
    provisional: bool,
    reads: int,
    minimum: int,
    details: np.ndarray[tuple[int], np.dtype[np.void]],
    switches: np.ndarray[tuple[int], np.dtype[np.void]],
    interrupts: tuple[RowChange, ...],
    warnings: tuple[ReadingWarning, ...],
) -> Window:
    gaps = np.ascontiguousarray(details["gap_cycles"])
    return Window(
        window=number,
        segment=segment,
        provisional=provisional,
        started_at=START + timedelta(seconds=start_s),
        start_cycles=_cycles(start_s),
        end_cycles=_cycles(start_s + length_s),
        clocks=(_clock(segment, start_s), _clock(segment, start_s + length_s)),
        reads=reads,
        interruptions=len(details),
        lost=0,
        gap_sum_cycles=int(gaps.sum()),
        min_cycles=minimum,
        max_cycles=int(gaps.max(initial=minimum)),
        counts=count_bins(gaps),
        details=details,
        switches=switches,
        switch_count=len(switches),
        interrupts=interrupts,
        warnings=warnings,
    )


def _cycles(seconds: float) -> int:
    return round(seconds * TSC_HZ)


def _clock(segment: Segment, at_s: float) -> ClockReading:
    ns = round(at_s * 1e9)
    return ClockReading(
        cycles=segment.origin_cycles + _cycles(at_s),
        uncertain_cycles=40,
        monotonic_ns=MONOTONIC_NS + ns,
        monotonic_raw_ns=MONOTONIC_NS + ns,
        realtime_ns=round(START.timestamp() * 1e9) + ns,
    )


def _train(
    rng: np.random.Generator,
    start_s: float,
    length_s: float,
    *,
    hz: float,
    late_us: float,
    cost_us: float,
    spread: float,
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    slots_s = np.arange(np.ceil(start_s * hz), np.ceil((start_s + length_s) * hz)) / hz
    return _events(rng, slots_s + rng.gamma(2.0, late_us / 2, len(slots_s)) * 1e-6, cost_us, spread)


def _random(
    rng: np.random.Generator, start_s: float, length_s: float, *, per_s: float, cost_us: float, spread: float
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    count = int(rng.poisson(per_s * length_s))
    return _events(rng, start_s + rng.uniform(0, length_s, count), cost_us, spread)


def _events(
    rng: np.random.Generator,
    starts_s: np.ndarray[tuple[int], np.dtype[np.float64]],
    cost_us: float,
    spread: float,
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    events = np.zeros(len(starts_s), INTERRUPTION)
    events["start_cycles"] = np.rint(starts_s * TSC_HZ)
    events["gap_cycles"] = np.rint(rng.lognormal(np.log(cost_us), spread, len(starts_s)) * TSC_HZ / 1e6)
    return events


def _without_overlap(
    events: np.ndarray[tuple[int], np.dtype[np.void]], start_cycles: int, end_cycles: int
) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """One after the other, each above the threshold, all within the window."""
    events = np.sort(events, order="start_cycles")
    kept = []
    free = start_cycles
    for event in events:
        start, gap = int(event["start_cycles"]), int(event["gap_cycles"])
        if gap > 420 and start >= free and start + gap <= end_cycles:
            kept.append(event)
            free = start + gap
    return np.array(kept, INTERRUPTION) if kept else np.zeros(0, INTERRUPTION)


class ScriptedSource:
    """Hands on what a test gives it, from a thread of its own as a live source does."""

    def __init__(
        self, settings: Settings, *, segment: int = 1, first_window: int = 1, reason: str = "start"
    ) -> None:
        self.settings = settings
        self.segment = scripted_segment(settings, segment=segment, reason=reason)
        self.first_window = first_window
        self.stopped = False
        self._on_event: Callable[[Event], None] | None = None

    def start(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event

    def stop(self) -> None:
        self.stopped = True

    def give(self, *events: Event) -> None:
        """Hands on events, and returns when they have been taken."""
        if self._on_event is None or self.stopped:
            return
        thread = threading.Thread(target=self._hand_on, args=(events,))
        thread.start()
        thread.join()

    def _hand_on(self, events: Iterable[Event]) -> None:
        assert self._on_event is not None
        for event in events:
            self._on_event(event)


class PlayedSource(ScriptedSource):
    """Makes windows as time passes, for looking at the screen."""

    def start(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _play(self) -> None:
        begin_s = time.time() - START.timestamp()
        number = self.first_window
        assert self._on_event is not None
        if not self._over.wait(0.1):
            self._on_event(
                scripted_window(self.segment, number=number, start_s=begin_s, length_s=0.1, provisional=True)
            )
        while not self._over.wait(self.settings.window_s):
            self._on_event(scripted_window(self.segment, number=number, start_s=begin_s))
            begin_s += self.settings.window_s
            number += 1


@dataclass
class Snapshots:
    """Takes snapshots as the recording would."""

    folder: Path
    saved: int = 0

    def save(self, window: Window, _analysis: Analysis) -> Path:
        self.saved += 1
        return self.folder / f"vm-cpu{window.segment.cpu}-20251130T151618Z.jsonl.gz"


def main() -> int:
    """The live screen on the scripted machine."""
    from tickmon.tui.app import TickmonApp
    from tickmon.tui.run import run_screen
    from tickmon.tui.terminal import check_terminal, speaks_utf8

    parser = argparse.ArgumentParser()
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--ascii", action="store_true")
    options = parser.parse_args()
    check_terminal()
    app = TickmonApp(
        settings=Settings(cpu=options.cpus - 1),
        cpus=scripted_cpus(options.cpus),
        open_source=PlayedSource,
        save_snapshot=Snapshots(Path()).save,
        look=look_idle,
        keep_away=lambda cpu: None,
        why=f"CPU {options.cpus - 1} is measured: isolated, nohz_full and idle",
        ascii_only=options.ascii or not speaks_utf8(),
    )
    return run_screen(app)


if __name__ == "__main__":
    raise SystemExit(main())
