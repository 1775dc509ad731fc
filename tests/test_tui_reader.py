"""The thread that makes readings: it keeps no source waiting, and passes over only what nobody needs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.scripted import early_look, scripted_segment, scripted_windows
from tickmon.tui.backlog import MOST_WAITING
from tickmon.tui.reader import Fault, News, Reader
from tickmon.tui.view import Reading
from tickmon.windows import Ended, OpenGap, ReadingWarning, Settings, Window

SEGMENT = scripted_segment(Settings(cpu=3))
WINDOWS = scripted_windows(SEGMENT, 4)
LOOK = early_look(SEGMENT)
GAP = OpenGap(since=datetime(2026, 11, 30, tzinfo=UTC), gap_s=0.3)
WAIT_S = 30.0


class Listener:
    """Hears the news, and takes as long over the first as a test wants."""

    def __init__(self) -> None:
        self.news: list[News] = []
        self.turns: list[int] = []
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def tell(self, turn: int, news: News) -> None:
        self.begun.set()
        assert self.go_on.wait(WAIT_S)
        self.news.append(news)
        self.turns.append(turn)

    @property
    def heard(self) -> list[int | str]:
        """Windows by their numbers, looks and all else by their kind."""
        return [_name(news) for news in self.news]


def _name(news: News) -> int | str:
    if not isinstance(news, Reading):
        return type(news).__name__
    window = news.analysis.window
    return "look" if window.provisional else window.window


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
def reader(listener: Listener) -> Iterator[Reader]:
    reader = Reader(listener.tell)
    reader.start()
    yield reader
    listener.go_on.set()
    reader.close(WAIT_S)


def hold_up(reader: Reader, listener: Listener) -> None:
    """Has the reader busy with a first window until the listener goes on."""
    reader.take(1, WINDOWS[0])
    assert listener.begun.wait(WAIT_S)


def all_heard(reader: Reader, listener: Listener) -> list[int | str]:
    listener.go_on.set()
    assert reader.wait_idle(WAIT_S)
    return listener.heard


def test_a_source_does_not_wait_for_what_is_being_read(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    for window in WINDOWS[1:]:
        reader.take(1, window)
    assert listener.heard == []
    assert not reader.wait_idle(0)
    assert all_heard(reader, listener) == [1, 2, 3, 4]


def test_finished_windows_are_remembered_however_late_they_are_read(
    reader: Reader, listener: Listener
) -> None:
    hold_up(reader, listener)
    for window in WINDOWS[1:]:
        reader.take(1, window)
    all_heard(reader, listener)
    newest = listener.news[-1]
    assert isinstance(newest, Reading)
    assert newest.trend.windows == 4


def test_windows_that_become_too_many_are_read_as_one_with_all_that_they_hold(
    reader: Reader, listener: Listener
) -> None:
    hold_up(reader, listener)
    many = scripted_windows(SEGMENT, MOST_WAITING + 1)[1:]
    for window in many:
        reader.take(1, GAP)
        reader.take(1, window)
    assert all_heard(reader, listener) == [1, 2]
    newest = listener.news[-1]
    assert isinstance(newest, Reading)
    joined = newest.analysis.window
    assert (joined.start_cycles, joined.end_cycles) == (many[0].start_cycles, many[-1].end_cycles)
    assert joined.interruptions == sum(window.interruptions for window in many)
    assert joined.gap_sum_cycles == sum(window.gap_sum_cycles for window in many)
    (said,) = [warning for warning in newest.analysis.warnings if warning.code == "screen_behind"]
    assert f"{len(many)} windows joined" in said.message


def test_a_look_is_passed_over_when_a_newer_window_waits(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    for event in (LOOK, LOOK, WINDOWS[1], LOOK):
        reader.take(1, event)
    assert all_heard(reader, listener) == [1, 2, "look"]


def test_two_thousand_looks_behind_are_one(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    for _ in range(2_000):
        reader.take(1, LOOK)
        reader.take(1, GAP)
    assert all_heard(reader, listener) == [1, "look", "OpenGap"]


def test_a_look_is_read_when_only_an_end_follows(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    reader.take(1, LOOK)
    reader.take(1, Ended(error="killed"))
    assert all_heard(reader, listener) == [1, "look", "Ended"]


def test_an_open_gap_is_passed_over_when_anything_newer_waits(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    for event in (GAP, GAP, WINDOWS[1], GAP, GAP):
        reader.take(1, event)
    assert all_heard(reader, listener) == [1, 2, "OpenGap"]


def test_another_cpu_makes_what_still_waits_needless(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    reader.take(1, WINDOWS[1])
    reader.begin(2, forget=True, warnings=())
    reader.take(2, WINDOWS[0])
    assert all_heard(reader, listener) == [1, 1]
    assert listener.turns == [1, 2]
    newest = listener.news[-1]
    assert isinstance(newest, Reading)
    assert newest.trend.windows == 1


def test_another_cpu_forgets_two_thousand_windows_behind(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    for number in range(2_000):
        reader.take(1, replace(WINDOWS[1], window=number + 2))
    reader.begin(2, forget=True, warnings=())
    reader.take(2, replace(WINDOWS[0], window=7))
    assert all_heard(reader, listener) == [1, 7]


def test_another_window_length_needs_all_that_still_waits(reader: Reader, listener: Listener) -> None:
    hold_up(reader, listener)
    reader.take(1, WINDOWS[1])
    reader.begin(2, forget=False, warnings=())
    reader.take(2, WINDOWS[2])
    assert all_heard(reader, listener) == [1, 2, 3]
    newest = listener.news[-1]
    assert isinstance(newest, Reading)
    assert newest.trend.windows == 3


def test_warnings_of_the_source_go_into_its_windows(reader: Reader, listener: Listener) -> None:
    near = ReadingWarning(code="near", message="tickmon itself shares a core with CPU 3")
    reader.begin(1, forget=True, warnings=(near,))
    reader.take(1, WINDOWS[0])
    all_heard(reader, listener)
    (reading,) = listener.news
    assert isinstance(reading, Reading)
    assert near in reading.analysis.window.warnings
    assert near in reading.analysis.warnings


def test_an_error_of_ours_is_told_and_the_next_window_is_read(
    reader: Reader, listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(window: Window, clocks: object) -> None:
        raise ZeroDivisionError("a bug")

    with monkeypatch.context() as broken:
        broken.setattr("tickmon.tui.reader.analyse", fail)
        reader.take(1, WINDOWS[0])
        assert all_heard(reader, listener) == ["Fault"]
    assert isinstance(listener.news[0], Fault)
    reader.take(1, WINDOWS[0])
    assert all_heard(reader, listener) == ["Fault", 1]


def test_closing_ends_it_without_reading_what_still_waits(listener: Listener) -> None:
    reader = Reader(listener.tell)
    reader.start()
    hold_up(reader, listener)
    reader.take(1, WINDOWS[1])
    reader.close(0.0)
    listener.go_on.set()
    reader.close(WAIT_S)
    assert not reader._thread.is_alive()
    assert listener.heard == [1]
