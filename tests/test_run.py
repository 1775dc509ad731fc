"""How the life of a sampler ends, with scripted samplers."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.making import make_segment
from tests.test_windower import raw
from tickmon.machine.shared import SharedFiles
from tickmon.sampling import run as running_samplers
from tickmon.sampling.native import SamplerError
from tickmon.sampling.run import Run
from tickmon.sampling.sampler import RawWindow, Sampler, Status
from tickmon.windows import INTERRUPTION, Event, Window

CUT_CYCLES = 10_000_000


class ScriptedSampler(Sampler):
    """Runs for so many questions how it is, and then has ended. Gives ``pieces``, and then none."""

    def __init__(self, pieces: Sequence[RawWindow], *, running: int) -> None:
        self._pieces = list(pieces)
        self._running = running

    def status(self) -> Status:
        self._running -= 1
        return Status(
            state="running" if self._running >= 0 else "ended",
            end=None if self._running >= 0 else "complete",
            message=None,
            pid=os.getpid(),
            locked=True,
            start_cycles=1,
            mark_cycles=1,
            threshold_cycles=500,
            typical_cycles=40,
            step_cycles=1,
        )

    def drain(self) -> NDArray[np.void]:
        return np.zeros(0, INTERRUPTION)

    def cut(self) -> bool:
        return True

    def take(self) -> RawWindow | None:
        return self._pieces.pop(0) if self._pieces else None


def run_of(sampler: Sampler, heard: list[Event]) -> Run:
    return Run(
        sampler,
        # The pieces are made up and the clocks are not, so they tell of different times.
        make_segment(counter_synchronised=False, window_s=60.0),
        counter_hz=2e9,
        clock_source="tsc",
        throttled_ns=1e9,
        first_window=1,
        dated=False,
        tables=SharedFiles(),
        warnings=(),
        on_event=heard.append,
    )


def whole(heard: Sequence[Event]) -> list[tuple[int, int, int]]:
    return [
        (window.window, window.start_cycles, window.end_cycles)
        for window in heard
        if isinstance(window, Window) and not window.provisional
    ]


def test_sampler_that_ends_after_a_cut_leaves_two_windows() -> None:
    heard: list[Event] = []
    first, second = raw(0, CUT_CYCLES, []), raw(CUT_CYCLES, 2 * CUT_CYCLES, [])
    sampler = ScriptedSampler([first, second], running=1)
    ended = run_of(sampler, heard).until_ended(threading.Event(), end_s=None, looks=False)
    assert ended is not None
    found = whole(heard)
    assert [window for window, _, _ in found] == [1, 2]
    assert found[0][2] == found[1][1]


class HeldSampler(ScriptedSampler):
    """Is cut once, for the first look at the window, and then does not get its CPU any more."""

    def __init__(self, held: threading.Event) -> None:
        super().__init__([raw(0, CUT_CYCLES, [])], running=sys.maxsize)
        self._held = held

    def take(self) -> RawWindow | None:
        piece = super().take()
        if piece is None:
            self._held.set()
        return piece


def test_what_was_looked_at_is_handed_on_when_it_is_told_to_stop_and_the_sampler_is_held() -> None:
    heard: list[Event] = []
    stop = threading.Event()
    run_of(HeldSampler(stop), heard).until_ended(stop, end_s=time.monotonic() + 0.3, looks=True)
    assert [window for window, _, _ in whole(heard)] == [1]


def test_what_was_looked_at_is_handed_on_before_an_error_when_the_time_is_over_and_the_sampler_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running_samplers, "OVERDUE_S", 0.0)
    heard: list[Event] = []
    run = run_of(HeldSampler(threading.Event()), heard)
    with pytest.raises(SamplerError, match="CPU 1 gave the sampler no time"):
        run.until_ended(threading.Event(), end_s=time.monotonic() + 0.3, looks=True)
    assert [window for window, _, _ in whole(heard)] == [1]


def test_sampler_that_was_held_from_the_start_past_the_end_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running_samplers, "OVERDUE_S", 0.0)
    heard: list[Event] = []
    run = run_of(ScriptedSampler([], running=sys.maxsize), heard)
    with pytest.raises(SamplerError, match="CPU 1 gave the sampler no time"):
        run.until_ended(threading.Event(), end_s=time.monotonic(), looks=False)
    assert whole(heard) == []
