"""Files: nothing is overwritten, nothing that was written is lost, no half file stays."""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests import contract
from tests.readings import HEADER, lossy_window, three_windows
from tickmon.errors import TickmonError
from tickmon.recording import Writer, save_snapshot, state_directory


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "tickmon"


def test_what_is_written_can_be_read_at_once(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.jsonl") as writer:
        writer.write("one\n")
        assert writer.path.read_text() == "one\n"
        writer.write("zwölf\n")
    assert writer.path.read_text(encoding="utf-8") == "one\nzwölf\n"


def test_compressed_file_can_be_read_as_far_as_it_was_written(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.jsonl.gz") as writer:
        for text in ("one\n", "two\n"):
            writer.write(text)
        # As a reader finds it when the program is killed here: one stream, its trailer missing.
        assert zlib.decompressobj(wbits=31).decompress(writer.path.read_bytes()) == b"one\ntwo\n"
    assert gzip.decompress(writer.path.read_bytes()) == b"one\ntwo\n"


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("precious")
    with pytest.raises(TickmonError, match=r"a\.csv exists already: .*--force"):
        Writer(path)
    assert path.read_text() == "precious"


def test_forced_writer_replaces_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("something much longer")
    with Writer(path, force=True) as writer:
        writer.write("new")
    assert path.read_text() == "new"


def test_forced_writer_that_writes_nothing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("old")
    Writer(path, force=True).close()
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_file_that_was_never_written_to_is_removed(tmp_path: Path, name: str) -> None:
    writer = Writer(tmp_path / name)
    writer.close()
    writer.close()
    assert list(tmp_path.iterdir()) == []


def test_dangling_link_is_followed_and_not_replaced(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("target")
    with Writer(link) as writer:
        writer.write("x")
    assert link.is_symlink()
    assert (tmp_path / "target").read_text() == "x"


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(TickmonError, match=f"there is no folder {tmp_path}/none"):
        Writer(tmp_path / "none" / "a.json")


def test_directory_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(TickmonError, match="Is a directory"):
        Writer(tmp_path, force=True)
    with pytest.raises(TickmonError, match="Is a directory"):
        Writer(tmp_path)


def test_full_device_is_an_error_that_names_it() -> None:
    with Writer(Path("/dev/full")) as writer, pytest.raises(TickmonError, match="/dev/full: No space left"):
        writer.write("x")


def test_device_needs_no_force() -> None:
    with Writer(Path(os.devnull)) as writer:
        writer.write("x")


def test_pipe_without_a_reader_is_a_broken_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with Writer(pipe) as writer:
        os.close(reader)
        with pytest.raises(BrokenPipeError):
            writer.write("x")


def test_snapshot_is_a_recording_of_one_window_with_every_interruption(tmp_path: Path) -> None:
    path = save_snapshot(three_windows()[1], HEADER, tmp_path)
    lines = [contract.read_line(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    assert [line.pop("line") for line in lines] == ["header", "segment", "window", "events", "summary"]
    kinds = (contract.HEADER, contract.SEGMENT, contract.WINDOW, contract.EVENTS, contract.SUMMARY)
    for line, members in zip(lines, kinds, strict=True):
        contract.check(line, members)
    assert len(lines[3]["gap_cycles"]) == lines[2]["interruptions"]  # type: ignore[arg-type]


def test_snapshot_is_named_after_host_cpu_and_the_window_s_time(tmp_path: Path) -> None:
    path = save_snapshot(three_windows()[1], HEADER, tmp_path)
    assert path == tmp_path / "trade7-cpu1-20260921T141321Z.jsonl.gz"


def test_text_beside_a_snapshot_is_its_summary(tmp_path: Path) -> None:
    save_snapshot(three_windows()[1], HEADER, tmp_path)
    text = (tmp_path / "trade7-cpu1-20260921T141321Z.txt").read_text()
    assert "in 1 window\n" in text
    assert "\ncheck      ok: 250 ticks were due" in text


def test_taken_names_are_counted_on(tmp_path: Path) -> None:
    analysis = lossy_window()
    names = [save_snapshot(analysis, HEADER, tmp_path).name for _ in range(2)]
    (tmp_path / "trade7-cpu1-20260921T141320Z-3.txt").touch()
    names.append(save_snapshot(analysis, HEADER, tmp_path).name)
    stem = "trade7-cpu1-20260921T141320Z"
    assert names == [f"{stem}.jsonl.gz", f"{stem}-2.jsonl.gz", f"{stem}-4.jsonl.gz"]
    assert len(list(tmp_path.glob(f"{stem}*.txt"))) == 4


@pytest.mark.parametrize(
    ("name", "in_file"),
    [("../../etc", "_.._etc"), ("a b/c\x1b", "a_b_c_"), (None, "host"), ("-rf", "rf"), ("x" * 300, "x" * 64)],
)
def test_name_of_the_host_cannot_lead_elsewhere(tmp_path: Path, name: str | None, in_file: str) -> None:
    header = replace(HEADER, host=replace(HEADER.host, name=name))
    path = save_snapshot(lossy_window(), header, tmp_path)
    assert path.parent == tmp_path
    assert path.name == f"{in_file}-cpu1-20260921T141320Z.jsonl.gz"


def test_snapshot_goes_to_the_state_directory_when_the_other_cannot_be_written(state: Path) -> None:
    # Nobody, not even root, can make a file there.
    path = save_snapshot(lossy_window(), HEADER, Path("/proc"))
    assert path.parent == state
    assert path.with_name(path.name.replace(".jsonl.gz", ".txt")).exists()


def test_snapshot_that_fits_nowhere_says_why_for_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(
        TickmonError,
        match=r"no snapshot: cannot write /proc/.*: No such file or directory; cannot write .*file",
    ) as caught:
        save_snapshot(lossy_window(), HEADER, Path("/proc"))
    assert "\n" not in str(caught.value)


@contextmanager
def small_files() -> Iterator[None]:
    """The kernel refuses to let a file grow beyond 100 bytes: also the one that the tests report to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_failed_write_leaves_no_half_line_and_the_next_one_may_succeed(tmp_path: Path, name: str) -> None:
    noise = os.urandom(200).hex()
    with Writer(tmp_path / name) as writer:
        writer.write("one\n")
        with small_files(), pytest.raises(TickmonError, match="File too large"):
            writer.write(noise)
        writer.write("two\n")
    data = writer.path.read_bytes()
    assert (gzip.decompress(data) if name.endswith(".gz") else data) == b"one\ntwo\n"


def test_writer_knows_when_its_name_leads_elsewhere(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.csv") as writer:
        writer.write("x")
        assert writer.adrift() is None
        moved = writer.path.rename(tmp_path / "b.csv")
        assert "a.csv was moved" in (writer.adrift() or "")
        writer.path.write_text("another")
        assert "a.csv was moved" in (writer.adrift() or "")
        moved.unlink()
        told = re.search(r"a\.csv was removed: .* copy (/proc/\S+)", writer.adrift() or "")
        assert told
        assert Path(told[1]).read_text() == "x"


def test_failed_snapshot_leaves_no_half_file(tmp_path: Path) -> None:
    with small_files(), pytest.raises(TickmonError, match="File too large"):
        save_snapshot(lossy_window(), HEADER, tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_what_was_written_before_a_failure_stays(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.csv") as writer:
        writer.write("kept\n")
        with small_files(), pytest.raises(TickmonError, match="File too large"):
            writer.write("x" * 200)
    assert writer.path.read_text().startswith("kept\n")


def test_state_directory_follows_the_xdg_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert state_directory() == Path("/var/state/tickmon")
    monkeypatch.setenv("HOME", "/home/ann")
    for ignored in ("", "relative/path"):
        monkeypatch.setenv("XDG_STATE_HOME", ignored)
        assert state_directory() == Path("/home/ann/.local/state/tickmon")


def test_snapshot_s_lines_are_the_same_whatever_json_reads_them(tmp_path: Path) -> None:
    path = save_snapshot(lossy_window(), HEADER, tmp_path)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        assert all(json.loads(line) == contract.read_line(line) for line in lines)
