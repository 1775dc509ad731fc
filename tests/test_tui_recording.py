"""Key R: every window from then on in a file, whatever is on show, and the screen says where."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.desk import Desk, desk
from tests.readings import HEADER
from tests.recordings import windows_in
from tests.scripted import scripted_segment, scripted_windows
from tickmon.loading.runs import runs
from tickmon.recorder import Recorder
from tickmon.tui.reader import Reader
from tickmon.windows import Settings


def at_desk(folder: Path, test: Callable[[Desk], Awaitable[None]]) -> None:
    async def sit_down() -> None:
        async with desk(recordings=folder) as at:
            await test(at)

    asyncio.run(sit_down())


def file_in(folder: Path) -> Path:
    (path,) = folder.iterdir()
    return path


def test_path_and_size_are_on_a_small_screen_while_it_records(tmp_path: Path) -> None:
    async def recorded(at: Desk) -> None:
        await at.press("R")
        await at.until(lambda: "recording into" in at.notices)
        await at.windows(2)
        path = file_in(tmp_path)
        assert "REC " in at.part("title")
        assert "kB" in at.part("title")
        assert "LIVE" in at.part("title")
        assert path.name[-25:] in at.part("message")
        await at.press("R")
        await at.until(lambda: "2 windows" in at.notices)
        assert "REC" not in at.part("title")
        (run,) = runs(path)
        assert run.ended

    at_desk(tmp_path, recorded)


def test_windows_are_written_while_the_picture_is_on_hold(tmp_path: Path) -> None:
    async def held(at: Desk) -> None:
        await at.windows(1)
        await at.press("R", "space")
        await at.until(lambda: "REC" in at.part("title"))
        await at.windows(3)
        assert "PAUSED" in at.part("title")
        assert len(windows_in(file_in(tmp_path))) == 3

    at_desk(tmp_path, held)


def test_another_cpu_goes_on_in_the_same_file_and_no_window_before_it_is_lost(tmp_path: Path) -> None:
    async def switched(at: Desk) -> None:
        await at.press("R")
        await at.windows(2)
        await at.press("0")
        await at.opened(2)
        await at.windows(2)
        assert [w.window.segment.cpu for w in windows_in(file_in(tmp_path))] == [3, 3, 0, 0]

    at_desk(tmp_path, switched)


def test_quitting_writes_the_summary(tmp_path: Path) -> None:
    async def quit_it(at: Desk) -> None:
        await at.press("R")
        await at.windows(2)
        await at.press("q")

    at_desk(tmp_path, quit_it)
    (run,) = runs(file_in(tmp_path))
    assert run.ended
    assert [summed.windows for summed in run.summed] == [2]


def test_where_it_cannot_be_written_it_is_said_and_nothing_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    (tmp_path / "file").write_text("")

    async def refused(at: Desk) -> None:
        await at.press("R")
        await at.until(lambda: "no recording" in at.notices)
        await at.windows(1)
        assert "REC" not in at.part("title")

    at_desk(tmp_path / "nowhere", refused)


def test_without_a_recorder_the_key_says_so() -> None:
    async def replayed() -> None:
        async with desk() as at:
            await at.press("R")
            await at.until(lambda: "nothing here that could be recorded" in at.notices)

    asyncio.run(replayed())


def test_windows_that_wait_are_recorded_though_another_cpu_was_chosen_and_at_the_end(tmp_path: Path) -> None:
    segment = scripted_segment(Settings(cpu=3))
    windows = scripted_windows(segment, 4)
    busy, go_on = threading.Event(), threading.Event()

    def tell(_turn: int, _news: object) -> None:
        busy.set()
        go_on.wait(20)

    reader = Reader(tell, Recorder(HEADER, tmp_path))
    reader.start()
    reader.record(1, 3)
    assert busy.wait(20)
    for window in windows[:2]:
        reader.take(1, window)
    reader.begin(2, forget=True, warnings=())
    for window in windows[2:]:
        reader.take(2, window)
    closing = threading.Thread(target=reader.close, args=(20,))
    closing.start()
    go_on.set()
    closing.join()
    (run,) = runs(file_in(tmp_path))
    assert run.ended
    assert [summed.windows for summed in run.summed] == [4]
