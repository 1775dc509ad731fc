"""``tickmon compare``: two files as text and as JSON, what differs in their settings, and bad input."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND, WAIT_S, finished, interpreted
from tests.making import make_segment, simulate
from tests.readings import HEADER, loop_window, read
from tests.recordings import changed, file_of, written
from tests.test_compare import QUIET, lived
from tickmon.analysis.figures import SOURCES_MOST
from tickmon.analysis.readings import Analysis
from tickmon.formats.lines import Header
from tickmon.layout import WIDTH
from tickmon.windows import Segment

BEFORE = written(lived(10))
AFTER = written(lived(10, seed=2, tick_ns=3_000.0))


def compared(folder: Path, before: str, after: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command over two files of this content."""
    paths = [file_of(folder, text, f"{name}.jsonl") for name, text in (("a", before), ("b", after))]
    return finished("compare", *map(str, paths), *arguments)


def as_json(folder: Path, before: str, after: str) -> Any:
    """Its only comparison."""
    result = compared(folder, before, after, "--format", "json")
    assert (result.returncode, result.stderr) == (0, "")
    (comparison,) = json.loads(result.stdout)["comparisons"]
    return comparison


def taken_by(segment: Segment, *, header: Header = HEADER, events: bool = False, seconds: int = 8) -> str:
    """A recording of a quiet life, taken in this way."""
    ends_ns = [(i + 1) * 1e9 for i in range(seconds)]
    return written(read(simulate(QUIET, segment=segment, ends_ns=ends_ns)), header=header, events=events)


def test_text_says_what_changed_and_fits_a_mail(tmp_path: Path) -> None:
    result = compared(tmp_path, BEFORE, AFTER)
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert lines[0].startswith("before     CPU 1 of trade7, 2026-09-21 14:13:20 UTC, 10.00 s in 10 windows")
    (tick,) = [line.split() for line in lines if line.startswith("a tick, median")]
    assert tick[3:7] == ["4.00", "µs", "3.03", "µs"]
    assert tick[-1] == "better"
    (verdict,) = [line for line in lines if line.startswith("verdict")]
    assert verdict.startswith("verdict    Better: a tick, median −24")


def _tasks(line: dict[str, Any]) -> None:
    """Thirty sources more, that took nothing worth saying."""
    for number in range(30):
        source = {"name": f"task {number}", "kind": "preemption", "basis": "trace", "parts": [], "count": 0}
        line["sources"].append({**source, "overhead_cycles": 0})


def test_sources_that_are_not_compared_are_counted_and_in_the_json(tmp_path: Path) -> None:
    many = changed(BEFORE, "window", _tasks)
    others = (
        len({change["of"] for change in as_json(tmp_path, many, AFTER)["changes"]} - {None}) - SOURCES_MOST
    )
    assert others > 20
    assert as_json(tmp_path, many, AFTER)["sources_left_out"] == others
    text = compared(tmp_path, many, AFTER).stdout
    assert f"{others} sources that cost less: not compared, but in --format json." in text
    assert "task 29" not in text
    assert "that cost less" not in compared(tmp_path, BEFORE, AFTER).stdout


def test_same_recording_cannot_be_told_apart_from_itself(tmp_path: Path) -> None:
    comparison = as_json(tmp_path, BEFORE, BEFORE)
    assert comparison["verdict"] == "same"
    assert comparison["sentence"].startswith("Not to be told apart")
    assert {change["verdict"] for change in comparison["changes"]} <= {"same", "unknown"}


def test_json_holds_every_figure_and_no_nan(tmp_path: Path) -> None:
    comparison = as_json(tmp_path, BEFORE, AFTER)
    assert comparison["comparable"] is True
    assert comparison["verdict"] == "better"
    assert comparison["before"]["windows"] == 10
    change = comparison["changes"][0]
    assert change["name"] == "tick_median_ns"
    assert change["change_share"] == pytest.approx(-0.25, abs=0.03)
    assert 0 < change["uncertain_share"] < 0.03
    assert change["p"] < 0.05
    assert {"name", "of", "before", "after", "verdict", "reason", "block_s"} <= change.keys()


@pytest.mark.parametrize(
    ("name", "changes"),
    [("threshold", {"threshold_cycles": 500}), ("priority", {"priority": 3}), ("method", {})],
)
def test_readings_that_were_not_taken_alike_get_no_verdict(
    tmp_path: Path, name: str, changes: dict[str, Any]
) -> None:
    other = taken_by(make_segment(**changes)) if changes else written([loop_window()] * 8)
    comparison = as_json(tmp_path, BEFORE, other)
    (difference,) = [each for each in comparison["differences"] if not each["alike"]]
    assert difference["name"] == name
    assert (comparison["comparable"], comparison["verdict"]) == (False, None)
    assert all(change["verdict"] is change["p"] is None for change in comparison["changes"])
    text = compared(tmp_path, BEFORE, other)
    assert text.returncode == 0
    assert f"{name}: " in text.stdout
    assert "Not comparable" in text.stdout
    assert "better" not in text.stdout


