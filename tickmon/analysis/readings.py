"""What an analysis says of one window; costs stay cycles until they become text.

Every ``median_cycles``, ``p99_cycles`` and ``max_cycles`` here is a *gap*; only what is called overhead has
the baseline taken off. A value that does not exist is None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.spread import Spread
from tickmon.windows import ReadingWarning, Window

PREEMPTION_BY = "preemption by "
"""The name of a source that is another task begins so."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Tick:
    """What the kernel's tick costs, from interruptions that hold exactly one and no known preemption."""

    hz: float
    phase_ns: float | None
    """Offset from k * period of CLOCK_MONOTONIC."""
    jitter_ns: float | None
    """From the 5th to the 95th percentile of how late after its slot the tick's interruption ends up
    starting (0 when the slot lies inside)."""
    basis: str
    """How it is known which interruptions hold a tick: ``phase`` (its slots), or ``trace``."""
    spread: Spread = field(repr=False)
    overhead_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The ticks that must have happened against those that were seen."""

    expected: int | None
    seen: int | None
    kernel: int | None
    """Change of ``kernel_row``: all timer interrupts of that CPU, an upper bound."""
    kernel_row: str | None
    basis: str
    """``kernel``, ``option`` or ``measured``."""
    verdict: str
    """``ok``, ``missing``, ``extra``, ``stopped`` or ``unknown``."""
    hz: float | None = None
    """The rate that the slots are due at; None where none is known."""
    faster_hz: float | None = None
    """A train at the tick's phase runs at this rate, not at ``hz``."""
    chance_share: float = 0.0
    """Of slots that would be held without any tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchCounts:
    """How often the sampler was switched out, by what is known of when."""

    dated: int
    unplaced: int
    """Of the dated ones those that lie in no interruption that is known. A few are normal."""
    undated: int | None
    """None: unknown."""
    missed: int = 0
    """Where switches are dated: how many more the kernel counted. A few, or a few less than none, are at
    the borders, where the count is read a little later than the dates; they cancel over a run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceCounts:
    """What the kernel's trace came to."""

    events: int
    outside: int
    """Of those that lie where the sampler ran undisturbed."""
    lost: int
    """Records that the kernel dropped."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Train:
    """A strictly periodic series of interruptions."""

    hz: float
    phase_ns: float | None
    """The kernel's own: offset from k * period of CLOCK_MONOTONIC, None where that is not known. A foreign
    train keeps another clock's time: its first slot, from the window's start."""
    jitter_ns: float | None
    """From the 5th to the 95th percentile of how far its members start from their slots."""
    expected: int
    seen: int
    origin: str
    """``kernel``, ``host`` or ``unknown``."""
    spread: Spread = field(repr=False)
    overhead_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """Interruptions of one kind."""

    name: str
    kind: str
    basis: str
    """How the kind is known: ``phase``, ``switch``, ``trace`` or ``counter``. Also ``phase`` where it is not:
    no train's phase explains them; ``trace`` then says that the kernel saw nothing either."""
    parts: tuple[str, ...]
    """The names of all causes that lie in its interruptions."""
    spread: Spread = field(repr=False)
    overhead_cycles: int

    @property
    def short_name(self) -> str:
        """For the column of a table."""
        return self.name.replace(PREEMPTION_BY, "task ", 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worst:
    """One of the longest interruptions of a window."""

    start_cycles: int | None
    """None: its detail was lost, but not its length. It was somewhere in its window."""
    gap_cycles: int
    source: int | None
    """Index into the window's sources."""
    at: datetime
    """UTC; where its start is not known, its window's start."""
    causes: str | None = None
    """All that the kernel traced in it, in words; None where that is not known, or nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineVerdict:
    """Whether the loop method's minimum stands for an undisturbed loop."""

    holds: bool | None
    """None: cannot be judged."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Analysis:
    """Everything that is said of one window."""

    window: Window
    tsc_hz: float
    """As refined by then."""
    baseline_cycles: int | None
    typical_cycles: float | None
    """Mean undisturbed read; None for the loop method."""
    mode_cycles: int | None
    """Loop method: the commonest sample."""
    baseline_verdict: BaselineVerdict | None
    """Loop method only."""
    overhead_cycles: int
    overhead_share: float | None
    """None: nothing was watched, the window being left out whole."""
    spread: Spread = field(repr=False)
    """Of all the interruptions' gaps (loop method: of the samples)."""
    tick: Tick | None
    check: Check
    switches: SwitchCounts
    trains: tuple[Train, ...]
    """With the kernel's own, where it was found, first."""
    sources: tuple[Source, ...]
    """Most overhead first. Their counts add up to the window's interruptions."""
    ticks: NDArray[np.int32] = field(repr=False)
    """For each of the window's details, how many tick slots it holds."""
    source_of: NDArray[np.int32] = field(repr=False)
    """For each of the window's details, the index of its source."""
    worst: Sequence[Worst] = field(repr=False)
    """Longest first, at most 100."""
    warnings: tuple[ReadingWarning, ...]
    """Gravest first: the window's own and the analysis'."""
    traced: TraceCounts | None = None
    """None: not traced."""
