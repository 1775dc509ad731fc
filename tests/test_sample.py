"""``tickmon sample``: with scripted sources, and with real samplers through its command."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests import contract
from tests.command import COMMAND, WAIT_S, children, exists, finished, running, spare_cpu
from tests.making import make_segment, make_window
from tests.readings import HEADER
from tests.recordings import windows_in
from tickmon.analysis.history import all_of
from tickmon.commandline import parse
from tickmon.errors import TickmonError
from tickmon.options import SampleOptions
from tickmon.replay import load_tape, pause_s
from tickmon.sample import Run, run
from tickmon.windows import (
    ClockReading,
    Ended,
    Event,
    Method,
    OpenGap,
    ReadingWarning,
    Segment,
    Settings,
    Window,
    WindowSource,
)

DONE = Ended(error=None)
DEAD = Ended(error="the sampler on CPU 1 was ended by SIGKILL; start it again")


class Script:
    """A source that says what a test tells it to, and the ``last`` when it is stopped."""

    def __init__(self, *events: Event, last: Sequence[Event] = ()) -> None:
        self._events = events
        self._last = last
        self._on_event: Callable[[Event], None] | None = None
        self.stopped = 0

    def start(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self._thread = threading.Thread(target=self._say, args=(self._events,))
        self._thread.start()

    def stop(self) -> None:
        self.stopped += 1
        if self._on_event is None:
            return
        self._thread.join()
        last, self._last = self._last, ()
        self._say(last)

    def _say(self, events: Sequence[Event]) -> None:
        assert self._on_event is not None
        for event in events:
            self._on_event(event)


def touching(count: int, *, segment: Segment | None = None, first: int = 1) -> list[Window]:
    """Windows of a tenth of a second with two interruptions each."""
    segment = segment or make_segment()
    length = 200_000_000
    return [
        make_window(
            [(i * length + 1_000, 9_000), (i * length + 60_000, 12_000)],
            segment=segment,
            window=first + i,
            start_cycles=i * length,
            end_cycles=(i + 1) * length,
        )
        for i in range(count)
    ]


def asked_for(*argv: str) -> SampleOptions:
    asked = parse(["sample", *argv])
    assert isinstance(asked, SampleOptions)
    return asked


def measured(
    sources: dict[int, Script],
    *argv: str,
    warnings: tuple[ReadingWarning, ...] = (),
) -> int:
    """What ``sample`` returns when these are its sources, by CPU."""

    def open_source(settings: Settings) -> WindowSource:
        return sources[settings.cpu]

    settings = [Settings(cpu=cpu) for cpu in sources]
    return run(asked_for(*argv), settings, header=HEADER, open_source=open_source, warnings=warnings)


def read_lines(text: str) -> list[dict[str, object]]:
    return [contract.read_line(line) for line in text.splitlines()]


# -- with scripted sources --------------------------------------------------------------------------


def test_run_ends_when_every_source_has_ended() -> None:
    first, second = Script(*touching(2), DONE), Script(*touching(1, segment=make_segment(cpu=2)), DONE)
    windows = list(Run({1: first, 2: second}).windows())
    assert sorted(window.segment.cpu for window in windows) == [1, 1, 2]
    assert first.stopped
    assert second.stopped


def test_windows_and_segments_are_numbered_through_the_run() -> None:
    after_jump = make_segment(segment=2, reason="jump")
    sources: dict[int, WindowSource] = {
        1: Script(*touching(2), *touching(1, segment=after_jump, first=3), DONE),
        2: Script(*touching(2, segment=make_segment(cpu=2)), DONE),
    }
    windows = list(Run(sources).windows())
    assert [window.window for window in windows] == [1, 2, 3, 4, 5]
    segments = {(window.segment.cpu, window.segment.reason): window.segment.segment for window in windows}
    assert sorted(segments.values()) == [1, 2, 3]


def set_back(windows: Sequence[Window], since: int, by: timedelta) -> list[Window]:
    """The same windows when somebody sets the time of day back in the middle of one of them."""

    def as_read(reading: ClockReading) -> ClockReading:
        return replace(reading, realtime_ns=reading.realtime_ns - round(by.total_seconds() * 1e9))

    before, (during, *after) = windows[:since], windows[since:]
    return [
        *before,
        replace(during, clocks=(during.clocks[0], *map(as_read, during.clocks[1:]))),
        *(replace(w, started_at=w.started_at - by, clocks=tuple(map(as_read, w.clocks))) for w in after),
    ]


def test_clock_that_is_set_back_during_a_run_changes_nothing_but_the_times_of_day(tmp_path: Path) -> None:
    made = touching(20)
    lines = {}
    for name, windows in (("usual", made), ("back", set_back(made, 7, timedelta(days=400)))):
        path = tmp_path / f"{name}.jsonl"
        assert measured({1: Script(*windows, DONE)}, "--events", "--output", str(path)) == 0
        lines[name] = read_lines(path.read_text())
    assert lines["back"][-1]["line"] == "summary"
    for usual, back in zip(lines["usual"], lines["back"], strict=True):
        differs = {name for name, value in usual.items() if value != back[name]}
        assert differs <= {"started_at", "clocks", "worst"}
    paths = [str(tmp_path / f"{name}.jsonl") for name in ("usual", "back")]
    for arguments in (["show", paths[1]], ["show", paths[1], "--format", "csv"], ["compare", *paths]):
        result = finished(*arguments)
        assert (result.returncode, result.stderr) == (0, "")
    assert "Not to be told apart" in result.stdout
    tape = load_tape(tmp_path / "back.jsonl")
    assert [analysis.window.window for analysis in tape.windows] == list(range(1, 21))
    history = all_of(tape.windows)
    assert history.windows == 20
    pauses_s = [pause_s(before, after, 1.0) for before, after in itertools.pairwise(tape.windows)]
    assert all(0 <= pause <= 0.11 for pause in pauses_s)


def test_early_looks_and_open_gaps_are_passed_over() -> None:
    (window,) = touching(1)
    gap = OpenGap(since=HEADER.started_at, gap_s=1.0)
    windows = list(Run({1: Script(replace(window, provisional=True), gap, window, DONE)}).windows())
    assert [window.provisional for window in windows] == [False]


def test_what_a_source_hands_on_while_it_is_stopped_counts() -> None:
    first, second = touching(2)
    source = Script(first, last=[second])
    run = Run({1: source})
    windows = run.windows()
    assert next(windows).window == 1
    run.end_by(signal.SIGTERM)
    assert [window.window for window in windows] == [2]
    assert run.ended_by is signal.SIGTERM


def test_sampler_that_dies_leaves_its_windows_and_its_last_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TickmonError, match="was ended by SIGKILL"):
        measured({1: Script(*touching(3), DEAD)}, "--format", "jsonl")
    lines = read_lines(capsys.readouterr().out)
    assert [line["line"] for line in lines] == ["header", "segment", "window", "window", "window", "note"]
    assert lines[-1]["message"] == DEAD.error


def test_sampler_that_dies_leaves_a_summary_of_what_came_before(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(TickmonError):
        measured({1: Script(*touching(3), DEAD)})
    assert "in 3 windows" in capsys.readouterr().out


def test_death_of_one_sampler_ends_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    other = make_segment(cpu=2)
    first, second = touching(2, segment=other)
    alive = Script(first, last=[second])
    with pytest.raises(TickmonError):
        measured({1: Script(*touching(1), DEAD), 2: alive}, "--format", "csv")
    assert alive.stopped
    cpus = [row.split(",")[2] for row in capsys.readouterr().out.splitlines()[1:]]
    assert sorted(cpus) == ["1", "2", "2"]


def test_sampler_that_never_began_prints_nothing_and_leaves_no_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for form in ("text", "json", "jsonl", "csv"):
        with pytest.raises(TickmonError):
            measured({1: Script(DEAD)}, "--format", form)
        assert capsys.readouterr().out == ""
        with pytest.raises(TickmonError):
            measured({1: Script(DEAD)}, "--format", form, "--output", str(tmp_path / "out"))
        assert list(tmp_path.iterdir()) == []


def test_warning_of_the_run_is_in_every_window(capsys: pytest.CaptureFixture[str]) -> None:
    near = ReadingWarning(code="near", message="tickmon itself shares a core with CPU 1")
    assert measured({1: Script(*touching(2), DONE)}, "--format", "jsonl", warnings=(near,)) == 0
    for line in read_lines(capsys.readouterr().out):
        if line["line"] in ("window", "summary"):
            assert {"code": near.code, "message": near.message} in line["warnings"]  # type: ignore[operator]


def test_results_go_to_standard_output_and_words_to_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    segment = replace(make_segment(), method=Method.LOOP, loop_size=6800, threshold_cycles=None)
    window = make_window([(0, 6_800), (7_000, 6_825)], segment=segment, end_cycles=40_000_000)
    assert measured({1: Script(window, DONE)}, "--method", "loop", "--format", "seed") == 0
    out, err = capsys.readouterr()
    assert out == "0\n20\n"
    assert err == "Elapsed time: 5 ticks (assuming Hz = 250)\n"


def test_seed_counts_ticks_only_of_the_samples_that_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    segment = replace(make_segment(), method=Method.LOOP, loop_size=6800, threshold_cycles=None)
    window = make_window([(0, 6_800), (7_000, 6_825)], segment=segment, end_cycles=40_000_000)
    again = replace(window, segment=replace(segment, segment=2, reason="jump"))
    assert measured({1: Script(window, again, DONE)}, "--method", "loop", "--format", "seed") == 0
    out, err = capsys.readouterr()
    assert out == "0\n20\n"
    assert err == (
        "Elapsed time: 5 ticks (assuming Hz = 250)\n2 samples are left out: time jumped after them\n"
    )


# -- the command ------------------------------------------------------------------------------------


@contextmanager
def measuring(*argv: str, lines: int = 3, **how: Any) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """``sample`` for an hour as JSON Lines, once its first ``lines`` (header, segment, windows) are out."""
    cpu = str(spare_cpu())
    argv = ("sample", "--cpu", cpu, "--duration", "1h", "--window", "0.1", "--format", "jsonl", *argv)
    with running(*argv, **how) as process:
        assert process.stdout is not None
        yield process, [process.stdout.readline() for _ in range(lines)]


def await_(process: subprocess.Popen[str], ready: Callable[[], bool]) -> None:
    """Waits until it is ``ready``, which no event tells of; fails when it ends before."""
    while not ready():
        assert process.poll() is None
        time.sleep(0.01)


def rest_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it still prints until it ends, on standard output and standard error."""
    return process.communicate(timeout=WAIT_S)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_it_with_everything_printed(number: signal.Signals) -> None:
    with measuring() as (process, begun):
        (sampler,) = children(process.pid)
        process.send_signal(number)
        out, err = rest_of(process)
        lines = read_lines("".join(begun) + out)
    assert process.returncode == 128 + number
    assert err == ""
    assert [line["line"] for line in lines[-2:]] == ["note", "summary"]
    assert lines[-2]["message"] == f"ended by {number.name}"
    windows = [line for line in lines if line["line"] == "window"]
    assert lines[-1]["windows"] == len(windows)
    assert not exists(sampler)


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_signal_ends_every_format_well(form: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    argv = ("--window", "0.1", "--duration", "1h", "--format", form, "--output", str(path))
    with running("sample", "--cpu", str(spare_cpu()), *argv, stderr=subprocess.DEVNULL) as process:
        # The text comes at the end only: the sampler has begun is all that can be awaited.
        await_(
            process,
            lambda: (
                bool(children(process.pid)) if form == "text" else path.exists() and path.stat().st_size > 0
            ),
        )
        process.send_signal(signal.SIGTERM)
        process.wait(WAIT_S)
    assert process.returncode == 128 + signal.SIGTERM
    if form == "json":
        assert json.loads(path.read_text())["windows"]
    elif form == "csv":
        assert len(path.read_text().splitlines()) >= 2


def test_hang_up_that_is_ignored_stays_ignored() -> None:
    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with measuring(preexec_fn=ignore) as (process, _):
        process.send_signal(signal.SIGHUP)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["line"] == "window"
        process.send_signal(signal.SIGTERM)
        rest_of(process)
    assert process.returncode == 128 + signal.SIGTERM


def test_second_signal_ends_it_at_once() -> None:
    code = (
        "import threading\n"
        "from tests.test_sample import Script, measured, touching\n"
        "class Stuck(Script):\n"
        "    def start(self, on_event):\n"
        "        print('started', flush=True)\n"
        "    def stop(self):\n"
        "        print('stopping', flush=True)\n"
        "        threading.Event().wait()\n"
        "measured({1: Stuck()})\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            process.send_signal(signal.SIGTERM)
            assert process.stdout.readline() == "stopping\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(WAIT_S) == -signal.SIGTERM
        finally:
            process.kill()


def test_broken_pipe_is_quiet_and_leaves_no_sampler() -> None:
    with measuring(lines=1) as (process, (header,)):
        assert json.loads(header)["line"] == "header"
        assert process.stdout is not None
        assert process.stderr is not None
        (sampler,) = children(process.pid)
        process.stdout.close()
        assert process.wait(WAIT_S) == 128 + signal.SIGPIPE
        assert process.stderr.read() == ""
    assert not exists(sampler)


def test_sampler_that_is_killed_ends_it_with_one_clear_line() -> None:
    with measuring() as (process, begun):
        (sampler,) = children(process.pid)
        os.kill(sampler, signal.SIGKILL)
        out, err = rest_of(process)
    assert process.returncode == 1
    assert err.startswith("tickmon: the sampler on CPU ")
    assert "SIGKILL" in err
    assert err.count("\n") == 1
    assert read_lines("".join(begun) + out)[-1]["line"] == "note"


def test_recording_is_whole_as_far_as_it_came_when_the_program_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    with measuring("--output", str(path), lines=0) as (process, _):
        await_(process, lambda: path.exists() and path.stat().st_size > 0)
        process.kill()
        process.wait(WAIT_S)
    text = zlib.decompressobj(wbits=31).decompress(path.read_bytes()).decode()
    assert text.endswith("\n")
    assert [line["line"] for line in read_lines(text)][:3] == ["header", "segment", "window"]


def test_real_run_has_the_members_of_the_contract(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    cpu = spare_cpu()
    argv = ("--cpu", str(cpu), "--duration", "0.5", "--window", "0.2", "--events", "--output", str(path))
    done = finished("sample", *argv)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    members = {
        "header": contract.HEADER,
        "segment": contract.SEGMENT,
        "window": contract.WINDOW,
        "events": contract.EVENTS,
        "summary": contract.SUMMARY,
    }
    lines = read_lines(gzip.decompress(path.read_bytes()).decode())
    for line in lines:
        contract.check({name: line[name] for name in line if name != "line"}, members[str(line["line"])])
    windows = [line for line in lines if line["line"] == "window"]
    assert all(line["cpu"] == cpu for line in windows)
    for before, after in itertools.pairwise(windows):
        assert before["end_cycles"] == after["start_cycles"]


def test_real_loop_run_prints_as_many_samples_as_asked() -> None:
    argv = ("--cpu", str(spare_cpu()), "--method", "loop", "--samples", "500", "--format", "seed")
    done = finished("sample", *argv)
    assert done.returncode == 0
    printed = [int(line) for line in done.stdout.splitlines()]
    assert len(printed) == 500
    assert min(printed) == 0
    assert all(over % 10 == 0 for over in printed)
    assert done.stderr.startswith("Elapsed time: ")


def test_no_thread_stays_on_the_measured_cpu() -> None:
    cpu = spare_cpu()
    with measuring() as (process, _):
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            assert cpu not in os.sched_getaffinity(int(task.name)), task
        (sampler,) = children(process.pid)
        assert os.sched_getaffinity(sampler) == {cpu}


def test_line_a_window_is_for_terminals_only() -> None:
    argv = ("sample", "--cpu", str(spare_cpu()), "--duration", "0.2", "--window", "0.1")
    done = finished(*argv)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("tickmon ")

    terminal, end = os.openpty()
    done = finished(*argv, stderr=end)
    os.close(end)
    assert done.returncode == 0
    assert os.read(terminal, 1000).count(b"overhead") >= 1
    os.close(terminal)


def test_text_can_be_read_where_only_ascii_is_known() -> None:
    env = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = finished("sample", "--cpu", str(spare_cpu()), "--duration", "0.5", env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert "?" not in done.stdout
    assert " us" in done.stdout


def finished_windows(path: Path) -> int:
    """How many are in a file by now."""
    return len(windows_in(path)) if path.exists() and path.stat().st_size else 0


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_killed_run_leaves_every_window_that_was_finished(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    arguments = ("--cpu", str(spare_cpu()), "--window", "0.1", "--duration", "60", "--output", str(path))
    with running("sample", "--events", *arguments) as process:
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and not (
            path.exists() and path.stat().st_size and len(windows_in(path)) >= 3
        ):
            assert process.poll() is None, process.stderr
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
    analyses = windows_in(path)
    assert len(analyses) >= 3
    assert [a.window.window for a in analyses] == list(range(1, len(analyses) + 1))
    assert all(len(a.window.details) == a.window.interruptions - a.window.lost for a in analyses)


def test_recording_that_is_removed_is_said_and_ends_with_1(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    arguments = ("--cpu", str(spare_cpu()), "--window", "0.1", "--duration", "60", "--output", str(path))
    with running("sample", *arguments) as process:
        assert process.stderr is not None
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and not (path.exists() and path.stat().st_size):
            time.sleep(0.02)
        path.unlink()
        assert "was removed" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(WAIT_S) == 1


def test_switches_are_dated_in_a_time_namespace_too() -> None:
    elsewhen = ["unshare", "--time", "--monotonic", "100000", "--fork"]
    if subprocess.run([*elsewhen, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may make no time namespace")
    cpu = spare_cpu()
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as rival:
        try:
            os.sched_setaffinity(rival.pid, {cpu})
            done = subprocess.run(
                [*elsewhen, *COMMAND, "sample", "--cpu", str(cpu), "--duration", "2", "--format", "json"],
                check=True,
                capture_output=True,
                text=True,
                timeout=WAIT_S,
            )
        finally:
            rival.kill()
    summary = json.loads(done.stdout)["summary"]
    took = {source["kind"]: source["overhead_cycles"] for source in summary["sources"]}
    assert took["preemption"] > 0.5 * summary["overhead_cycles"]
