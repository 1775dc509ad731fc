"""A whole run from the analyses of its windows, in bounded memory however long it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tickmon.analysis.caveats import caveats
from tickmon.analysis.check import verdict_of
from tickmon.analysis.costs import WORST, overhead_share
from tickmon.analysis.loop import mode_cycles
from tickmon.analysis.readings import Analysis, Check, SwitchCounts, Tick, TraceCounts, Worst
from tickmon.analysis.rows import joined_sources, joined_trains, renamed_sources, weighted_mean
from tickmon.analysis.spread import KEEP_VALUES, Spread, sum_of
from tickmon.analysis.sums import bare, following
from tickmon.windows import Method, Window

KEEP_IN_ALL = 3 * KEEP_VALUES
"""So many lengths are kept one by one in all spreads of a run together; the costliest to keep go first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary:
    """What is said of a run: the members of a window, and two more."""

    analysis: Analysis
    """Its window is all windows as one, without details."""
    mean_cycles: float | None
    p9999_cycles: int | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Total:
    """The windows of a run so far. ``NO_TOTAL`` is the beginning."""

    analysis: Analysis | None = field(default=None, repr=False)
    """Of all windows; None before the first."""

    def summary(self) -> Summary:
        """Of at least one window, else ValueError."""
        if self.analysis is None:
            raise ValueError("no windows to sum up")
        analysis = _finished(self.analysis)
        return Summary(
            analysis=analysis,
            mean_cycles=analysis.spread.mean_cycles,
            p9999_cycles=analysis.spread.percentile_cycles(0.9999),
        )


NO_TOTAL = Total()


def add(total: Total, analysis: Analysis) -> Total:
    """``total`` with one window more, which follows the others in time.

    A new segment goes on where the last one ended: its cycles are not compared, only counted.
    """
    stripped = without_details(analysis)
    if total.analysis is None:
        return Total(analysis=stripped)
    return Total(analysis=_join(total.analysis, stripped))


_NO_INTS = np.zeros(0, np.int32)


def without_details(analysis: Analysis) -> Analysis:
    """``analysis`` without what its window holds of each interruption, switch and traced event."""
    return replace(analysis, window=bare(analysis.window), ticks=_NO_INTS, source_of=_NO_INTS)


def _join(before: Analysis, after: Analysis) -> Analysis:
    shift_cycles = before.window.end_cycles - after.window.start_cycles
    window = following(before.window, after.window)
    spread = sum_of((before.spread, after.spread))
    baseline_cycles = window.min_cycles
    trains, renamed = joined_trains(before, after, window)
    renamed_before = renamed_sources(before.sources, renamed)
    sources, places = joined_sources((*renamed_before, *after.sources), baseline_cycles)
    # Only those that stay among the worst are looked at more closely, which hardly any does in a long run.
    full = len(before.worst) >= WORST
    least_cycles = min(one.gap_cycles for one in before.worst) if full else -1
    later = [
        _moved(one, shift_cycles, len(before.sources)) for one in after.worst if one.gap_cycles > least_cycles
    ]
    worst = sorted((*before.worst, *later), key=lambda one: -one.gap_cycles)[:WORST]
    verdicts = [a.baseline_verdict for a in (before, after) if a.baseline_verdict is not None]
    doubtful = [verdict for verdict in verdicts if verdict.holds is False]
    joined = Analysis(
        window=window,
        tsc_hz=after.tsc_hz,
        baseline_cycles=baseline_cycles,
        typical_cycles=weighted_mean(
            (before.typical_cycles, _undisturbed(before.window)),
            (after.typical_cycles, _undisturbed(after.window)),
        ),
        # Found once, at the end: it needs all samples at once.
        mode_cycles=None,
        # One window whose minimum does not hold spoils the run's: that has the same minimum or a lower one.
        baseline_verdict=(doubtful or verdicts)[-1] if verdicts else None,
        overhead_cycles=spread.overhead_cycles(baseline_cycles),
        overhead_share=overhead_share(window, spread),
        spread=spread,
        tick=_joined_tick(before.tick, after.tick, window),
        check=_joined_check(before.check, after.check, window),
        switches=_joined_switches(before.switches, after.switches),
        trains=trains,
        sources=sources,
        ticks=_NO_INTS,
        source_of=_NO_INTS,
        worst=tuple(_placed(worst, places)),
        warnings=(),
        traced=_joined_traced(before.traced, after.traced),
    )
    return _within_memory(replace(joined, warnings=caveats(joined)))


