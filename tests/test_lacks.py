"""What the machine refuses while the installed screen runs is said there, and the screen goes on."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command import children, spare_cpu
from tests.pseudo_terminal import PseudoTerminal
from tests.test_deaths import await_live

SCRIPT = str(Path(sys.executable).with_name("tickmon"))
SOMEBODY = 60_123
"""Root is not limited; nobody else has this number."""
ENOUGH = 1000
NOT_YET = "no window is complete yet"
NO_THREADS = "no more threads may be started here"


def as_somebody(*argv: str) -> list[str]:
    """A command as an ordinary user who may read what root may; it is left as it is where root is not."""
    if os.getuid():
        return list(argv)
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is needed to become an ordinary user")
    who = [f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups"]
    reads = ["--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search"]
    return ["setpriv", *who, *reads, *argv]


def limit_threads(pid: int, allowed: int) -> None:
    subprocess.run(as_somebody("prlimit", f"--pid={pid}", f"--nproc={allowed}:"), check=True)


@contextmanager
def limited(tmp_path: Path) -> Iterator[PseudoTerminal]:
    """The live screen with figures on it, which can have no more threads and processes than it has."""
    os.chmod(tmp_path, 0o777)
    argv = as_somebody(SCRIPT, "--cpu", str(spare_cpu()), "--window", "0.2")
    with PseudoTerminal(argv, cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}) as terminal:
        await_live(terminal)
        limit_threads(terminal.process.pid, 1)
        yield terminal


@pytest.mark.parametrize("key", ["r", "k", "m"])
def test_a_sampler_that_cannot_be_started_is_said_and_tried_again_by_r(tmp_path: Path, key: str) -> None:
    with limited(tmp_path) as terminal:
        terminal.send(key)
        shown = terminal.wait_for("STOPPED")
        assert NO_THREADS in shown
        assert "r starts it again" in shown
        limit_threads(terminal.process.pid, ENOUGH)
        terminal.send("r")
        terminal.wait_for(lambda shown: "STOPPED" not in shown)
        await_live(terminal)
        terminal.send("q")
        assert terminal.wait_for_exit() == 0


def test_what_needs_a_thread_says_so_in_its_place_and_the_rest_works(tmp_path: Path) -> None:
    with limited(tmp_path) as terminal:
        terminal.send("R")
        terminal.wait_for("REC ")
        # Where the sampler hardly runs it takes long until a window is complete.
        terminal.send("s")
        while "not saved" not in terminal.wait_for(lambda shown: "not saved" in shown or NOT_YET in shown):
            terminal.send("\x1b")
            terminal.wait_for(lambda shown: NOT_YET not in shown)
            terminal.send("s")
        terminal.send("d")
        terminal.wait_for(lambda shown: "Doctor:" in shown and NO_THREADS in shown)
        terminal.send("q")
        terminal.wait_for("tickmon  CPU")
        terminal.send("c")
        terminal.wait_for(lambda shown: "CPUs that can be measured" in shown and NO_THREADS in shown)
        terminal.send("q")
        terminal.wait_for("tickmon  CPU")
        terminal.send("o")
        terminal.wait_for(f"not measured: {NO_THREADS}")
        assert children(terminal.process.pid) == []
        limit_threads(terminal.process.pid, ENOUGH)
        terminal.send("q")
        terminal.wait_for("tickmon  CPU")
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
