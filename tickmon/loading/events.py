"""A window's interruptions, from the lines after it back into its analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.readings import Analysis
from tickmon.analysis.spread import KEEP_VALUES, Spread, spread_of
from tickmon.loading.members import BadMemberError, Members
from tickmon.windows import INTERRUPTION, Method

EVENTS_MAX = KEEP_VALUES
"""Of a window with more the interruptions are left out: they would fill the memory."""

_COLUMNS = ("start_cycles", "gap_cycles", "ticks", "source")
_INT32_MOST = 2**31 - 1

Columns = tuple[NDArray[np.int64], ...]
"""Start, gap, ticks and source of some interruptions."""


def columns_of(line: Members, analysis: Analysis) -> Columns:
    """A line's interruptions of the window ``analysis`` is of."""
    sources = len(analysis.sources)
    columns = (
        line.whole_numbers("start_cycles", least=-(2**53)),
        line.whole_numbers("gap_cycles"),
        line.whole_numbers("ticks", most=_INT32_MOST),
        line.whole_numbers("source", most=max(sources - 1, 0)),
    )
    if len({len(column) for column in columns}) != 1:
        raise BadMemberError(f"says {', '.join(_COLUMNS)} in lists of different lengths")
    return columns


def samples_of(line: Members, analysis: Analysis) -> Analysis:
    """A loop window with its samples, where the line holds them: in order, but not when each began."""
    if analysis.window.segment.method is not Method.LOOP or not line.has("sample_cycles"):
        return analysis
    gap_cycles = line.whole_numbers("sample_cycles")
    if len(gap_cycles) != analysis.window.interruptions - analysis.window.lost:
        raise BadMemberError("does not hold as many samples as it says")
    details = np.zeros(len(gap_cycles), INTERRUPTION)
    details["gap_cycles"] = gap_cycles
    details["start_cycles"] = analysis.window.start_cycles + np.cumsum(gap_cycles) - gap_cycles
    return _with_details(analysis, details)


def with_events(analysis: Analysis, parts: Sequence[Columns]) -> Analysis | None:
    """``analysis`` with all its interruptions; None when these are not all."""
    if not parts:
        return analysis
    starts, gaps, ticks, source_of = (np.concatenate(column) for column in zip(*parts, strict=True))
    window = analysis.window
    if len(gaps) != window.interruptions - window.lost:
        return None
    details = np.zeros(len(gaps), INTERRUPTION)
    details["start_cycles"] = starts + window.start_cycles
    details["gap_cycles"] = gaps
    analysis = replace(
        _with_details(analysis, details),
        ticks=ticks.astype(np.int32),
        source_of=source_of.astype(np.int32),
    )
    preempted = np.isin(source_of, [i for i, s in enumerate(analysis.sources) if s.kind == "preemption"])
    tick = analysis.tick
    return replace(
        analysis,
        tick=tick and replace(tick, spread=_known(tick.spread, gaps[(ticks == 1) & ~preempted])),
        sources=tuple(
            replace(source, spread=_known(source.spread, gaps[source_of == index]))
            for index, source in enumerate(analysis.sources)
        ),
    )


def _with_details(analysis: Analysis, details: NDArray[np.void]) -> Analysis:
    gaps_cycles = np.ascontiguousarray(details["gap_cycles"])
    if len(gaps_cycles) == analysis.spread.n and int(gaps_cycles.sum()) != analysis.spread.sum_cycles:
        raise BadMemberError("says a sum that its interruptions do not have")
    return replace(
        analysis,
        window=replace(analysis.window, details=details),
        spread=_known(analysis.spread, gaps_cycles),
    )


def _known(spread: Spread, gaps_cycles: NDArray[np.int64]) -> Spread:
    """``spread`` with its lengths, if these are they."""
    if len(gaps_cycles) != spread.n or int(gaps_cycles.max(initial=0)) != (spread.max_cycles or 0):
        return spread
    return spread_of(gaps_cycles)
