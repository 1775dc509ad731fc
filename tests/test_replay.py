"""A recording played back: positions that never leave the tape, and windows told as they were recorded."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.readings import HEADER, sum_up, three_windows
from tests.recordings import file_of, written
from tickmon.errors import TickmonError
from tickmon.replay import SPEEDS, Position, load_tape, pause_s

WINDOWS = tuple(three_windows())


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


def test_tape_holds_the_windows_as_they_were_recorded(tmp_path: Path) -> None:
    loaded = load_tape(file_of(tmp_path, written(WINDOWS, events=True), "a.jsonl.gz"))
    assert [a.window.window for a in loaded.windows] == [1, 2, 3]
    assert written(loaded.windows, summary=sum_up(WINDOWS)) == written(WINDOWS)
    assert (loaded.header, loaded.remarks) == (HEADER, ())


def test_tape_of_a_cut_file_says_so(tmp_path: Path) -> None:
    loaded = load_tape(file_of(tmp_path, written(WINDOWS)[:-100]))
    assert len(loaded.windows) == 3
    assert "is cut in line 6" in loaded.remarks[0]


def test_file_without_a_window_cannot_be_played(tmp_path: Path) -> None:
    with pytest.raises(TickmonError, match="nothing to replay"):
        load_tape(file_of(tmp_path, written(WINDOWS).splitlines()[0] + "\n"))
