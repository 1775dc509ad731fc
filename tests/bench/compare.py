"""How often compare is wrong, what it finds, and what it costs: python -m tests.bench.compare [FILE ...].

FILE: real recordings, whose odd windows are compared with their even ones; without any two are made on the
last usable CPU, a minute by itself and a minute beside a program that wakes there now and then. It takes five
minutes.
"""

from __future__ import annotations

import io
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from statistics import median

from tests.making import Life, simulate
from tests.readings import read as analysed
from tests.recordings import windows_in, written
from tests.stretches import make_stretches
from tickmon.analysis.compare import ERROR_RATE, Comparison, change_between, compare
from tickmon.cli import main as tickmon
from tickmon.loading.read import read
from tickmon.machine.cpus import read_cpus

PAIRS = 200
RARELY = 1e-3
"""More than so many wrong ones come by chance once in a thousand times, when 5 % are."""
FOUND_LEAST = 190
RECORDED_S = 60
WINDOW_S = 0.2
"""Holds a whole number of ticks at every HZ: else every other window would hold one more."""
PIECES = 4
"""A real recording is compared as a whole, and in so many pieces."""
READINGS_MOST = 5.0
"""So many times the time of reading both files a comparison may take."""


def main() -> int:
    """Prints every result; 1 when one of them is not as it should be."""
    results = [_unchanged(correlation) for correlation in (0.0, 0.3, 0.6)]
    # Sixty windows that are so alike are hardly more than six: shown, not judged.
    _unchanged(0.8)
    results += [_unchanged_lives(), _changed(), _odd_even(), _cost()]
    return int(not all(results))


def _different(comparison: Comparison) -> bool:
    return any(change.verdict in ("better", "worse") for change in comparison.changes)


def _as_chance_has_it(wrong: int, trials: int) -> bool:
    """Whether so many may be called different where 5 % are: the binomial tail from ``wrong`` on."""
    tail = sum(
        math.comb(trials, k) * ERROR_RATE**k * (1 - ERROR_RATE) ** (trials - k)
        for k in range(wrong, trials + 1)
    )
    return tail > RARELY


def _unchanged(correlation: float) -> bool:
    wrong = sum(
        _different(
            compare(
                make_stretches(2 * seed, correlation=correlation),
                make_stretches(2 * seed + 1, correlation=correlation),
            )
        )
        for seed in range(PAIRS)
    )
    print(f"no change, neighbours alike by {correlation}: {wrong} of {PAIRS} pairs called different")
    return _as_chance_has_it(wrong, PAIRS)


def _unchanged_lives() -> bool:
    """Made-up CPUs with ticks, a host, noise and other tasks; each pair of two lives of 12 s."""

    def lived(seed: int) -> Iterator[Comparison]:
        life = Life(host_hz=99.98, noise_hz=60, wakeups_hz=2.0)
        sides = [
            analysed(simulate(replace(life, seed=seed + i), ends_ns=[(k + 1) * 1e9 for k in range(12)]))
            for i in range(2)
        ]
        yield change_between(sides[0], sides[1])

    wrong = sum(_different(comparison) for seed in range(PAIRS) for comparison in lived(2 * seed + 1))
    print(f"no change, made-up CPUs: {wrong} of {PAIRS} pairs called different")
    return _as_chance_has_it(wrong, PAIRS)


def _changed() -> bool:
    found = 0
    for seed in range(PAIRS):
        comparison = compare(make_stretches(2 * seed), make_stretches(2 * seed + 1, tick_ns=1_200))
        found += comparison.changes[0].verdict == "better"
    print(f"a tick that costs 20 % less, 60 windows each: found in {found} of {PAIRS} pairs")
    return found >= FOUND_LEAST


def _odd_even() -> bool:
    """Nothing changes from one window to the next, whatever comes and goes on that machine."""
    verdicts: Counter[str] = Counter()
    windows = 0
    with _recorded() as paths:
        for path in paths:
            analyses = windows_in(path, events=False)
            windows += len(analyses)
            size = len(analyses) // PIECES
            for piece in (analyses, *(analyses[i * size : (i + 1) * size] for i in range(PIECES))):
                comparison = change_between(piece[::2], piece[1::2])
                verdicts["different" if _different(comparison) else comparison.verdict] += 1
    trials = verdicts.total()
    print(
        f"odd against even of {windows} real windows in {len(paths)} recordings, whole and in quarters: "
        f"{verdicts['different']} of {trials} called different, {verdicts['same']} not told apart, "
        f"{verdicts['unknown']} too short or too unsteady to tell"
    )
    return _as_chance_has_it(verdicts["different"], trials)


@contextmanager
def _recorded() -> Iterator[list[Path]]:
    if len(sys.argv) > 1:
        yield [Path(name) for name in sys.argv[1:]]
        return
    cpu = max(read_cpus().usable)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.jsonl" for name in ("quiet", "noisy")]
        _record(cpu, paths[0])
        with _neighbour(cpu):
            _record(cpu, paths[1])
        yield paths


def _record(cpu: int, path: Path) -> None:
    how = ["--cpu", str(cpu), "--window", str(WINDOW_S), "--duration", str(RECORDED_S)]
    if tickmon(["sample", *how, "--output", str(path)]):
        raise SystemExit(f"cannot record on CPU {cpu}")


_NEIGHBOUR = """
import os, random, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
while os.getppid() == int(sys.argv[2]):
    time.sleep(random.expovariate(20))
    until = time.perf_counter() + random.uniform(1e-4, 3e-3)
    while time.perf_counter() < until:
        pass
"""


@contextmanager
def _neighbour(cpu: int) -> Iterator[None]:
    """A program that wakes on that CPU twenty times a second and works for up to 3 ms."""
    with subprocess.Popen([sys.executable, "-c", _NEIGHBOUR, str(cpu), str(os.getpid())]) as process:
        try:
            yield
        finally:
            process.kill()


def _cost() -> bool:
    """A million interruptions in each: in many windows, and in so few that each interruption is looked at."""
    return all([_cost_of(windows=50), _cost_of(windows=5)])


def _cost_of(*, windows: int) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.jsonl" for name in ("before", "after")]
        for seed, path in enumerate(paths, 1):
            life = Life(noise_hz=20_500, noise_ns=300, seed=seed)
            analyses = analysed(simulate(life, ends_ns=[(i + 1) * 50e9 / windows for i in range(windows)]))
            path.write_text(written(analyses, events=True))
        count = sum(analysis.window.interruptions for analysis in analyses)
        reading_s, comparing_s = _seconds(
            lambda: [list(read(path)) for path in paths], lambda: tickmon(["compare", *map(str, paths)])
        )
    ratio = comparing_s / reading_s
    print(
        f"two recordings of {count:,} interruptions in {windows} windows: read in {reading_s:.2f} s, "
        f"compared in {comparing_s:.2f} s with reading: {ratio:.2f} times"
    )
    return ratio <= READINGS_MOST


def _seconds(*works: Callable[[], object]) -> list[float]:
    """The median of three times of each, in turns."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(3):
        for work, taken in zip(works, times, strict=True):
            start_s = time.perf_counter()
            with redirect_stdout(io.StringIO()):
                work()
            taken.append(time.perf_counter() - start_s)
    return [median(taken) for taken in times]


if __name__ == "__main__":
    sys.exit(main())
