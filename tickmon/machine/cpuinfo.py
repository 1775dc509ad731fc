"""The first processor of /proc/cpuinfo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.files import read_text
from tickmon.text import harmless

_FEATURES = {"0004": "tsc", "0068": "constant_tsc", "0078": "nonstop_tsc", "009F": "hypervisor"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuInfo:
    """What the kernel says of the processor."""

    model: str | None
    flags: frozenset[str]
    """Empty when it lists none; other architectures than x86 have other words."""


def read_cpuinfo(root: Path = Path("/")) -> CpuInfo:
    """To be read once and before anything is sampled: older kernels interrupt every CPU for it.

    (fs/proc/cpuinfo.c, ``cpuinfo_open()``, with ``arch_freq_prepare_all()`` of x86.)
    """
    facts: dict[str, str] = {}
    for line in (read_text(root / "proc/cpuinfo") or "").splitlines():
        key, colon, value = line.partition(":")
        if colon:
            facts.setdefault(key.strip(), value.strip())
    return CpuInfo(model=_model(facts), flags=frozenset(facts.get("flags", "").split()))


def read_modalias(root: Path = Path("/")) -> CpuInfo:
    """What of this can be read at any time, since it asks no CPU: the features that matter here, no model.

    drivers/base/cpu.c, ``print_cpu_modalias()``: on x86 a list of the numbers of arch/x86/include/asm/
    cpufeatures.h, the same in every kernel for the features that hardware reports.
    """
    text = read_text(root / "sys/devices/system/cpu/modalias") or ""
    head, _, numbers = text.strip().partition("feature:")
    if not head.startswith("cpu:type:x86"):
        return CpuInfo(model=None, flags=frozenset())
    present = set(numbers.split(","))
    return CpuInfo(model=None, flags=frozenset(name for mark, name in _FEATURES.items() if mark in present))


def runs_x86(root: Path = Path("/")) -> bool | None:
    """Whether the CPUs are x86; None when that cannot be told at any time."""
    text = read_text(root / "sys/devices/system/cpu/modalias")
    return text.startswith("cpu:type:x86") if text else None


def _model(facts: dict[str, str]) -> str | None:
    for key in ("model name", "Hardware", "cpu model"):
        if facts.get(key):
            return harmless(facts[key])
    # arm64 has no name, only what the processor's identification register holds.
    implementer, part = facts.get("CPU implementer"), facts.get("CPU part")
    return harmless(f"arm64 implementer {implementer} part {part}") if implementer and part else None
