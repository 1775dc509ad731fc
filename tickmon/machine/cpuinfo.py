"""The first processor of /proc/cpuinfo."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.files import read_text
from tickmon.text import harmless


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


def _model(facts: dict[str, str]) -> str | None:
    for key in ("model name", "Hardware", "cpu model"):
        if facts.get(key):
            return harmless(facts[key])
    # arm64 has no name, only what the processor's identification register holds.
    implementer, part = facts.get("CPU implementer"), facts.get("CPU part")
    return harmless(f"arm64 implementer {implementer} part {part}") if implementer and part else None
