"""Reading recordings: what was written comes back, and whatever else comes ends in one clear line."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.making import make_segment, make_window
from tests.readings import (
    HEADER,
    loop_window,
    lossy_window,
    quiet_window,
    read_one,
    three_windows,
    unwatched_window,
)
from tests.recordings import Line, changed, file_of, of_kind, windows_in, written
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.formats import lines
from tickmon.formats.lines import Header
from tickmon.loading.files import LINE_MAX_BYTES
from tickmon.loading.read import Item, Note, Remark, Summed, read
from tickmon.loading.runs import runs
from tickmon.windows import Segment

WHOLE = written(three_windows(), events=True)


def _packed(text: str) -> bytes:
    """As it is in a file while that is written: without an end."""
    packer = zlib.compressobj(wbits=31)
    return packer.compress(text.encode()) + packer.flush(zlib.Z_SYNC_FLUSH)


CASES = {
    "three": three_windows(),
    "loop": [loop_window()],
    "lossy": [lossy_window()],
    "quiet": [quiet_window()],
    "unwatched": [unwatched_window()],
}


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.json.gz"])
@pytest.mark.parametrize("events", [False, True])
@pytest.mark.parametrize("case", list(CASES))
def test_what_was_read_is_written_again_as_it_was(tmp_path: Path, name: str, events: bool, case: str) -> None:
    form = name.removesuffix(".gz").removeprefix("a.")
    text = written(CASES[case], form=form, events=events, note="ended by SIGINT")
    items = list(read(file_of(tmp_path, text, name)))
    (summed,) = of_kind(items, Summed)
    again = written(
        of_kind(items, Analysis), form=form, events=events, note="ended by SIGINT", summary=summed.summary
    )
    assert again == text
    assert of_kind(items, Remark) == []
    assert of_kind(items, Header) == [HEADER]
    assert of_kind(items, Note) == [Note(at=HEADER.started_at, message="ended by SIGINT")]


def test_windows_with_their_interruptions_can_be_analysed_again(tmp_path: Path) -> None:
    clocks, again = Clocks(), []
    for recorded in windows_in(file_of(tmp_path, WHOLE)):
        analysis, clocks = analyse(recorded.window, clocks)
        again.append(analysis)
    assert written(again, events=True) == WHOLE


def test_without_events_the_window_has_no_interruptions_but_all_figures(tmp_path: Path) -> None:
    path = file_of(tmp_path, WHOLE)
    plain, full = windows_in(path, events=False), windows_in(path)
    assert [len(a.window.details) for a in plain] == [0, 0, 0]
    assert [a.spread.p99_cycles for a in plain] == [a.spread.p99_cycles for a in full]
    assert [len(a.window.details) for a in full] == [a.window.interruptions for a in full]


def test_without_windows_only_the_rest_is_read(tmp_path: Path) -> None:
    items = list(read(file_of(tmp_path, WHOLE), windows=False))
    assert [type(item) for item in items] == [Header, Segment, Summed]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_cut_anywhere_gives_all_whole_windows_and_says_so(tmp_path: Path, name: str) -> None:
    data = WHOLE.encode()
    path = file_of(tmp_path, data[: len(data) // 2], name)
    items = list(read(path))
    assert len(of_kind(items, Analysis)) >= 1
    assert [remark for remark in of_kind(items, Remark) if "is cut in line" in remark.message]


def test_window_whose_interruptions_were_cut_comes_without_them(tmp_path: Path) -> None:
    lines = WHOLE.splitlines(keepends=True)
    events = next(i for i, line in enumerate(lines) if line.startswith('{"line":"events"'))
    items = list(read(file_of(tmp_path, "".join([*lines[:events], lines[events][:100]]))))
    (analysis,) = of_kind(items, Analysis)
    assert len(analysis.window.details) == 0
    assert len(of_kind(items, Remark)) == 1


def test_interruptions_that_are_missing_before_the_end_are_an_error(tmp_path: Path) -> None:
    def shorten(line: Line) -> None:
        for name in ("start_cycles", "gap_cycles", "ticks", "source"):
            line[name].pop()

    message = refused(file_of(tmp_path, changed(WHOLE, "events", shorten)))
    assert "line 5 ends the events of window 1, of which some are missing" in message


def test_wrong_sum_is_found_where_the_file_ends_with_the_interruptions(tmp_path: Path) -> None:
    lines = changed(WHOLE, "events", _set("gap_cycles", 0, value=5)).splitlines(keepends=True)
    events = next(i for i, line in enumerate(lines) if line.startswith('{"line":"events"'))
    message = refused(file_of(tmp_path, "".join(lines[: events + 1])))
    assert "line 3 says a sum that its interruptions do not have" in message


def test_packed_file_without_its_end_is_a_cut_that_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(_packed(WHOLE))
    assert len(windows_in(path)) == 3


def test_joined_packed_members_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    half = len(WHOLE) // 2
    parts = [gzip.compress(part.encode()) for part in (WHOLE[:half], WHOLE[half:])]
    path.write_bytes(b"".join(parts) + b"\0" * 512)
    assert len(windows_in(path)) == 3


def test_joined_recordings_begin_anew_at_each_header(tmp_path: Path) -> None:
    items = list(read(file_of(tmp_path, WHOLE + WHOLE)))
    assert len(of_kind(items, Header)) == 2
    assert [a.window.window for a in of_kind(items, Analysis)] == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\n\n" + text.replace("\n", "\n  \n"),
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", '\n{"line":"weather","wind":[[[1]]]}\n'),
        lambda text: text.replace('{"line"', '{"unknown":{"a":[1,"\\ud800"]},"line"'),
    ],
    ids=["mark", "crlf", "blank", "no end", "unknown lines", "unknown members"],
)
def test_what_does_no_harm_is_read_over(tmp_path: Path, spoil: Callable[[str], str]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(spoil(WHOLE).encode())
    items = list(read(path))
    assert len(of_kind(items, Analysis)) == 3
    assert of_kind(items, Remark) == []


@pytest.mark.parametrize("windows", [True, False])
@pytest.mark.parametrize("idle", ["{}", '{"line":"later"}', WHOLE.splitlines()[0], WHOLE.splitlines()[1]])
def test_only_so_many_lines_in_a_row_hold_no_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, windows: bool, idle: str
) -> None:
    monkeypatch.setattr("tickmon.loading.read.IDLE_MAX", 5)
    head, segment, *rest = written(three_windows()).splitlines()
    fitting = [head, segment, *[idle] * 2, segment, *rest, *["{}"] * 5]
    assert read_all(file_of(tmp_path, "\n".join(fitting)), windows=windows)
    with pytest.raises(TickmonError, match=r"line 6 is one more than 5 in a row that hold no measurement"):
        read_all(file_of(tmp_path, "\n".join([head, segment, *[idle] * 4])), windows=windows)


def read_all(path: Path, *, windows: bool) -> list[Item]:
    """All items of a file."""
    return list(read(path, windows=windows))


@pytest.mark.parametrize(
    "at", ["2026-09-21T14:13:20.5Z", "2026-09-21T16:13:20.5+02:00", "2026-09-21T14:13:20.5"]
)
def test_time_of_a_worst_interruption_is_in_utc_however_it_is_written(tmp_path: Path, at: str) -> None:
    made = changed(written(three_windows()), "window", lambda line: line["worst"][0].update(at=at))
    worst = windows_in(file_of(tmp_path, made))[0].worst[0]
    assert worst.at.isoformat() == "2026-09-21T14:13:20.500000+00:00"


@pytest.mark.parametrize("spoil", [lambda worst: worst.reverse(), lambda worst: worst[-1].pop("at")])
def test_worst_interruptions_come_longest_first_however_they_are_written(
    tmp_path: Path, spoil: Callable[[Line], object]
) -> None:
    made = changed(written(three_windows()), "window", lambda line: spoil(line["worst"]))
    same, *_ = windows_in(file_of(tmp_path, written(three_windows())))
    first, *_ = windows_in(file_of(tmp_path, made, "spoilt.jsonl"))
    lengths = [worst.gap_cycles for worst in first.worst]
    assert lengths == [worst.gap_cycles for worst in same.worst]
    assert (len(first.worst[:5]), first.worst[0]) == (5, same.worst[0])


def test_worst_interruptions_that_are_too_short_are_passed_over_unread(tmp_path: Path) -> None:
    text = written(three_windows())
    longest = [window.spread.max_cycles or 0 for window in windows_in(file_of(tmp_path, text))]
    made = changed(text, "window", lambda line: line["worst"][1].update(at="today"))
    path = file_of(tmp_path, made)
    above_cycles = longest[0]
    with pytest.raises(TickmonError, match=r"line 3 says worst\[\].at is"):
        list(read(path, worst_above_cycles=lambda _cpu: above_cycles - 1))
    found = of_kind(read(path, worst_above_cycles=lambda _cpu: above_cycles), Analysis)
    assert [bool(analysis.worst) for analysis in found] == [most > above_cycles for most in longest]


@pytest.mark.parametrize(
    "spoil", [lambda line: line.update(max_cycles=1), lambda line: line["worst"].reverse()]
)
def test_worst_interruptions_are_not_passed_over_where_maximum_or_order_is_wrong(
    tmp_path: Path, spoil: Callable[[Line], object]
) -> None:
    text = written(three_windows())
    shortest_cycles = windows_in(file_of(tmp_path, text))[0].worst[-1].gap_cycles
    path = file_of(tmp_path, changed(text, "window", spoil))
    first, *_ = of_kind(read(path, worst_above_cycles=lambda _cpu: shortest_cycles), Analysis)
    assert len(first.worst) == 100


def test_members_of_older_files_may_be_missing(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in written(three_windows()).splitlines()]
    for line in lines:
        for name in ("counter_synchronised", "guest", "step_cycles", "kernel_tick", "priority"):
            line.pop(name, None)
        for name in ("excluded_count", "excluded_cycles"):
            line.pop(name, None)
        for part in (line.get("tick"), *line.get("sources", ()), *line.get("trains", ())):
            if part:
                del part["bins"]
    items = list(read(file_of(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))))
    medians = [a.tick.spread.median_cycles for a in of_kind(items, Analysis) if a.tick]
    assert medians == [a.tick.spread.median_cycles for a in three_windows() if a.tick]


def test_time_that_was_left_out_but_not_listed_is_not_watched(tmp_path: Path) -> None:
    lines = [json.loads(line) for line in written(three_windows()).splitlines()]
    for line in lines:
        if line["line"] == "window":
            line["excluded_cycles"] += 12_345
    items = list(read(file_of(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))))
    for now, before in zip(of_kind(items, Analysis), three_windows(), strict=True):
        assert now.window.watched_cycles == before.window.watched_cycles - 12_345


def refused(path: Path) -> str:
    """The one line that reading ``path`` ends in."""
    with pytest.raises(TickmonError) as caught:
        list(read(path))
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500
    return message


def _set(*path: str | int, value: object) -> Callable[[Line], None]:
    def change(line: Line) -> None:
        part: object = line
        for name in path[:-1]:
            part = part[name]  # type: ignore[index]
        part[path[-1]] = value  # type: ignore[index]

    return change


@pytest.mark.parametrize(
    ("kind", "change", "said"),
    [
        ("header", _set("version", value=2), "version 2 .* versions up to 1; use a newer tickmon"),
        ("header", _set("version", value="1"), 'line 1 says version is "1", not a whole number'),
        ("header", _set("format", value="wav"), "line 1 is not the header"),
        ("header", _set("started_at", value="now"), 'line 1 says started_at is "now", not a time'),
        ("header", _set("host", value=[]), "line 1 host is a list of 0, not an object"),
        ("segment", _set("origin_cycles", value=5), "line 2 says origin_cycles is 5"),
        ("segment", _set("origin_cycles", value="9" * 5000), "line 2 says origin_cycles"),
        ("segment", _set("tsc_hz", value=0), "line 2 says tsc_hz is 0, not a number from 0.001"),
        ("segment", _set("method", value="dice"), 'line 2 says method is "dice", not one of gap, loop'),
        ("window", _set("reads", value=-1), "line 3 says reads is -1"),
        ("window", _set("reads", value=1.5), "line 3 says reads is 1.5"),
        ("window", _set("reads", value=True), "line 3 says reads is True"),
        ("window", _set("reads", value=2**53), "line 3 says reads is 9007199254740992"),
        ("window", _set("reads", value=10**4000), "line 3 says reads is a number beyond all bounds"),
        ("window", _set("lost", value=2**52), "line 3 contradicts itself"),
        ("window", _set("segment", value=7), "line 3 is of segment 7, which the file has not said"),
        ("window", _set("cpu", value=7), "line 3 says another cpu"),
        ("window", _set("histogram", "counts", value=[1]), "line 3 says a histogram"),
        ("window", _set("histogram", "counts", 0, value=9), "line 3 says a histogram that does not hold"),
        (
            "window",
            _set("histogram", "edges_cycles", 0, value=384.0),
            "edges_cycles is a list of .*, not a list",
        ),
        (
            "window",
            _set("histogram", "edges_cycles", 0, value=True),
            "edges_cycles is a list of .*, not a list",
        ),
        ("window", _set("histogram", "edges_cycles", 0, value=-1), "line 3 says a histogram with an edge"),
        ("window", _set("worst", 1, "gap_cycles", value=1.0), "worst\\[\\].gap_cycles is 1.0"),
        ("window", _set("worst", 99, "start_cycles", value=True), "worst\\[\\].start_cycles is True"),
        ("window", _set("worst", 99, "at", value="today"), "worst\\[\\].at is"),
        ("window", _set("worst", 99, "causes", value=[]), "worst\\[\\].causes is"),
        ("window", _set("worst", 99, value=[]), "worst\\[\\] is a list of 0, not an object"),
        ("window", _set("worst", 0, "source", value=99), "worst\\[\\].source is 99"),
        ("window", _set("tick", "hz", value="\x1b[2J" + "x" * 10**6), 'tick.hz is "\\?\\[2Jx+…"'),
        ("window", _set("warnings", value=[[]]), "warnings\\[\\] is a list of 0, not an object"),
        ("events", _set("window", value=9), "line 4 has events that do not follow their window"),
        ("events", _set("gap_cycles", value=[1]), "lists of different lengths"),
        ("events", _set("gap_cycles", 0, value="long" * 10**6), "says gap_cycles is a list"),
        ("events", _set("gap_cycles", 0, value=1.0), "says gap_cycles is a list"),
        ("events", _set("gap_cycles", 0, value=10**30), "says gap_cycles is a list"),
        ("events", _set("gap_cycles", 0, value=5), "line 3 says a sum that its interruptions do not have"),
    ],
)
def test_wrong_member_is_named_with_its_line(
    tmp_path: Path, kind: str, change: Callable[[Line], object], said: str
) -> None:
    path = file_of(tmp_path, changed(WHOLE, kind, change))
    message = refused(path)
    assert str(path) in message
    assert re.search(said, message), message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"\n \n", "it is empty"),
        (b"hello\n", "line 1 is not the header"),
        (b"[1]\n", "line 1 what it holds is a list of 1, not an object"),
        (b"\x7fELF" + bytes(range(256)) * 9, "line 1 is not the header"),
        (b'{"line":"window"}\n', "line 1 is not the header"),
        (b'{"line":"head', "line 1 is not the header"),
        (b"[" * 100_000, "line 1 is not the header"),
        (WHOLE.encode() + b"[" * 10**6 + b"\n", "line 10 holds what no recording holds"),
        (WHOLE.encode() + b'{"line":NaN}\n', "line 10 holds what no recording holds"),
        (WHOLE.encode() + b'{"line" \n', r"line 10 is no JSON \(at its character 9\)"),
        (WHOLE.encode() + b'{"line":"\xff"}\n', r"line 10 is not UTF-8 \(at its byte 10\)"),
        (WHOLE.encode() + b"1" * 5000 + b"\n", "line 10 holds what no recording holds"),
        (_packed(WHOLE) + b"\xff" * 200, "line 10 cannot be unpacked"),
        (gzip.compress(WHOLE.encode()) + b"rubbish", "cannot be unpacked"),
        (gzip.compress(b"{" + b" " * (LINE_MAX_BYTES + 2**20)), "is longer than 16 MiB"),
        (gzip.compress(WHOLE.encode() + b"\n" * 2**22), "is longer than 16 MiB"),
    ],
)
def test_what_is_no_recording_is_said_in_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    assert re.search(said, refused(path)), refused(path)


def test_missing_file_folder_and_endless_device_are_said(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none")
    assert "Is a directory" in refused(tmp_path)
    assert "line 1 is longer than 16 MiB; give a file that tickmon wrote" in refused(Path("/dev/zero"))
    assert "it is empty" in refused(Path(os.devnull))


def test_pipe_is_read_as_it_comes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(WHOLE,))
    writer.start()
    assert len(windows_in(pipe)) == 3
    writer.join()


def test_text_from_a_file_is_harmless_and_cut(tmp_path: Path) -> None:
    wild = "\x1b[31mred\u202egnol\n" + "x" * 10**7
    text = changed(WHOLE, "header", _set("host", "name", value=wild))
    (header,) = of_kind(read(file_of(tmp_path, text)), Header)
    assert header.host.name is not None
    assert header.host.name.startswith("?[31mred?gnol xxx")
    assert len(header.host.name) <= 200


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    gaps=st.lists(st.integers(401, 60 * 10**9), max_size=60),
    lost=st.lists(st.integers(401, 10**9), max_size=3),
    events=st.booleans(),
    name=st.text(max_size=20),
)
def test_any_window_comes_back(
    tmp_path: Path, gaps: list[int], lost: list[int], events: bool, name: str
) -> None:
    starts = np.cumsum([0, *(gap + 100 for gap in gaps)])
    details = list(zip(starts.tolist(), gaps, strict=False))
    end = int(starts[-1]) + sum(lost) + 1_000_000
    window = make_window(details, lost_cycles=lost, end_cycles=end, segment=make_segment(guest=True))
    header = replace(HEADER, clocksource=" ".join("".join(c for c in name if c.isprintable()).split()))
    text = written([read_one(window)], events=events, header=header)
    items = list(read(file_of(tmp_path, text)))
    (summed,) = of_kind(items, Summed)
    again = written(
        of_kind(items, Analysis), events=events, header=of_kind(items, Header)[0], summary=summed.summary
    )
    assert again == text


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_bytes_end_in_values_or_in_one_line(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from([_SMALL, _SMALL_JSON, _SMALL_PACKED])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        piece = data.draw(
            st.sampled_from([b"", b"-", b"9e999", b"null", b"[]", b"{", b'"', b"\0", b"\xff", b"1"])
        )
        content[at : at + data.draw(st.integers(0, 3))] = piece
        if not content:
            return
    path = tmp_path / "a"
    path.write_bytes(content)
    with contextlib.suppress(TickmonError):
        if analyses := of_kind(read(path), Analysis):
            written(analyses, events=True)


_SMALL = written(
    [lossy_window(), replace(quiet_window(), window=make_window(window=2))], events=True
).encode()
_SMALL_JSON = written([lossy_window()], form="json", events=True).encode()
_SMALL_PACKED = gzip.compress(_SMALL)


def test_run_that_ended_is_summed_up_as_it_was_then(tmp_path: Path) -> None:
    (run,) = runs(file_of(tmp_path, WHOLE))
    assert run.ended
    (summed,) = run.summed
    assert summed.windows == 3
    assert lines.summary_line(summed.summary, windows=3) == json.loads(WHOLE.splitlines()[-1])


@pytest.mark.parametrize("events", [False, True])
def test_run_that_was_killed_is_summed_up_from_its_windows(
    tmp_path: Path, events: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tickmon.loading.runs.AT_ONCE", 2)
    (run,) = runs(file_of(tmp_path, written(three_windows(), events=events, orderly=False)))
    assert not run.ended
    (summed,) = run.summed
    line, then = lines.summary_line(summed.summary, windows=3), json.loads(WHOLE.splitlines()[-1])
    # Percentiles of several windows come from bins, an eighth of a power of two wide.
    for name in ("median_cycles", "p99_cycles"):
        assert line[name] == pytest.approx(then[name], rel=0.13)
    tick = summed.summary.analysis.tick
    assert tick is not None
    assert tick.spread.median_cycles == pytest.approx(then["tick"]["median_cycles"], rel=0.13)
    same = ("interruptions", "overhead_cycles", "overhead_share", "max_cycles", "check", "worst", "warnings")
    assert {name: line[name] for name in same} == {name: then[name] for name in same}
    assert [s["count"] for s in line["sources"]] == [s["count"] for s in then["sources"]]  # type: ignore[attr-defined]


def test_worst_of_a_killed_run_are_those_of_all_its_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tickmon.loading.runs.AT_ONCE", 2)
    made = three_windows() * 4
    (run,) = runs(file_of(tmp_path, written(made, orderly=False)))
    lengths = sorted((one.gap_cycles for analysis in made for one in analysis.worst), reverse=True)
    assert [one.gap_cycles for one in run.summed[0].summary.analysis.worst] == lengths[:100]


@pytest.mark.parametrize("orderly", [True, False])
def test_clock_that_was_set_back_leaves_the_run_as_it_is(tmp_path: Path, orderly: bool) -> None:
    made = three_windows()
    back = [
        replace(
            analysis,
            window=replace(analysis.window, started_at=made[0].window.started_at - timedelta(hours=hours)),
        )
        for hours, analysis in enumerate(made)
    ]
    path = file_of(tmp_path, written(back, orderly=orderly))
    assert [a.window.started_at for a in windows_in(path)] == [a.window.started_at for a in back]
    (run,) = runs(path)
    (usual,) = runs(file_of(tmp_path, written(made, orderly=orderly), "usual.jsonl"))
    assert said_of(run.summed[0]) == said_of(usual.summed[0])


def said_of(summed: Summed) -> Line:
    """What a summary line says of a run."""
    return dict(lines.summary_line(summed.summary, windows=summed.windows))


def test_runs_of_joined_files_stay_apart(tmp_path: Path) -> None:
    killed = written(three_windows()[:2], orderly=False)
    first, second = runs(file_of(tmp_path, killed + WHOLE))
    assert (first.ended, second.ended) == (False, True)
    assert [s.windows for s in (*first.summed, *second.summed)] == [2, 3]


def test_more_runs_than_are_kept_are_all_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tickmon.loading.runs.RUNS_KEPT", 2)
    found = list(runs(file_of(tmp_path, WHOLE * 4)))
    assert [(run.ended, run.summed[0].windows) for run in found] == [(True, 3)] * 4


def test_run_before_its_first_window_has_nothing_to_sum_up(tmp_path: Path) -> None:
    (run,) = runs(file_of(tmp_path, WHOLE.splitlines()[0] + "\n"))
    assert (run.summed, run.ended) == ((), False)