def _within_memory(analysis: Analysis) -> Analysis:
    """``analysis`` without the single lengths of its largest spreads, where there are too many in all."""
    tick, sources, trains = analysis.tick, analysis.sources, analysis.trains
    parts = (analysis, *sources, *trains, *((tick,) if tick else ()))
    sizes = sorted(part.spread.n for part in parts if part.spread.pieces is not None)
    if sum(sizes) <= KEEP_IN_ALL:
        return analysis
    while sum(sizes) > KEEP_IN_ALL:
        most = sizes.pop() - 1

    def kept(spread: Spread) -> Spread:
        return spread if spread.n <= most else spread.binned()

    return replace(
        analysis,
        spread=kept(analysis.spread),
        tick=replace(tick, spread=kept(tick.spread)) if tick else None,
        sources=tuple(replace(source, spread=kept(source.spread)) for source in sources),
        trains=tuple(replace(train, spread=kept(train.spread)) for train in trains),
    )


def _joined_tick(before: Tick | None, after: Tick | None, window: Window) -> Tick | None:
    if before is None or after is None:
        return before or after
    spread = sum_of((before.spread, after.spread))
    return replace(
        after,
        # Jitter is a distance of percentiles, which do not add up: its mean over the windows.
        jitter_ns=weighted_mean((before.jitter_ns, before.spread.n), (after.jitter_ns, after.spread.n)),
        # What was known by its slots in one of them is known no better in the whole.
        basis=before.basis if before.basis == after.basis else "phase",
        spread=spread,
        overhead_share=overhead_share(window, spread),
    )


def _joined_check(before: Check, after: Check, window: Window) -> Check:
    checks = (before, after)
    # Where it is not known how many were seen, nothing is known of how many were missing.
    judged = [check for check in checks if check.seen is not None] or checks
    expected = _sum_known([check.expected for check in judged])
    seen = _sum_known([check.seen for check in judged])
    tick = window.segment.kernel_tick
    if expected is None or seen is None:
        verdict = "unknown"
    else:
        verdict = verdict_of(
            expected=expected,
            seen=seen,
            lost=window.lost,
            chance_share=0.0,
            may_stop=tick is not None and tick.may_stop,
            faster=any(check.verdict == "extra" for check in checks),
        )
    if verdict == "missing" and "missing" not in (before.verdict, after.verdict):
        # What was no fault in any window is none of the run.
        verdict = next(
            (check.verdict for check in checks if check.verdict in ("stopped", "unknown")), verdict
        )
    return Check(
        expected=expected,
        seen=seen,
        # An upper bound only as long as nothing is missing in it.
        kernel=None if before.kernel is None or after.kernel is None else before.kernel + after.kernel,
        kernel_row=before.kernel_row or after.kernel_row,
        basis=after.basis,
        verdict=verdict,
        hz=after.hz or before.hz,
        faster_hz=after.faster_hz or before.faster_hz,
        chance_share=weighted_mean(*((check.chance_share, check.expected or 0) for check in checks)) or 0.0,
    )


def _joined_switches(before: SwitchCounts, after: SwitchCounts) -> SwitchCounts:
    undated = (before.undated, after.undated)
    return SwitchCounts(
        dated=before.dated + after.dated,
        unplaced=before.unplaced + after.unplaced,
        undated=None if None in undated else _sum_known(undated),
        missed=before.missed + after.missed,
    )


def _joined_traced(before: TraceCounts | None, after: TraceCounts | None) -> TraceCounts | None:
    if before is None or after is None:
        return before or after
    return TraceCounts(
        events=before.events + after.events,
        outside=before.outside + after.outside,
        lost=before.lost + after.lost,
    )


def _moved(worst: Worst, by_cycles: int, by_sources: int) -> Worst:
    return replace(
        worst,
        start_cycles=None if worst.start_cycles is None else worst.start_cycles + by_cycles,
        source=None if worst.source is None else worst.source + by_sources,
    )


def _placed(worst: Iterable[Worst], places: Sequence[int]) -> Iterator[Worst]:
    for one in worst:
        place = None if one.source is None else places[one.source]
        yield one if place == one.source else replace(one, source=place)


def _finished(analysis: Analysis) -> Analysis:
    """The same with its mode, and its sources in their promised order, most overhead first."""
    order = sorted(range(len(analysis.sources)), key=lambda i: -analysis.sources[i].overhead_cycles)
    place = np.argsort(order).tolist()
    return replace(
        analysis,
        mode_cycles=_mode_cycles(analysis.spread, analysis.window),
        sources=tuple(analysis.sources[index] for index in order),
        worst=tuple(_placed(analysis.worst, place)),
    )


def _mode_cycles(spread: Spread, window: Window) -> int | None:
    """The commonest sample of the loop method, while all are known."""
    if window.segment.method is not Method.LOOP or spread.pieces is None:
        return None
    return mode_cycles(np.concatenate((*spread.pieces, np.zeros(0, np.int64))))


def _undisturbed(window: Window) -> int:
    return window.reads - window.interruptions


def _sum_known(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
