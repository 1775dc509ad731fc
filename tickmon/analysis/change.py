"""One figure of two readings: what it is before and after, and whether it changed by more than chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.difference import BLOCKS_LEAST, Difference, are_independent, difference
from tickmon.analysis.series import Series
from tickmon.analysis.stretches import Stretch

Sides = tuple[Sequence[Stretch], Sequence[Stretch]]
"""Before and after."""

BLOCKS = 40
"""So many blocks of the shorter reading, or fewer: more would hardly make anything finer, and shorter ones
depend more on their neighbours."""

_LONGER = 1.5
"""So much longer blocks are tried next where neighbours are alike."""

_ERRORS = 1.0
"""Neighbours are alike when their correlation passes so many standard errors: sooner too long blocks, which
only cost power, than too short ones, which find what is not there."""

_ERRORS_LAST = 1.645
"""Where there are no longer ones: as one in twenty does that is not alike."""


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
    """Why it is ``unknown``: ``too short`` (a reading), ``too few`` (of what is counted), ``it drifts``, or
    ``left out`` (too many sources cost more)."""
    block_s: float | None
    """What was compared are blocks of this length; None where nothing was."""


def unjudged(
    *, name: str, of: str | None, before: float | None, after: float | None, reason: str | None
) -> Change:
    """One of which nothing is known but what it is."""
    return Change(
        name=name,
        of=of,
        before=before,
        after=after,
        change_share=after / before - 1 if before and after is not None else None,
        uncertain_share=None,
        p=None,
        verdict="unknown",
        reason=reason,
        block_s=None,
    )


def span_s(side: Sequence[Stretch]) -> float:
    """How much time was watched; where none was, so little that nothing fits into it."""
    return max(sum(stretch.length_s for stretch in side), float(np.finfo(float).tiny))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What to look at in each block of time."""

    name: str
    of: str | None = None
    values: Callable[[Series], NDArray[np.float64]]
    """Of each block; NaN where one has none."""
    finest: Callable[[Stretch, float], float]
    """The smallest difference that means something in a stretch, or in a block of some seconds."""
    block_s: float = 0.0
    """A block of it has at least this length."""

    def found(
        self, sides: Sides, known: dict[tuple[int, int], NDArray[np.float64]]
    ) -> tuple[Change, float | None]:
        """The change, and its probability by itself."""
        totals = [self._total(side) for side in sides]
        result, reason, block_s = self._difference(sides, known)
        before, after = totals if result is None else (result.before, result.after)
        change = unjudged(name=self.name, of=self.of, before=before, after=after, reason=reason)
        if result is None:
            return change, None
        uncertain_share = result.uncertain / abs(before) if before else None
        return replace(change, uncertain_share=uncertain_share, block_s=block_s), result.p

    def _total(self, side: Sequence[Stretch]) -> float | None:
        """Of all as one block."""
        value = float(self.values(Series(side, blocks=1))[0])
        return None if np.isnan(value) else value

    def _difference(
        self, sides: Sides, known: dict[tuple[int, int], NDArray[np.float64]]
    ) -> tuple[Difference | None, str | None, float | None]:
        """From blocks of equal length, as short as they may be to be independent of their neighbours."""
        spans_s = [span_s(side) for side in sides]
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
