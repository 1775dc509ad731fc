"""What a poll costs: the sampler's loop, a bare counter read, and oslat's, on one CPU, in turns.

``python -m tests.bench.poll [--cpu N] [--turns N] [--seconds S]``

Undisturbed is what a read costs without the interruptions, which is what is compared with a bare read.
oslat (Debian: rt-tests) says only how many polls it made, so it is compared over the whole time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.bench.oslat import run_oslat
from tickmon.sampling.clocks import read_clocks
from tickmon.sampling.sampler import Sampler
from tickmon.windows import Method

HERE = Path(__file__).parent
MOST_BARE_READS = 1.15
FLOOR_NS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Cycles of one poll."""

    undisturbed: float | None
    whole: float


def main() -> int:
    """Prints medians, paired ratios and their spread; 1 when a limit is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--turns", type=int, default=11)
    parser.add_argument("--seconds", type=int, default=1)
    asked = parser.parse_args()

    hz = _counter_hz()
    floor_cycles = round(FLOOR_NS * hz / 1e9)
    with tempfile.TemporaryDirectory() as folder:
        bare = _build(Path(folder) / "bare_reads")
        ways: dict[str, Callable[[], Cost]] = {
            "bare read": lambda: _bare(bare, asked.cpu, asked.seconds, floor_cycles),
            "tickmon": lambda: _tickmon(asked.cpu, asked.seconds, floor_cycles),
        }
        if shutil.which("oslat"):
            ways["oslat"] = lambda: _oslat(asked.cpu, asked.seconds, hz)
        costs: dict[str, list[Cost]] = {name: [] for name in ways}
        for turn in range(asked.turns):
            # Each turn begins with another one, so that none is always first.
            names = list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]
            for name in names:
                costs[name].append(ways[name]())

    print(f"CPU {asked.cpu}, {asked.turns} turns of {asked.seconds} s")
    print("cycles a poll, median (lowest to highest)     undisturbed                whole time")
    for name, of_name in costs.items():
        undisturbed = [cost.undisturbed for cost in of_name if cost.undisturbed is not None]
        print(f"{name:37} {_spread(undisturbed)} {_spread([cost.whole for cost in of_name])}")
    ratios = [
        mine.undisturbed / bare.undisturbed
        for mine, bare in zip(costs["tickmon"], costs["bare read"], strict=True)
        if mine.undisturbed is not None and bare.undisturbed is not None
    ]
    print(f"{'tickmon / bare read':37} {_spread(ratios)}   at most {MOST_BARE_READS}")
    missed = median(ratios) > MOST_BARE_READS
    if "oslat" in costs:
        ratios = [mine.whole / its.whole for mine, its in zip(costs["tickmon"], costs["oslat"], strict=True)]
        print(f"{'tickmon / oslat':37} {_spread([])} {_spread(ratios)}   below 1")
        missed = missed or median(ratios) >= 1
    return int(missed)


def _spread(values: list[float]) -> str:
    text = f"{median(values):.3f} ({min(values):.3f} to {max(values):.3f})" if values else "–"
    return f"{text:>25}"


def _counter_hz() -> float:
    first = read_clocks()
    time.sleep(0.1)
    last = read_clocks()
    return (last.cycles - first.cycles) / (last.monotonic_ns - first.monotonic_ns) * 1e9


def _build(program: Path) -> Path:
    source = HERE / "bare_reads.c"
    csrc = HERE.parent.parent / "csrc"
    subprocess.run(["gcc", "-std=gnu11", "-O2", f"-I{csrc}", source, "-o", program], check=True)
    return program


def _bare(program: Path, cpu: int, seconds: int, threshold_cycles: int) -> Cost:
    command = [str(program), str(cpu), str(seconds), str(threshold_cycles)]
    words = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    return Cost(undisturbed=float(words[0]), whole=float(words[1]))


def _tickmon(cpu: int, seconds: int, floor_cycles: int) -> Cost:
    with Sampler(
        cpu=cpu, method=Method.GAP, threshold_floor_cycles=floor_cycles, lease_cycles=10**12
    ) as sampler:
        while sampler.status().state == "starting":
            time.sleep(0.001)
        time.sleep(seconds)
        sampler.cut()
        while (window := sampler.take()) is None:
            time.sleep(0.001)
    length_cycles = window.end_cycles - window.start_cycles
    return Cost(
        undisturbed=(length_cycles - window.gap_sum_cycles) / (window.reads - window.interruptions),
        whole=length_cycles / window.reads,
    )


def _oslat(cpu: int, seconds: int, hz: float) -> Cost:
    run = run_oslat(cpu, seconds)
    return Cost(undisturbed=None, whole=run.seconds * hz / int(run.counts.sum()))


if __name__ == "__main__":
    sys.exit(main())
