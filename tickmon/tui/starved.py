"""Why a sampler gives no reading though it runs: who holds its CPU."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from tickmon.machine.busy import SAMPLER_NAME, CpuUse

WONDER_S = 3.0
"""A first look comes within a moment, unless the CPU does not run the sampler."""


def starved_words(cpu: int, look: Callable[[Collection[int]], Mapping[int, CpuUse]]) -> str:
    """One line on a CPU that hardly runs its sampler; takes as long as ``look``."""
    use = look((cpu,))[cpu]
    others = replace(use, occupants=tuple(who for who in use.occupants if who.name != SAMPLER_NAME))
    holders = f": it {others.text}" if others.occupants else ": other tasks hold it"
    return f"the sampler hardly gets to run on CPU {cpu}{holders}"
