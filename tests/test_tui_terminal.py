"""The live screen in a real pseudo-terminal: what it leaves behind, however it ends."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pseudo_terminal import PseudoTerminal

SCREEN = (sys.executable, "-m", "tests.scripted")
ROOT = Path(__file__).parent.parent
ALTERNATE_SCREEN = 1049
SGR = re.compile(rb"\x1b\[([\d;]*)m")
COLOUR = re.compile(rb"(^|;)(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;|$)")


def open_screen(**options: object) -> PseudoTerminal:
    return PseudoTerminal(SCREEN, cwd=ROOT, **options)  # type: ignore[arg-type]


def await_reading(terminal: PseudoTerminal) -> None:
    terminal.wait_for("host tick 1000 Hz")


def assert_restored(terminal: PseudoTerminal) -> None:
    assert terminal.modes_now == terminal.modes_before
    # What was on before stays on: line wrap and the cursor.
    assert terminal.private_modes <= {7, 25}


@pytest.mark.parametrize("key", ["q", "\x03"], ids=["q", "ctrl+c"])
def test_quitting_gives_the_terminal_back(key: str) -> None:
    with open_screen() as terminal:
        await_reading(terminal)
        assert ALTERNATE_SCREEN in terminal.private_modes
        terminal.send(key)
        assert terminal.wait_for_exit() == 0
        assert_restored(terminal)


def test_a_signal_ends_it_though_the_terminal_reads_nothing_any_more() -> None:
    with open_screen(columns=200, rows=50) as terminal:
        await_reading(terminal)
        for _ in range(40):
            terminal.send("t")
            time.sleep(0.02)
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.process.wait(10) == 128 + signal.SIGTERM
        assert terminal.modes_now == terminal.modes_before


@pytest.mark.parametrize("key", ["q", "\x03"], ids=["q", "ctrl+c"])
@pytest.mark.parametrize("writes", [0, 60], ids=["idle loop", "blocked loop"])
def test_a_key_ends_it_though_the_terminal_reads_nothing_any_more(key: str, writes: int) -> None:
    with open_screen(columns=200, rows=50) as terminal:
        await_reading(terminal)
        for _ in range(writes):
            terminal.send("t")
            time.sleep(0.02)
        while not pending_output(terminal):
            time.sleep(0.02)
        terminal.send(key)
        assert terminal.process.wait(20) == 0
        assert terminal.modes_now == terminal.modes_before


def pending_output(terminal: PseudoTerminal) -> bool:
    """The terminal was full when it was last looked at."""
    return select.select([], [terminal.slave], [], 0)[1] == []


def test_bytes_that_are_no_text_are_data() -> None:
    with open_screen() as terminal:
        await_reading(terminal)
        os.write(terminal.master, b"\xe9a\xff\xfe\x80\xc3")
        terminal.send("?")
        terminal.wait_for("Help, page 1")


def test_after_a_stop_that_nobody_foresaw_it_draws_again_and_gives_the_terminal_back_as_found() -> None:
    with open_screen() as terminal:
        await_reading(terminal)
        os.kill(terminal.process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, terminal.process.pid, os.WSTOPPED)
        ours = terminal.modes_now
        termios.tcsetattr(terminal.slave, termios.TCSANOW, terminal.modes_before)
        os.kill(terminal.process.pid, signal.SIGCONT)
        while terminal.modes_now != ours:
            time.sleep(0.01)
        terminal.screen.reset()
        await_reading(terminal)
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
        assert_restored(terminal)


def test_a_resized_terminal_is_filled_at_once_and_nothing_of_the_old_size_is_left() -> None:
    def fills(columns: int, rows: int) -> Callable[[str], bool]:
        def check(shown: str) -> bool:
            first, *_, last = lines = shown.splitlines()
            whole = " LIVE " in first and len(first) > columns - 12 and last.endswith("q quit")
            return len(lines) == rows and whole and sum(" LIVE " in line for line in lines) == 1

        return check

    with open_screen() as terminal:
        await_reading(terminal)
        for columns, rows in ((120, 40), (60, 15), (200, 50), (80, 24)):
            terminal.set_size(columns, rows)
            terminal.wait_for(fills(columns, rows))
        for columns, rows in ((59, 15), (5, 2), (1, 1), (60, 13)):
            terminal.set_size(columns, rows)
            terminal.wait_for(lambda shown: shown.strip()[:1] in ("t", "") and "LIVE" not in shown)
        terminal.wait_for("tickmon needs 60 columns and 14 rows")
        terminal.set_size(80, 24)
        terminal.wait_for(fills(80, 24))
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
        assert_restored(terminal)


def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() -> None:
    with PseudoTerminal(
        ("/bin/bash", "--norc", "-i"), cwd=ROOT, env={**os.environ, "PS1": "shell> "}
    ) as terminal:
        terminal.wait_for("shell>")
        modes_at_prompt = terminal.modes_now
        terminal.send(f"{' '.join(SCREEN)}\r")
        await_reading(terminal)
        terminal.send("\x1a")
        terminal.wait_for("Stopped")
        assert ALTERNATE_SCREEN not in terminal.private_modes
        terminal.send("fg\r")
        await_reading(terminal)
        assert ALTERNATE_SCREEN in terminal.private_modes
        terminal.send("q")
        terminal.wait_for(lambda shown: shown.rstrip().endswith("shell>"))
        assert ALTERNATE_SCREEN not in terminal.private_modes
        assert terminal.modes_now == modes_at_prompt


def test_after_ctrl_z_a_cpu_that_somebody_took_meanwhile_is_not_entered_unasked() -> None:
    with PseudoTerminal(
        ("/bin/bash", "--norc", "-i"), cwd=ROOT, env={**os.environ, "PS1": "shell> "}
    ) as terminal:
        terminal.wait_for("shell>")
        terminal.send(f"{' '.join(SCREEN)} --cpu 2\r")
        await_reading(terminal)
        terminal.send("\x1a")
        terminal.wait_for("Stopped")
        terminal.send("fg\r")
        assert "LIVE" not in terminal.wait_for("CPU 2 is busy: it runs trader (98.0 %)")
        terminal.send("n")
        terminal.wait_for("CPU 2 runs trader (98.0 %): not measured")
        terminal.wait_for("STOPPED")


def test_a_fault_of_its_own_is_one_line_after_the_terminal_is_given_back() -> None:
    with PseudoTerminal((sys.executable, "-c", FAULTY), cwd=ROOT) as terminal:
        assert terminal.wait_for_exit() == 1
        assert "tickmon has a fault of its own, please report it: ZeroDivisionError" in terminal.text
        assert "Traceback" not in terminal.text
        assert_restored(terminal)


def test_a_fault_of_the_thread_that_reads_the_keys_is_one_line_too() -> None:
    with PseudoTerminal((sys.executable, "-c", FAULTY_KEYS), cwd=ROOT) as terminal:
        terminal.wait_for("LIVE")
        terminal.send("x")
        assert terminal.wait_for_exit() == 1
        assert "tickmon has a fault of its own, please report it: ZeroDivisionError" in terminal.text
        assert "Traceback" not in terminal.text
        assert_restored(terminal)


FAULTY_KEYS = """
import sys
from tests import scripted
from tickmon.errors import TickmonError
from tickmon.tui.driver import TerminalDriver

