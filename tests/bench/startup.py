"""How fast tickmon answers: Enter to the first reading, beside a bare Textual app; and ``sample --help``.

``python -m tests.bench.startup [--cpu N] [--turns N]``
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import textual

import tickmon
from tests.bench.programs import tickmon_command
from tests.pseudo_terminal import PseudoTerminal

BARE = """
from textual.app import App
from textual.widgets import Static
class Bare(App):
    def compose(self):
        yield Static("first frame")
Bare().run()
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", default="1", help="the CPU that tickmon watches")
    parser.add_argument("--turns", type=int, default=9)
    asked = parser.parse_args()
    # A user's Python keeps its byte code; a machine that forbids that would measure the compiler.
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    for package in (tickmon, textual):
        compileall.compile_dir(Path(package.__path__[0]), quiet=2)

    screens: dict[str, list[float]] = {"bare": [], "tickmon": []}
    helps: dict[str, list[float]] = {"bare": [], "tickmon": []}
    command = tickmon_command()
    for _ in range(asked.turns):
        screens["bare"].append(until_shown([sys.executable, "-c", BARE], "first frame", env))
        screens["tickmon"].append(until_shown([command, "watch", "--cpu", asked.cpu], "one tick costs", env))
        helps["bare"].append(until_ended([sys.executable, "-c", "pass"], env))
        helps["tickmon"].append(until_ended([command, "sample", "--help"], env))

    bare_s, first_s = (statistics.median(screens[name]) for name in ("bare", "tickmon"))
    limit_s = 1.5 * bare_s + 0.25
    print(f"bare Textual app's first frame {bare_s:.3f} s; tickmon's first reading {first_s:.3f} s")
    print(f"limit 1.5 × bare + 0.25 s = {limit_s:.3f} s: {'ok' if first_s <= limit_s else 'too slow'}")
    pass_s, help_s = (statistics.median(helps[name]) for name in ("bare", "tickmon"))
    ratio = help_s / pass_s
    print(f"python -c pass {pass_s:.3f} s; tickmon sample --help {help_s:.3f} s, {ratio:.1f} times as long")
    print(f"limit 6 times: {'ok' if ratio <= 6 else 'too slow'}")
    sys.exit(0 if first_s <= limit_s and ratio <= 6 else 3)


def until_shown(argv: list[str], text: str, env: dict[str, str]) -> float:
    """Seconds from Enter to ``text`` on the screen."""
    begun_s = time.monotonic()
    with PseudoTerminal(argv, columns=120, rows=40, env=env) as terminal:
        terminal.wait_for(text)
        return time.monotonic() - begun_s


def until_ended(argv: list[str], env: dict[str, str]) -> float:
    """Seconds that a program takes."""
    begun_s = time.monotonic()
    subprocess.run(argv, env=env, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun_s


if __name__ == "__main__":
    main()
