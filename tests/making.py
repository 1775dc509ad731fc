"""Windows made up from a CPU's life: ticks, noise, a host, other tasks. The same seed makes the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import count_bins
from tickmon.units import tick_period_ns
from tickmon.windows import (
    INTERRUPTION,
    SWITCH,
    TRACED,
    ClockReading,
    Counters,
    Exclusion,
    KernelEvent,
    KernelTick,
    Method,
    ReadingWarning,
    RowChange,
    Segment,
    Trace,
    Window,
)

TSC_HZ = 2_000_000_000.0
ORIGIN_CYCLES = 9_000_000_000_000
MONOTONIC_NS = 86_400 * 10**9
"""CLOCK_MONOTONIC when a made-up run begins: after a day, on a slot of every whole-ms rate at phase 0."""
REALTIME_NS = 1_790_000_000 * 10**9
BASELINE_CYCLES = 40
TYPICAL_CYCLES = 50


READING_EVERY_NS = 100e6


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
        "priority": 0,
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
    clocks: tuple[ClockReading, ...] | None = None,
    reads: int | None = None,
    lost_cycles: Sequence[int] = (),
    switches: Sequence[tuple[int, int]] | NDArray[np.void] | None = (),
    switch_count: int | None = None,
    interrupts: tuple[RowChange, ...] = (),
    counters: Counters | None = None,
    excluded: tuple[Exclusion, ...] = (),
    switches_lost: int = 0,
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
        away_cycles = sum(e.cycles for e in excluded if e.code != "backwards")
        undisturbed = (end_cycles - start_cycles - away_cycles - int(gaps.sum())) // TYPICAL_CYCLES
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
        counters=counters,
        excluded=excluded,
        excluded_count=len(excluded),
        switches_lost=switches_lost,
        warnings=warnings,
    )


def make_trace(
    *events: tuple[int, KernelEvent, str | None],
    lost: int = 0,
    known: Iterable[KernelEvent] = KernelEvent,
    uncertain_cycles: int = 0,
) -> Trace:
    """What the kernel traced: when (cycles from the origin, ascending), what, and its name."""
    names = tuple(dict.fromkeys(name for _at, _event, name in events if name is not None))
    rows = [(at, event, -1 if name is None else names.index(name)) for at, event, name in events]
    return Trace(
        events=np.array(rows, TRACED),
        names=names,
        lost=lost,
        events_known=frozenset(known),
        uncertain_cycles=uncertain_cycles,
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
    steered: Sequence[tuple[float, float]] = ()
    """Moments from which CLOCK_MONOTONIC is slewed by another number of ppm."""
    steps_back: Sequence[tuple[float, int]] = ()
    """Moments, and by how many cycles the counter goes back then."""
    suspended: Sequence[tuple[float, float]] = ()
    """Moments, and for how many ns CLOCK_MONOTONIC then stands still while the counter runs on."""
    reading_ns: float = 0.0
    """One standard deviation of what the readings of the clocks are off by."""
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Busy:
    """Stretches in which the sampler does not run."""

    starts_ns: NDArray[np.float64]
    ends_ns: NDArray[np.float64]
    outs_ns: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Moments in them at which the sampler is switched out."""
    ins_ns: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Counter:
    """What the counter shows in a life, and the clocks beside it."""

    life: Life
    segment: Segment

    def at(self, at_ns: NDArray[np.float64]) -> NDArray[np.int64]:
        """Cycles from the segment's origin at each moment of CLOCK_MONOTONIC."""
        steps = np.floor(self._exact(at_ns) / self.segment.step_cycles).astype(np.int64)
        return steps * self.segment.step_cycles - _passed(self.life.steps_back, at_ns).astype(np.int64)

    def readings(self, start_ns: float, end_ns: float, monotonic_ns: int) -> tuple[ClockReading, ...]:
        """Ten readings a second, one at each end; ``monotonic_ns`` is CLOCK_MONOTONIC at the beginning."""
        moments_ns = np.append(np.arange(start_ns, end_ns, READING_EVERY_NS), end_ns)
        return tuple(self._reading(float(at_ns), monotonic_ns) for at_ns in moments_ns)

    def _reading(self, at_ns: float, monotonic_ns: int) -> ClockReading:
        at = np.array([at_ns])
        cycles = int(self.at(at)[0])
        shown = cycles + float(_passed(self.life.steps_back, at)[0])
        # The time at which the counter began to show this.
        at_ns -= (float(self._exact(at)[0]) - shown) / self.segment.tsc_hz * 1e9
        if self.life.reading_ns:
            at_ns += self.life.reading_ns * np.random.default_rng([self.life.seed, int(at_ns)]).normal()
        asleep_ns = float(_passed(self.life.suspended, at)[0])
        return ClockReading(
            cycles=self.segment.origin_cycles + cycles,
            uncertain_cycles=30,
            monotonic_ns=monotonic_ns + round(at_ns),
            monotonic_raw_ns=77 * 10**9 + round(shown / self.segment.tsc_hz * 1e9 - asleep_ns),
            realtime_ns=REALTIME_NS + round(at_ns + asleep_ns),
        )

    def _exact(self, at_ns: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cycles that have passed."""
        moments_ns, ppm = np.array([(0.0, self.life.slew_ppm), *self.life.steered]).T
        raw_a_ns = 1 / (1 + ppm * 1e-6)
        since_ns = np.concatenate([[0.0], np.cumsum(np.diff(moments_ns) * raw_a_ns[:-1])])
        part = np.maximum(np.searchsorted(moments_ns, at_ns, side="right") - 1, 0)
        raw_ns = since_ns[part] + (at_ns - moments_ns[part]) * raw_a_ns[part]
        return np.asarray((raw_ns + _passed(self.life.suspended, at_ns)) * (self.segment.tsc_hz / 1e9))


def _passed(amounts: Sequence[tuple[float, float]], at_ns: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of what there was until each moment."""
    passed = np.zeros(len(at_ns))
    for moment_ns, amount in amounts:
        passed[at_ns >= moment_ns] += amount
    return passed


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
    counter = _Counter(life=life, segment=segment)
    details = np.zeros(len(busy.starts_ns), INTERRUPTION)
    details["start_cycles"] = counter.at(busy.starts_ns)
    details["gap_cycles"] = counter.at(busy.ends_ns) - details["start_cycles"] + BASELINE_CYCLES
    seen = details["gap_cycles"] > (segment.threshold_cycles or 0)
    details, starts_ns, gaps_end_ns = details[seen], busy.starts_ns[seen], busy.ends_ns[seen]
    switches = np.zeros(len(busy.outs_ns), SWITCH)
    switches["out_cycles"], switches["in_cycles"] = counter.at(busy.outs_ns), counter.at(busy.ins_ns)

    windows: list[Window] = []
    start_ns, start_cycles = 0.0, 0
    for number, end_ns in enumerate(ends_ns, 1):
        first, last = np.searchsorted(starts_ns, [start_ns, end_ns]).tolist()
        end_ns = max([start_ns, end_ns, *gaps_end_ns[first:last][-1:].tolist()])
        mine = details[first:last]
        end_cycles = int(counter.at(np.array([end_ns]))[0])
        if len(mine):
            end_cycles = max(end_cycles, int((mine["start_cycles"] + mine["gap_cycles"])[-1]))
        inside = (busy.outs_ns >= start_ns) & (busy.outs_ns < end_ns)
        excluded = [
            Exclusion(code="backwards", start_cycles=int(counter.at(np.array([at_ns - 1]))[0]), cycles=back)
            for at_ns, back in life.steps_back
            if start_ns < at_ns <= end_ns
        ]
        for at_ns, _ in life.suspended:
            if start_ns <= at_ns < end_ns:
                slept = int(np.searchsorted(starts_ns[first:last], at_ns, side="right")) - 1
                jump = Exclusion(
                    code="jump",
                    start_cycles=int(mine["start_cycles"][slept]),
                    cycles=int(mine["gap_cycles"][slept]),
                )
                excluded.append(jump)
                mine = np.delete(mine, slept)
        windows.append(
            make_window(
                mine,
                segment=segment,
                window=number,
                start_cycles=start_cycles,
                end_cycles=end_cycles,
                clocks=counter.readings(start_ns, end_ns, monotonic_ns),
                switches=switches[inside] if dated else None,
                switch_count=int(np.count_nonzero(inside)),
                interrupts=(
                    RowChange(row="LOC", name="Local timer interrupts", count=len(mine), timer="LOC"),
                ),
                excluded=tuple(excluded),
            )
        )
        start_ns, start_cycles = end_ns, end_cycles
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
    # Nobody runs while the machine goes to sleep and wakes up.
    asleep = [(at_ns - 2e6, 3e6) for at_ns, _ in life.suspended]
    given = np.array([*life.gaps, *asleep], np.float64).reshape(-1, 2)
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
