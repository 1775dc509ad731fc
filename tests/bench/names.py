"""Whether known disturbances get the right name: ``python -m tests.bench.names [--cpu N] [--seconds S]``.

Each is made on the sampled CPU while that is sampled with the kernel's trace, so this needs root. "Right" is
the share of a disturbance's own time whose interruptions have it among their causes; "unseen" is the share
that is called unseen by the kernel, less what was so in as much time right beside it (a host takes its time
whenever it likes), with a 99 % interval; "quiet" is the unseen share of the time between two disturbances.
"Interrupts" are those of the CPU in the whole run, by the kernel's counters and as found in interruptions:
where none is missing, what is unseen was not the kernel's time, but its host's or the hardware's, which a
disk read or an interrupt from another CPU keeps busy too.
Exit code 3 when less than 99 % is right, or when surely more than 0.1 % is unseen, whoever took it.
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
    print(
        f"{'disturbance':<18}{'times':>6}{'its time':>11}{'right':>10}{'unseen':>9}{'99 % interval':>19}"
        f"{'quiet':>8}{'interrupts':>12}{'found':>7}"
    )
    missed, more, faults, named = False, [], 0, 0
    for known in KNOWN:
        told = tell(machine, asked.cpu, known, seconds=asked.seconds)
        share, low, high = told.unseen_share()
        print(
            f"{told.name:<18}{told.times:>6}{told.total_ns / 1e6:>8.1f} ms{told.right_share:>10.3%}"
            f"{share:>9.2%}{low:>9.2%} –{high:>7.2%} {told.quiet_share:>7.2%}"
            f"{told.interrupts:>12,}{told.interrupts_named:>7,}  {', '.join(told.warnings)}",
            flush=True,
        )
        missed |= told.missed or told.more_is_unseen
        more += [told.name] if told.more_is_unseen else []
        faults, named = faults + told.faults, named + told.faults_named
    print(f"page faults of the sampler: {faults} by the kernel's count, {named} named")
    missed |= named < RIGHT_LEAST * faults
    if more:
        print(f"more than 0.1 % unseen with {', '.join(more)}: missed")
    print("missed" if missed else "all named: at least 99 % right, and no more than 0.1 % unseen")
    return 3 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
