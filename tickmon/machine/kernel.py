"""The kernel's tick: how often, when it is due on a CPU, and whether it may stop."""

from __future__ import annotations

import re
import time
from pathlib import Path

from tickmon.machine.cmdline import boot_value, read_cmdline
from tickmon.machine.cpus import Cpus
from tickmon.machine.files import read_text
from tickmon.machine.kernelconfig import config_value, read_config
from tickmon.units import NS_PER_S, tick_period_ns
from tickmon.windows import KernelTick, ReadingWarning

_CLOCK_MONOTONIC_COARSE = 6
"""include/uapi/linux/time.h; the module ``time`` has no name for it."""
_HZ_RANGE = range(20, 2001)
"""Kernels are built with 24 to 1,200; a sandbox that imitates one says 10^9."""


def coarse_ns() -> int | None:
    """The resolution of CLOCK_MONOTONIC_COARSE, which is TICK_NSEC: every user, every container may ask."""
    try:
        return round(time.clock_getres(_CLOCK_MONOTONIC_COARSE) * NS_PER_S)
    except OSError:
        return None


def kernel_tick(
    cpu: int,
    cpus: Cpus,
    *,
    period_ns: int | None,
    option_hz: float | None = None,
    root: Path = Path("/"),
) -> tuple[KernelTick | None, tuple[ReadingWarning, ...]]:
    """The tick of ``cpu`` by what the kernel says, and what of that is doubtful.

    ``period_ns`` is ``coarse_ns()``. ``option_hz`` is the user's word and final. None when HZ is not known.
    """
    config_hz = _config_hz(root)
    warnings: list[ReadingWarning] = []
    if period_ns is None or round(NS_PER_S / max(period_ns, 1)) not in _HZ_RANGE:
        period_ns = None
    if option_hz is not None:
        period_ns, source, basis = tick_period_ns(option_hz), "option --hz", "option"
    elif period_ns is not None:
        source, basis = "the kernel's coarse clock", "kernel"
        if config_hz is not None and tick_period_ns(config_hz) == period_ns:
            source += ", as its configuration says"
        elif config_hz is not None:
            source += f", though its configuration says {config_hz}"
            text = f"the kernel's coarse clock says HZ is {_hz(period_ns):g}, its configuration {config_hz}"
            warnings.append(ReadingWarning(code="hz_contradiction", message=text))
    elif config_hz is not None:
        period_ns, source, basis = tick_period_ns(config_hz), "the kernel's configuration", "kernel"
    else:
        return None, ()
    tick = KernelTick(
        hz=option_hz if option_hz is not None else _hz(period_ns),
        period_ns=period_ns,
        source=source,
        basis=basis,
        phases_ns=_phases_ns(cpu, len(cpus.possible), period_ns, root),
        may_stop=cpu in cpus.nohz_full,
    )
    return tick, tuple(warnings)


def _hz(period_ns: int) -> float:
    """The HZ that the kernel was built with: 300, where 10^9 / period is 300.00003."""
    whole = round(NS_PER_S / period_ns)
    return float(whole) if tick_period_ns(whole) == period_ns else NS_PER_S / period_ns


def _phases_ns(cpu: int, possible: int, period_ns: int, root: Path) -> tuple[int, ...]:
    """When after k * period of CLOCK_MONOTONIC the tick may be due, likeliest first.

    Since Linux 6.4 on the dot (kernel/time/tick-common.c, ``tick_setup_device()``). ``skew_tick=1`` shifts
    each CPU by half a period times its share of the CPUs (tick-sched.c, ``tick_setup_sched_timer()``), and
    some distributions have it built in. A time namespace's own CLOCK_MONOTONIC is ahead by an offset.
    """
    phases = [0, (period_ns >> 1) // max(possible, 1) * cpu]
    if is_skewed(root):
        phases.reverse()
    return tuple(dict.fromkeys((phase + namespace_ns(root)) % period_ns for phase in phases))


def is_skewed(root: Path = Path("/")) -> bool:
    """The kernel was told to have the ticks of its CPUs come one after another."""
    value = boot_value(read_cmdline(root) or (), "skew_tick")
    return value is not None and value.lstrip("-0") != ""


def namespace_ns(root: Path = Path("/")) -> int:
    """How far this time namespace's CLOCK_MONOTONIC, and so its CLOCK_MONOTONIC_RAW, is ahead of the kernel's
    own (time_namespaces(7))."""
    text = read_text(root / "proc/self/timens_offsets") or ""
    match = re.search(r"^monotonic\s+(-?\d+)\s+(-?\d+)\s*$", text, re.MULTILINE)
    return int(match[1]) * NS_PER_S + int(match[2]) if match else 0


def _config_hz(root: Path) -> int | None:
    """CONFIG_HZ of the running kernel, from wherever its configuration can be read."""
    config = read_config(root)
    value = "" if config is None else config_value(config, "HZ") or ""
    return int(value) if value.isdecimal() and int(value) in _HZ_RANGE else None
