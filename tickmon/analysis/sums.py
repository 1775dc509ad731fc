"""Windows without their single interruptions: what they come to, together where they need not even touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tickmon.analysis.caveats import gravest_first
from tickmon.analysis.merge import joined, shifts_of
from tickmon.windows import INTERRUPTION, SWITCH, TRACED, Exclusion, Window

EXCLUSIONS = 1000
"""So many are listed: neither a counter that goes back all the time nor throttling in each second must fill
the memory."""


def bare(window: Window) -> Window:
    """``window`` without each interruption, switch and traced event, after it was analysed with them."""
    dated = window.switches is not None and len(window.switches)
    if not dated and not len(window.details) and window.trace is None:
        return window
    return replace(
        window,
        details=np.zeros(0, INTERRUPTION),
        switches=None if window.switches is None else np.zeros(0, SWITCH),
        trace=None if window.trace is None else replace(window.trace, events=np.zeros(0, TRACED), names=()),
    )


def given_up(window: Window) -> Window:
    """The same before an analysis, for which all that is not there any more is lost."""
    given, switches = bare(window), window.switches
    trace = given.trace
    if trace is not None and window.trace is not None:
        trace = replace(trace, lost=trace.lost + len(window.trace.events))
    return replace(
        given,
        lost=window.interruptions,
        switches_lost=window.switches_lost + (0 if switches is None else len(switches)),
        trace=trace,
    )


def following(windows: Sequence[Window]) -> Window:
    """At least one as one window of the segment of the first, each beginning where the one before it ends.

    They are bare. Time between them is left out, and cycles of another segment are not compared with those
    of the first, only counted. Bounded, however many follow one another.
    """
    whole = joined(windows, shifts_of(windows))
    listed = replace(whole, excluded=_bounded(whole.excluded))
    # Another segment's clocks say nothing of this one's cycles.
    clocks = [w.clocks for w in windows if w.clocks and w.segment == whole.segment]
    return replace(
        listed,
        clocks=(clocks[0][0], clocks[-1][-1]) if clocks else (),
        unlisted_cycles=whole.unlisted_cycles + whole.excluded_cycles - listed.excluded_cycles,
        # Every warning once: the numbers of the whole are said of it anew.
        warnings=gravest_first(whole.warnings),
    )


def _bounded(excluded: Sequence[Exclusion]) -> tuple[Exclusion, ...]:
    """At most ``EXCLUSIONS``, in the order of time: those that took time go before others."""
    first = sorted(excluded, key=lambda exclusion: exclusion.code == "backwards")[:EXCLUSIONS]
    return tuple(sorted(first, key=lambda exclusion: exclusion.start_cycles))
