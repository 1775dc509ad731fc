"""Recordings that are switched on and off: what is in the file, and what is said when it goes wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.readings import HEADER, read, three_windows
from tests.recordings import windows_in
from tests.scripted import scripted_segment, scripted_windows
from tests.test_recording import small_files
from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.loading.runs import RecordedRun, runs
from tickmon.recorder import Recorded, Recorder
from tickmon.windows import Method, Settings


def recorder_in(folder: Path) -> Recorder:
    return Recorder(HEADER, folder)


def ended(recorder: Recorder) -> Recorded:
    state = recorder.end()
    assert state is not None
    assert state.ended
    return state


def run_of(state: Recorded) -> RecordedRun:
    (run,) = runs(state.path)
    return run


def on_cpu(cpu: int, *, segment: int, method: Method = Method.GAP) -> list[Analysis]:
    settings = Settings(cpu=cpu, method=method)
    return read(scripted_windows(scripted_segment(settings, segment=segment), 2, first=2 * segment))


def test_only_windows_between_begin_and_end_are_kept_and_summed_up(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    first, second, third = three_windows()
    assert recorder.take(first) is None
    begun = recorder.begin(3)
    assert begun.said == (f"recording into {begun.path}",)
    state = recorder.take(second)
    assert state is not None
    assert state.windows == 1
    assert state.size_bytes == state.path.stat().st_size > 0
    assert state.said == ()
    end = ended(recorder)
    assert "1 window" in end.said[0]
    assert recorder.take(third) is None
    run = run_of(end)
    assert run.ended
    assert [summed.windows for summed in run.summed] == [1]


def test_each_window_is_in_the_file_before_the_next_one_comes(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    path = recorder.begin(3).path
    for count, analysis in enumerate(three_windows(), 1):
        recorder.take(analysis)
        (run,) = runs(path)
        assert not run.ended
        assert [summed.windows for summed in run.summed] == [count]
    recorder.end()


def test_two_recordings_of_one_second_do_not_share_a_file(tmp_path: Path) -> None:
    names = set()
    for _ in range(3):
        recorder = recorder_in(tmp_path)
        names.add(recorder.begin(3).path.name)
        recorder.take(three_windows()[0])
        recorder.end()
    assert len(names) == 3
    assert all(name.startswith("trade7-cpu3-") and name.endswith(".jsonl.gz") for name in names)


def test_recording_without_a_window_leaves_nothing_behind(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    recorder.begin(3)
    assert ended(recorder).said == ("nothing was recorded",)
    assert list(tmp_path.iterdir()) == []


def test_cpus_share_a_file_and_each_has_its_summary(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    recorder.begin(3)
    for analysis in (*on_cpu(3, segment=1), *on_cpu(1, segment=2), *on_cpu(3, segment=3)):
        recorder.take(analysis)
    run = run_of(ended(recorder))
    assert [(s.summary.analysis.window.segment.cpu, s.windows) for s in run.summed] == [(1, 2), (3, 4)]


def test_another_method_ends_the_recording_and_says_so(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    recorder.begin(3)
    for analysis in on_cpu(3, segment=1):
        recorder.take(analysis)
    state = recorder.take(on_cpu(3, segment=2, method=Method.LOOP)[0])
    assert state is not None
    assert state.ended
    assert "another method began" in state.said[0]
    assert not recorder.running
    assert [summed.windows for summed in run_of(state).summed] == [2]


def test_full_disk_is_said_once_and_what_was_written_before_and_after_is_whole(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    recorder.begin(3)
    first, second, third = three_windows()
    recorder.take(first)
    with small_files():
        failed = recorder.take(second)
        again = recorder.take(second)
    assert failed is not None
    assert again is not None
    assert "File too large" in failed.said[0]
    assert failed.trouble == again.trouble == "not written"
    assert again.said == ()
    better = recorder.take(third)
    assert better is not None
    assert better.trouble == ""
    assert "can be written again" in better.said[0]
    end = ended(recorder)
    assert end.trouble == "not complete"
    assert "2 windows are missing" in end.said[0]
    assert len(windows_in(end.path)) == 2


def test_no_room_for_the_first_window_ends_it_without_a_file(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    recorder.begin(3)
    with small_files():
        state = recorder.take(three_windows()[0])
    assert state is not None
    assert state.ended
    assert "not recorded" in state.said[0]
    assert not recorder.running
    assert list(tmp_path.iterdir()) == []


def test_removed_file_is_said_at_the_next_window(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    path = recorder.begin(3).path
    first, second, third = three_windows()
    recorder.take(first)
    path.unlink()
    state = recorder.take(second)
    assert state is not None
    assert state.trouble == "file gone"
    assert "was removed" in state.said[0]
    later = recorder.take(third)
    assert later is not None
    assert (later.trouble, later.said) == ("file gone", ())
    assert ended(recorder).trouble == "not complete"


def test_where_nothing_can_be_written_it_is_said_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")
    recorder = recorder_in(tmp_path / "nowhere")
    with pytest.raises(TickmonError, match=r"no recording: cannot write .*there is no folder"):
        recorder.begin(3)
    assert not recorder.running


def test_the_end_of_the_program_ends_it_too(tmp_path: Path) -> None:
    recorder = recorder_in(tmp_path)
    path = recorder.begin(3).path
    recorder.take(three_windows()[0])
    recorder.close()
    assert str(path) in recorder.parting
    (run,) = runs(path)
    assert run.ended
    recorder.close()
    assert replace(HEADER, started_at=run.header.started_at) == run.header
