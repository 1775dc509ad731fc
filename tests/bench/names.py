"""Whether known disturbances get the right name: ``python -m tests.bench.names [--cpu N] [--seconds S]``.

Each is made on the sampled CPU while that is sampled with the kernel's trace, so this needs root. What is
true is told by a second trace of the kernel's, of which the measurement knows nothing (a tracefs instance):
from when until when the CPU was busy with the disturbance, be it a handler or a task. "Right" is the share
of that time that lies in interruptions with the disturbance's very name among their causes, "unseen" the
share in such that are called unseen by the kernel. A page fault's end is not traced: the faults are counted.

Of all interruptions in the run that are called unseen, "belied" are the events of the second trace that lie
in one. What no event lies in was not the kernel's time, but its host's or the hardware's. A disk read keeps
the host busy too, maybe on the same core, so the last columns tell how much of the time from the moment
before each system call to the moment after it is called unseen: "meanwhile"; how much of as much time between
two calls: "beside"; and the difference for each time it was made, with a 99 % interval. ``--cpu`` with a CPU
that no disk interrupts shows the same for one that has no part in the reads.

Exit code 3 when less than 99 % is right, 0.1 % or more is unseen, or anything is belied.
"""

from __future__ import annotations

import argparse
import sys

from tests.known import KNOWN
from tests.named import Told, tell
from tickmon.machine.affinity import keep_away
from tickmon.machine.cputime import read_cpu_time
from tickmon.machine.facts import read_machine


def main() -> int:
    """Prints a row for each disturbance."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    machine = read_machine()
    parser.add_argument("--cpu", type=int, default=max(machine.cpus.usable))
    parser.add_argument("--seconds", type=float, default=5.0)
    asked = parser.parse_args()
    keep_away([asked.cpu], machine.cpus)
    print(
        f"{'':<17}{'':>6}{'by the second trace':>37}{'called unseen':>18}"
        f"{'while it is made, called unseen':>42}\n"
        f"{'disturbance':<17}{'made':>6}{'times':>9}{'its time':>10}{'right':>9}{'unseen':>9}"
        f"{'all':>10}{'belied':>8}{'meanwhile':>11}{'beside':>8}{'difference':>23}"
    )
    before = read_cpu_time(asked.cpu)
    missed = []
    unseen = belied = 0
    for known in KNOWN:
        told = tell(machine, asked.cpu, known, seconds=asked.seconds)
        print(_row(told), flush=True)
        unseen, belied = unseen + told.unseen, belied + told.belied
        if told.times and not told.holds:
            missed.append(told.name)
    after = read_cpu_time(asked.cpu)
    print(f"called unseen in all runs: {unseen:,}, and events of the second trace in them: {belied}")
    if before is not None and after is not None:
        print(f"steal, by the kernel: {after.steal - before.steal} of {after.total - before.total} jiffies")
    print(f"missed: {', '.join(missed)}" if missed else "every one that came to this CPU got its name")
    return 3 if missed else 0


def _row(told: Told) -> str:
    right, unseen = (
        (f"{told.right_share:.3%}", f"{told.unseen_share:.3%}") if told.times else ("none", "none")
    )
    excess, low, high = told.excess_ns()
    return (
        f"{told.name:<17}{told.made:>6}{told.times:>9}{told.total_ns / 1e6:>7.1f} ms{right:>9}{unseen:>9}"
        f"{told.unseen:>10,}{told.belied:>8}{told.meanwhile_share:>11.2%}{told.beside_share:>8.2%}"
        f"{excess:>+8.0f} ns ({low:+.0f} to {high:+.0f})  {', '.join(told.warnings)}"
    )


if __name__ == "__main__":
    sys.exit(main())
