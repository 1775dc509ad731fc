"""A whole run from the analyses of its windows, in bounded memory however long it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, takewhile

import numpy as np

from tickmon.analysis.caveats import caveats
from tickmon.analysis.check import verdict_of
from tickmon.analysis.costs import overhead_share
from tickmon.analysis.loop import mode_cycles
from tickmon.analysis.merge import shifts_of
from tickmon.analysis.readings import Analysis, Check, SwitchCounts, Tick, TraceCounts, Worst
from tickmon.analysis.rows import joined_rows, running_mean
from tickmon.analysis.spread import KEEP_VALUES, Spread, sum_of
from tickmon.analysis.sums import bare, following
from tickmon.analysis.worst import WORST
from tickmon.windows import Method, Segment, Window

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

    @property
    def worst_above_cycles(self) -> int:
        """What takes no longer is not among the worst any more; -1 while everything is."""
        return -1 if self.analysis is None else _worst_above_cycles(self.analysis.worst)

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


def add(total: Total, *analyses: Analysis) -> Total:
    """``total`` with the next windows, in the order of time; many at once come to the same, sooner.

    A new segment goes on where the last one ended: its cycles are not compared, only counted.
    """
    parts = [] if total.analysis is None else [total.analysis]
    parts += map(without_details, analyses)
    return Total(analysis=_join(parts) if len(parts) > 1 else parts[0]) if analyses else total


_NO_INTS = np.zeros(0, np.int32)


def without_details(analysis: Analysis) -> Analysis:
    """``analysis`` without what its window holds of each interruption, switch and traced event."""
    window = bare(analysis.window)
    if window is analysis.window and not len(analysis.ticks) and not len(analysis.source_of):
        return analysis
    return replace(analysis, window=window, ticks=_NO_INTS, source_of=_NO_INTS)


def _join(parts: Sequence[Analysis]) -> Analysis:
    """Several, the first of which may be a total."""
    shifts_cycles = shifts_of([part.window for part in parts])
    window = following([part.window for part in parts])
    spread = sum_of([part.spread for part in parts])
    trains, sources, places = joined_rows(parts, window)
    verdicts = [part.baseline_verdict for part in parts if part.baseline_verdict is not None]
    doubtful = [verdict for verdict in verdicts if verdict.holds is False]
    whole = Analysis(
        window=window,
        tsc_hz=parts[-1].tsc_hz,
        baseline_cycles=window.min_cycles,
        typical_cycles=running_mean((part.typical_cycles, _undisturbed(part.window)) for part in parts),
        # Found once, at the end: it needs all samples at once.
        mode_cycles=None,
        # One window whose minimum does not hold spoils the run's: that has the same minimum or a lower one.
        baseline_verdict=(doubtful or verdicts)[-1] if verdicts else None,
        overhead_cycles=spread.overhead_cycles(window.min_cycles),
        overhead_share=overhead_share(window, spread),
        spread=spread,
        tick=_joined_tick([part.tick for part in parts if part.tick is not None], window),
        check=_joined_check(parts, window.segment),
        switches=_joined_switches([part.switches for part in parts]),
        trains=trains,
        sources=sources,
        ticks=_NO_INTS,
        source_of=_NO_INTS,
        worst=_joined_worst(parts, shifts_cycles, places),
        warnings=(),
        traced=_joined_traced([part.traced for part in parts if part.traced is not None]),
    )
    return _within_memory(replace(whole, warnings=caveats(whole)))


def _joined_worst(
    parts: Sequence[Analysis], shifts_cycles: Sequence[int], places: Sequence[int]
) -> tuple[Worst, ...]:
    # Only those that stay among the worst are looked at more closely, which hardly any does in a long run.
    above_cycles = _worst_above_cycles(parts[0].worst)
    all_worst = [*_placed(parts[0].worst, places)]
    sources = accumulate(len(part.sources) for part in parts)
    for part, shift_cycles, before in zip(parts[1:], shifts_cycles[1:], sources, strict=False):
        longer = takewhile(lambda one: one.gap_cycles > above_cycles, part.worst)
        all_worst += _placed((_moved(one, shift_cycles) for one in longer), places[before:])
    return tuple(sorted(all_worst, key=lambda one: -one.gap_cycles)[:WORST])


def _worst_above_cycles(worst: Sequence[Worst]) -> int:
    return worst[-1].gap_cycles if len(worst) >= WORST else -1


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


def _joined_tick(ticks: Sequence[Tick], window: Window) -> Tick | None:
    if not ticks:
        return None
    spread = ticks[0].spread if len(ticks) == 1 else sum_of([tick.spread for tick in ticks])
    return replace(
        ticks[-1],
        # Jitter is a distance of percentiles, which do not add up: its mean over the windows.
        jitter_ns=running_mean((tick.jitter_ns, tick.spread.n) for tick in ticks),
        # What was known by its slots in one of them is known no better in the whole.
        basis=ticks[0].basis if len({tick.basis for tick in ticks}) == 1 else "phase",
        spread=spread,
        overhead_share=overhead_share(window, spread),
    )


def _joined_check(parts: Sequence[Analysis], segment: Segment) -> Check:
    may_stop = segment.kernel_tick is not None and segment.kernel_tick.may_stop
    checks = [part.check for part in parts]
    expected, seen, verdict = checks[0].expected, checks[0].seen, checks[0].verdict
    lost = parts[0].window.lost
    # One after the other: a verdict depends on those before.
    for check, part in zip(checks[1:], parts[1:], strict=True):
        lost += part.window.lost
        if (seen is None) == (check.seen is None):
            expected, seen = _sum_known((expected, check.expected)), _sum_known((seen, check.seen))
        elif seen is None:
            # Where it is not known how many were seen, nothing is known of how many were missing.
            expected, seen = check.expected, check.seen
        verdict = _joined_verdict(
            (verdict, check.verdict), expected=expected, seen=seen, lost=lost, may_stop=may_stop
        )
    kernels = [check.kernel for check in checks if check.kernel is not None]
    return Check(
        expected=expected,
        seen=seen,
        # An upper bound only as long as nothing is missing in it.
        kernel=sum(kernels) if len(kernels) == len(checks) else None,
        kernel_row=next((check.kernel_row for check in checks if check.kernel_row), None),
        basis=checks[-1].basis,
        verdict=verdict,
        hz=next((check.hz for check in reversed(checks) if check.hz), None),
        faster_hz=next((check.faster_hz for check in reversed(checks) if check.faster_hz), None),
        chance_share=running_mean((check.chance_share, check.expected or 0) for check in checks) or 0.0,
    )


def _joined_verdict(
    both: tuple[str, str], *, expected: int | None, seen: int | None, lost: int, may_stop: bool
) -> str:
    if expected is None or seen is None:
        return "unknown"
    verdict = verdict_of(
        expected=expected,
        seen=seen,
        lost=lost,
        chance_share=0.0,
        may_stop=may_stop,
        faster="extra" in both,
    )
    if verdict == "missing" and "missing" not in both:
        # What was no fault in any window is none of the run.
        return next((one for one in both if one in ("stopped", "unknown")), verdict)
    return verdict


def _joined_switches(counts: Sequence[SwitchCounts]) -> SwitchCounts:
    undated = [count.undated for count in counts if count.undated is not None]
    return SwitchCounts(
        dated=sum(count.dated for count in counts),
        unplaced=sum(count.unplaced for count in counts),
        undated=sum(undated) if len(undated) == len(counts) else None,
        missed=sum(count.missed for count in counts),
    )


def _joined_traced(counts: Sequence[TraceCounts]) -> TraceCounts | None:
    if not counts:
        return None
    return TraceCounts(
        events=sum(count.events for count in counts),
        outside=sum(count.outside for count in counts),
        lost=sum(count.lost for count in counts),
    )


def _moved(worst: Worst, by_cycles: int) -> Worst:
    return replace(worst, start_cycles=None if worst.start_cycles is None else worst.start_cycles + by_cycles)


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
