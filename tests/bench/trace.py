"""What the kernel's own trace costs, and how much of it can be read.

``python -m tests.bench.trace cost [--cpu N] [--blocks N] [--seconds S]``: what tracing adds to a tick.
Blocks with and without it take turns; the medians of the pairs' differences are looked at, with a bootstrap
interval.

``python -m tests.bench.trace rate [--cpu N] [--seconds S]``: two processes hand that CPU to each other as
fast as they can, and the log is read as often as while sampling. What the kernel counts of their switches
the trace must have told, or have called lost: else it ends with 3.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench.programs import collect, median_interval
from tickmon.analysis import Clocks, analyse, merge
from tickmon.machine.affinity import keep_away
from tickmon.machine.cpus import read_cpus
from tickmon.machine.facts import Machine, read_machine
from tickmon.sampling.run import POLL_S
from tickmon.sampling.trace import Tracer, tracing
from tickmon.windows import KernelEvent, Settings

YIELDS = "import os\nos.sched_setaffinity(0, [{cpu}])\nprint(flush=True)\nwhile True: os.sched_yield()"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("cost", "rate"))
    parser.add_argument("--cpu", type=int, default=max(read_cpus().usable))
    parser.add_argument("--blocks", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=4.0)
    asked = parser.parse_args()
    keep_away([asked.cpu], read_cpus())
    if asked.what == "cost":
        show_cost(asked.cpu, blocks=asked.blocks, seconds=asked.seconds)
    else:
        sys.exit(show_rate(asked.cpu, seconds=asked.seconds))


def show_cost(cpu: int, *, blocks: int, seconds: float) -> None:
    machine = read_machine()
    print("median cost of a tick in µs (ticks that it is from)")
    print(f"{'pair':>6}{'traced':>16}{'not traced':>16}{'difference':>12}")
    differences: list[float] = []
    without: list[float] = []
    repeats = blocks
    while len(differences) < blocks:
        pair = len(differences)
        # Which comes first changes, so that a drift of the machine falls on both alike.
        order = (True, False) if pair % 2 == 0 else (False, True)
        found = {trace: tick_of(machine, cpu, trace=trace, seconds=seconds) for trace in order}
        on, off = found[True], found[False]
        if on is None or off is None:
            print(f"{pair + 1:>6}  again: too few ticks that nothing else disturbed", flush=True)
            if (repeats := repeats - 1) == 0:
                sys.exit("the CPU is too busy: take another one, or give more --seconds")
            continue
        differences.append(on.median_us - off.median_us)
        without.append(off.median_us)
        told = [f"{each.median_us:.2f} ({each.ticks})" for each in (on, off)]
        print(f"{pair + 1:>6}{told[0]:>16}{told[1]:>16}{differences[-1]:>12.2f}", flush=True)
    middle, low, high = median_interval(differences)
    base = median_interval(without)[0]
    print(
        f"tracing adds {middle:.2f} µs to a tick of {base:.2f} µs ({middle / base:.0%}), "
        f"90 % interval {low:.2f} to {high:.2f} µs, {blocks} pairs"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    median_us: float
    ticks: int


def tick_of(machine: Machine, cpu: int, *, trace: bool, seconds: float) -> Tick | None:
    """A tick's median cost in one block; None when too few of them were left alone by everything else."""
    whole = merge(collect(Settings(cpu=cpu, trace=trace), machine, seconds=seconds))
    if trace and whole.trace is None:
        sys.exit("\n".join(warning.message for warning in whole.warnings))
    analysis, _clocks = analyse(whole, Clocks())
    tick = analysis.tick
    if tick is None or tick.spread.median_cycles is None:
        return None
    return Tick(median_us=tick.spread.median_cycles / analysis.tsc_hz * 1e6, ticks=tick.spread.n)


def show_rate(cpu: int, *, seconds: float) -> int:
    with tracing(cpu) as (tracer, warnings):
        if tracer is None:
            sys.exit(warnings[0].message)
        command = [sys.executable, "-c", YIELDS.format(cpu=cpu)]
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
        try:
            for process in processes:
                assert process.stdout is not None
                process.stdout.readline()
            tracer.read(sampler=0)
            pids = [process.pid for process in processes]
            first = sum(map(switches_of, pids))
            told = Told()
            begin_s = time.monotonic()
            while time.monotonic() - begin_s < seconds:
                time.sleep(POLL_S)
                told.read(tracer)
            counted = sum(map(switches_of, pids)) - first
            # What was counted by now has been written down by now.
            told.read(tracer)
        finally:
            for process in processes:
                process.kill()
                process.wait()
    print(f"{'events a second':>32}{'lost':>10}{'since the last reading':>24}")
    for span in told.spans:
        print(f"{span.events / span.seconds:>32,.0f}{span.lost:>10,}{span.seconds:>22.3f} s")
    lost = sum(span.lost for span in told.spans)
    events = sum(span.events for span in told.spans)
    took_s = sum(span.seconds for span in told.spans)
    print(f"{(events + lost) / took_s:,.0f} events a second, {lost / (events + lost):.2%} of them lost")
    print(f"{counted:,} switches by the kernel's count; {told.switches:,} told and {lost:,} events lost")
    print(f"reading took {told.used_s / events * 1e6:.2f} µs an event")
    whole = told.switches + lost >= counted
    print("ok: all told, or said to be lost" if whole else "not ok: switches are missing")
    return 0 if whole else 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """From one reading of the log to the next."""

    events: int
    lost: int
    seconds: float


class Told:
    """What the trace has told by now."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.switches = 0
        self.used_s = 0.0
        self._since_s = time.monotonic()

    def read(self, tracer: Tracer) -> None:
        used_s = time.thread_time()
        batch = tracer.read(sampler=0)
        self.used_s += time.thread_time() - used_s
        now_s = time.monotonic()
        lost = sum(count for _at, count in batch.lost)
        self.spans.append(Span(events=len(batch.events), lost=lost, seconds=now_s - self._since_s))
        self.switches += int((batch.events["event"] == KernelEvent.SWITCH).sum())
        self._since_s = now_s


def switches_of(pid: int) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return sum(int(line.split()[1]) for line in text.splitlines() if "ctxt_switches:" in line)


if __name__ == "__main__":
    main()
