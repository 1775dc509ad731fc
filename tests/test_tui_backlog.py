"""What waits for the screen's reader: however far behind that is, nothing of sums and maxima is lost."""

from __future__ import annotations

import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.making import READING_EVERY_NS, make_segment, make_trace, make_window, read_at
from tests.readings import HEADER
from tests.recordings import windows_in
from tickmon.analysis import Clocks, analyse, sums
from tickmon.loading.runs import runs
from tickmon.recorder import Recorder
from tickmon.tui import backlog
from tickmon.tui.backlog import MOST_WAITING, Finished, Waiting, as_window, put
from tickmon.tui.reader import Reader
from tickmon.windows import Exclusion, KernelEvent, Method, ReadingWarning, Segment, Window

SECOND = round(make_segment().tsc_hz)
WAIT_S = 30.0


def busy_window(number: int, segment: Segment, start_cycles: int) -> Window:
    """A second with all that a window can hold, nothing of it like that of another one."""
    gaps = [(start_cycles + 1_000 * i, 500 + number + i) for i in range(1, 40)]
    excluded = Exclusion(code="moved", start_cycles=start_cycles + 90_000, cycles=number + 1)
    window = make_window(
        gaps,
        segment=segment,
        window=number + 1,
        start_cycles=start_cycles,
        end_cycles=start_cycles + SECOND,
        clocks=tuple(
            read_at(start_cycles + at, segment)
            for at in range(0, SECOND + 1, round(READING_EVERY_NS * SECOND / 1e9))
        ),
        lost_cycles=[1_000_000 + number],
        switches=[(start_cycles + 1_000 * i, start_cycles + 1_000 * i + 400) for i in range(1, 20)],
        excluded=(excluded,),
        warnings=(ReadingWarning(code="near", message=f"window {number}"),),
    )
    trace = make_trace(
        *((start_cycles + 1_000 * i, KernelEvent.SWITCH, f"task {number}") for i in range(1, 20))
    )
    return replace(window, trace=trace)


def touching(count: int) -> Iterator[Window]:
    segment = make_segment()
    for number in range(count):
        yield busy_window(number, segment, number * SECOND)


def with_gaps(count: int) -> Iterator[Window]:
    segment = make_segment()
    for number in range(count):
        yield busy_window(number, segment, 2 * number * SECOND)


def each_in_a_segment_of_its_own(count: int) -> Iterator[Window]:
    """As where the counter jumps again and again: each begins at its own zero."""
    for number in range(count):
        segment = make_segment(
            segment=number + 1, reason="jump", origin_cycles=9_000_000_000_000 + 3 * number * SECOND
        )
        yield busy_window(number, segment, 0)


def of_the_loop(count: int) -> Iterator[Window]:
    """Its windows do not touch."""
    segment = make_segment(method=Method.LOOP)
    for number in range(count):
        samples = [(2 * number * SECOND + 7_000 * i, 6_800 + number + i) for i in range(40)]
        yield make_window(
            samples,
            segment=segment,
            window=number + 1,
            start_cycles=2 * number * SECOND,
            end_cycles=2 * number * SECOND + 7_000 * 40,
        )


MAKERS = [touching, with_gaps, each_in_a_segment_of_its_own, of_the_loop]


def backlog_of(windows: Sequence[Window]) -> deque[tuple[int, Waiting]]:
    """What waits when nobody has read any of them."""
    waiting: deque[tuple[int, Waiting]] = deque()
    for window in windows:
        put(waiting, 1, Finished(window, 1))
    return waiting


def windows_of(waiting: deque[tuple[int, Waiting]]) -> list[Window]:
    """As they are read."""
    return [as_window(event) for _, event in waiting if isinstance(event, Finished)]


@pytest.fixture(scope="module", params=MAKERS)
def windows(request: pytest.FixtureRequest) -> list[Window]:
    return list(request.param(2_000))


