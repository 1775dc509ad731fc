"""Two readings side by side: what changed, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.difference import BLOCKS_LEAST, Difference, are_independent, difference, holm
from tickmon.analysis.readings import Analysis
from tickmon.analysis.series import Series, mean_values, rate_values, tick_p99_values, worst_values
from tickmon.analysis.stretches import Cost, Stretch, added, can_be_cut, parts_of, stretch_of
from tickmon.windows import Method

ERROR_RATE = 0.05
"""So often, and not more, something is called changed where nothing has, over all figures together."""

BLOCKS = 40
"""So many blocks of the shorter reading, or fewer: more would hardly make anything finer, and shorter ones
depend more on their neighbours."""

WINDOWS_FEW = 8
"""A reading of fewer windows is cut into parts where its interruptions are known."""

SOURCES_MOST = 10
"""So many sources are compared, the costliest: each more makes every finding less certain."""

_LONGER = 1.5
"""So much longer blocks are tried next where neighbours are alike."""

_ERRORS = 1.0
"""Neighbours are alike when their correlation passes so many standard errors: sooner too long blocks, which
only cost power, than too short ones, which find what is not there."""

_ERRORS_LAST = 1.645
"""Where there are no longer ones: as one in twenty does that is not alike."""

_SAME_TRAIN_SHARE = 1e-3
"""Trains whose rates differ by less are one, whatever they are called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One figure before and after. Less is better for all of them."""

    name: str
    """``tick_median_ns``, ``tick_p99_ns``, ``overhead_share``, ``interruptions_per_s``, ``worst_ns``,
    ``sample_median_ns``, ``source_per_s``, ``source_share`` or ``train_median_ns``."""
    of: str | None
    """The source or train; None for the whole CPU."""
    before: float | None
    """None where there was nothing of the kind."""
    after: float | None
    change_share: float | None
    """Of what it was before; None where that was nothing."""
    uncertain_share: float | None
    """Half the width of the 95 % interval of ``change_share``; None where it cannot be told."""
    p: float | None
    """How probable so large a difference is by chance, as it counts beside all the other figures (Holm);
    None where that cannot be told."""
    verdict: str
    """``better``, ``worse``, ``same`` (not to be told apart) or ``unknown``."""
    reason: str | None
    """Why it is ``unknown``: ``too short`` (a reading), ``too few`` (of what is counted) or ``it drifts``."""
    block_s: float | None
    """What was compared are blocks of this length; None where nothing was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two readings of one CPU, taken alike, say of each other."""

    changes: tuple[Change, ...]
    verdict: str
    """``better``, ``worse``, ``mixed``, ``same`` or ``unknown``."""
    span_s: tuple[float, float]
    """How much time each reading holds."""


def change_between(before: Sequence[Analysis], after: Sequence[Analysis]) -> Comparison:
    """How the windows ``after`` differ from those ``before``, both in the order of time and taken alike.

    ``ValueError`` when one of them is empty. Cheap enough for each new window of a screen.
    """
    cut = len(before) < WINDOWS_FEW or len(after) < WINDOWS_FEW
    loop = any(each[0].window.segment.method is Method.LOOP for each in (before, after) if each)
    return compare(*stretches_alike(before, after) if cut else (whole(before), whole(after)), loop=loop)


def whole(analyses: Sequence[Analysis]) -> list[Stretch]:
    """A stretch for each window."""
    return [stretch_of(analysis) for analysis in analyses]


def stretches_alike(
    before: Sequence[Analysis], after: Sequence[Analysis]
) -> tuple[list[Stretch], list[Stretch]]:
    """Stretches of about one length, short enough for BLOCKS of them where every interruption is known.

    None is shorter than the longest interruption, which would fill it more than once.
    """
    both = (before, after)
    if not all(map(len, both)) or not all(can_be_cut(analysis) for side in both for analysis in side):
        return whole(before), whole(after)
    longest_s = max(_longest_s(analysis) for side in both for analysis in side)
    part_s = max(min(sum(map(_length_s, side)) for side in both) / BLOCKS, longest_s)

    def cut(side: Sequence[Analysis]) -> list[Stretch]:
        return [
            stretch
            for analysis in side
            for stretch in parts_of(analysis, max(1, round(_length_s(analysis) / part_s)))
        ]

    return cut(before), cut(after)


def _length_s(analysis: Analysis) -> float:
    return analysis.window.length_cycles / analysis.tsc_hz


def _longest_s(analysis: Analysis) -> float:
    return int(analysis.window.details["gap_cycles"].max(initial=0)) / analysis.tsc_hz


def compare(before: Sequence[Stretch], after: Sequence[Stretch], *, loop: bool = False) -> Comparison:
    """The same for stretches; ``loop``: of the loop method, whose interruptions are samples.

    ValueError when there are none.
    """
    if not before or not after:
        raise ValueError("nothing to compare")
    sides = _same_names(before, after)
    known: dict[tuple[int, int], NDArray[np.float64]] = {}
    found = [figure.found(sides, known) for figure in _figures(sides, loop=loop)]
    tested = [index for index, (_, p) in enumerate(found) if p is not None]
    changes = [change for change, _ in found]
    for index, p in zip(tested, holm([found[index][1] or 0.0 for index in tested]), strict=True):
        changes[index] = _judged(changes[index], p)
    return Comparison(
        changes=tuple(changes),
        verdict=_verdict(changes),
        span_s=(sum(s.length_s for s in before), sum(s.length_s for s in after)),
    )


def _judged(change: Change, p: float) -> Change:
    verdict = "same"
    if p <= ERROR_RATE and change.before is not None and change.after is not None:
        verdict = "better" if change.after < change.before else "worse"
    return replace(change, p=p, verdict=verdict)


def _verdict(changes: Sequence[Change]) -> str:
    """What the share of the CPU says, which holds all costs; else what all that changed agree in."""
    (share,) = (change for change in changes if change.name == "overhead_share")
    if share.verdict in ("better", "worse"):
        return share.verdict
    ways = {change.verdict for change in changes}
    if {"better", "worse"} <= ways:
        return "mixed"
    # One that cannot be told does not make the others doubtful.
    return next((way for way in ("better", "worse") if way in ways), share.verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figure:
    name: str
    of: str | None = None
    values: Callable[[Series], NDArray[np.float64]]
    """Of each block; NaN where one has none."""
    finest: Callable[[Stretch, float], float]
    """The smallest difference that means something in a stretch, or in a block of some seconds."""
    block_s: float = 0.0
    """A block of it has at least this length."""

    def found(
        self, sides: tuple[list[Stretch], list[Stretch]], known: dict[tuple[int, int], NDArray[np.float64]]
    ) -> tuple[Change, float | None]:
        """The change, and its probability by itself."""
        totals = [self._total(side) for side in sides]
        result, reason, block_s = self._difference(sides, known)
        before, after = totals if result is None else (result.before, result.after)
        change = Change(
            name=self.name,
            of=self.of,
            before=before,
            after=after,
            change_share=after / before - 1 if before and after is not None else None,
            uncertain_share=result.uncertain / abs(before) if result is not None and before else None,
            p=None,
            verdict="unknown",
            reason=reason,
            block_s=block_s,
        )
        return change, None if result is None else result.p

    def _total(self, side: Sequence[Stretch]) -> float | None:
        """Of all as one block."""
        value = float(self.values(Series(side, blocks=1))[0])
        return None if np.isnan(value) else value

    def _difference(
        self, sides: tuple[list[Stretch], list[Stretch]], known: dict[tuple[int, int], NDArray[np.float64]]
    ) -> tuple[Difference | None, str | None, float | None]:
        """From blocks of equal length, as short as they may be to be independent of their neighbours."""
        spans_s = [sum(stretch.length_s for stretch in side) for side in sides]
        longest_s = max(stretch.length_s for side in sides for stretch in side)
        block_s = max(longest_s, self.block_s, min(spans_s) / BLOCKS)
        # Windows are a little longer or shorter than they should be.
        counts = [int(span_s / block_s + 0.05) for span_s in spans_s]
        if min(counts) < BLOCKS_LEAST:
            return None, "too short", None
        while True:
            blocks = [
                self.values(Series(side, blocks=count)) for side, count in zip(sides, counts, strict=True)
            ]
            blocks = [values[~np.isnan(values)] for values in blocks]
            if min(map(len, blocks)) < BLOCKS_LEAST:
                return None, "too few", None
            longer = [int(count / _LONGER) for count in counts]
            last = min(longer) < BLOCKS_LEAST
            if are_independent(blocks, errors=_ERRORS_LAST if last else _ERRORS):
                resolution = max(self.finest(stretch, block_s) for side in sides for stretch in side[:1])
                return difference(*blocks, resolution=resolution, known=known), None, block_s
            if last:
                return None, "it drifts", None
            counts = longer
            block_s = max(span_s / count for span_s, count in zip(spans_s, counts, strict=True))


def _figures(sides: tuple[list[Stretch], list[Stretch]], *, loop: bool) -> list[_Figure]:
    """All that can be compared, the most important first."""

    def step_ns(stretch: Stretch, block_s: float) -> float:
        return stretch.step_ns

    def step_share(stretch: Stretch, block_s: float) -> float:
        return stretch.step_ns / block_s / 1e9

    def one_a_block(stretch: Stretch, block_s: float) -> float:
        # A thing that happens at the border of two blocks is in one of them.
        return 1 / block_s / BLOCKS

    figures = []
    ticks = [[stretch.tick.n if stretch.tick else 0 for stretch in side] for side in sides]
    if any(map(sum, ticks)):
        figures += [
            _Figure(
                name="tick_median_ns",
                values=lambda series: mean_values(series, lambda stretch: stretch.tick),
                finest=step_ns,
            ),
            _tick_p99(sides, ticks),
        ]
    figures.append(
        _Figure(
            name="overhead_share",
            values=lambda series: rate_values(series, lambda stretch: stretch.overhead_ns / 1e9),
            finest=step_share,
        )
    )
    if loop:
        figures.append(
            _Figure(
                name="sample_median_ns",
                values=lambda series: mean_values(
                    series, lambda stretch: Cost(n=1, overhead_ns=0, median_ns=stretch.median_ns)
                ),
                finest=step_ns,
            )
        )
    else:
        figures.append(
            _Figure(
                name="interruptions_per_s",
                values=lambda series: rate_values(series, lambda stretch: stretch.interruptions),
                finest=one_a_block,
            )
        )
    figures.append(_Figure(name="worst_ns", values=worst_values, finest=step_ns))
    names = _source_names(sides)
    trains = {name for side in sides for stretch in side for name in stretch.trains_hz}
    for name in names:
        if name in trains:
            figures.append(
                _Figure(
                    name="train_median_ns",
                    of=name,
                    values=lambda series, name=name: mean_values(  # type: ignore[misc]
                        series, lambda stretch: stretch.sources.get(name)
                    ),
                    finest=step_ns,
                )
            )
        figures += [
            _Figure(
                name="source_per_s",
                of=name,
                values=lambda series, name=name: rate_values(  # type: ignore[misc]
                    series, lambda stretch: _of(stretch, name).n
                ),
                finest=one_a_block,
            ),
            _Figure(
                name="source_share",
                of=name,
                values=lambda series, name=name: rate_values(  # type: ignore[misc]
                    series, lambda stretch: _of(stretch, name).overhead_ns / 1e9
                ),
                finest=step_share,
            ),
        ]
    return figures


_NOTHING = Cost(n=0, overhead_ns=0.0, median_ns=None)


def _of(stretch: Stretch, name: str) -> Cost:
    return stretch.sources.get(name, _NOTHING)


_TICKS_A_BLOCK = 1_100
"""So many have ten beyond their 99th percentile, and some to spare for ticks that are not counted."""


def _tick_p99(sides: tuple[list[Stretch], list[Stretch]], ticks: Sequence[Sequence[int]]) -> _Figure:
    # From the bins on both sides where one side has no more: their middle is not a length that occurred.
    exact = all(
        stretch.tick_gaps_cycles is not None
        for side in sides
        for stretch in side
        if stretch.tick is not None and stretch.tick.n
    )
    rates_hz = [
        sum(counts) / sum(stretch.length_s for stretch in side)
        for side, counts in zip(sides, ticks, strict=True)
    ]
    slowest_hz = min((rate_hz for rate_hz in rates_hz if rate_hz), default=1.0)
    return _Figure(
        name="tick_p99_ns",
        values=lambda series: tick_p99_values(series, exact=exact),
        finest=lambda stretch, block_s: stretch.step_ns,
        block_s=_TICKS_A_BLOCK / slowest_hz,
    )


def _source_names(sides: tuple[list[Stretch], list[Stretch]]) -> list[str]:
    """The costliest of both sides, the costliest first."""
    shares: Counter[str] = Counter()
    for side in sides:
        span_s = sum(stretch.length_s for stretch in side)
        for stretch in side:
            for name, cost in stretch.sources.items():
                shares[name] += cost.overhead_ns / 1e9 / span_s  # type: ignore[assignment]
    return [name for name, _ in shares.most_common(SOURCES_MOST)]


def _same_names(before: Sequence[Stretch], after: Sequence[Stretch]) -> tuple[list[Stretch], list[Stretch]]:
    """The stretches with one name for each train, which fits of it call by slightly different rates."""
    seen: Counter[str] = Counter()
    hz_of: dict[str, float] = {}
    for stretch in (*before, *after):
        for name, hz in stretch.trains_hz.items():
            seen[name] += 1
            hz_of[name] = hz
    called: dict[str, str] = {}
    for name, _ in seen.most_common():
        near = (other for other in called.values() if abs(hz_of[other] / hz_of[name] - 1) < _SAME_TRAIN_SHARE)
        called[name] = next(near, name)
    if all(name == new for name, new in called.items()):
        return list(before), list(after)
    return [_renamed(s, called) for s in before], [_renamed(s, called) for s in after]


def _renamed(stretch: Stretch, called: Mapping[str, str]) -> Stretch:
    sources: dict[str, Cost] = {}
    for name, cost in stretch.sources.items():
        new = called.get(name, name)
        # Two of a kind in one window are one that was fitted twice.
        sources[new] = added(sources.get(new), cost)
    trains_hz = {called.get(name, name): hz for name, hz in stretch.trains_hz.items()}
    return replace(stretch, sources=sources, trains_hz=trains_hz)
