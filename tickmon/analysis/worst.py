"""The longest interruptions of a window, by columns: of a hundred few are ever looked at one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import overload

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.kernel_causes import KernelCauses
from tickmon.analysis.readings import Worst
from tickmon.analysis.sources import Shares
from tickmon.units import cycles_to_ns
from tickmon.windows import Window

WORST = 100
"""So many of the longest interruptions are named."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Columns(Sequence[Worst]):
    """Longest first; each member as in ``Worst``, for all of them."""

    starts_cycles: Sequence[int | None]
    gaps_cycles: Sequence[int]
    sources: Sequence[int | None]
    at: Sequence[datetime]
    causes: Sequence[str | None]

    def __len__(self) -> int:
        return len(self.gaps_cycles)

    @overload
    def __getitem__(self, place: int) -> Worst: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Worst, ...]: ...
    def __getitem__(self, place: int | slice) -> Worst | tuple[Worst, ...]:
        if isinstance(place, slice):
            return tuple(self[one] for one in range(len(self))[place])
        return Worst(
            start_cycles=self.starts_cycles[place],
            gap_cycles=self.gaps_cycles[place],
            source=self.sources[place],
            at=self.at[place],
            causes=self.causes[place],
        )


def worst_of(
    window: Window,
    gaps_cycles: NDArray[np.int64],
    shares: Shares,
    traced: KernelCauses | None,
    tsc_hz: float,
) -> Sequence[Worst]:
    """The longest interruptions, the longest first: those whose detail is known, and the very longest."""
    count = min(WORST, len(gaps_cycles))
    longest = np.argpartition(gaps_cycles, -count)[-count:] if count else np.zeros(0, np.int64)
    longest = longest[np.lexsort((longest, -gaps_cycles[longest]))]
    starts, gaps = window.details["start_cycles"][longest].tolist(), gaps_cycles[longest].tolist()
    after_us = [cycles_to_ns(start - window.start_cycles, tsc_hz) / 1e3 for start in starts]
    causes: Sequence[str | None] = [None] * count
    if traced is not None:
        causes = [
            traced.text(index, start, start + gap, tsc_hz)
            for index, start, gap in zip(longest.tolist(), starts, gaps, strict=True)
        ]
    known = Columns(
        starts_cycles=starts,
        gaps_cycles=gaps,
        sources=shares.source_of[longest].tolist(),
        at=[window.started_at + timedelta(microseconds=us) for us in after_us],
        causes=causes,
    )
    unknown = _without_detail(window, known, shares)
    return known if unknown is None else (unknown, *known[: WORST - 1])


def _without_detail(window: Window, known: Sequence[Worst], shares: Shares) -> Worst | None:
    """The longest interruption of all, where only its length is known."""
    longest_cycles = known[0].gap_cycles if known else 0
    if not window.lost or window.max_cycles is None or window.max_cycles <= longest_cycles:
        return None
    place = next(index for index, source in enumerate(shares.sources) if source.kind == "detail-lost")
    return Worst(start_cycles=None, gap_cycles=window.max_cycles, source=place, at=window.started_at)
