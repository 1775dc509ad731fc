"""A recording played back: positions that never leave the tape, and windows told as they were recorded."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.command import WAIT_S
from tests.readings import HEADER, sum_up, three_windows
from tests.recordings import file_of, written
from tickmon.errors import TickmonError
from tickmon.replay import NORMAL, SPEEDS, Position, Replay, Tape, load_tape, pause_s, place_at
from tickmon.windows import Event, Window, WindowSource

WINDOWS = tuple(three_windows())


def tape() -> Tape:
    return Tape(name="a.jsonl", header=HEADER, windows=WINDOWS, remarks=())


@contextmanager
def playing(replay: Replay) -> Iterator[queue.SimpleQueue[Event]]:
    told: queue.SimpleQueue[Event] = queue.SimpleQueue()
    source: WindowSource = replay
    source.start(told.put)
    try:
        yield told
    finally:
        source.stop()


def number(told: queue.SimpleQueue[Event]) -> int:
    window = told.get(timeout=WAIT_S)
    assert isinstance(window, Window)
    return window.window


_MOVES = st.sampled_from(
    [
        Position.toggled,
        Position.next,
        lambda p: p.stepped(1),
        lambda p: p.stepped(-1),
        lambda p: p.sought(-5),
        lambda p: p.sought(10**9),
        lambda p: p.faster(1),
        lambda p: p.faster(-1),
    ]
)


@given(moves=st.lists(_MOVES, max_size=30), length=st.integers(1, 4))
def test_no_move_leaves_the_tape(moves: list[object], length: int) -> None:
    position = Position(at=0, length=length)
    for move in moves:
        assert callable(move)
        position = move(position)
        assert 0 <= position.at < length
        assert position.times in SPEEDS


def test_steps_hold_and_space_goes_on() -> None:
    position = Position(at=0, length=3).stepped(1)
    assert (position.at, position.playing) == (1, False)
    assert position.toggled().playing
    assert position.toggled().next().at == 2


def test_end_holds_and_space_there_begins_anew() -> None:
    position = Position(at=2, length=3).next()
    assert (position.at, position.playing) == (2, False)
    assert position.toggled() == Position(at=0, length=3)


def test_windows_wait_as_long_as_they_took() -> None:
    assert pause_s(WINDOWS[0], WINDOWS[1], 1.0) == pytest.approx(1.0)
    assert pause_s(WINDOWS[0], WINDOWS[1], 10.0) == pytest.approx(0.1)
    assert pause_s(WINDOWS[0], WINDOWS[1], 0.1) == 2.0
    assert pause_s(WINDOWS[1], WINDOWS[0], 1.0) == 0.0


def test_place_is_found_by_the_time_of_day() -> None:
    second = WINDOWS[1].window.started_at
    assert place_at(WINDOWS, second) == 1
    assert place_at(WINDOWS, second + timedelta(seconds=0.9)) == 1
    assert place_at(WINDOWS, second - timedelta(days=1)) == 0
    assert place_at(WINDOWS, second + timedelta(days=1)) == 2


def test_tape_holds_the_windows_as_they_were_recorded(tmp_path: Path) -> None:
    loaded = load_tape(file_of(tmp_path, written(WINDOWS, events=True), "a.jsonl.gz"))
    assert [a.window.window for a in loaded.windows] == [1, 2, 3]
    assert written(loaded.windows, summary=sum_up(WINDOWS)) == written(WINDOWS)
    assert (loaded.header, loaded.remarks) == (HEADER, ())
    longest = [a.spread.max_cycles or 0 for a in WINDOWS]
    assert loaded.worst == longest.index(max(longest))


def test_tape_of_a_cut_file_says_so(tmp_path: Path) -> None:
    loaded = load_tape(file_of(tmp_path, written(WINDOWS)[:-100]))
    assert len(loaded.windows) == 3
    assert "is cut in line 6" in loaded.remarks[0]


def test_file_without_a_window_cannot_be_played(tmp_path: Path) -> None:
    with pytest.raises(TickmonError, match="nothing to replay"):
        load_tape(file_of(tmp_path, written(WINDOWS).splitlines()[0] + "\n"))


def test_source_tells_the_windows_in_order_and_holds_at_the_end() -> None:
    replay = Replay(tape())
    replay.move(lambda position: position.faster(len(SPEEDS)))
    with playing(replay) as told:
        assert [number(told) for _ in WINDOWS] == [1, 2, 3]
        replay.move(lambda position: position.sought(0))
        assert number(told) == 1


def test_source_tells_the_window_that_it_is_moved_to() -> None:
    replay = Replay(tape())
    replay.move(lambda position: position.sought(2))
    with playing(replay) as told:
        assert number(told) == 3
        assert replay.move(lambda position: position.stepped(-1)).at == 1
        assert number(told) == 2
        assert replay.move_to_worst().at == replay.tape.worst
        if replay.tape.worst != 1:
            assert number(told) == replay.tape.worst + 1


def test_readings_are_those_of_the_recording() -> None:
    replay = Replay(tape())
    assert [replay.reading_of(a.window) for a in WINDOWS] == list(WINDOWS)


def test_source_may_be_stopped_at_any_time() -> None:
    replay = Replay(tape())
    replay.stop()
    with playing(Replay(tape())) as told:
        assert number(told) == 1
    assert SPEEDS[NORMAL] == 1


def test_move_while_it_plays_is_told_instead_of_what_was_due() -> None:
    replay = Replay(tape())
    with playing(replay) as told:
        assert number(told) == 1
        replay.move(lambda position: position.stepped(1))
        assert number(told) == 2
        assert not replay.position.playing
