"""Every way to die, with the installed command on a real CPU: terminal, exit code, words, and nobody left."""

from __future__ import annotations

import os
import resource
import select
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command import children, spare_cpu
from tests.pseudo_terminal import PseudoTerminal

SCRIPT = str(Path(sys.executable).with_name("tickmon"))
GONE_WITHIN_S = 10.0
"""The kernel ends an orphan at once; the rest is what a loaded machine takes to run this test."""
KEPT_MODES = {7, 25}
"""Line wrap and the cursor were on before, and stay on."""


@contextmanager
def watching(tmp_path: Path, *options: str, **how: object) -> Iterator[PseudoTerminal]:
    """The live screen with its first figures on it."""
    argv = [SCRIPT, "--cpu", str(spare_cpu()), *options]
    with PseudoTerminal(argv, cwd=tmp_path, **how) as terminal:  # type: ignore[arg-type]
        shown = terminal.wait_for(lambda shown: "elapsed ticks" in shown or "STOPPED" in shown)
        if "STOPPED" in shown:
            # Somebody else's real-time task may hold the CPU for seconds.
            terminal.send("r")
            terminal.wait_for("elapsed ticks")
        yield terminal


@contextmanager
def all_gone(screen: int) -> Iterator[None]:
    """When it ends, the screen and the processes that it started have ended within a moment."""
    ends = [os.pidfd_open(pid) for pid in (screen, *children(screen))]
    assert len(ends) > 1, "no sampler runs"
    try:
        yield
        for end in ends:
            assert select.select([end], [], [], GONE_WITHIN_S)[0], "a process was left"
    finally:
        for end in ends:
            os.close(end)


def assert_restored(terminal: PseudoTerminal) -> None:
    assert terminal.modes_now == terminal.modes_before
    assert terminal.private_modes <= KEPT_MODES


def open_page(terminal: PseudoTerminal, key: str) -> None:
    before = terminal.text
    terminal.send(key)
    terminal.wait_for(lambda shown: "elapsed ticks" not in shown and shown != before)


def test_q_leads_back_from_every_page_and_ends_it_on_the_main_screen(tmp_path: Path) -> None:
    with watching(tmp_path) as terminal, all_gone(terminal.process.pid):
        # Where something can be typed, q is a letter, and Escape leads back.
        for page, back in (("?", "q"), ("d", "q"), ("!", "q"), ("c", "\x1b"), (":", "\x1b")):
            open_page(terminal, page)
            terminal.send(back)
            terminal.wait_for("elapsed ticks")
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
        assert_restored(terminal)


@pytest.mark.parametrize("page", ["?", ":"])
def test_ctrl_c_ends_it_from_other_pages_too(tmp_path: Path, page: str) -> None:
    with watching(tmp_path) as terminal, all_gone(terminal.process.pid):
        open_page(terminal, page)
        terminal.send("\x03")
        assert terminal.wait_for_exit() == 0
        assert_restored(terminal)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_gives_the_terminal_back_and_is_the_exit_code(
    tmp_path: Path, number: signal.Signals
) -> None:
    with watching(tmp_path) as terminal, all_gone(terminal.process.pid):
        os.kill(terminal.process.pid, number)
        assert terminal.wait_for_exit() == 128 + number
        assert_restored(terminal)


def test_a_killed_screen_takes_its_sampler_along(tmp_path: Path) -> None:
    with watching(tmp_path) as terminal, all_gone(terminal.process.pid):
        os.kill(terminal.process.pid, signal.SIGKILL)


def test_a_closed_terminal_ends_it(tmp_path: Path) -> None:
    with watching(tmp_path) as terminal, all_gone(terminal.process.pid):
        terminal.hang_up()
        assert terminal.process.wait(GONE_WITHIN_S) == 128 + signal.SIGHUP