TerminalDriver.process_message = lambda self, message: 1 / 0
try:
    scripted.main()
except TickmonError as error:
    print(error)
    sys.exit(1)
"""

FAULTY = """
import sys
from tests import scripted
from tickmon.errors import TickmonError

scripted.early_look = lambda segment: 1 / 0
try:
    scripted.main()
except TickmonError as error:
    print(error)
    sys.exit(1)
"""


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (200, 50)])
def test_pieces_sent_one_by_one_make_the_same_picture_as_all_at_once(columns: int, rows: int) -> None:
    with open_screen(columns=columns, rows=rows) as terminal:
        terminal.wait_for("1,000 ticks in the last 4.0 s")
        terminal.send(" ")
        terminal.wait_for("PAUSED")
        terminal.read(0.3)
        piece_by_piece = without_age(terminal.text)
        terminal.send("?")
        terminal.wait_for("page 1 of 2")
        terminal.send("?")
        terminal.wait_for("page 2 of 2")
        terminal.send("q")
        terminal.wait_for(lambda shown: without_age(shown) == piece_by_piece)


def without_age(shown: str) -> str:
    return re.sub(r"\d+ s ago", "", shown)


@pytest.mark.parametrize("stream", ["</dev/null", ">/dev/null", "2>/dev/null"])
def test_it_does_not_start_where_a_stream_is_no_terminal(stream: str) -> None:
    command = f"{' '.join(CHECK)} {stream}"
    with PseudoTerminal(("/bin/sh", "-c", command), cwd=ROOT) as terminal:
        assert terminal.wait_for_exit() == 1


CHECK = (sys.executable, "-c", "'from tickmon.tui.terminal import check_terminal; check_terminal()'")


def test_it_refuses_a_terminal_that_cannot_draw() -> None:
    with PseudoTerminal(
        ("/bin/sh", "-c", " ".join(CHECK)), cwd=ROOT, env={**os.environ, "TERM": "dumb"}
    ) as terminal:
        assert terminal.wait_for_exit() == 1
        assert "'tickmon sample'" in terminal.text


def test_no_colour_is_sent_when_none_is_wanted() -> None:
    with open_screen(env={**os.environ, "NO_COLOR": "1"}) as terminal:
        await_reading(terminal)
        terminal.send("q")
        terminal.wait_for_exit()
        colours = [code for code in SGR.findall(bytes(terminal.output)) if COLOUR.search(code)]
        assert colours == []


@pytest.mark.parametrize(("options", "env"), [(("--ascii",), {}), ((), {"LC_ALL": "C"})])
def test_only_ascii_is_sent_when_only_ascii_is_wanted(options: tuple[str, ...], env: dict[str, str]) -> None:
    with PseudoTerminal((*SCREEN, *options), cwd=ROOT, env={**os.environ, **env}) as terminal:
        await_reading(terminal)
        terminal.send("?")
        terminal.wait_for("Help, page 1")
        assert bytes(terminal.output).isascii()
