"""A whole run in each format."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests import contract
from tests.making import make_segment, make_window
from tests.readings import HEADER, loop_window, read, read_one, sum_up, three_windows
from tickmon.analysis.readings import Analysis
from tickmon.formats.table import event_columns, window_columns
from tickmon.streams import End, Outcome, stream_of
from tickmon.windows import Method

AT = datetime(2026, 9, 21, 14, 13, 30, tzinfo=UTC)


def end_of(*runs: Sequence[Analysis], note: str | None = None, orderly: bool = True) -> End:
    outcomes = [Outcome(summary=sum_up(run), windows=len(run)) for run in runs]
    return End(at=AT, outcomes=outcomes, note=note, orderly=orderly)


def written(form: str, *runs: Sequence[Analysis], events: bool = False, end: End | None = None) -> str:
    """Everything that a run writes, the windows of its CPUs one CPU after the other."""
    stream = stream_of(form, HEADER, events=events)
    windows = "".join(stream.window(analysis) for run in runs for analysis in run)
    return windows + stream.end(end or end_of(*runs))


def on_two_cpus() -> tuple[list[Analysis], list[Analysis]]:
    """Three windows of CPU 1, one of CPU 5."""
    segment = make_segment(cpu=5, segment=2)
    other = read([make_window([(1_000, 9_000)], segment=segment, window=4)])
    return three_windows(), other


def kinds(text: str) -> list[object]:
    return [json.loads(line)["line"] for line in text.splitlines()]


def test_json_lines_begin_with_the_header_and_end_with_the_summary() -> None:
    assert kinds(written("jsonl", three_windows())) == ["header", "segment", *["window"] * 3, "summary"]


def test_json_lines_of_events_follow_their_window() -> None:
    assert kinds(written("jsonl", three_windows(), events=True)) == [
        "header",
        "segment",
        *["window", "events"] * 3,
        "summary",
    ]


def test_json_lines_are_whole_as_soon_as_a_window_is() -> None:
    stream = stream_of("jsonl", HEADER, events=False)
    first, second, _ = three_windows()
    assert kinds(stream.window(first)) == ["header", "segment", "window"]
    assert kinds(stream.window(second)) == ["window"]


def test_json_lines_of_several_cpus_have_a_segment_and_a_summary_of_each() -> None:
    text = written("jsonl", *on_two_cpus())
    assert kinds(text) == ["header", "segment", *["window"] * 3, "segment", "window", "summary", "summary"]
    assert [json.loads(line)["cpu"] for line in text.splitlines()[-2:]] == [1, 5]


def test_json_lines_of_a_run_that_was_ended_say_so_and_sum_up() -> None:
    windows = three_windows()
    text = written("jsonl", windows, end=end_of(windows, note="ended by SIGINT"))
    assert kinds(text)[-2:] == ["note", "summary"]


def test_json_lines_of_a_run_that_broke_off_have_no_summary() -> None:
    windows = three_windows()
    text = written("jsonl", windows, end=end_of(windows, note="the sampler died", orderly=False))
    assert kinds(text)[-2:] == ["window", "note"]


@pytest.mark.parametrize("events", [False, True])
def test_json_is_one_object_with_the_members_of_the_contract(events: bool) -> None:
    value = contract.read_line(written("json", three_windows(), events=events))
    window = {**contract.WINDOW, **({"events": contract.INTERRUPTIONS} if events else {})}
    members = {
        "header": contract.HEADER,
        "segments": contract.ListOf(contract.SEGMENT),
        "windows": contract.ListOf(window),
        "notes": contract.ListOf(contract.NOTE),
        "summary": contract.SUMMARY,
        "summaries": contract.ListOf(contract.SUMMARY),
    }
    contract.check(value, members)
    assert len(value["windows"]) == 3  # type: ignore[arg-type]
    assert len(value["segments"]) == 1  # type: ignore[arg-type]


def test_json_of_several_cpus_has_a_summary_of_each_and_none_of_all() -> None:
    value = json.loads(written("json", *on_two_cpus()))
    assert value["summary"] is None
    assert [summary["cpu"] for summary in value["summaries"]] == [1, 5]
    assert [segment["cpu"] for segment in value["segments"]] == [1, 5]


def test_json_of_a_run_that_broke_off_is_an_object_all_the_same() -> None:
    windows = three_windows()
    value = json.loads(written("json", windows, end=end_of(windows, note="it died", orderly=False)))
    assert value["summary"] is None
    assert [note["message"] for note in value["notes"]] == ["it died"]


def test_json_holds_all_events_of_a_window_in_one_place() -> None:
    count = 70_000
    window = make_window([(1_000 * i, 500) for i in range(count)], end_cycles=1_000 * count)
    value = json.loads(written("json", [read_one(window)], events=True))
    assert len(value["windows"][0]["events"]["gap_cycles"]) == count


def test_csv_has_its_header_once() -> None:
    text = written("csv", *on_two_cpus())
    assert text.startswith(window_columns())
    assert len(text.splitlines()) == 1 + 3 + 1
    assert text.count("window,") == 1


def test_csv_of_events_has_its_header_once() -> None:
    runs = on_two_cpus()
    text = written("csv", *runs, events=True)
    assert text.startswith(event_columns())
    assert len(text.splitlines()) == 1 + sum(a.window.interruptions for run in runs for a in run)


def test_seed_prints_all_samples_against_the_smallest_of_the_whole_run() -> None:
    first = loop_window()
    slower = make_window([(0, 6_900)], segment=first.window.segment, start_cycles=49_000, end_cycles=60_000)
    text = written("seed", [first, *read([slower])])
    assert text == "0\n0\n0\n8000\n10\n0\n1190\n100\n"


def test_seed_begins_anew_with_the_segment_as_the_first_program_did_when_its_counter_went_back() -> None:
    segment = replace(make_segment(method=Method.LOOP), segment=2, reason="jump")
    again = make_window([(0, 6_900), (7_000, 6_930)], segment=segment, end_cycles=49_000)
    assert written("seed", [loop_window(), *read([again])]) == "0\n30\n"


def test_text_comes_at_the_end_only() -> None:
    stream = stream_of("text", HEADER, events=False)
    windows = three_windows()
    assert [stream.window(analysis) for analysis in windows] == ["", "", ""]
    assert stream.end(end_of(windows)).startswith("tickmon ")


def test_text_of_several_cpus_puts_them_side_by_side_and_then_shows_each() -> None:
    lines = written("text", *on_two_cpus()).splitlines()
    assert lines[0].split()[0] == "cpu"
    assert [line.split()[0] for line in lines[1:3]] == ["1", "5"]
    assert [line for line in lines if line.startswith("tickmon ")] == [
        line for line in lines if ": CPU 1 of" in line or ": CPU 5 of" in line
    ]


def test_window_without_a_tick_can_be_compared() -> None:
    quiet = read_one(make_window(segment=replace(make_segment(), cpu=7)))
    text = written("text", three_windows(), [quiet])
    row = next(line for line in text.splitlines() if line.startswith("7 "))
    assert row.split()[-2] == "–"