def test_a_terminal_that_is_closed_ends_it_also_where_hang_ups_are_ignored(tmp_path: Path) -> None:
    with (
        watching(tmp_path, before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as terminal,
        all_gone(terminal.process.pid),
    ):
        terminal.hang_up()
        assert terminal.process.wait(GONE_WITHIN_S) == 128 + signal.SIGHUP


def test_a_terminal_that_stops_reading_does_not_keep_it(tmp_path: Path) -> None:
    with watching(tmp_path, columns=200, rows=50) as terminal, all_gone(terminal.process.pid):
        # Not one byte is read from here on; each key has the whole screen sent again.
        while select.select([], [terminal.slave], [], 0)[1]:
            terminal.send("t")
            threading.Event().wait(0.02)
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.process.wait(GONE_WITHIN_S) == 128 + signal.SIGTERM
        assert terminal.modes_now == terminal.modes_before


def test_ctrl_z_stops_the_sampler_too_and_fg_starts_another(tmp_path: Path) -> None:
    argv = ("/bin/bash", "--norc", "-i")
    with PseudoTerminal(argv, cwd=tmp_path, env={**os.environ, "PS1": "shell> "}) as terminal:
        terminal.wait_for("shell>")
        terminal.send(f"{SCRIPT} --cpu {spare_cpu()}\r")
        terminal.wait_for("elapsed ticks")
        (screen,) = children(terminal.process.pid)
        (sampler,) = children(screen)
        end = os.pidfd_open(sampler)
        terminal.send("\x1a")
        terminal.wait_for("Stopped")
        assert select.select([end], [], [], GONE_WITHIN_S)[0], "the sampler goes on behind the shell"
        os.close(end)
        terminal.send("fg\r")
        terminal.wait_for("elapsed ticks")
        assert children(screen) != [sampler]
        with all_gone(screen):
            terminal.send("q")
            terminal.wait_for(lambda shown: shown.rstrip().endswith("shell>"))


def test_with_standard_error_in_a_file_it_says_there_why_it_does_not_start(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("w") as file, PseudoTerminal([SCRIPT], cwd=tmp_path, stderr=file.fileno()) as terminal:
        assert terminal.wait_for_exit() == 1
        assert_restored(terminal)
    assert said.read_text().count("\n") == 1
    assert "'tickmon sample' measures without a screen" in said.read_text()


@pytest.mark.parametrize("term", ["dumb", ""])
def test_a_terminal_that_cannot_draw_is_refused_in_one_line(tmp_path: Path, term: str) -> None:
    with PseudoTerminal([SCRIPT], cwd=tmp_path, env={**os.environ, "TERM": term}) as terminal:
        assert terminal.wait_for_exit() == 1
        assert "'tickmon sample'" in terminal.text.replace("\n", "")
        assert terminal.private_modes == set()


def test_an_end_of_memory_in_the_collector_is_said_and_gives_the_terminal_back(tmp_path: Path) -> None:
    with watching(tmp_path) as terminal, all_gone(terminal.process.pid):
        (pid,) = children(terminal.process.pid)
        os.kill(pid, signal.SIGSTOP)
        used = int(Path(f"/proc/{terminal.process.pid}/statm").read_text().split()[0])
        resource.prlimit(terminal.process.pid, resource.RLIMIT_AS, (used * 4096, used * 4096))
        os.kill(pid, signal.SIGCONT)
        # What it has may do for long; another window's length and method ask for more.
        terminal.send("m")
        code = terminal.wait_for_exit()
        assert code == 1
        assert_restored(terminal)
        said = terminal.text.replace("\n", "")
        # A thread needs memory as well; whatever is refused first, it is said in one sentence.
        assert said.startswith(("tickmon: out of memory: ", "tickmon: no more threads may be started"))
        assert said.count("tickmon: ") == 1
        assert "Traceback" not in said


def test_mouse_and_synchronized_output_are_left_alone_when_that_is_asked_for(tmp_path: Path) -> None:
    with watching(tmp_path, "--no-mouse", "--no-sync") as terminal, all_gone(terminal.process.pid):
        assert not terminal.private_modes & {1000, 1003, 1015, 1006, 1016}
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
        assert b"2026" not in bytes(terminal.output)
        assert_restored(terminal)
