"""Random keys, escape sequences, nonsense and resizes for a while: the live screen must come through.

At the end Escape and ``q`` must end it with 0, the terminal restored and no process left; else it ends with 3
and says the last that was typed. Whatever is saved goes into a directory that is removed.

``python -m tests.bench.keys [--cpu LIST] [--seconds S] [--seed N]``
"""

from __future__ import annotations

import argparse
import os
import random
import re
import select
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.programs import tickmon_command
from tests.command import children
from tests.pseudo_terminal import PseudoTerminal

SIZES = ((80, 24), (120, 40), (200, 50), (60, 15), (60, 14), (40, 10), (1, 1), (300, 90), (150, 20), (79, 23))
SEQUENCES = (
    *(f"\x1b[{letter}" for letter in "ABCDHFIOZ"),
    *("\x1b", "\x1bOP", "\x1b[5~", "\x1b[6~", "\x10", "\x1b[200~two\nlines \x1b[1m\x1b[201~", "\x1b[201~"),
    *("\x1b[<0;10;5M", "\x1b[<0;10;5m", "\x1b[<64;3;3M", "\x1b[<0;999;999M", "\x1b[M !!", "\x1b[?1;2c"),
    *("\x1b[48;24;80;480;640t", "\x1b[?2026;2$y", "\x1b[?2048;0$y", "\x1b[99999999999~", "\x1b]0;x\x07"),
    *("\x1bPabc\x1b\\", "\x1b[1;5C", "\x1b[27;5;106~", "\x1b[97;5u", "é", "日本", "\x00", "\x7f", "\t", "\r"),
)
# A q on the main screen would end it.
LETTERS = "01234589acdefghjkmnoprstuvwxyzRTW!?:+-=_[]<>,./ @#%&*()"
ENOUGH = 20_000_000
"""So many bytes of output are kept."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", default="1", help="the CPUs that tickmon may measure")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder}
        argv = [tickmon_command(), "--cpu", asked.cpu]
        with PseudoTerminal(argv, cwd=folder, env=environment) as terminal:
            terminal.read(2.0)
            typed = torment(terminal, chance, asked.seconds)
            sys.exit(judge(terminal, typed))


def torment(terminal: PseudoTerminal, chance: random.Random, seconds: float) -> list[str]:
    """Types and resizes until the time is over or the program has ended; what was typed."""
    typed: list[str] = []
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s and terminal.process.poll() is None:
        for _ in range(chance.choice([1, 1, 2, 5, 20])):
            typed.append(chance.choice(LETTERS if chance.random() < 0.7 else SEQUENCES))
            terminal.send(typed[-1])
        if chance.random() < 0.1:
            terminal.set_size(*chance.choice(SIZES))
        terminal.read(chance.choice([0.0, 0.0, 0.01, 0.05, 0.3]))
        del terminal.output[: max(len(terminal.output) - ENOUGH, 0)]
    return typed


def judge(terminal: PseudoTerminal, typed: list[str]) -> int:
    """The exit code, after a line that says what was found."""
    if terminal.process.poll() is not None:
        print(
            f"it ended with {terminal.process.returncode} after {len(typed)} keys, the last {typed[-30:]!r}"
        )
        print(bytes(terminal.output[-2000:]).decode(errors="replace"))
        return 3
    pids = (terminal.process.pid, *children(terminal.process.pid))
    ends = [os.pidfd_open(pid) for pid in pids]
    resident = re.search(r"VmRSS:\s+(.*)", Path(f"/proc/{pids[0]}/status").read_text())
    terminal.set_size(80, 24)
    for key in ("\x1b", "\x1b", "\x1b", "q", "q"):
        if terminal.process.poll() is None:
            terminal.send(key)
            terminal.read(0.6)
    code = terminal.wait_for_exit()
    restored = terminal.modes_now == terminal.modes_before and terminal.private_modes <= {7, 25}
    left = sum(not select.select([end], [], [], 10)[0] for end in ends)
    memory = resident[1] if resident else "unknown"
    print(f"{len(typed)} keys, exit code {code}, restored {restored}, left {left}, resident {memory}")
    return 0 if code == 0 and restored and not left else 3


if __name__ == "__main__":
    main()
