"""How sure the finder of foreign trains is: ``python -m tests.bench.trains`` prints a table.

Made-up CPUs with fixed seeds. Each has the kernel's tick, marked as such, and what the kernel does after it,
unmarked. The recordings that are made here serve the tests as well.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.making import Life, make_segment, simulate
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.trains import FoundTrain, TrainState, follow_trains
from tickmon.units import tick_period_ns

RATES_HZ = (24.0, 100.0, 250.0, 256.0, 300.0, 1000.0, 1024.0)
"""Ticks of hosts, and of things that are no host."""

MOST_PPM = 10.0
"""A train's rate is right to so much after ten seconds ..."""

MOST_OWN_PPM = 1.0
"""... and the kernel's own after a minute."""

_SECOND_NS = 1e9

Floats = NDArray[np.float64]
Random = np.random.Generator
Events = tuple[Floats, Floats]
"""When something asks for the CPU (ns, in no order), and for how long."""


def lengths(rng: Random, count: int, *, middle_ns: float, spread: float) -> Floats:
    """Lengths as machines have them: many of a kind, few far longer."""
    return np.asarray(200 + rng.lognormal(math.log(middle_ns), spread, count))


def train(
    rng: Random,
    hz: float,
    length_ns: float,
    *,
    jitter_ns: float = 10_000.0,
    missing: float = 0.0,
    gap_ns: float = 4_000.0,
    bend_ppm_per_s: float = 0.0,
) -> Events:
    """Strictly periodic; late by up to ``jitter_ns`` (5 to 95 %), as timers are."""
    at_s = (np.arange(int(length_ns / _SECOND_NS * hz)) + rng.random()) / hz
    at_ns = (at_s + bend_ppm_per_s * 1e-6 * at_s**2 / 2) * _SECOND_NS
    starts_ns = at_ns + _late(rng, jitter_ns, len(at_ns))
    starts_ns = starts_ns[rng.random(len(at_ns)) >= missing]
    return starts_ns, lengths(rng, len(starts_ns), middle_ns=gap_ns, spread=0.3)


def _late(rng: Random, jitter_ns: float, count: int) -> Floats:
    """Delays whose 5th and 95th percentile lie ``jitter_ns`` apart: 0.355 and 4.744 for gamma(2)."""
    return rng.gamma(2.0, jitter_ns / (4.744 - 0.355), count)


def poisson(
    rng: Random, rate_hz: float, length_ns: float, *, middle_ns: float = 1_000.0, spread: float = 1.3
) -> Events:
    """As random as can be."""
    count = rng.poisson(rate_hz * length_ns / _SECOND_NS)
    return rng.uniform(0, length_ns, count), lengths(rng, count, middle_ns=middle_ns, spread=spread)


def bursts(rng: Random, rate_hz: float, length_ns: float) -> Events:
    """Now and then a few dozen in a row, evenly spaced, as from a network card."""
    begin_ns, _ = poisson(rng, rate_hz, length_ns)
    rows = [at_ns + np.arange(rng.integers(5, 200)) * rng.uniform(30e3, 1e6) for at_ns in begin_ns]
    starts_ns = np.concatenate([np.zeros(0), *rows])
    starts_ns = starts_ns + rng.normal(0, 1_000, len(starts_ns))
    return starts_ns, lengths(rng, len(starts_ns), middle_ns=2_000, spread=0.5)


