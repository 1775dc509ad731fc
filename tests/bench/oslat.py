"""tickmon beside oslat (Debian: rt-tests) on one CPU, in turns: do they see the same interruptions?

``python -m tests.bench.oslat [--cpu N] [--turns N] [--seconds S]``

Looked at are the gaps of at least 2 µs, how many a second and how long in the median. oslat counts whole
microseconds of its own counter frequency, so tickmon's gaps are counted in those too. They agree when the
90 % interval of the pairs' median ratio (bootstrap) lies within what a tool's own turns differ by from one
to the next; exit code 3 when it lies beyond that, 1 when it lies on the border, or oslat is missing.

Beneath stands what is known to differ. oslat's read of the counter waits for all loads (lfence), and each
goes through a division and into a table in memory, so one of its polls takes longer, and with it every gap.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tests.bench.programs import collect, median_interval
from tickmon.machine.affinity import keep_away
from tickmon.machine.facts import read_machine
from tickmon.windows import Settings, Window

LEAST_US = 2
OTHERS_US = (2, 3, 5, 10, 20, 50)
BUCKETS = 1024
"""The most that oslat has; the last holds all longer gaps too."""
AGREE, UNDECIDED, DISAGREE = 0, 1, 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OslatRun:
    """What one run of oslat printed."""

    counts: NDArray[np.int64] = field(repr=False)
    """Reads by gap: bucket k holds those of k to below k + 1 µs, which oslat prints as "k + 1 (us)"."""
    seconds: float
    mhz: int
    """Its whole megahertz, which it takes for its microsecond."""


def run_oslat(cpu: int, seconds: int, *, buckets: int = 32) -> OslatRun:
    """Measures ``cpu``, after a second that it takes to warm up; its main thread stays on another CPU."""
    screen = min(set(os.sched_getaffinity(0)) - {cpu}, default=cpu)
    options = {"-c": cpu, "-C": screen, "-D": seconds, "-b": buckets}
    command = ["oslat", *(str(word) for option in options.items() for word in option)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    duration = re.search(r"Duration:\s+([\d.]+) \(sec\)", text)
    mhz = re.search(r"Freq:\s+(\d+) \(Mhz\)", text)
    if duration is None or mhz is None:
        raise ValueError(f"oslat printed something else:\n{text}")
    counts = [int(count) for count in re.findall(r"^\s*\d+ \(us\):\s+(\d+)", text, re.MULTILINE)]
    return OslatRun(counts=np.array(counts, np.int64), seconds=float(duration[1]), mhz=int(mhz[1]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Turn:
    """The gaps in one turn of one tool, in the buckets of oslat."""

    counts: NDArray[np.int64] = field(repr=False)
    seconds: float

    def rate_hz(self, least_us: int = LEAST_US) -> float:
        """How many gaps a second are at least so long."""
        return float(self.counts[least_us:].sum()) / self.seconds

    def median_us(self) -> float:
        """Of the gaps of at least LEAST_US."""
        return LEAST_US + median_of(self.counts[LEAST_US:])

    def poll_us(self) -> float:
        """Time of a read without those that took a microsecond or more, as far as the buckets tell."""
        longer_us = float(self.counts[1:] @ (np.arange(1, len(self.counts)) + 0.5))
        return (self.seconds * 1e6 - longer_us) / int(self.counts[0])


def main() -> int:
    """Prints every turn, both comparisons, and a verdict; returns the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    machine = read_machine()
    parser.add_argument("--cpu", type=int, default=max(machine.cpus.usable))
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--seconds", type=int, default=1)
    asked = parser.parse_args()
    if shutil.which("oslat") is None:
        print("oslat is not installed (Debian: rt-tests): nothing to compare with", file=sys.stderr)
        return UNDECIDED
    keep_away([asked.cpu], machine.cpus)

    print(f"CPU {asked.cpu}, {asked.turns} turns of {asked.seconds} s: gaps of at least {LEAST_US} µs")
    print(f"{'turn':>4}{'tickmon a second':>20}{'median':>10}{'oslat a second':>20}{'median':>10}")
    mine, shifted, its = [], [], []
    for turn in range(asked.turns):
        # Which comes first changes, so that a drift of the machine falls on both alike.
        run = run_oslat(asked.cpu, asked.seconds, buckets=BUCKETS) if turn % 2 else None
        windows = collect(Settings(cpu=asked.cpu), machine, seconds=asked.seconds)
        run = run or run_oslat(asked.cpu, asked.seconds, buckets=BUCKETS)
        if lost := sum(window.lost for window in windows):
            sys.exit(f"{lost} interruptions came too fast to be kept one by one: nothing to compare")
        its.append(Turn(counts=run.counts, seconds=run.seconds))
        mine.append(tickmon_turn(windows, mhz=run.mhz))
        longer_us = its[-1].poll_us() - mine[-1].poll_us()
        shifted.append(tickmon_turn(windows, mhz=run.mhz, longer_us=longer_us))
        ours, theirs = mine[-1], its[-1]
        print(
            f"{turn + 1:>4}{ours.rate_hz():>20,.1f}{ours.median_us():>7.2f} µs"
            f"{theirs.rate_hz():>20,.1f}{theirs.median_us():>7.2f} µs",
            flush=True,
        )
    verdicts = [
        _compare("a second", mine, its, Turn.rate_hz),
        _compare("median", mine, its, Turn.median_us),
    ]
    _explain(mine, shifted, its)
    verdict = max(verdicts)
    print(
        {AGREE: "they agree", UNDECIDED: "undecided: give more --turns", DISAGREE: "they disagree"}[verdict]
    )
    return verdict


