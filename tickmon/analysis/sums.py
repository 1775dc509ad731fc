"""Windows without their single interruptions: what they come to, together where they need not even touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tickmon.analysis.caveats import gravest_first
from tickmon.analysis.merge import merge
from tickmon.windows import INTERRUPTION, SWITCH, TRACED, Exclusion, Window

EXCLUSIONS = 1000
"""So many are listed: neither a counter that goes back all the time nor throttling in each second must fill
the memory."""


def bare(window: Window) -> Window:
    """``window`` without each interruption, switch and traced event, after it was analysed with them."""
    return replace(
        window,
        details=np.zeros(0, INTERRUPTION),
        switches=None if window.switches is None else np.zeros(0, SWITCH),
        trace=None if window.trace is None else replace(window.trace, events=np.zeros(0, TRACED), names=()),
    )


def given_up(window: Window) -> Window:
    """The same before an analysis, for which all that is not there any more is lost."""
    lost = bare(window)
    switches, trace = window.switches, window.trace
    return replace(
        lost,
        lost=window.interruptions,
        switches_lost=window.switches_lost + (0 if switches is None else len(switches)),
        trace=lost.trace and replace(lost.trace, lost=lost.trace.lost + (len(trace.events) if trace else 0)),
    )


def following(before: Window, after: Window) -> Window:
    """Both as one window of the segment of ``before``, in which ``after`` begins where that one ends.

    Both are bare. Time between them is left out, and cycles of another segment are not compared with those
    of the first, only counted. Bounded, however many follow one another.
    """
    shift_cycles = before.end_cycles - after.start_cycles
    excluded = (replace(e, start_cycles=e.start_cycles + shift_cycles) for e in after.excluded)
    moved = replace(
        after,
        segment=before.segment,
        start_cycles=before.end_cycles,
        end_cycles=after.end_cycles + shift_cycles,
        excluded=tuple(excluded),
    )
    joined = merge((before, moved))
    listed = replace(joined, excluded=_bounded(joined.excluded))
    # Another segment's clocks say nothing of this one's cycles.
    last = after if after.segment == before.segment else before
    return replace(
        listed,
        clocks=(before.clocks[0], last.clocks[-1]),
        unlisted_cycles=joined.unlisted_cycles + joined.excluded_cycles - listed.excluded_cycles,
        # Every warning once: the numbers of the whole are said of it anew.
        warnings=gravest_first(joined.warnings),
    )


def _bounded(excluded: Sequence[Exclusion]) -> tuple[Exclusion, ...]:
    """At most ``EXCLUSIONS``, in the order of time: those that took time go before others."""
    first = sorted(excluded, key=lambda exclusion: exclusion.code == "backwards")[:EXCLUSIONS]
    return tuple(sorted(first, key=lambda exclusion: exclusion.start_cycles))
