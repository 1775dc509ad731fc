"""Where in its period the kernel's tick is due: one constant a segment, tried and proven, never assumed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.slots import FULL_SHARE, Evidence, Gaps, Lattice, start_delays, thinned, weigh
from tickmon.windows import KernelTick

STANDARD_HZ = (100, 128, 200, 250, 256, 300, 500, 512, 1000, 1024, 1200)
"""Rates that kernels are built for (Kconfig.hz of Linux's architectures)."""

_GRID_NS = 20_000.0
_FIT_SLOTS = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A phase, and what this window says about it."""

    phase_ns: int
    """Offset from k * period of CLOCK_MONOTONIC."""
    evidence: Evidence
    proven: bool
    """The phase can be kept: found convincing here, or in an earlier window."""

    @property
    def located(self) -> bool:
        """Nothing speaks against it: slots at this phase are the tick's, whether they are held or not."""
        evidence = self.evidence
        return self.proven or evidence.beyond_chance or self._unrefuted

    @property
    def credible(self) -> bool:
        """The slots are held by more than chance: by ticks, be it few because most of them are stopped."""
        by_chance = self.evidence.slots * self.evidence.chance_share
        return self._unrefuted or self.evidence.held > by_chance + 2 * math.sqrt(by_chance) + 1

    @property
    def _unrefuted(self) -> bool:
        return self.evidence.mostly_held or not self.evidence.telling


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The part of a segment's timeline in which slots are held or not."""

    from_ns: float
    until_ns: float
    epoch_ns: int
    """CLOCK_MONOTONIC at the timeline's zero."""


def lattice(period_ns: int, phase_ns: int, epoch_ns: int) -> Lattice:
    """The slots at ``phase_ns`` + k * ``period_ns`` of CLOCK_MONOTONIC, on a timeline from ``epoch_ns``."""
    return Lattice(period_ns=period_ns, offset_ns=(phase_ns - epoch_ns) % period_ns)


def locate(gaps: Gaps, tick: KernelTick, stretch: Stretch, *, known_ns: int | None) -> Phase:
    """The phase of ``tick``: the known one while its slots are held, else a candidate, else a fitted one.

    Only the phase is ever fitted: the frequency is the kernel's. When nothing convinces (a stopped tick
    has no phase to find) it is the known one, or the first candidate, unproven.
    """

    def judged(phase_ns: int) -> Phase:
        slots_ns = lattice(tick.period_ns, phase_ns, stretch.epoch_ns).between(
            stretch.from_ns, stretch.until_ns
        )
        evidence = weigh(gaps, slots_ns, tick.period_ns)
        return Phase(
            phase_ns=phase_ns,
            evidence=evidence,
            proven=evidence.convincing or phase_ns == known_ns,
        )

    candidates = (() if known_ns is None else (known_ns,)) + (tick.phases_ns or (0,))
    fallback = judged(candidates[0])
    evidence = fallback.evidence
    # While most of its slots are held there is no need for another one, be they too few to prove it.
    good = evidence.mostly_held and (known_ns is not None or evidence.steady())
    if good or not evidence.telling:
        return fallback
    for phase_ns in candidates[1:]:
        phase = judged(phase_ns)
        if phase.evidence.convincing:
            return phase
    fitted = [judged(phase_ns) for phase_ns in fit(gaps, tick.period_ns, stretch)]
    convincing = [phase for phase in fitted if phase.evidence.convincing]
    # A host may tick at the same rate, but only the kernel's own tick keeps this very time.
    return min(convincing, key=lambda phase: abs(phase.evidence.drift_ns), default=fallback)


def fit(gaps: Gaps, period_ns: int, stretch: Stretch) -> tuple[int, ...]:
    """Every phase at which nearly all slots of ``period_ns`` are held, and more than elsewhere.

    The slots are moved through a whole period in steps that a tick cannot slip through, and each run of
    phases that hold them is one train; it is due where the first of its interruptions start.
    """
    offsets_ns = np.arange(0.0, period_ns, _GRID_NS)
    slots_ns = thinned(
        Lattice(period_ns=period_ns, offset_ns=0.0).between(stretch.from_ns, stretch.until_ns - period_ns),
        _FIT_SLOTS,
    )
    if not len(slots_ns):
        return ()
    held = np.array([np.count_nonzero(gaps.holding(slots_ns + offset) >= 0) for offset in offsets_ns])
    share = float(np.median(held)) / len(slots_ns)
    at_least = max(FULL_SHARE, share + 5 * np.sqrt(share * (1 - share) / len(slots_ns))) * len(slots_ns)
    phases_ns = []
    for run in _runs(held >= at_least):
        delays_ns = [
            start_delays(gaps, at_ns, gaps.holding(at_ns))
            for at_ns in (slots_ns + o for o in offsets_ns[run])
        ]
        # A slot is held from far before the starts until the interruptions end: the starts lie close to one.
        apart_ns = [float(np.median(np.abs(d))) if len(d) else math.inf for d in delays_ns]
        nearest = int(np.argmin(apart_ns))
        if apart_ns[nearest] < math.inf:
            due_ns = offsets_ns[run[nearest]] + float(np.quantile(delays_ns[nearest], 0.05))
            phases_ns.append((round(due_ns) + stretch.epoch_ns) % period_ns)
    return tuple(phases_ns)


def _runs(holds: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """The indices of each run of True. One that goes on at the other end makes two, of the same train."""
    marked = np.flatnonzero(holds)
    return np.split(marked, np.flatnonzero(np.diff(marked) > 1) + 1) if len(marked) else []
