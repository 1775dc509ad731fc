"""What this process may ask of the kernel: locked memory, real-time priority, perf events, the trace."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.files import read_text
from tickmon.machine.tracefs import mounted

_CAPABILITIES = {14: "ipc_lock", 21: "sys_admin", 23: "sys_nice", 34: "syslog", 38: "perfmon"}
"""include/uapi/linux/capability.h"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """What the kernel says of this process; None where it does not say."""

    capabilities: frozenset[str] | None
    """Of those that matter: ``ipc_lock``, ``sys_admin``, ``sys_nice``, ``syslog``, ``perfmon``."""
    filtered: bool | None
    """A seccomp filter may refuse system calls, as container engines have it."""
    memlock_bytes: float | None
    """How much memory it may lock; infinite when unlimited."""
    priority_max: float | None
    """The highest real-time priority without a capability for it; 0 for none."""
    tracefs: Path | None
    """Where trace points are described; None when nowhere that this process may look."""
    addresses: bool | None
    """Functions have their addresses in /proc/kallsyms."""


def read_rights(root: Path = Path("/")) -> Rights:
    """The rights as /proc shows them; nothing is tried out."""
    status = read_text(root / "proc/self/status") or ""
    effective = re.search(r"^CapEff:\s*([0-9a-f]+)\s*$", status, re.MULTILINE)
    seccomp = re.search(r"^Seccomp:\s*(\d)\s*$", status, re.MULTILINE)
    limits = read_text(root / "proc/self/limits") or ""
    return Rights(
        capabilities=None
        if effective is None
        else frozenset(name for bit, name in _CAPABILITIES.items() if int(effective[1], 16) >> bit & 1),
        filtered=None if seccomp is None else seccomp[1] != "0",
        memlock_bytes=_limit(limits, "Max locked memory"),
        priority_max=_limit(limits, "Max realtime priority"),
        tracefs=mounted(root),
        addresses=_addresses(root),
    )


def _limit(text: str, name: str) -> float | None:
    """The soft limit of that name in /proc/PID/limits."""
    match = re.search(rf"^{name}\s+(\d+|unlimited)\s", text, re.MULTILINE)
    if match is None:
        return None
    return float("inf") if match[1] == "unlimited" else float(match[1])


def _addresses(root: Path) -> bool | None:
    """A few lines suffice: all are zero, or few."""
    try:
        with open(root / "proc/kallsyms", "rb", buffering=0) as file:
            lines = file.read(4096).splitlines()[:-1]
    except OSError:
        return None
    return any(line.split(b" ")[0].strip(b"0") for line in lines) if lines else None
