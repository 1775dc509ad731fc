"""How often compare is wrong, what it finds, and what it costs: python -m tests.bench.compare [FILE].

FILE: a real recording of a minute or more, whose odd windows are compared with its even ones; without it one
is made on the default CPU.
"""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from statistics import median

from tests.making import Life, simulate
from tests.readings import read as analysed
from tests.recordings import windows_in, written
from tests.stretches import make_stretches
from tickmon.analysis.compare import Comparison, change_between, compare
from tickmon.cli import main as tickmon
from tickmon.loading.read import read

PAIRS = 200
DIFFERENT_MOST = 21
"""More than so many of PAIRS come in one of a thousand trials when 5 % are called different."""
FOUND_LEAST = 190
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
    return wrong <= DIFFERENT_MOST


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
    return wrong <= DIFFERENT_MOST


def _changed() -> bool:
    found = 0
    for seed in range(PAIRS):
        comparison = compare(make_stretches(2 * seed), make_stretches(2 * seed + 1, tick_ns=1_200))
        found += comparison.changes[0].verdict == "better"
    print(f"a tick that costs 20 % less, 60 windows each: found in {found} of {PAIRS} pairs")
    return found >= FOUND_LEAST


def _odd_even() -> bool:
    with _recorded() as path:
        windows = windows_in(path, events=False)
    comparison = change_between(windows[::2], windows[1::2])
    wrong = [f"{c.name} {c.of or ''}" for c in comparison.changes if c.verdict in ("better", "worse")]
    print(f"odd against even of {len(windows)} real windows: {', '.join(wrong) or 'no difference'}")
    return not wrong


@contextmanager
def _recorded() -> Iterator[Path]:
    if len(sys.argv) > 1:
        yield Path(sys.argv[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "real.jsonl"
        tickmon(["sample", "--duration", "60", "--output", str(path)])
        yield path


def _cost() -> bool:
    """Two recordings of 50 windows with 20,000 interruptions each."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.jsonl" for name in ("before", "after")]
        for seed, path in enumerate(paths, 1):
            life = Life(noise_hz=20_500, noise_ns=300, seed=seed)
            windows = analysed(simulate(life, ends_ns=[(i + 1) * 1e9 for i in range(50)]))
            path.write_text(written(windows, events=True))
        count = sum(window.window.interruptions for window in windows)
        reading_s = _seconds(lambda: [list(read(path)) for path in paths])
        with redirect_stdout(io.StringIO()):
            comparing_s = _seconds(lambda: tickmon(["compare", *map(str, paths)]))
    ratio = comparing_s / reading_s
    print(
        f"two recordings of {count:,} interruptions: read in {reading_s:.2f} s, compared in "
        f"{comparing_s:.2f} s with reading: {ratio:.2f} times"
    )
    return ratio <= READINGS_MOST


def _seconds(work: Callable[[], object]) -> float:
    times = []
    for _ in range(3):
        start_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - start_s)
    return median(times)


if __name__ == "__main__":
    sys.exit(main())
