"""What a screen remembers of earlier windows: the last minute's ticks, the worst, points of a time line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from tickmon.analysis.readings import Analysis, Worst
from tickmon.analysis.spread import NOTHING, Spread, sum_of

RECENT_S = 60.0
"""A window of one second holds too few ticks for a 99th percentile; a minute holds enough at any HZ."""

POINTS = 300
"""As many windows as the widest time line shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One window on a time line."""

    at: datetime
    """Its start, UTC."""
    length_s: float
    """So much of it was watched."""
    overhead_share: float
    worst_cycles: int | None
    """None when nothing interrupted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trend:
    """The windows of one segment since its start or the last reset, as far as a screen needs them."""

    points: tuple[Point, ...] = ()
    """Newest last, at most ``POINTS``."""
    recent: tuple[tuple[float, Spread], ...] = field(default=(), repr=False)
    """Length in seconds and the single ticks' gaps of the windows that ``recent_tick`` is the sum of."""
    recent_tick: Spread = field(default=NOTHING, repr=False)
    """Gaps of the single ticks of the last ``RECENT_S``: for what one tick costs."""
    recent_tick_s: float = 0.0
    """How much time ``recent_tick`` covers."""
    baseline_cycles: int | None = None
    baseline_first_cycles: int | None = None
    baseline_low_cycles: int | None = None
    baseline_high_cycles: int | None = None
    worst: Worst | None = None
    worst_source: str = ""
    """What it was: all that the kernel traced in it, else its source; empty while there is none."""
    windows: int = 0
    since: datetime | None = None
    """UTC; None before the first window."""


NO_TREND = Trend()


def extend(trend: Trend, analysis: Analysis) -> Trend:
    """``trend`` with one window more. A window of another segment begins a new one: call with NO_TREND."""
    window = analysis.window
    length_s = window.watched_cycles / analysis.tsc_hz
    point = Point(
        at=window.started_at,
        length_s=length_s,
        overhead_share=analysis.overhead_share,
        worst_cycles=analysis.spread.max_cycles,
    )
    recent = _last_minute((*trend.recent, (length_s, analysis.tick.spread if analysis.tick else NOTHING)))
    extended = replace(
        trend,
        points=(*trend.points, point)[-POINTS:],
        recent=recent,
        recent_tick=sum_of([spread for _, spread in recent]),
        recent_tick_s=sum(length for length, _ in recent),
        windows=trend.windows + 1,
        since=trend.since or window.started_at,
    )
    return _with_worst(_with_baseline(extended, analysis.baseline_cycles), analysis)


def _last_minute(recent: tuple[tuple[float, Spread], ...]) -> tuple[tuple[float, Spread], ...]:
    """The newest windows that make up ``RECENT_S``; a single longer window is kept whole."""
    covered_s = 0.0
    for index in range(len(recent) - 1, -1, -1):
        covered_s += recent[index][0]
        # Windows of one second come out a few microseconds longer: sixty of them are still a minute.
        if covered_s >= RECENT_S * 0.999:
            return recent[index:]
    return recent


def _with_baseline(trend: Trend, baseline_cycles: int | None) -> Trend:
    if baseline_cycles is None:
        return trend
    low, high = trend.baseline_low_cycles, trend.baseline_high_cycles
    return replace(
        trend,
        baseline_cycles=baseline_cycles,
        baseline_first_cycles=baseline_cycles
        if trend.baseline_first_cycles is None
        else trend.baseline_first_cycles,
        baseline_low_cycles=baseline_cycles if low is None else min(low, baseline_cycles),
        baseline_high_cycles=baseline_cycles if high is None else max(high, baseline_cycles),
    )


def _with_worst(trend: Trend, analysis: Analysis) -> Trend:
    if not analysis.worst:
        return trend
    worst = analysis.worst[0]
    if trend.worst is not None and trend.worst.gap_cycles >= worst.gap_cycles:
        return trend
    name = "detail lost" if worst.source is None else analysis.sources[worst.source].name
    return replace(trend, worst=worst, worst_source=worst.causes or name)
