"""What must be remembered from window to window: a value that goes into an analysis and comes out."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from tickmon.analysis.knots import certain
from tickmon.analysis.trains import TrainState
from tickmon.units import NS_PER_S
from tickmon.windows import ClockReading, Segment, Window

GIVEN_SOURCES = ("option", "stated by the hardware")
"""Frequencies from the user or from the hardware itself are not replaced by a measured one."""


_OFF_SHARE = 1e-3
"""What a segment begins with is good to some ppm: a line further off leads over time that one clock lacks."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clocks:
    """The clocks of one segment as far as they are known. ``Clocks()`` knows nothing yet."""

    segment: Segment | None = None
    """The segment that all of this belongs to."""
    opened: ClockReading | None = None
    """The first reading of the segment since time last jumped in it."""
    epoch_ns: int = 0
    """CLOCK_MONOTONIC at zero of the segment's timeline."""
    tsc_hz: float = math.nan
    """As refined by now."""
    phase_ns: int | None = None
    """Offset of the kernel's tick from k * period of CLOCK_MONOTONIC; None until it was found."""
    judged_ns: float = -math.inf
    """On the segment's timeline: slots before it are judged, later ones are not."""
    trains: TrainState = field(default_factory=TrainState)


def follow(clocks: Clocks, window: Window) -> Clocks:
    """``clocks`` for ``window``: those of its segment, begun afresh when it is another one."""
    segment = window.segment
    readings = certain(window.clocks)
    if clocks.segment != segment:
        clocks = Clocks(
            segment=segment,
            opened=readings[0],
            epoch_ns=readings[0].monotonic_ns if segment.counter_synchronised else 0,
            tsc_hz=segment.tsc_hz,
        )
    jumped_cycles = max(
        (e.start_cycles + e.cycles for e in window.excluded if e.code == "jump"), default=None
    )
    if jumped_cycles is not None:
        # No line leads over a jump: what was known before it stands.
        later = (reading for reading in readings if reading.cycles - segment.origin_cycles > jumped_cycles)
        return replace(clocks, opened=next(later, None))
    opened = clocks.opened or readings[0]
    return replace(clocks, opened=opened, tsc_hz=_refined_hz(opened, readings[-1], clocks, segment))


def _refined_hz(opened: ClockReading, newest: ClockReading, clocks: Clocks, segment: Segment) -> float:
    """Cycles against CLOCK_MONOTONIC_RAW over the whole segment: the longer, the finer."""
    passed_ns = newest.monotonic_raw_ns - opened.monotonic_raw_ns
    given = segment.tsc_hz_source.startswith(GIVEN_SOURCES)
    # A reading's counter is another CPU's: without synchronised counters its offset is anything.
    if given or not segment.counter_synchronised or passed_ns <= 0:
        return segment.tsc_hz
    hz = (newest.cycles - opened.cycles) * NS_PER_S / passed_ns
    return hz if abs(hz / segment.tsc_hz - 1) < _OFF_SHARE else clocks.tsc_hz
