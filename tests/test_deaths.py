"""Every way to die, with the installed command on a real CPU: terminal, exit code, words, and nobody left."""

from __future__ import annotations

import itertools
import os
import resource
import select
import signal
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.command import children, spare_cpu
from tests.pseudo_terminal import WAIT_S, PseudoTerminal
from tests.recordings import windows_in

SCRIPT = str(Path(sys.executable).with_name("tickmon"))
GONE_WITHIN_S = 10.0
"""The kernel ends an orphan at once; the rest is what a loaded machine takes to run this test."""
KEPT_MODES = {7, 25}
"""Line wrap and the cursor were on before, and stay on."""


def await_live(terminal: PseudoTerminal) -> None:
    """Somebody else's real-time task may hold the CPU for seconds."""
    while "STOPPED" in terminal.wait_for(lambda shown: "elapsed ticks" in shown or "STOPPED" in shown):
        terminal.send("r")
        terminal.wait_for(lambda shown: "STOPPED" not in shown)


@contextmanager
def watching(tmp_path: Path, *options: str, **how: object) -> Iterator[PseudoTerminal]:
    """The live screen with its first figures on it."""
    argv = [SCRIPT, "--cpu", str(spare_cpu()), *options]
    with PseudoTerminal(argv, cwd=tmp_path, **how) as terminal:  # type: ignore[arg-type]
        await_live(terminal)
        yield terminal


@contextmanager
def in_a_shell(tmp_path: Path) -> Iterator[tuple[PseudoTerminal, int]]:
    """The live screen as a job of a shell, and its process."""
    argv = ("/bin/bash", "--norc", "-i")
    with PseudoTerminal(argv, cwd=tmp_path, env={**os.environ, "PS1": "shell> "}) as terminal:
        terminal.wait_for("shell>")
        terminal.send(f"{SCRIPT} --cpu {spare_cpu()}\r")
        await_live(terminal)
        (screen,) = children(terminal.process.pid)
        yield terminal, screen


@contextmanager
def all_gone(screen: int) -> Iterator[None]:
    """When it ends, the screen and the processes that it started have ended within a moment."""
    end_s = time.monotonic() + WAIT_S
    while not (samplers := children(screen)):
        # One that goes round is gone for a moment.
        assert time.monotonic() < end_s, "no sampler runs"
        time.sleep(0.01)
    ends = [os.pidfd_open(pid) for pid in (screen, *samplers)]
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


def test_a_screen_that_is_killed_during_a_scan_takes_its_sampler_along(tmp_path: Path) -> None:
    with watching(tmp_path) as terminal:
        terminal.send("o")
        terminal.wait_for("Overview:")
        with all_gone(terminal.process.pid):
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
    with in_a_shell(tmp_path) as (terminal, screen):
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


def test_ctrl_z_ends_a_scan_too_and_fg_begins_it_again(tmp_path: Path) -> None:
    with in_a_shell(tmp_path) as (terminal, screen):
        terminal.send("o")
        terminal.wait_for("of 250")
        terminal.send("\x1a")
        terminal.wait_for("Stopped")
        assert children(screen) == []
        terminal.send("fg\r")
        terminal.wait_for("of 250")
        with all_gone(screen):
            terminal.send("\x03")
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
        # What it has may do for long; what is shown anew asks for more.
        keys = itertools.cycle(("m", "d", "\x1b", "c", "\x1b"))
        for key in itertools.islice(keys, round(WAIT_S / 0.5)):
            terminal.send(key)
            terminal.read(0.5)
            if terminal.process.poll() is not None:
                break
        assert terminal.wait_for_exit() == 1
        assert_restored(terminal)
        said = words_of(terminal)
        # The terminal itself echoes a key that comes when nobody reads any more.
        assert said.partition("tickmon: ")[0] in ("", "m", "d", "c", "^[")
        # A thread needs memory as well; whatever is refused first, it is said in one sentence.
        assert "tickmon: out of memory: " in said or "tickmon: no more threads may be started" in said
        assert said.count("tickmon: ") == 1
        assert "Traceback" not in said


def failing(where: str, when: Path, *, thread: str, error: str = "ValueError") -> dict[str, str]:
    """An environment in which a function of the program raises in a thread once a file is there."""
    folder = str(Path(__file__).with_name("failing"))
    names = {"FAIL_IN": where, "FAIL_THREAD": thread, "FAIL_WHEN": str(when), "FAIL_WITH": error}
    return {**os.environ, "PYTHONPATH": folder, **names}