def tickmon_turn(windows: Sequence[Window], *, mhz: int, longer_us: float = 0.0) -> Turn:
    """Its gaps in microseconds of ``mhz`` cycles, each made ``longer_us`` longer than it was."""
    gaps = np.concatenate([window.details["gap_cycles"] for window in windows])
    buckets = np.minimum((gaps + round(longer_us * mhz)) // mhz, BUCKETS - 1)
    counts = np.bincount(buckets, minlength=BUCKETS)
    # Reads below the threshold have no detail, and are far shorter than a microsecond.
    counts[0] += sum(window.reads - window.interruptions for window in windows)
    cycles = sum(window.end_cycles - window.start_cycles for window in windows)
    return Turn(counts=counts, seconds=cycles / windows[0].segment.tsc_hz)


def median_of(counts: NDArray[np.int64]) -> float:
    """The median by buckets of width 1 from 0 on, each evenly filled; NaN when all are empty."""
    if not counts.sum():
        return float("nan")
    half = counts.sum() / 2
    before = np.cumsum(counts) - counts
    bucket = int(np.flatnonzero(before <= half)[-1])
    while not counts[bucket]:
        bucket -= 1
    return float(bucket + (half - before[bucket]) / counts[bucket])


def _compare(what: str, mine: Sequence[Turn], its: Sequence[Turn], value: Callable[[Turn], float]) -> int:
    """Prints the pairs' ratio beside the tools' own spread."""
    pairs = np.log([[value(ours), value(theirs)] for ours, theirs in zip(mine, its, strict=True)])
    middle, low, high = np.exp(median_interval((pairs[:, 0] - pairs[:, 1]).tolist()))
    own = [float(np.exp(np.median(np.abs(np.diff(column)))) - 1) for column in pairs.T]
    spread = float(np.exp(np.median(np.abs(np.diff(pairs, axis=0)))))
    print(
        f"{what}: tickmon / oslat {middle:.3f}, 90 % interval {low:.3f} to {high:.3f}; "
        f"from turn to turn tickmon differs by {own[0]:.1%}, oslat by {own[1]:.1%}"
    )
    if 1 / spread <= low and high <= spread:
        return AGREE
    return DISAGREE if high < 1 / spread or low > spread else UNDECIDED


def _explain(mine: Sequence[Turn], shifted: Sequence[Turn], its: Sequence[Turn]) -> None:
    """Prints where the two differ, and what their polls make of it."""
    for least_us in OTHERS_US:
        rates = np.array([[turn.rate_hz(least_us) for turn in turns] for turns in (mine, its)])
        print(
            f"gaps of at least {least_us:>2} µs a second: tickmon {np.median(rates[0]):>8,.1f}, oslat "
            f"{np.median(rates[1]):>8,.1f}; pairs' median difference {np.median(rates[0] - rates[1]):>+8,.1f}"
        )
    polls = [1e3 * float(np.median([turn.poll_us() for turn in turns])) for turns in (mine, its)]
    ratios = [longer.rate_hz() / ours.rate_hz() for longer, ours in zip(shifted, mine, strict=True)]
    print(f"a poll takes {polls[0]:.1f} ns with tickmon, {polls[1]:.1f} ns with oslat;")
    print(
        f"were tickmon's gaps longer by the difference, {float(np.median(ratios)):.3f} times as many of them "
        f"would be {LEAST_US} µs or more"
    )


if __name__ == "__main__":
    sys.exit(main())