def sleep_loop(rng: Random, sleep_ns: float, length_ns: float, *, work_ns: float) -> Events:
    """Sleeps, works, sleeps again: late by all that it was ever late, so its phase is a random walk.

    ``work_ns`` is the standard deviation of what comes on top of a sleep.
    """
    count = int(length_ns / sleep_ns)
    works = (
        rng.exponential(work_ns, count),
        np.abs(rng.normal(5 * work_ns, work_ns, count)),
        rng.uniform(0, math.sqrt(12) * work_ns, count),
    )
    starts_ns = rng.uniform(0, sleep_ns) + np.cumsum(sleep_ns + works[rng.integers(len(works))])
    return starts_ns, lengths(rng, count, middle_ns=4_000, spread=0.3)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recording:
    """What a sampler would have seen of a made-up CPU."""

    starts_ns: Floats
    gaps_ns: Floats
    free: NDArray[np.bool_]
    kernel_period_ns: float
    length_ns: float

    def windows(self, window_ns: float = _SECOND_NS) -> Iterator[tuple[tuple[FoundTrain, ...], TrainState]]:
        """What is found in each whole window, and what is remembered after it."""
        state = TrainState()
        for start_ns in (np.arange(round(self.length_ns / window_ns)) * window_ns).tolist():
            inside = slice(*np.searchsorted(self.starts_ns, [start_ns, start_ns + window_ns]).tolist())
            found, state = follow_trains(
                self.starts_ns[inside],
                self.gaps_ns[inside],
                free=self.free[inside],
                unwatched_ns=np.zeros((0, 2)),
                start_ns=start_ns,
                end_ns=start_ns + window_ns,
                kernel_period_ns=self.kernel_period_ns,
                state=state,
            )
            yield found, state

    def trains(self, window_ns: float = _SECOND_NS) -> Iterator[tuple[FoundTrain, ...]]:
        """What is found in each whole window."""
        return (found for found, _ in self.windows(window_ns))


def recording(rng: Random, events: list[Events], length_ns: float, *, kernel_hz: float = 250.0) -> Recording:
    """``events`` on a CPU whose kernel ticks ``kernel_hz`` times a second and has more to do afterwards."""
    period_ns = _SECOND_NS / kernel_hz
    slots_ns = np.arange(first_slot_ns(rng, period_ns), length_ns, period_ns)
    ticks_ns = slots_ns + rng.gamma(2.0, 1_000.0, len(slots_ns))
    cost_ns = lengths(rng, len(ticks_ns), middle_ns=5_000, spread=0.3)
    kernel: list[Events] = [(ticks_ns, cost_ns)]
    for share, after_ns, jitter_ns in ((1.0, 8e3, 4e3), (0.5, 30e3, 10e3), (0.2, 60e3, 80e3)):
        some = np.flatnonzero(rng.random(len(ticks_ns)) < share)
        late_ns = after_ns + _late(rng, jitter_ns, len(some))
        left_over = lengths(rng, len(some), middle_ns=700, spread=0.6)
        kernel.append(((ticks_ns + cost_ns)[some] + late_ns, left_over))
    starts_ns, ends_ns = _seen(*(np.concatenate(part) for part in zip(*kernel, *events, strict=True)))
    inside = (starts_ns >= 0) & (starts_ns < length_ns)
    starts_ns, ends_ns = starts_ns[inside], ends_ns[inside]
    # A tick is held by what covers its slot, else by what starts within 60 µs.
    before = np.maximum(np.searchsorted(starts_ns, slots_ns, side="right") - 1, 0)
    covered = (starts_ns[before] <= slots_ns) & (ends_ns[before] > slots_ns)
    holder = np.where(covered, before, np.minimum(before + 1, len(starts_ns) - 1))
    held = covered | (np.abs(starts_ns[holder] - slots_ns - 30e3) <= 30e3)
    free = np.ones(len(starts_ns), bool)
    free[holder[held]] = False
    return Recording(
        starts_ns=starts_ns,
        gaps_ns=ends_ns - starts_ns,
        free=free,
        kernel_period_ns=period_ns,
        length_ns=length_ns,
    )


def first_slot_ns(rng: Random, period_ns: float) -> float:
    """Where the kernel's ticks begin: the first thing that is drawn for a recording."""
    return rng.uniform(0, period_ns)


