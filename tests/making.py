"""Windows made up from a CPU's life: ticks, noise, a host, other tasks. The same seed makes the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import count_bins
from tickmon.units import tick_period_ns
from tickmon.windows import (
    INTERRUPTION,
    SWITCH,
    ClockReading,
    Exclusion,
    KernelTick,
    Method,
    ReadingWarning,
    RowChange,
    Segment,
    Window,
)

TSC_HZ = 2_000_000_000.0
ORIGIN_CYCLES = 9_000_000_000_000
MONOTONIC_NS = 86_400 * 10**9
"""CLOCK_MONOTONIC when a made-up run begins: after a day, on a slot of every whole-ms rate at phase 0."""
REALTIME_NS = 1_790_000_000 * 10**9
BASELINE_CYCLES = 40
TYPICAL_CYCLES = 50


def make_tick(hz: float = 250.0, **changes: object) -> KernelTick:
    """A kernel that ticks at ``hz`` of CLOCK_MONOTONIC, phase 0, and never stops."""
    values: dict[str, object] = {
        "hz": hz,
        "period_ns": tick_period_ns(hz),
        "source": "made up",
        "basis": "kernel",
        "phases_ns": (0,),
        "may_stop": False,
    }
    return KernelTick(**(values | changes))  # type: ignore[arg-type]


def make_segment(**changes: object) -> Segment:
    """A segment on CPU 1 of a machine without a hypervisor, at 2 GHz and 250 Hz."""
    loop = changes.get("method") is Method.LOOP
    values: dict[str, object] = {
        "segment": 1,
        "cpu": 1,
        "method": Method.GAP,
        "origin_cycles": ORIGIN_CYCLES,
        "tsc_hz": TSC_HZ,
        "tsc_hz_error_ppm": None,
        "tsc_hz_source": "kernel, unverified",
        "counter_synchronised": True,
        "kernel_tick": make_tick(),
        "guest": False,
        "threshold_cycles": None if loop else 400,
        "step_cycles": 2,
        "window_s": 1.0,
        "loop_size": 6800 if loop else None,
        "reason": "start",
    }
    return Segment(**(values | changes))  # type: ignore[arg-type]


def make_window(
    details: Sequence[tuple[int, int]] | NDArray[np.void] = (),
    *,
    segment: Segment | None = None,
    window: int = 1,
    provisional: bool = False,
    start_cycles: int = 0,
    end_cycles: int | None = None,
    started_at: datetime | None = None,
    clocks: tuple[ClockReading, ClockReading] | None = None,
    reads: int | None = None,
    lost_cycles: Sequence[int] = (),
    switches: Sequence[tuple[int, int]] | NDArray[np.void] | None = (),
    switch_count: int | None = None,
    interrupts: tuple[RowChange, ...] = (),
    excluded: tuple[Exclusion, ...] = (),
    warnings: tuple[ReadingWarning, ...] = (),
) -> Window:
    """A window of one second with these ``(start_cycles, gap_cycles)``, all sums being right.

    ``lost_cycles`` are gaps whose detail was dropped. ``switches`` are dated unless they are None.
    """
    segment = segment or make_segment()
    known = np.array(details if len(details) else [], INTERRUPTION)
    lost = np.array(lost_cycles, np.int64)
    gaps = np.concatenate([known["gap_cycles"], lost])
    end_cycles = start_cycles + round(segment.tsc_hz) if end_cycles is None else end_cycles
    if reads is None:
        undisturbed = (end_cycles - start_cycles - int(gaps.sum())) // TYPICAL_CYCLES
        reads = len(gaps) + (max(undisturbed, 1) if segment.method is Method.GAP else 0)
    least = gaps if segment.method is Method.LOOP else np.append(gaps, BASELINE_CYCLES)
    longest = gaps if segment.method is Method.LOOP else np.append(gaps, TYPICAL_CYCLES)
    dated = None if switches is None else np.array(switches if len(switches) else [], SWITCH)
    return Window(
        window=window,
        segment=segment,
        provisional=provisional,
        started_at=started_at or _utc(start_cycles / segment.tsc_hz * 1e9),
        start_cycles=start_cycles,
        end_cycles=end_cycles,
        clocks=clocks or (read_at(start_cycles, segment), read_at(end_cycles, segment)),
        reads=reads,
        interruptions=len(gaps),
        lost=len(lost),
        gap_sum_cycles=int(gaps.sum()),
        min_cycles=int(least.min()) if len(least) else None,
        max_cycles=int(longest.max()) if len(longest) else None,
        counts=count_bins(gaps),
        details=known,
        switches=dated,
        switch_count=switch_count if dated is None or switch_count is not None else len(dated),
        interrupts=interrupts,
        excluded=excluded,
        warnings=warnings,
    )


def read_at(cycles: float, segment: Segment, *, slew_ppm: float = 0.0) -> ClockReading:
    """All clocks at ``cycles`` from the origin, CLOCK_MONOTONIC running ``slew_ppm`` faster than raw time."""
    raw_ns = cycles / segment.tsc_hz * 1e9
    passed_ns = round(raw_ns * (1 + slew_ppm * 1e-6))
    return ClockReading(
        cycles=segment.origin_cycles + round(cycles),
        uncertain_cycles=30,
        monotonic_ns=MONOTONIC_NS + passed_ns,
        monotonic_raw_ns=77 * 10**9 + round(raw_ns),
        realtime_ns=REALTIME_NS + passed_ns,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """What happens on a made-up CPU. Times are ns of CLOCK_MONOTONIC from the beginning of the run."""

    hz: float | None = 250.0
    """The tick that really runs; None: it is stopped."""
    phase_ns: float = 0.0
    """Of its slots, from k * period of CLOCK_MONOTONIC."""
    tick_ns: float = 4_000.0
    delay_ns: float = 800.0
    """Mean lateness of the tick's interrupt, beside a fixed half of it."""
    missing: Sequence[int] = ()
    """Numbers (from 0) of ticks that do not come."""
    noise_hz: float = 300.0
    """Interruptions at random moments, most of them short."""
    noise_ns: float = 400.0
    host_hz: float | None = None
    """A second clock interrupts at this rate, its phase being 0.3 of its period."""
    host_ns: float = 9_000.0
    busy: bool = False
    """Another task never sleeps: every third tick hands it the CPU until the next one is through."""
    wakeups_hz: float = 0.0
    """Another task wakes at random moments and runs for 30 to 60 us."""
    gaps: Sequence[tuple[float, float]] = ()
    """Further interruptions, as start and length."""
    slew_ppm: float = 0.0
    """CLOCK_MONOTONIC is slewed so much against the counter."""
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Busy:
    """Stretches in which the sampler does not run."""

    starts_ns: NDArray[np.float64]
    ends_ns: NDArray[np.float64]
    outs_ns: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Moments in them at which the sampler is switched out."""
    ins_ns: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


def simulate(
    life: Life | None = None,
    *,
    ends_ns: Sequence[float] = (1e9,),
    segment: Segment | None = None,
    dated: bool = True,
    monotonic_ns: int = MONOTONIC_NS,
) -> tuple[Window, ...]:
    """The touching windows that a sampler sees of ``life``: the first starts at 0, each ends at ``ends_ns``.

    A window that would end inside an interruption ends at the read after it. ``monotonic_ns`` is what
    CLOCK_MONOTONIC shows at the beginning.
    """
    life = life or Life()
    segment = segment or make_segment()
    busy = _busy(life, ends_ns[-1], monotonic_ns)
    per_ns = segment.tsc_hz / 1e9 / (1 + life.slew_ppm * 1e-6)

    def cycles(at_ns: NDArray[np.float64]) -> NDArray[np.int64]:
        steps = np.floor(at_ns * per_ns / segment.step_cycles)
        return (steps * segment.step_cycles).astype(np.int64)

    details = np.zeros(len(busy.starts_ns), INTERRUPTION)
    details["start_cycles"] = cycles(busy.starts_ns)
    details["gap_cycles"] = cycles(busy.ends_ns) - details["start_cycles"] + BASELINE_CYCLES
    details = details[details["gap_cycles"] > (segment.threshold_cycles or 0)]
    switches = np.zeros(len(busy.outs_ns), SWITCH)
    switches["out_cycles"], switches["in_cycles"] = cycles(busy.outs_ns), cycles(busy.ins_ns)

    windows: list[Window] = []
    start_cycles = 0
    for number, end_ns in enumerate(ends_ns, 1):
        cut = int(cycles(np.array([end_ns]))[0])
        first = np.searchsorted(details["start_cycles"], start_cycles)
        last = np.searchsorted(details["start_cycles"], cut)
        mine = details[first:last]
        end_cycles = max(cut, int((mine["start_cycles"] + mine["gap_cycles"])[-1])) if len(mine) else cut
        inside = (switches["out_cycles"] >= start_cycles) & (switches["out_cycles"] < end_cycles)
        readings = [
            _shifted(read_at(at, segment, slew_ppm=life.slew_ppm), monotonic_ns - MONOTONIC_NS)
            for at in (start_cycles, end_cycles)
        ]
        windows.append(
            make_window(
                mine,
                segment=segment,
                window=number,
                start_cycles=start_cycles,
                end_cycles=end_cycles,
                clocks=(readings[0], readings[1]),
                switches=switches[inside] if dated else None,
                switch_count=int(np.count_nonzero(inside)),
                interrupts=(RowChange(row="LOC", name="Local timer interrupts", count=len(mine)),),
            )
        )
        start_cycles = end_cycles
    return tuple(windows)


def simulate_loop(
    life: Life | None = None,
    *,
    loop_cycles: NDArray[np.int64] | int = 6_800,
    samples: int = 11_000,
    segment: Segment | None = None,
) -> Window:
    """The window that the loop method sees of ``life``: an undisturbed loop takes ``loop_cycles``."""
    segment = segment or make_segment(method=Method.LOOP)
    own_ns = np.broadcast_to(np.asarray(loop_cycles, np.int64), samples) / (segment.tsc_hz / 1e9)
    busy = _busy(life or Life(), 2 * float(own_ns.sum()), MONOTONIC_NS)
    # The loop's own time stands still while something else runs.
    lengths_ns = busy.ends_ns - busy.starts_ns
    taken_ns = np.concatenate([[0.0], np.cumsum(lengths_ns)])
    begun_ns = busy.starts_ns - taken_ns[:-1]
    run_ns = np.concatenate([[0.0], np.cumsum(own_ns)])
    wall_ns = run_ns + taken_ns[np.searchsorted(begun_ns, run_ns)]
    bounds = np.rint(wall_ns * segment.tsc_hz / 1e9).astype(np.int64)
    details = np.zeros(samples, INTERRUPTION)
    details["start_cycles"], details["gap_cycles"] = bounds[:-1], np.diff(bounds)
    return make_window(details, segment=segment, end_cycles=int(bounds[-1]))


def _busy(life: Life, until_ns: float, monotonic_ns: int) -> _Busy:
    """The stretches of ``life`` in ``[0, until_ns)`` without overlap, ascending."""
    rng = np.random.default_rng(life.seed)
    starts: list[NDArray[np.float64]] = []
    lengths: list[NDArray[np.float64]] = []
    outs: list[NDArray[np.float64]] = []
    ins: list[NDArray[np.float64]] = []

    def add(at_ns: NDArray[np.float64], long_ns: NDArray[np.float64], *, switched: bool = False) -> None:
        starts.append(at_ns)
        lengths.append(long_ns)
        if switched:
            outs.append(at_ns + 1_500)
            ins.append(at_ns + long_ns - 500)

    if life.hz is not None:
        ticks_ns = _slots(life.hz, life.phase_ns, until_ns, monotonic_ns)
        keep = ~np.isin(np.arange(len(ticks_ns)), life.missing)
        late_ns = life.delay_ns / 2 + rng.exponential(life.delay_ns, len(ticks_ns))
        add((ticks_ns + late_ns)[keep], (life.tick_ns * rng.lognormal(0, 0.1, len(ticks_ns)))[keep])
        if life.busy:
            slices_ns = (ticks_ns + late_ns)[::3]
            add(slices_ns, np.full(len(slices_ns), 1e9 / life.hz + 20_000), switched=True)
    if life.host_hz is not None:
        count = int(until_ns * life.host_hz / 1e9)
        host_ns = (np.arange(count) + 0.3) * 1e9 / life.host_hz + rng.exponential(300, count)
        add(host_ns, life.host_ns * rng.lognormal(0, 0.1, count))
    noise = rng.poisson(life.noise_hz * until_ns / 1e9)
    add(np.sort(rng.uniform(0, until_ns, noise)), 200 + rng.exponential(life.noise_ns, noise))
    wakes = rng.poisson(life.wakeups_hz * until_ns / 1e9)
    add(np.sort(rng.uniform(0, until_ns, wakes)), rng.uniform(30_000, 60_000, wakes), switched=True)
    given = np.array(life.gaps, np.float64).reshape(-1, 2)
    add(given[:, 0], given[:, 1])

    all_starts, all_ends = np.concatenate(starts), np.concatenate(starts) + np.concatenate(lengths)
    order = np.argsort(all_starts)
    all_starts, ends_so_far = all_starts[order], np.maximum.accumulate(all_ends[order])
    # What begins before the last one ended, or right after it, is part of the same gap.
    apart = all_starts > np.concatenate([[-np.inf], ends_so_far + 30])[:-1]
    firsts = np.flatnonzero(apart)
    lasts = np.append(firsts, len(all_starts))[1:] - 1
    inside = (all_starts[firsts] >= 0) & (ends_so_far[lasts] <= until_ns)
    out_ns = np.concatenate([*outs, np.zeros(0)])
    in_ns = np.concatenate([*ins, np.zeros(0)])
    seen = np.argsort(out_ns)
    return _Busy(
        starts_ns=all_starts[firsts][inside],
        ends_ns=ends_so_far[lasts][inside],
        outs_ns=out_ns[seen],
        ins_ns=in_ns[seen],
    )


def _slots(hz: float, phase_ns: float, until_ns: float, monotonic_ns: int) -> NDArray[np.float64]:
    period_ns = tick_period_ns(hz)
    first_ns = (round(phase_ns) - monotonic_ns) % period_ns
    return np.arange(first_ns, until_ns, period_ns, dtype=np.float64)


def _shifted(reading: ClockReading, by_ns: int) -> ClockReading:
    return ClockReading(
        cycles=reading.cycles,
        uncertain_cycles=reading.uncertain_cycles,
        monotonic_ns=reading.monotonic_ns + by_ns,
        monotonic_raw_ns=reading.monotonic_raw_ns,
        realtime_ns=reading.realtime_ns,
    )


def _utc(passed_ns: float) -> datetime:
    return datetime.fromtimestamp(REALTIME_NS / 1e9, UTC) + timedelta(microseconds=passed_ns / 1e3)