def test_two_thousand_windows_behind_are_few_and_keep_counts_sums_and_maxima(windows: list[Window]) -> None:
    waiting = windows_of(backlog_of(windows))
    assert len(waiting) < MOST_WAITING
    for name in ("reads", "interruptions", "gap_sum_cycles", "length_cycles", "excluded_count"):
        expected = sum(getattr(window, name) for window in windows)
        assert sum(getattr(window, name) for window in waiting) == expected, name
    assert sum(w.excluded_cycles for w in waiting) == sum(w.excluded_cycles for w in windows)
    assert max(w.max_cycles or 0 for w in waiting) == max(w.max_cycles or 0 for w in windows)
    assert min(w.min_cycles or 0 for w in waiting) == min(w.min_cycles or 0 for w in windows)
    counts = [np.sum([w.counts for w in side], axis=0) for side in (waiting, windows)]
    assert counts[0].tolist() == counts[1].tolist()
    for window in waiting:
        assert len(window.details) + window.lost == window.interruptions
    said = [w.message for window in waiting for w in window.warnings if w.code == "screen_behind"]
    assert sum(int(message.split(": ")[1].split()[0]) for message in said) + len(waiting) - len(said) == 2_000


def test_one_thousand_windows_behind_take_no_more_memory_than_three_hundred(
    windows: list[Window], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backlog, "MOST_DETAILS", 3_000)
    # As many exclusions as are listed at most, from the first windows on.
    monkeypatch.setattr(sums, "EXCLUSIONS", 100)
    few, many = (len(pickle.dumps(backlog_of(windows[:count]))) for count in (300, 1_000))
    assert many <= 1.1 * few


@pytest.mark.parametrize("make", MAKERS)
def test_what_waited_can_be_analysed_and_says_nothing_that_was_not_seen(
    make: Callable[[int], Iterator[Window]],
) -> None:
    windows = list(make(MOST_WAITING))
    (joined,) = windows_of(backlog_of(windows))
    analysis, _ = analyse(joined, Clocks())
    assert analysis.spread.n == sum(window.interruptions for window in windows)
    assert analysis.worst[0].gap_cycles == max(window.max_cycles or 0 for window in windows)
    assert analysis.warnings[0].code in ("screen_behind", "moved")
    if make is each_in_a_segment_of_its_own:
        assert joined.segment == windows[0].segment
        assert joined.start_cycles == windows[0].start_cycles
        assert {source.name for source in analysis.sources} == {"detail lost"}
        assert analysis.tick is None
        assert analysis.tsc_hz == pytest.approx(windows[0].segment.tsc_hz, rel=1e-6)


def test_windows_that_touch_and_are_few_keep_each_interruption() -> None:
    windows = list(touching(MOST_WAITING))
    (joined,) = windows_of(backlog_of(windows))
    assert len(joined.details) == sum(len(window.details) for window in windows)


def test_windows_of_another_source_are_not_joined_with_those_before() -> None:
    waiting = backlog_of(list(touching(MOST_WAITING - 1)))
    put(waiting, 2, Finished(next(touching(1)), 1))
    assert len(waiting) == MOST_WAITING


def test_recording_holds_all_of_two_thousand_windows_behind_and_says_that_they_are_joined(
    windows: list[Window], tmp_path: Path
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def tell(_turn: int, _news: object) -> None:
        begun.set()
        go_on.wait(WAIT_S)

    reader = Reader(tell, Recorder(HEADER, tmp_path))
    reader.start()
    reader.record(1, 1)
    assert begun.wait(WAIT_S)
    for window in windows:
        reader.take(1, window)
    go_on.set()
    assert reader.wait_idle(WAIT_S)
    reader.close(WAIT_S)
    (path,) = tmp_path.iterdir()
    recorded = [analysis.window for analysis in windows_in(path)]
    assert any(warning.code == "screen_behind" for window in recorded for warning in window.warnings)
    for name in ("interruptions", "gap_sum_cycles", "length_cycles"):
        expected = sum(getattr(window, name) for window in windows)
        assert sum(getattr(window, name) for window in recorded) == expected, name
    (run,) = runs(path)
    assert run.ended
    (summed,) = run.summed
    assert summed.summary.analysis.window.interruptions == sum(window.interruptions for window in windows)
    assert summed.summary.analysis.spread.max_cycles == max(window.max_cycles or 0 for window in windows)