def await_recorded(folder: Path, terminal: PseudoTerminal, windows: int) -> Path:
    terminal.send("R")
    terminal.wait_for("REC ")
    (path,) = folder.glob("*.jsonl.gz")
    terminal.wait_for(lambda _: windows_kept(path) >= windows)
    return path


def windows_kept(path: Path) -> int:
    """Also while it is being written."""
    return zlib.decompressobj(wbits=31).decompress(path.read_bytes()).count(b'"line":"window"')


def words_of(terminal: PseudoTerminal) -> str:
    return terminal.text.replace("\n", "")


@pytest.mark.parametrize(
    ("thread", "where", "page", "key"),
    [
        ("collect", "tickmon.sampling.run:Run._collect", "", ""),
        ("read", "tickmon.tui.reader:extend", "", ""),
        ("read", "tickmon.recorder:Recorder.take", "", ""),
        ("feed", "tickmon.tui.feed:Feed._open", "", "r"),
        ("textual-output", "queue:Queue.get", "", ""),
        ("textual-input", "textual._xterm_parser:XTermParser.tick", "", ""),
        ("MainThread", "tickmon.tui.shell:Shell._show", "", ""),
        ("beside", "tickmon.doctor.examine:examine", "", "d"),
        ("survey", "tickmon.sampling.scan:next_in_turn", "o", ""),
        ("survey", "tickmon.tui.board:Board.take", "o", ""),
        ("collect", "tickmon.sampling.run:Run._collect", "o", ""),
    ],
)
def test_a_fault_in_any_thread_is_told_in_one_sentence_and_leaves_nothing_behind(
    tmp_path: Path, thread: str, where: str, page: str, key: str
) -> None:
    now = tmp_path / "now"
    with watching(tmp_path, "--window", "0.2", env=failing(where, now, thread=thread)) as terminal:
        path = await_recorded(tmp_path, terminal, 3)
        if page:
            terminal.send(page)
            terminal.wait_for("Overview:")
        kept = windows_kept(path)
        with all_gone(terminal.process.pid):
            now.touch()
            terminal.send(key)
            assert terminal.wait_for_exit() == 1
        assert_restored(terminal)
        said = words_of(terminal)
        assert said.startswith("tickmon: tickmon has a fault of its own, please report it: ValueError: ")
        assert said.count("tickmon: ") == 1
        assert "Traceback" not in said
        numbers = [analysis.window.window for analysis in windows_in(path)]
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        assert len(numbers) >= kept


def test_a_fault_of_the_thread_that_watches_the_terminal_is_told_as_well(tmp_path: Path) -> None:
    env = failing("tickmon.tui.terminal:Guard._watch", tmp_path, thread="hangup")
    argv = [SCRIPT, "--cpu", str(spare_cpu())]
    with PseudoTerminal(argv, cwd=tmp_path, env=env) as terminal:
        assert terminal.wait_for_exit() == 1
        assert_restored(terminal)
        assert words_of(terminal).startswith("tickmon: tickmon has a fault of its own, please report it: ")


def test_an_end_of_memory_in_the_collector_keeps_what_was_recorded(tmp_path: Path) -> None:
    now = tmp_path / "now"
    env = failing("tickmon.sampling.run:Run._collect", now, thread="collect", error="MemoryError")
    with watching(tmp_path, "--window", "0.2", env=env) as terminal:
        path = await_recorded(tmp_path, terminal, 3)
        with all_gone(terminal.process.pid):
            now.touch()
            assert terminal.wait_for_exit() == 1
        assert_restored(terminal)
        assert words_of(terminal).startswith("tickmon: out of memory: ")
        assert len(windows_in(path)) >= 3


def test_mouse_and_synchronized_output_are_left_alone_when_that_is_asked_for(tmp_path: Path) -> None:
    with watching(tmp_path, "--no-mouse", "--no-sync") as terminal, all_gone(terminal.process.pid):
        assert not terminal.private_modes & {1000, 1003, 1015, 1006, 1016}
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
        assert b"2026" not in bytes(terminal.output)
        assert_restored(terminal)
