"""The last hour of windows, and the worst interruptions with theirs."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from tests.making import Life, make_segment, make_window, simulate
from tests.readings import LIFE, read
from tickmon.analysis import history as room
from tickmon.analysis.history import DETAILS_MAX, NO_HISTORY, SIZES, WORST, History, remember
from tickmon.analysis.readings import Analysis
from tickmon.analysis.spread import spread_of
from tickmon.analysis.trend import NO_TREND, extend
from tickmon.windows import Segment

SEGMENT = make_segment()


def history_of(analyses: Iterable[Analysis]) -> History:
    history, trend = NO_HISTORY, NO_TREND
    for analysis in analyses:
        trend = extend(trend, analysis)
        history = remember(history, analysis, trend)
    return history


def small_windows(count: int, segment: Segment = SEGMENT, first: int = 1) -> list[Analysis]:
    """Windows of a tenth of a second with two interruptions, the second one of another length each time."""
    (model,) = read([make_window([(1_000, 9_000), (50_000, 20_000)], segment=segment)])
    lengths = list(range(20_000, 20_000 + 10 * count, 10))
    random.Random(first).shuffle(lengths)
    return [_like(model, first + n, n, cycles) for n, cycles in enumerate(lengths)]


def _like(model: Analysis, number: int, place: int, cycles: int) -> Analysis:
    """The window after ``place`` others, with a longest interruption of ``cycles``."""
    start_cycles = place * 2 * 10**8
    at = model.window.started_at + timedelta(seconds=place / 10)
    gaps = np.array([9_000, cycles])
    return replace(
        model,
        window=replace(
            model.window,
            window=number,
            started_at=at,
            start_cycles=start_cycles,
            end_cycles=start_cycles + 2 * 10**8,
            gap_sum_cycles=9_000 + cycles,
            max_cycles=cycles,
        ),
        spread=spread_of(gaps),
        worst=tuple(
            replace(one, at=at, gap_cycles=gap) for one, gap in zip(model.worst, (cycles, 9_000), strict=True)
        ),
    )


def repeated(analyses: list[Analysis], count: int) -> Iterator[Analysis]:
    """``count`` windows, one a second, that look like these in turns."""
    for n in range(count):
        analysis = analyses[n % len(analyses)]
        window = replace(
            analysis.window, started_at=analyses[0].window.started_at + timedelta(seconds=n), window=n + 1
        )
        yield replace(analysis, window=window)


def size_bytes(value: Any, seen: set[int]) -> int:
    """Of the arrays that hang on ``value``, each once."""
    if id(value) in seen or isinstance(value, Segment):
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes if value.base is None else size_bytes(value.base, seen)
    if isinstance(value, tuple):
        return sum(size_bytes(item, seen) for item in value)
    if hasattr(value, "__slots__"):
        return sum(size_bytes(getattr(value, name), seen) for name in value.__slots__)
    return 0


def test_memory_stays_where_it_was_once_windows_have_grown_old() -> None:
    analyses = read(simulate(LIFE, ends_ns=(1e9, 2e9, 3e9)))
    history = history_of(repeated(analyses, 400))
    entries = history.entries
    assert len(entries) < 330
    assert size_bytes(history, set()) < 30e6
    thin = [entry for entry in entries if not entry.whole]
    assert size_bytes(tuple(thin), set()) / len(thin) < 60e3
    assert sum(len(entry.analysis.window.details) for entry in thin) == 0


def test_each_window_is_counted_once_and_the_longest_is_exact() -> None:
    analyses = small_windows(500)
    history = history_of(analyses)
    entries = history.entries
    assert sum(entry.windows for entry in entries) == history.windows == 500
    assert [entry.number for entry in entries] == list(np.cumsum([1, *(e.windows for e in entries[:-1])]))
    assert entries[0].windows == 4
    for entry in entries:
        covered = analyses[entry.number - 1 : entry.number - 1 + entry.windows]
        assert entry.analysis.spread.max_cycles == max(one.spread.max_cycles or 0 for one in covered)
        assert entry.analysis.window.interruptions == 2 * entry.windows
        assert entry.analysis.worst[0].gap_cycles == entry.analysis.spread.max_cycles


def test_newest_windows_can_be_saved_and_older_ones_keep_their_percentiles() -> None:
    analyses = read(simulate(LIFE, ends_ns=[(n + 1) * 1e8 for n in range(70)]))
    entries = history_of(analyses).entries
    assert [entry.whole for entry in entries] == [False] * 10 + [True] * 60
    assert entries[-1].analysis is analyses[-1]
    for entry, analysis in zip(entries[:10], analyses[:10], strict=True):
        assert entry.analysis.spread.exact
        assert entry.analysis.spread.p99_cycles == analysis.spread.p99_cycles
        assert entry.trend.recent_tick_s == pytest.approx(entry.number / 10, rel=1e-3)


def test_windows_of_two_segments_are_never_joined_and_the_second_is_marked() -> None:
    other = make_segment(cpu=1, segment=2, reason="cpu")
    history = history_of([*small_windows(303), *small_windows(310, other, first=304)])
    entries = history.entries
    assert [entry.number for entry in entries if entry.begins] == [1, 304]
    for entry in entries:
        within = {analysis_cpu(entry.number), analysis_cpu(entry.number + entry.windows - 1)}
        assert within == {entry.analysis.window.segment.cpu}


def analysis_cpu(number: int) -> int:
    return SEGMENT.cpu if number <= 303 else 1


def test_what_ended_more_than_an_hour_ago_is_gone_but_the_worst_stays() -> None:
    early, late = small_windows(2)
    late = replace(
        late, window=replace(late.window, started_at=early.window.started_at + timedelta(hours=1.1))
    )
    long_one, *_ = read(simulate(Life(gaps=((0.5013e9, 8e6),)), ends_ns=[1e9]))
    analyses = [long_one, *repeated(small_windows(3), 61), late]
    history = history_of(analyses)
    assert history.windows == 63
    assert 1 not in [entry.number for entry in history.entries]
    assert history.worst[0].entry.number == 1
    assert history.worst[0].entry.whole


def test_ten_worst_are_the_longest_of_all_windows_with_their_time_and_window() -> None:
    analyses = small_windows(200)
    history = history_of(analyses)
    found = history.worst
    longest = sorted((a.spread.max_cycles or 0 for a in analyses), reverse=True)[:WORST]
    assert [one.gap_cycles for one in found] == longest
    for one in found:
        analysis = analyses[one.entry.number - 1]
        assert one.entry.whole
        assert one.entry.analysis is analysis
        assert one.at == analysis.worst[0].at


@pytest.mark.parametrize("reason", ["cpu", "method", "reset"])
def test_after_a_new_start_the_worst_from_before_stay_apart(reason: str) -> None:
    other = make_segment(segment=2, reason=reason)
    history = history_of([*small_windows(15), *small_windows(3, other, first=16)])
    assert len(history.earlier) == WORST
    assert all(one.entry.number <= 15 for one in history.earlier)
    assert all(one.entry.number > 15 for one in history.worst)
    assert history.all_worst == (*history.worst, *history.earlier)


@pytest.mark.parametrize("reason", ["settings", "jump"])
def test_other_settings_go_on_with_the_worst(reason: str) -> None:
    other = make_segment(segment=2, reason=reason)
    history = history_of([*small_windows(15), *small_windows(3, other, first=16)])
    assert history.earlier == ()
    assert len(history.worst) == WORST


def test_too_many_interruptions_are_given_up_oldest_and_least_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "DETAILS_MAX", 8)
    history = history_of(small_windows(12))
    assert [entry.whole for entry in history.entries] == [False] * 8 + [True] * 4
    whole = {one.entry.number: one.entry.whole for one in history.worst}
    assert list(whole.values()) == [True] * 4 + [False] * (len(whole) - 4)


def test_levels_cover_an_hour_of_windows_of_a_tenth_of_a_second() -> None:
    covered = sum(size * 4**joined for size, joined in zip(SIZES, (0, 0, 1, 2, 3, 4), strict=True))
    assert covered >= 36_000
    assert DETAILS_MAX * 50 <= 50e6
