"""Whether known disturbances get the right name: ``python -m tests.bench.names [--seconds S] [--rounds N]``.

Each is made on the sampled CPU while that is sampled with the kernel's trace, so this needs root. "Right" is
the share of a disturbance's own time whose interruptions have it among their causes; "unseen" is the share
that is called unseen by the kernel, less what was so in as much time right beside it (a host takes its time
whenever it likes), with a 99 % interval; "quiet" is the unseen share of the time between two disturbances.
Exit code 3 when less than 99 % is right, or surely more than 0.1 % unseen.
"""

from __future__ import annotations

import argparse
import sys

from tests.known import KNOWN, RIGHT_LEAST, tell
from tickmon.machine.affinity import keep_away
from tickmon.machine.facts import read_machine


def main() -> int:
    """Prints a row for each disturbance."""
    parser = argparse.ArgumentParser(description=__doc__)
    machine = read_machine()
    parser.add_argument("--cpu", type=int, default=max(machine.cpus.usable))
    parser.add_argument("--seconds", type=float, default=5.0)
    asked = parser.parse_args()
    keep_away([asked.cpu], machine.cpus)
    heads = ("times", "its time", "right", "unseen", "99 % interval", "quiet")
    print(
        f"{'disturbance':<18}{heads[0]:>6}{heads[1]:>11}{heads[2]:>10}{heads[3]:>10}{heads[4]:>22}{heads[5]:>10}"
    )
    missed, faults, named = False, 0, 0
    for known in KNOWN:
        told = tell(machine, asked.cpu, known, seconds=asked.seconds)
        share, low, high = told.unseen_share()
        print(
            f"{told.name:<18}{told.times:>6}{told.total_ns / 1e6:>8.1f} ms{told.right_share:>10.3%}", end=""
        )
        print(
            f"{share:>10.3%}{low:>11.3%} –{high:>8.3%} {told.quiet_share:>9.3%}  {', '.join(told.warnings)}"
        )
        missed |= told.right_share < RIGHT_LEAST or told.unseen_is_too_much
        faults, named = faults + told.faults, named + told.faults_named
    print(f"page faults of the sampler: {faults} by the kernel's count, {named} named")
    missed |= named < RIGHT_LEAST * faults
    print("missed" if missed else "all named: at least 99 % right, and no more than 0.1 % unseen")
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
