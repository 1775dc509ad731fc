"""The windows of the last hour, coarser with age, and the worst interruptions with their windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

from tickmon.analysis.aging import Levels, push
from tickmon.analysis.histogram import compact
from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, add, without_details
from tickmon.analysis.trend import NO_TREND, Trend, extend, name_of

SPAN_S = 3600.0
"""So far back."""

CONTINUES = ("settings", "jump")
"""Reasons for a new segment after which what is remembered stays: the same CPU by the same method."""

WORST = 10
"""So many of the longest interruptions are kept with their windows, since the last new start and before."""

SIZES = (60, 240, 120, 120, 120, 120)
"""Windows with every interruption, windows without, then such as are 4, 16, 64 and 256 joined."""
_AT_ONCE = (1, 4, 4, 4, 4, 4)

DETAILS_MAX = 1_000_000
"""So many interruptions and traced events (about 50 bytes each) are kept of the newest windows, and as many
of the worst ones; of what is beyond only the figures."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Entry:
    """A window, or several of one segment as one."""

    number: int
    """Of its first window, through the history, from 1."""
    windows: int
    """How many it joins."""
    begins: str
    """Why a segment begins with it; empty when it is in the middle of one."""
    whole: bool
    """Every interruption is there: it can be saved."""
    analysis: Analysis
    trend: Trend
    """By its end."""

    @property
    def ended_at(self) -> datetime:
        """UTC."""
        window = self.analysis.window
        return window.started_at + timedelta(seconds=window.length_cycles / self.analysis.tsc_hz)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """One of the worst interruptions."""

    at: datetime
    """UTC."""
    gap_cycles: int
    name: str
    """What it was, in words."""
    entry: Entry
    """Its window, kept with every interruption as long as there is room."""

    @property
    def gap_ns(self) -> float:
        """Lengths on different machines or clocks compare as times."""
        return self.gap_cycles * 1e9 / self.entry.analysis.tsc_hz


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History:
    """What came so far, in bounded memory. ``NO_HISTORY`` is the beginning."""

    levels: Levels[Entry] = field(default=((),) * len(SIZES), repr=False)
    windows: int = 0
    """All there were, also those that are too old by now."""
    worst: tuple[Found, ...] = ()
    """Since the last start on another CPU, by another method or by the user's wish; longest first."""
    earlier: tuple[Found, ...] = ()
    """Before that; longest first."""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Oldest first."""
        return tuple(entry for level in reversed(self.levels) for entry in level)

    @property
    def all_worst(self) -> tuple[Found, ...]:
        """Those of now, then those from before."""
        return (*self.worst, *self.earlier)


NO_HISTORY = History()


def remember(history: History, analysis: Analysis, trend: Trend) -> History:
    """``history`` with one window more, which follows the others in time."""
    newest = history.levels[0][-1] if history.levels[0] else None
    entry = _entry(newest, analysis, trend)
    levels = push(history.levels, entry, sizes=SIZES, at_once=_AT_ONCE, coarser=_COARSER)
    worst, earlier = _with_worst(history, entry)
    worst, earlier = _affordable(worst, earlier)
    return History(
        levels=_within_span((_within_memory(levels[0]), *levels[1:]), entry),
        windows=history.windows + 1,
        worst=worst,
        earlier=earlier,
    )


def all_of(analyses: Iterable[Analysis]) -> History:
    """The history of a recording of one CPU, with every window as it was recorded, however old."""
    history, trend = NO_HISTORY, NO_TREND
    entries: list[Entry] = []
    for analysis in analyses:
        newest = entries[-1] if entries else None
        if _starts_anew(_begins(newest, analysis)):
            trend = NO_TREND
        trend = extend(trend, analysis)
        entries.append(_entry(newest, analysis, trend))
        worst, earlier = _with_worst(history, entries[-1])
        history = History(windows=len(entries), worst=worst, earlier=earlier)
    return replace(history, levels=(tuple(entries), *NO_HISTORY.levels[1:]))


def _begins(newest: Entry | None, analysis: Analysis) -> str:
    """Why a segment begins with the window after ``newest``; empty: none does."""
    segment = analysis.window.segment
    return segment.reason if newest is None or newest.analysis.window.segment != segment else ""


def _starts_anew(begins: str) -> bool:
    """Of what came before nothing counts any more."""
    return bool(begins) and begins not in CONTINUES


def _entry(newest: Entry | None, analysis: Analysis, trend: Trend) -> Entry:
    """The window after ``newest``."""
    return Entry(
        number=1 if newest is None else newest.number + newest.windows,
        windows=1,
        begins=_begins(newest, analysis),
        whole=True,
        analysis=analysis,
        trend=trend,
    )


def _with_worst(history: History, entry: Entry) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    """The worst by now, and those from before the last new start."""
    worst, earlier = history.worst, history.earlier
    if _starts_anew(entry.begins):
        worst, earlier = (), _longest((*earlier, *worst))
    return _longest((*worst, *_found(entry, worst))), earlier


def thin(entry: Entry) -> Entry:
    """The same without its interruptions; counts, sums, maxima and percentiles stay."""
    if not entry.whole:
        return entry
    return _small(replace(entry, whole=False, analysis=without_details(entry.analysis)))


def _small(entry: Entry) -> Entry:
    """The same in less memory: only the ``WORST`` and the outermost clocks stay, and no single lengths."""
    analysis, trend = entry.analysis, entry.trend
    window, tick = analysis.window, analysis.tick
    few = replace(
        analysis,
        window=replace(
            window, clocks=(*window.clocks[:1], *window.clocks[-1:]), counts=compact(window.counts)
        ),
        spread=analysis.spread.remembered(),
        tick=replace(tick, spread=tick.spread.remembered()) if tick else None,
        trains=tuple(replace(train, spread=train.spread.remembered()) for train in analysis.trains),
        sources=tuple(replace(source, spread=source.spread.remembered()) for source in analysis.sources),
        worst=analysis.worst[:WORST],
    )
    recent = ((trend.recent_tick_s, trend.recent_tick.remembered()),)
    return replace(entry, analysis=few, trend=replace(trend, recent=recent))


def _thinned(entries: Sequence[Entry]) -> Sequence[Entry]:
    return [thin(entry) for entry in entries]


def _joined(entries: Sequence[Entry]) -> Sequence[Entry]:
    """One entry for each segment among them."""
    return [_one(list(alike)) for _, alike in groupby(entries, key=_segment_of)]


def _segment_of(entry: Entry) -> tuple[int, int]:
    segment = entry.analysis.window.segment
    return segment.segment, segment.origin_cycles


def _one(entries: Sequence[Entry]) -> Entry:
    joined = replace(
        entries[-1],
        number=entries[0].number,
        windows=sum(entry.windows for entry in entries),
        begins=entries[0].begins,
        analysis=add(NO_TOTAL, *(entry.analysis for entry in entries)).summary().analysis,
    )
    return _small(joined)


_COARSER = (_thinned, *(_joined,) * (len(SIZES) - 1))


def _within_memory(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """``entries`` of which the oldest gave their interruptions up where there are too many in all."""
    sizes = [_details(entry) for entry in entries]
    if sum(sizes) <= DETAILS_MAX:
        return entries
    kept, room = list(entries), DETAILS_MAX
    for place in range(len(kept) - 1, -1, -1):
        room -= sizes[place]
        # The newest can always be saved.
        if room < 0 and place < len(kept) - 1:
            kept[place] = thin(kept[place])
    return tuple(kept)


def _details(entry: Entry) -> int:
    window = entry.analysis.window
    return len(window.details) + (len(window.trace.events) if window.trace else 0)


def _within_span(levels: Levels[Entry], newest: Entry) -> Levels[Entry]:
    """Without what ended more than ``SPAN_S`` before the newest began."""
    since = newest.analysis.window.started_at - timedelta(seconds=SPAN_S)
    for depth in range(len(levels) - 1, 0, -1):
        if levels[depth]:
            recent = tuple(entry for entry in levels[depth] if entry.ended_at >= since)
            if recent == levels[depth]:
                break
            levels = (*levels[:depth], recent, *levels[depth + 1 :])
            if recent:
                break
    return levels


def _found(entry: Entry, worst: Sequence[Found]) -> Iterator[Found]:
    """The interruptions of a window that are longer than the shortest of the worst so far."""
    least_ns = worst[-1].gap_ns if len(worst) == WORST else -1.0
    for one in entry.analysis.worst[:WORST]:
        name = name_of(one, entry.analysis)
        found = Found(at=one.at, gap_cycles=one.gap_cycles, name=name, entry=entry)
        if found.gap_ns <= least_ns:
            # They come longest first.
            break
        yield found


def _longest(found: Sequence[Found]) -> tuple[Found, ...]:
    """Of equals the first comes first."""
    return tuple(sorted(found, key=lambda one: -one.gap_ns)[:WORST])


def _affordable(
    worst: tuple[Found, ...], earlier: tuple[Found, ...]
) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    """The same, but where their windows hold too many interruptions in all the less bad ones have none."""
    kept: dict[int, Entry] = {}
    room = DETAILS_MAX
    for one in (*worst, *earlier):
        number = one.entry.number
        if number not in kept:
            room -= _details(one.entry)
            kept[number] = one.entry if room >= 0 or not kept else thin(one.entry)
    if room >= 0:
        return worst, earlier
    return (
        tuple(replace(one, entry=kept[one.entry.number]) for one in worst),
        tuple(replace(one, entry=kept[one.entry.number]) for one in earlier),
    )
