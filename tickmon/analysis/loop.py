"""The loop method: what its samples say, and whether its minimum is a baseline at all."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.readings import BaselineVerdict
from tickmon.units import count_text, share_text

DISTURBED_NS = 200.0
"""A sample so far above the median was interrupted: the least default threshold of the gap method."""


def mode_cycles(samples_cycles: NDArray[np.int64]) -> int | None:
    """The commonest sample, the shortest of several; None when there are none."""
    if not len(samples_cycles):
        return None
    values, counts = np.unique(samples_cycles, return_counts=True)
    return int(values[np.argmax(counts)])


def disturbed(
    samples_cycles: NDArray[np.int64], *, cycles_per_ns: float, step_cycles: int
) -> NDArray[np.bool_]:
    """The samples that something lies in: they took longer than the median by more than its noise."""
    if not len(samples_cycles):
        return np.zeros(0, bool)
    least_cycles = max(DISTURBED_NS * cycles_per_ns, step_cycles)
    return np.asarray(samples_cycles >= np.median(samples_cycles) + least_cycles)


def baseline_verdict(
    samples_cycles: NDArray[np.int64], among: NDArray[np.bool_], holds_one_tick: NDArray[np.bool_]
) -> BaselineVerdict:
    """Whether the minimum stands for an undisturbed loop; ``among`` are the samples that something lies in.

    The method calls everything above the minimum overhead. That is only right when the undisturbed loops
    lie closer to it than what is to be seen, the time that a tick adds to the median sample, and when all of
    them together do not make up most of what is called overhead.
    """
    if not holds_one_tick.any():
        return BaselineVerdict(
            holds=None,
            reason="No sample holds exactly one tick, so there is nothing to compare with.",
        )
    median = float(np.median(samples_cycles))
    above_cycles = samples_cycles - samples_cycles.min()
    away_cycles = median - int(samples_cycles.min())
    tick_cycles = float(np.median(samples_cycles[holds_one_tick])) - median
    away, tick = count_text(away_cycles), count_text(tick_cycles)
    if away_cycles > tick_cycles:
        return BaselineVerdict(
            holds=False,
            reason=(
                f"The minimum lies {away} cycles below the median sample, but a tick adds only {tick}: "
                "it is a rare fast loop, and sample - minimum calls its head start overhead in every sample."
            ),
        )
    false_share = int(above_cycles[~among].sum()) / max(int(above_cycles.sum()), 1)
    if false_share > 0.5:
        return BaselineVerdict(
            holds=False,
            reason=(
                f"The minimum lies {away} cycles below the median sample and a tick adds {tick}, but "
                f"{share_text(false_share)} of what sample - minimum calls overhead is in samples that "
                "nothing disturbed."
            ),
        )
    return BaselineVerdict(
        holds=True,
        reason=f"The minimum lies {away} cycles below the median sample, and a tick adds {tick}.",
    )
