"""The installed command on a real CPU in a real terminal: a reading, the keys, and no sampler left behind."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import children, spare_cpu
from tests.pseudo_terminal import WAIT_S, PseudoTerminal
from tickmon.loading.runs import runs
from tickmon.machine.cpus import read_cpus


@pytest.fixture
def cpu() -> int:
    return spare_cpu()


@pytest.fixture
def watching(cpu: int, tmp_path: Path) -> Iterator[PseudoTerminal]:
    with watch(cpu, cwd=tmp_path) as terminal:
        terminal.wait_for(has_a_reading)
        yield terminal


def watch(cpu: int | str, *, cwd: Path, columns: int = 80, rows: int = 24) -> PseudoTerminal:
    script = str(Path(sys.executable).with_name("tickmon"))
    return PseudoTerminal([script, "--cpu", str(cpu)], columns=columns, rows=rows, cwd=cwd)


def has_a_reading(shown: str) -> bool:
    """A whole window is on the screen: its ticks were counted."""
    return re.search(r"\d+ due, \d+ seen", shown) is not None and " of 1 s" not in shown.splitlines()[0]


def sampler_of(terminal: PseudoTerminal) -> int:
    """The one sampler that the screen started."""
    (pid,) = children(terminal.process.pid)
    assert Path(f"/proc/{pid}/comm").read_text() == "tickmon-sampler\n"
    return pid


def test_screen_shows_ticks_baseline_and_check_of_the_cpu_that_was_named(
    watching: PseudoTerminal, cpu: int
) -> None:
    shown = watching.text
    assert f"CPU {cpu}" in shown
    assert "LIVE" in shown
    for label in ("one tick costs", "min-baseline", "threshold", "elapsed ticks", "worst so far"):
        assert label in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_of_several_cpus_the_one_that_is_written_first_comes_first(cpu: int, tmp_path: Path) -> None:
    lower = min(read_cpus().usable)
    with watch(f"{cpu},{lower}", cwd=tmp_path) as terminal:
        terminal.wait_for(lambda shown: has_a_reading(shown) and f"CPU {cpu} " in shown)


def test_killed_sampler_is_said_and_r_starts_another(watching: PseudoTerminal) -> None:
    first = sampler_of(watching)
    os.kill(first, signal.SIGKILL)
    watching.wait_for("SIGKILL")
    watching.send("r")
    watching.wait_for(lambda shown: has_a_reading(shown) and "SIGKILL" not in shown)
    assert sampler_of(watching) != first


def test_a_picture_on_hold_sends_the_terminal_nothing(watching: PseudoTerminal) -> None:
    watching.send(" ")
    watching.wait_for("PAUSED")
    # What is told once about this CPU may still come; then two windows pass without a byte.
    drawn = -1
    for _ in range(8):
        if drawn == len(watching.output):
            break
        drawn = len(watching.output)
        watching.read(2.5)
    assert len(watching.output) == drawn
    watching.send(" ")
    watching.wait_for("LIVE")


def test_stopped_sampler_is_shown_as_not_running(watching: PseudoTerminal) -> None:
    pid = sampler_of(watching)
    os.kill(pid, signal.SIGSTOP)
    watching.wait_for("not running for")
    os.kill(pid, signal.SIGCONT)
    watching.wait_for(lambda shown: "not running for" not in shown)


def test_snapshot_lies_in_the_current_directory_and_its_path_is_shown(
    watching: PseudoTerminal, tmp_path: Path, cpu: int
) -> None:
    watching.send("s")
    watching.wait_for(f"cpu{cpu}-")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert len(names) == 2
    assert names[0].endswith("Z.jsonl.gz")
    assert names[1] == names[0].replace(".jsonl.gz", ".txt")


def test_pause_holds_the_picture_while_sampling_goes_on(watching: PseudoTerminal) -> None:
    watching.send(" ")
    shown = watching.wait_for("PAUSED")
    pid = sampler_of(watching)
    watching.send(" ")
    watching.wait_for(lambda now: "LIVE" in now and "PAUSED" not in now and now != shown)
    assert sampler_of(watching) == pid


def test_longer_window_begins_with_another_sampler(watching: PseudoTerminal) -> None:
    watching.send("+")
    watching.wait_for("2 s window")
    watching.wait_for(lambda shown: re.search(r"\d+ due, \d+ seen", shown) is not None)


def test_loop_method_shows_whether_its_baseline_holds(watching: PseudoTerminal) -> None:
    watching.send("m")
    watching.wait_for("loop method")
    watching.wait_for(lambda shown: re.search(r"\d+ due", shown) is not None)


def test_help_explains_the_keys_and_escape_goes_back(watching: PseudoTerminal) -> None:
    watching.send("?")
    watching.wait_for("snapshot")
    watching.send("\x1b")
    watching.wait_for("one tick costs")


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40), (200, 50)])
def test_screen_fits_its_terminal(cpu: int, tmp_path: Path, columns: int, rows: int) -> None:
    with watch(cpu, cwd=tmp_path, columns=columns, rows=rows) as terminal:
        shown = terminal.wait_for(lambda shown: has_a_reading(shown) and "q quit" in shown)
        assert len(shown.splitlines()) == rows
        assert "q quit" in shown.splitlines()[-1]
        terminal.send("q")
        assert terminal.wait_for_exit() == 0


def start_recording(terminal: PseudoTerminal, folder: Path) -> Path:
    """Waits until two windows or so are in the file that R made."""
    terminal.send("R")
    terminal.wait_for(lambda shown: re.search(r"REC [\d.]+ kB", shown) is not None)
    (path,) = folder.glob("*.jsonl.gz")
    return path


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda terminal: terminal.send("q"), 0),
        (lambda terminal: os.kill(terminal.process.pid, signal.SIGTERM), 128 + signal.SIGTERM),
        (lambda terminal: terminal.hang_up(), 128 + signal.SIGHUP),
    ],
    ids=["q", "SIGTERM", "closed terminal"],
)
def test_recording_ends_orderly_with_the_screen(
    watching: PseudoTerminal, tmp_path: Path, end: Callable[[PseudoTerminal], None], code: int
) -> None:
    path = start_recording(watching, tmp_path)
    end(watching)
    assert watching.process.wait(WAIT_S) == code
    (run,) = runs(path)
    assert run.ended
    assert run.summed[0].windows >= 1
    assert run.remarks == ()


def test_killed_screen_leaves_a_recording_of_all_whole_windows(
    watching: PseudoTerminal, tmp_path: Path
) -> None:
    path = start_recording(watching, tmp_path)
    os.kill(watching.process.pid, signal.SIGKILL)
    watching.process.wait(WAIT_S)
    (run,) = runs(path)
    assert not run.ended
    assert run.summed[0].windows >= 1


def test_recording_ends_orderly_though_the_terminal_reads_nothing_any_more(cpu: int, tmp_path: Path) -> None:
    with watch(cpu, cwd=tmp_path, columns=200, rows=50) as terminal:
        terminal.wait_for(has_a_reading)
        path = start_recording(terminal, tmp_path)
        for _ in range(60):
            terminal.send("t")
            time.sleep(0.02)
        os.kill(terminal.process.pid, signal.SIGTERM)
        assert terminal.process.wait(WAIT_S) == 128 + signal.SIGTERM
    (run,) = runs(path)
    assert run.ended
