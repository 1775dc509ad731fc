"""Limits held against windows, runs and recordings: what crosses them, what is said, and the exit code."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests import contract
from tests.command import finished
from tests.making import make_segment, make_window
from tests.readings import quiet_window, read, read_one, sum_up, three_windows, unwatched_window
from tests.recordings import file_of, written
from tests.test_sample import DEAD, DONE, Script, measured, touching
from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.judging import FAILED, UNJUDGED, Judge
from tickmon.limits import parse_limit
from tickmon.streams import Outcome
from tickmon.windows import Window


def judged(analyses: list[Analysis], *fail_if: str, stop_if: tuple[str, ...] = ()) -> int:
    """The exit code of a run of these windows."""
    judge = Judge(fail_if=[*map(parse_limit, fail_if)], stop_if=[*map(parse_limit, stop_if)])
    for analysis in analyses:
        judge.window(analysis)
    outcomes = [Outcome(summary=sum_up(analyses), windows=len(analyses))] if analyses else []
    return judge.end(outcomes)


def uneven(count: int = 4) -> list[Analysis]:
    """Windows of a second, the third of which holds an interruption of 1 ms."""
    second = 2_000_000_000
    windows = [
        make_window(
            [(i * second + 5_000, 2_000_000 if i == 2 else 10_000)],
            window=i + 1,
            start_cycles=i * second,
            end_cycles=(i + 1) * second,
        )
        for i in range(count)
    ]
    return read(windows)


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("max_ns>1ms", 0),
        ("max_ns>=1ms", FAILED),
        ("max_ns>0.5ms", FAILED),
        ("max_cycles==2000000", FAILED),
        ("interruptions>4", 0),
        ("interruptions>3", FAILED),
        ("interruptions_per_s<1", 0),
        ("interruptions_per_s<=1", FAILED),
        ("overhead_share>0.026%", 0),
        ("overhead_share>0.025%", FAILED),
        ("lost!=0", 0),
        ("p99_ns>1us", UNJUDGED),
        ("tick.median_ns>1us", UNJUDGED),
    ],
)
def test_run_is_held_against_a_limit(limit: str, code: int) -> None:
    assert judged(uneven(), limit) == code


def test_window_and_interruption_that_crossed_it_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    judged(uneven(), "max_ns>50us")
    assert capsys.readouterr().err == (
        "tickmon: --fail-if max_ns>50us: 1.000 ms on CPU 1; furthest in window 3, from 14:13:22.000000 UTC: "
        "1.000 ms; the longest interruption: 1.00 ms at 14:13:22.000002 UTC, unexplained\n"
    )


def test_one_crossed_limit_is_enough_and_all_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(uneven(), "max_ns>50us", "lost>0", "p99_ns>1us", "check!=ok") == FAILED
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 3
    assert "p99_ns>1us could not be judged on CPU 1" in said[1]
    assert "check is unknown on CPU 1; first in window 1" in said[2]


def test_check_that_is_unknown_never_passes_in_silence(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = [read_one(make_window(segment=make_segment(kernel_tick=None)))]
    assert unknown[0].check.verdict == "unknown"
    assert judged(unknown, "check!=ok") == FAILED
    assert judged(unknown, "check==missing") == UNJUDGED
    assert judged(unknown, "check==unknown") == FAILED
    assert capsys.readouterr().err.count("\n") == 3


def test_run_without_a_window_cannot_be_judged() -> None:
    assert judged([], "max_ns>50us") == UNJUDGED
    assert judged([], stop_if=("max_ns>50us",)) == UNJUDGED
    assert judged([]) == 0


def test_overhead_of_a_run_in_which_nothing_was_watched_cannot_be_judged() -> None:
    assert judged([unwatched_window()], "overhead_share>0.1%") == UNJUDGED


def test_limit_of_windows_that_some_do_not_have_is_said_and_no_fault(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert judged([quiet_window(), *three_windows()], stop_if=("median_ns>1s",)) == 0
    assert "--stop-if median_ns>1s could not be judged in 1 window" in capsys.readouterr().err
    assert judged([quiet_window()], stop_if=("median_ns>1s",)) == UNJUDGED


# -- while measuring --------------------------------------------------------------------------------


def slow(windows: list[Window], *, at: int) -> list[Window]:
    """The same windows, that of number ``at`` with an interruption of 1 ms."""
    return [
        replace(
            make_window(
                [(window.start_cycles + 1_000, 2_000_000)],
                segment=window.segment,
                window=window.window,
                start_cycles=window.start_cycles,
                end_cycles=window.end_cycles,
            )
            if window.window == at
            else window
        )
        for window in windows
    ]


def test_window_that_crosses_a_limit_is_kept_and_the_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = Script(*slow(touching(5), at=5))
    path = tmp_path / "a.jsonl"
    assert measured({1: source}, "--stop-if", "max_ns>0.5ms", "--output", str(path)) == FAILED
    lines = [contract.read_line(line) for line in path.read_text().splitlines()]
    assert [line["window"] for line in lines if line["line"] == "window"] == [1, 2, 3, 4, 5]
    (note,) = [line["message"] for line in lines if line["line"] == "note"]
    said = capsys.readouterr().err
    assert said == f"tickmon: {note}\n"
    assert "ended by --stop-if max_ns>0.5ms: on CPU 1 in window 5" in said
    assert source.stopped


def test_each_cpu_is_judged(capsys: pytest.CaptureFixture[str]) -> None:
    sources = {
        1: Script(*touching(2), DONE),
        2: Script(*slow(touching(2, segment=make_segment(cpu=2)), at=2), DONE),
    }
    assert measured(sources, "--fail-if", "max_ns>0.5ms", "--format", "json") == FAILED
    out, err = capsys.readouterr()
    assert len(json.loads(out)["windows"]) == 4
    assert "1.000 ms on CPU 2" in err
    assert err.count("\n") == 1


def test_sampler_that_died_is_the_graver_news(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TickmonError):
        measured({1: Script(*touching(2), DEAD)}, "--fail-if", "max_ns>1us")
    assert "--fail-if max_ns>1us: 6.000 µs on CPU 1" in capsys.readouterr().err


# -- recordings -------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [[], ["--format", "json"], ["--window", "3"]])
def test_recording_is_judged_like_a_run(tmp_path: Path, more: list[str]) -> None:
    path = str(file_of(tmp_path, written(uneven())))
    plain = finished("show", path, *more)
    failed = finished("show", path, *more, "--fail-if", "max_ns>50us")
    assert (plain.returncode, failed.returncode) == (0, FAILED)
    assert failed.stdout == plain.stdout
    assert "the longest interruption: 1.00 ms at 14:13:22.000002 UTC" in failed.stderr
    assert finished("show", path, *more, "--fail-if", "max_ns>2ms").returncode == 0


def test_bad_limit_is_wrong_usage_before_anything_is_measured() -> None:
    for command in (["sample", "--stop-if"], ["sample", "--fail-if"], ["show", "FILE", "--fail-if"]):
        refused = finished(*command, "max>5")
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.count("\n") == 1