def _seen(starts_ns: Floats, lengths_ns: Floats) -> Events:
    """Starts and ends of the gaps: what asks while something else runs makes that one longer."""
    order = np.argsort(starts_ns)
    starts_ns = starts_ns[order]
    ends_ns = np.maximum.accumulate(starts_ns + lengths_ns[order])
    first = np.flatnonzero(np.append(True, starts_ns[1:] > ends_ns[:-1]))
    return starts_ns[first], ends_ns[np.append(first[1:], len(starts_ns)) - 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunt:
    """What came of looking for trains that are known to be there."""

    sought: int
    found: int
    """In the last window."""
    worst_ppm: float
    """Of those found in the last window."""
    invented: int
    """Trains that are not there, over all windows."""
    windows: int
    """Until all of them had been seen at once; one more than there were when that never happened."""


def hunted(record: Recording, rates_hz: list[float], *, window_ns: float = _SECOND_NS) -> Hunt:
    """Looks for ``rates_hz`` window by window; nothing else is there."""
    invented = 0
    all_since: int | None = None
    off_ppm: list[float] = []
    count = 0
    for count, found in enumerate(record.trains(window_ns), start=1):
        off_ppm = []
        for hz in rates_hz:
            near_ppm = [ppm for one in found if (ppm := abs(one.hz / hz - 1) * 1e6) < 200]
            off_ppm += [min(near_ppm)] if near_ppm else []
        invented += len(found) - len(off_ppm)
        if all_since is None and len(off_ppm) == len(rates_hz):
            all_since = count
    return Hunt(
        sought=len(rates_hz),
        found=len(off_ppm),
        worst_ppm=max(off_ppm, default=0.0),
        invented=invented,
        windows=count + 1 if all_since is None else all_since,
    )


def hunt(
    seed: int,
    hz: float,
    *,
    two: bool = False,
    missing: float = 0.0,
    foreign: float = 0.0,
    kernel_hz: float = 250.0,
    seconds: float = 10.0,
    window_s: float = 1.0,
) -> Hunt:
    """A train of about ``hz`` by a clock of its own, or two; ``foreign`` times as many others beside them."""
    rng = np.random.default_rng([seed, int(hz)])
    length_ns = seconds * _SECOND_NS
    rates_hz = [hz, float(rng.choice([rate for rate in RATES_HZ if rate != hz]))][: 1 + two]
    # A clock nearer to the kernel's than 5 ppm cannot be told from it in ten seconds.
    drifts_ppm = rng.choice([-1.0, 1.0], len(rates_hz)) * rng.uniform(5, 100, len(rates_hz))
    rates_hz = [rate * (1 + ppm * 1e-6) for rate, ppm in zip(rates_hz, drifts_ppm.tolist(), strict=True)]
    events = [
        train(
            rng,
            rate,
            length_ns,
            jitter_ns=_between(rng, 1e3, 30e3),
            missing=missing,
            gap_ns=_between(rng, 1e3, 60e3),
            bend_ppm_per_s=rng.uniform(-0.05, 0.05),
        )
        for rate in rates_hz
    ]
    others_hz = foreign * sum(rates_hz) if foreign else 100.0
    events.append(poisson(rng, others_hz, length_ns, middle_ns=2_000, spread=1.5))
    record = recording(rng, events, length_ns, kernel_hz=kernel_hz)
    return hunted(record, rates_hz, window_ns=window_s * _SECOND_NS)


def _between(rng: Random, low: float, high: float) -> float:
    """Any order of magnitude alike."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def noise(rng: Random, length_ns: float) -> list[Events]:
    """10 to 20,000 a second at random."""
    return [poisson(rng, _between(rng, 10, 20_000), length_ns)]


def noise_and_bursts(rng: Random, length_ns: float) -> list[Events]:
    """A burst every two seconds to 50 a second on a random background."""
    return [bursts(rng, _between(rng, 0.5, 50), length_ns), poisson(rng, 200, length_ns)]


def noise_and_loops(rng: Random, length_ns: float) -> list[Events]:
    """One to three loops of sleeps of 250 µs to 50 ms on a random background."""
    loops = []
    for _ in range(rng.integers(1, 4)):
        sleep_ns = _between(rng, 250e3, 50e6)
        work_ns = max(sleep_ns * _between(rng, 1e-4, 0.1), 500.0)
        loops.append(sleep_loop(rng, sleep_ns, length_ns, work_ns=work_ns))
    return [*loops, poisson(rng, 200, length_ns)]


def ticks_alone(rng: Random, length_ns: float) -> list[Events]:
    """Hardly anything but the kernel's own tick and what is left over by it."""
    return [poisson(rng, 20, length_ns)]


TRAINLESS: tuple[Callable[[Random, float], list[Events]], ...] = (
    noise,
    noise_and_bursts,
    noise_and_loops,
    ticks_alone,
)


def invented(
    seed: int, make: Callable[[Random, float], list[Events]], *, windows: int, window_s: float = 1.0
) -> int:
    """How many trains are found where there are none; kernels of 100 to 1000 Hz by turns."""
    rng = np.random.default_rng(seed)
    length_ns = windows * window_s * _SECOND_NS
    kernel_hz = (250.0, 1000.0, 100.0, 300.0)[seed % 4]
    record = recording(rng, make(rng, length_ns), length_ns, kernel_hz=kernel_hz)
    return hunted(record, [], window_ns=window_s * _SECOND_NS).invented


def own_rate_ppm(hz: float, *, seed: int = 0, seconds: int = 60, window_s: float = 1.0) -> float:
    """How far the rate of a kernel's tick comes out from its own after ``seconds``, nothing known of it.

    By a clock that is steered and readings of it that err, as a machine's are, with other interruptions.
    """
    life = Life(hz=hz, seed=seed, slew_ppm=37.0, steered=((20e9, 37.2), (40e9, 36.9)), reading_ns=50.0)
    ends_ns = (np.arange(round(seconds / window_s)) + 1) * window_s * _SECOND_NS
    clocks, found_hz = Clocks(), math.nan
    for window in simulate(life, ends_ns=ends_ns.tolist(), segment=make_segment(kernel_tick=None)):
        analysis, clocks = analyse(window, clocks)
        found_hz = analysis.check.hz or math.nan
    return abs(found_hz * tick_period_ns(hz) / _SECOND_NS - 1) * 1e6


KERNELS_HZ = (100.0, 250.0, 300.0, 1000.0)

CASES: dict[str, dict[str, float]] = {
    "alone": {},
    "two at once": {"two": True},
    "10 % missing": {"missing": 0.1},
    "500 % foreign": {"foreign": 5.0},
}


def main() -> int:
    """Prints the table; 1 when a figure in it is not what is promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8, help="made-up CPUs for each rate and case")
    parser.add_argument("--windows", type=int, default=3000, help="windows without a train, of each kind")
    arguments = parser.parse_args()
    kept = [_print_hunts(arguments.seeds), _print_invented(arguments.windows), _print_own_rates()]
    return int(not all(kept))


def _print_hunts(seeds: int) -> bool:
    kept = True
    print("train, 10 s in windows of 1 s     found   worst ppm   invented   seen after")
    for name, options in CASES.items():
        for hz in RATES_HZ:
            hunts = [hunt(seed, hz, **options) for seed in range(seeds)]  # type: ignore[arg-type]
            found, sought = sum(one.found for one in hunts), sum(one.sought for one in hunts)
            worst_ppm, ghosts = max(one.worst_ppm for one in hunts), sum(one.invented for one in hunts)
            after_s = np.median([one.windows for one in hunts])
            print(
                f"{f'{hz:g} Hz, {name}':<31}{f'{found}/{sought}':>8}{worst_ppm:>12.2f}{ghosts:>11}"
                f"{f'{after_s:g} s':>13}",
                flush=True,
            )
            kept &= found == sought and worst_ppm <= MOST_PPM and not ghosts
    return kept


def _print_invented(windows: int) -> bool:
    each = 15
    runs = math.ceil(windows / each)
    kept = True
    for make in TRAINLESS:
        count = sum(invented(seed, make, windows=each) for seed in range(runs))
        name = f"no train: {make.__name__.replace('_', ' ')}"
        print(f"{name:<51}{count:>11} in {runs * each:,} windows", flush=True)
        kept &= not count
    return kept


def _print_own_rates() -> bool:
    kept = True
    for hz in KERNELS_HZ:
        off_ppm = max(own_rate_ppm(hz, seed=seed) for seed in range(3))
        print(f"{f'the own tick at {hz:g} Hz, after 60 s':<39}{off_ppm:>12.3f}", flush=True)
        kept &= off_ppm <= MOST_OWN_PPM
    return kept


if __name__ == "__main__":
    sys.exit(main())
