"""Interrupts that tickmon itself causes on the sampled CPU: screen up against a bare spinning process.

``python -m tests.bench.disturbance [--cpu N] [--blocks N] [--seconds S]``

Blocks alternate. What the tool causes are function-call and rescheduling interrupts: CAL and RES (on x86
each TLB shootdown is counted in CAL too). The background comes in bursts, so the medians of the blocks'
differences are looked at, with a bootstrap interval.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable

from tests.bench.programs import median_interval, tickmon_command
from tests.pseudo_terminal import PseudoTerminal
from tickmon.machine.affinity import keep_away
from tickmon.machine.cpus import read_cpus
from tickmon.machine.interrupts import read_rows

ROWS = ("CAL", "RES")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", type=int, default=max(read_cpus().usable))
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=6.0)
    asked = parser.parse_args()
    keep_away([asked.cpu], read_cpus())

    def screen() -> float:
        argv = [tickmon_command(), "watch", "--cpu", str(asked.cpu)]
        with PseudoTerminal(argv, columns=120, rows=40) as terminal:
            terminal.wait_for("overhead")
            terminal.read(3.0)
            return rate(asked.cpu, lambda: terminal.read(asked.seconds))

    def bare() -> float:
        script = f"import os\nos.sched_setaffinity(0, [{asked.cpu}])\nwhile True: pass"
        with subprocess.Popen([sys.executable, "-c", script]) as process:
            try:
                time.sleep(3.0)
                return rate(asked.cpu, lambda: time.sleep(asked.seconds))
            finally:
                process.kill()

    print("interrupts a second on the sampled CPU (CAL + RES)")
    print(f"{'block':>6}{'screen up':>12}{'bare':>8}{'difference':>12}")
    differences = []
    for block in range(asked.blocks):
        # Which comes first changes, so that a drift of the background falls on both alike.
        first = screen() if block % 2 == 0 else bare()
        second = bare() if block % 2 == 0 else screen()
        up, alone = (first, second) if block % 2 == 0 else (second, first)
        differences.append(up - alone)
        print(f"{block + 1:>6}{up:>12.2f}{alone:>8.2f}{up - alone:>12.2f}")
    middle, low, high = median_interval(differences)
    print(f"median difference {middle:.2f} a second, 90 % interval {low:.2f} to {high:.2f}")
    print(f"upper 95 % bound {high:.2f} a second: {'ok, at most 1' if high <= 1 else 'above 1'}")
    sys.exit(0 if high <= 1 else 3)


def rate(cpu: int, pass_time: Callable[[], None]) -> float:
    """Interrupts a second of ``ROWS`` on ``cpu`` while time passes."""
    before, since_s = count(cpu), time.monotonic()
    pass_time()
    return (count(cpu) - before) / (time.monotonic() - since_s)


def count(cpu: int) -> int:
    """The sum of ``ROWS``, read from another CPU."""
    assert cpu not in os.sched_getaffinity(0)
    rows = read_rows(cpu)
    return sum(rows[name].count for name in ROWS if name in rows)


if __name__ == "__main__":
    main()