def test_what_was_changed_between_them_is_said_first_and_judged(tmp_path: Path) -> None:
    header = replace(HEADER, host=replace(HEADER.host, kernel="6.19.0"), clocksource="hpet")
    other = taken_by(make_segment(cpu=2), header=header)
    comparison = as_json(tmp_path, BEFORE, other)
    assert [each["name"] for each in comparison["differences"]] == ["CPU", "kernel", "clocksource"]
    assert comparison["comparable"] is True
    text = compared(tmp_path, BEFORE, other).stdout
    assert text.index("kernel: 6.19.0, was 6.18.0-rt") < text.index("a tick, median")


def test_threshold_that_was_found_a_little_higher_is_alike(tmp_path: Path) -> None:
    assert as_json(tmp_path, BEFORE, taken_by(make_segment(threshold_cycles=404)))["differences"] == []


def test_snapshots_are_compared_by_their_interruptions(tmp_path: Path) -> None:
    before, after = (written(lived(1, tick_ns=ns), events=True) for ns in (4_000.0, 3_000.0))
    assert as_json(tmp_path, before, after)["verdict"] == "better"
    assert "1.0 s say nothing of what comes and goes more slowly" in compared(tmp_path, before, after).stdout
    without = as_json(tmp_path, written(lived(1)), after)
    assert without["verdict"] == "unknown"
    assert "with --events" in without["sentence"]


def test_snapshot_is_compared_with_the_last_windows_of_a_long_recording(tmp_path: Path) -> None:
    long = written(lived(64), events=True)
    result = compared(tmp_path, long, written(lived(1, seed=2), events=True))
    assert result.returncode == 0
    assert "of before only the last 60 windows" in result.stdout


def test_only_the_last_settings_of_a_recording_are_compared(tmp_path: Path) -> None:
    windows = lived(10)
    later = make_segment(segment=2, threshold_cycles=900, reason="settings")
    other: list[Analysis] = [
        replace(analysis, window=replace(analysis.window, segment=later)) for analysis in windows[2:]
    ]
    result = compared(tmp_path, written([*windows[:2], *other]), taken_by(replace(later, segment=1)))
    assert "before changes its settings: its first 2 windows are left out" in result.stdout
    assert "Not comparable" not in result.stdout


def test_cpus_are_compared_with_themselves(tmp_path: Path) -> None:
    both = written([*lived(8), *read(simulate(QUIET, segment=make_segment(segment=2, cpu=2)))], orderly=False)
    result = compared(tmp_path, both, AFTER)
    assert (result.stdout.count("before     CPU 1"), result.stdout.count("CPU 2")) == (1, 0)
    assert "only" in result.stderr
    assert "a.jsonl has CPU 2: left out" in result.stderr


def _name(name: str) -> Callable[[dict[str, Any]], None]:
    def change(line: dict[str, Any]) -> None:
        line["host"]["name"] = name

    return change


def test_text_of_a_file_is_no_terminal_s(tmp_path: Path) -> None:
    wild = changed(BEFORE, "header", _name("\x1b[2Jred\u202e"))
    result = compared(tmp_path, wild, AFTER)
    assert result.returncode == 0
    assert "\x1b" not in result.stdout
    assert "host: trade7, was ?[2Jred?" in result.stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "it is empty"),
        ("rubbish\n", "line 1 is not the header"),
        (BEFORE.splitlines()[0] + "\n", "has no finished window yet"),
        (BEFORE.replace('"interruptions":', '"interruptions":-', 1), "cannot read"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(tmp_path: Path, content: str, said: str) -> None:
    for files in ((content, AFTER), (AFTER, content)):
        result = compared(tmp_path, *files)
        assert (result.stdout, result.returncode) == ("", 1)
        assert said in result.stderr
        assert result.stderr.count("\n") == 1


def test_files_without_a_cpu_in_common_are_an_error(tmp_path: Path) -> None:
    segments = [make_segment(segment=i, cpu=i) for i in (3, 4)]
    other = written([a for s in segments for a in read(simulate(QUIET, segment=s))], orderly=False)
    result = compared(tmp_path, BEFORE, other)
    assert (result.stdout, result.returncode) == ("", 1)
    assert "have no CPU in common" in result.stderr


def test_standard_input_is_one_of_the_files(tmp_path: Path) -> None:
    path = str(file_of(tmp_path, BEFORE))
    result = subprocess.run(
        [*COMMAND, "compare", path, "-"],
        input=AFTER,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    assert "verdict    Better" in result.stdout
    assert finished("compare", "-", "-").returncode == 2
    assert finished("compare", path).returncode == 2


def test_compare_needs_no_sampler_and_no_screen(tmp_path: Path) -> None:
    path = str(file_of(tmp_path, BEFORE))
    code = (
        "import sys; sys.modules['textual'] = sys.modules['tickmon.sampling._native'] = None\n"
        f"from tickmon.cli import main; sys.exit(main(['compare', {path!r}, {path!r}]))"
    )
    result = interpreted(code)
    assert (result.returncode, result.stderr) == (0, "")
