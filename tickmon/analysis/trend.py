"""What a screen remembers of earlier windows: the last minute's ticks, the baseline's drift, the worst."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime

from tickmon.analysis.readings import Analysis, Worst
from tickmon.analysis.spread import NOTHING, Spread, sum_of

RECENT_S = 60.0
"""A window of one second holds too few ticks for a 99th percentile; a minute holds enough at any HZ."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trend:
    """The windows of one segment since its start or the last reset, as far as a screen needs them."""

    recent: tuple[tuple[float, Spread], ...] = field(default=(), repr=False)
    """Length in seconds and the single ticks' gaps of the windows of the last ``RECENT_S``."""
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

    @property
    def recent_tick(self) -> Spread:
        """Gaps of the single ticks of the last ``RECENT_S``: for what one tick costs. Summed up anew each
        time, since of most windows nobody asks."""
        return sum_of([spread for _, spread in self.recent]) if len(self.recent) != 1 else self.recent[0][1]

    @property
    def recent_tick_s(self) -> float:
        """How much time ``recent_tick`` covers."""
        return sum(length_s for length_s, _ in self.recent)


NO_TREND = Trend()


def extend(trend: Trend, analysis: Analysis) -> Trend:
    """``trend`` with one window more. A window of another segment begins a new one: call with NO_TREND."""
    window = analysis.window
    length_s = window.watched_cycles / analysis.tsc_hz
    recent = _last_minute((*trend.recent, (length_s, analysis.tick.spread if analysis.tick else NOTHING)))
    extended = replace(
        trend,
        recent=recent,
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
    return replace(trend, worst=worst, worst_source=name_of(worst, analysis))


def name_of(worst: Worst, analysis: Analysis) -> str:
    """What one of the longest interruptions of ``analysis`` was, in words."""
    return worst.causes or ("detail lost" if worst.source is None else analysis.sources[worst.source].name)
