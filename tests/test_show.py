"""``tickmon show``: files as text and in other formats, whole or one window, and bad ones."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.command import COMMAND, WAIT_S, finished, interpreted
from tests.readings import HEADER, loop_window, sum_up, three_windows
from tests.recordings import changed, file_of, written
from tickmon.report import reading_text

WHOLE = written(three_windows(), events=True)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_text_is_that_of_sample(tmp_path: Path, name: str) -> None:
    shown = finished("show", str(file_of(tmp_path, WHOLE, name)))
    assert shown.stdout == reading_text(HEADER, sum_up(three_windows()), windows=3)
    assert (shown.stderr, shown.returncode) == ("", 0)


def test_one_window_is_shown_by_its_number(tmp_path: Path) -> None:
    shown = finished("show", str(file_of(tmp_path, WHOLE)), "--window", "2")
    assert shown.stdout == reading_text(HEADER, sum_up(three_windows()[1:2]), windows=1)
    assert (shown.stderr, shown.returncode) == ("", 0)


def test_window_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    shown = finished("show", str(file_of(tmp_path, WHOLE)), "--window", "9")
    assert (shown.stdout, shown.returncode) == ("", 1)
    assert shown.stderr.endswith("a.jsonl has no window 9: its windows are 1 to 3\n")


@pytest.mark.parametrize("form", ["json", "jsonl", "csv"])
@pytest.mark.parametrize("events", [False, True])
def test_other_formats_are_those_of_sample(tmp_path: Path, form: str, events: bool) -> None:
    more = ["--events"] if events else []
    shown = finished("show", str(file_of(tmp_path, WHOLE)), "--format", form, *more)
    assert shown.stdout == written(three_windows(), form=form, events=events)
    assert (shown.stderr, shown.returncode) == ("", 0)


def test_seed_format_is_the_2004_program_s(tmp_path: Path) -> None:
    path = file_of(tmp_path, written([loop_window()], events=True))
    shown = finished("show", str(path), "--format", "seed")
    assert shown.stdout.split() == ["0", "0", "0", "8000", "10", "0", "1190"]
    assert "Elapsed time: 0 ticks (assuming Hz = 250)" in shown.stderr


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (written(three_windows()), ["--format", "csv", "--events"], "does not hold each interruption"),
        (written([loop_window()]), ["--format", "seed"], "does not hold each interruption"),
        (WHOLE, ["--format", "seed"], "is not of --method loop"),
        (WHOLE.splitlines()[0] + "\n", [], "has no finished window yet"),
        (WHOLE.splitlines()[0] + "\n", ["--format", "json"], "has no finished window yet"),
        ("", [], "it is empty"),
        ("rubbish\n", [], "line 1 is not the header"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(
    tmp_path: Path, content: str, arguments: list[str], said: str
) -> None:
    shown = finished("show", str(file_of(tmp_path, content)), *arguments)
    assert (shown.stdout, shown.returncode) == ("", 1)
    assert said in shown.stderr
    assert shown.stderr.count("\n") == 1


def test_name_of_a_file_cannot_command_the_terminal(tmp_path: Path) -> None:
    shown = finished("show", str(tmp_path / "\x1b[2J\u202enone"))
    assert shown.stderr.rstrip("\n").isprintable()
    assert "?[2J?none: No such file" in shown.stderr


def test_events_in_text_is_wrong_usage(tmp_path: Path) -> None:
    assert finished("show", str(file_of(tmp_path, WHOLE)), "--events").returncode == 2


def test_run_that_was_killed_is_summed_up_and_that_is_said(tmp_path: Path) -> None:
    lines = written(three_windows(), orderly=False).splitlines(keepends=True)
    shown = finished("show", str(file_of(tmp_path, "".join(lines)[:-50])))
    assert "in 2 windows" in shown.stdout
    assert "is cut in line 5: what is before it is whole" in shown.stderr
    assert "ends without a summary" in shown.stderr
    assert shown.returncode == 0


def test_standard_input_is_a_file_too() -> None:
    shown = subprocess.run(
        [*COMMAND, "show", "-"], input=WHOLE, capture_output=True, text=True, timeout=WAIT_S, check=False
    )
    assert shown.stdout == reading_text(HEADER, sum_up(three_windows()), windows=3)


def test_joined_runs_are_shown_one_after_the_other(tmp_path: Path) -> None:
    shown = finished("show", str(file_of(tmp_path, WHOLE + WHOLE)))
    assert shown.stdout.count("CPU 1 of trade7") == 2
    table = finished("show", str(file_of(tmp_path, WHOLE + WHOLE)), "--format", "csv").stdout
    assert [line.split(",")[0] for line in table.splitlines()] == ["window", "1", "2", "3", "1", "2", "3"]


def test_show_needs_no_sampler_and_no_screen(tmp_path: Path) -> None:
    path = file_of(tmp_path, WHOLE)
    code = (
        "import sys; sys.modules['textual'] = sys.modules['tickmon.sampling._native'] = None\n"
        f"from tickmon.cli import main; sys.exit(main(['show', {str(path)!r}]))"
    )
    shown = interpreted(code)
    assert (shown.returncode, shown.stderr) == (0, "")


def test_samples_are_found_in_the_events_too(tmp_path: Path) -> None:
    text = changed(written([loop_window()], events=True), "window", lambda line: line.pop("sample_cycles"))
    shown = finished("show", str(file_of(tmp_path, text)), "--format", "seed")
    assert shown.stdout.split() == ["0", "0", "0", "8000", "10", "0", "1190"]
