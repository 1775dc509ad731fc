"""How a CPU's clock speed and idle states are managed, from files that ask no CPU.

Not read, since some drivers ask the CPU itself by an interrupt: ``scaling_cur_freq``, ``cpuinfo_cur_freq``
and ``energy_performance_preference`` (intel_pstate.c, ``rdmsrl_on_cpu()``); nor any MSR.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.cmdline import boot_value, read_cmdline
from tickmon.machine.files import folders_in, read_word
from tickmon.text import harmless


@dataclass(frozen=True, slots=True, kw_only=True)
class IdleState:
    """One idle state (Documentation/admin-guide/pm/cpuidle.rst)."""

    name: str
    exit_us: int | None
    """How long leaving it takes."""
    disabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What is set for one CPU."""

    scaling_driver: str | None
    """None where nothing manages the clock speed: in most guests."""
    governor: str | None
    has_preference: bool
    """There is an energy preference (EPP), which is not read."""
    idle_driver: str | None
    idle_states: tuple[IdleState, ...]
    idle_option: str | None
    """``idle=`` of the kernel's command line, such as ``poll``."""


def read_power(cpu: int, root: Path = Path("/")) -> Power:
    """What is set; nothing where there is nothing to be read."""
    top = root / "sys/devices/system/cpu"
    frequency = top / f"cpu{cpu}/cpufreq"
    states = []
    for folder in folders_in(top / f"cpu{cpu}/cpuidle"):
        exit_us = read_word(folder / "latency") or ""
        name = read_word(folder / "name")
        if name is not None:
            state = IdleState(
                name=harmless(name, 16),
                exit_us=int(exit_us) if exit_us.isdecimal() else None,
                disabled=read_word(folder / "disable") not in (None, "0"),
            )
            states.append(state)
    return Power(
        scaling_driver=_shown(frequency / "scaling_driver"),
        governor=_shown(frequency / "scaling_governor"),
        has_preference=(frequency / "energy_performance_preference").exists(),
        idle_driver=_shown(top / "cpuidle/current_driver"),
        idle_states=tuple(states),
        idle_option=boot_value(read_cmdline(root) or (), "idle"),
    )


def _shown(path: Path) -> str | None:
    word = read_word(path)
    return None if word is None else harmless(word, 32)
