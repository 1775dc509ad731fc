"""``tickmon replay``: a file on the screen of a real terminal, and what it says where it cannot be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.command import finished, interpreted
from tests.pseudo_terminal import PseudoTerminal
from tests.readings import three_windows
from tests.recordings import file_of, windows_in, written

SCRIPT = str(Path(sys.executable).with_name("tickmon"))


def played(path: Path, *options: str) -> PseudoTerminal:
    return PseudoTerminal([SCRIPT, "replay", str(path), *options], columns=80, rows=24, cwd=path.parent)


def test_recording_is_played_and_its_window_is_saved_with_every_interruption(tmp_path: Path) -> None:
    analyses = three_windows()
    path = file_of(tmp_path, written(analyses, events=True), "a.jsonl.gz")
    with played(path) as terminal:
        terminal.wait_for("REPLAY of trade7")
        terminal.send(".")
        terminal.wait_for(lambda shown: "2 of 3" in shown or "3 of 3" in shown)
        terminal.send("\x1b[H")
        terminal.wait_for("1 of 3")
        terminal.send("s")
        terminal.wait_for("saved")
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
    (saved,) = tmp_path.glob("trade7-*.gz")
    (window,) = windows_in(saved)
    assert len(window.window.details) == analyses[0].window.interruptions


def test_neither_the_sampler_nor_rights_are_needed() -> None:
    code = "import sys, tickmon.play, tickmon.tui.player; print('tickmon.sampling._native' in sys.modules)"
    assert interpreted(code).stdout == "False\n"


@pytest.mark.parametrize("content", ["", "no recording\n"])
def test_what_is_no_recording_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    with played(file_of(tmp_path, content)) as terminal:
        assert terminal.wait_for_exit() == 1
        assert "cannot read" in terminal.text


def test_without_a_terminal_it_names_what_prints_the_file(tmp_path: Path) -> None:
    path = file_of(tmp_path, written(three_windows()))
    ended = finished("replay", str(path))
    assert ended.returncode == 1
    assert f"'tickmon show {path}' prints it" in ended.stderr
