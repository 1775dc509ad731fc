"""Stretches made up from random numbers: seconds whose figures depend on those before them, or do not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.stretches import Cost, Stretch

_NO_GAPS = np.zeros(0, np.int64)


def dependent(rng: np.random.Generator, count: int, correlation: float) -> NDArray[np.float64]:
    """``count`` values of mean 0 and deviation 1, each like the one before by ``correlation`` (AR(1))."""
    values = rng.normal(size=count)
    for index in range(1, count):
        values[index] = correlation * values[index - 1] + np.sqrt(1 - correlation**2) * values[index]
    return values


def make_stretches(
    seed: int,
    count: int = 60,
    *,
    tick_ns: float = 1_500.0,
    correlation: float = 0.3,
    rare_share: float = 0.05,
    length_s: float = 1.0,
) -> list[Stretch]:
    """Seconds with 250 ticks each, some noise, and now and then another task that takes milliseconds."""
    rng = np.random.default_rng(seed)
    tick_medians_ns = tick_ns * (1 + 0.02 * dependent(rng, count, correlation))
    noise_n = rng.poisson(np.maximum(300 * (1 + 0.1 * dependent(rng, count, correlation)), 1))
    tasks_n = rng.poisson(rare_share, count)
    tasks_ns = tasks_n * rng.lognormal(np.log(2e6), 0.7, count)
    worst_ns = np.maximum(tasks_ns, rng.lognormal(np.log(8_000), 0.2, count))
    return [
        Stretch(
            length_s=length_s,
            interruptions=250 + int(noise) + int(tasks),
            overhead_ns=250 * float(median_ns) + 400 * float(noise) + float(task_ns),
            median_ns=400.0,
            worst_ns=float(worst),
            tick=Cost(n=250, overhead_ns=250 * float(median_ns), median_ns=float(median_ns)),
            tick_bins=(_NO_GAPS, _NO_GAPS),
            tick_gaps_cycles=np.rint(2 * median_ns * rng.lognormal(0, 0.1, 250)).astype(np.int64),
            tsc_hz=2e9,
            step_ns=1.0,
            sources={
                "kernel tick": Cost(n=250, overhead_ns=250 * float(median_ns), median_ns=None),
                "unexplained": Cost(n=int(noise), overhead_ns=400 * float(noise), median_ns=None),
                "preemption": Cost(n=int(tasks), overhead_ns=float(task_ns), median_ns=None),
            },
            trains_hz={},
        )
        for median_ns, noise, tasks, task_ns, worst in zip(
            tick_medians_ns, noise_n, tasks_n, tasks_ns, worst_ns, strict=True
        )
    ]
