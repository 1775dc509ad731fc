"""Recordings that go wrong on their way: it is said at once, the rest is kept, and the end says it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.readings import HEADER, three_windows
from tests.recordings import of_kind
from tests.test_recording import small_files
from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.keeping import Keeping
from tickmon.loading.read import Note, read
from tickmon.recording import Writer
from tickmon.streams import JsonLines, stream_of


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_window_that_cannot_be_written_is_said_and_left_out(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = JsonLines(HEADER, events=True)
    windows = three_windows()
    with Writer(tmp_path / name) as writer:
        keeping = Keeping(writer)
        assert keeping.keep(stream.window(windows[0]))
        with small_files():
            assert not keeping.keep(stream.window(windows[1]))
            stream.missed(windows[1])
            assert capsys.readouterr().err.count("\n") == 1
            assert not keeping.keep(stream.window(windows[1]))
            stream.missed(windows[1])
            assert capsys.readouterr().err == ""
        assert keeping.keep(stream.window(windows[2]))
        assert "can be written again: 2 windows are missing in it" in capsys.readouterr().err
        with pytest.raises(TickmonError, match="is not complete: 2 windows are missing in it"):
            keeping.end("")
    items = list(read(writer.path))
    assert [analysis.window.window for analysis in of_kind(items, Analysis)] == [1, 3]
    assert [note.message for note in of_kind(items, Note)] == ["2 windows before this could not be written"]


def test_first_window_that_cannot_be_written_ends_it(tmp_path: Path) -> None:
    with (
        Writer(tmp_path / "a.jsonl") as writer,
        small_files(),
        pytest.raises(TickmonError, match="too large"),
    ):
        Keeping(writer).keep("x" * 200)
    assert list(tmp_path.iterdir()) == []


def test_removed_file_is_said_once_and_at_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Writer(tmp_path / "a.jsonl") as writer:
        keeping = Keeping(writer)
        keeping.keep("one\n")
        writer.path.unlink()
        for _ in range(3):
            assert keeping.keep("more\n")
        assert capsys.readouterr().err.count("was removed") == 1
        with pytest.raises(TickmonError, match="was removed"):
            keeping.end("end\n")


@pytest.mark.parametrize("form", ["json", "jsonl", "csv", "text", "seed"])
def test_every_stream_can_miss_a_window(form: str) -> None:
    stream_of(form, HEADER, events=False).missed(three_windows()[0])
