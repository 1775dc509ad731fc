"""How far the counter can be trusted, and how fast it runs."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from tickmon.machine.cpuinfo import CpuInfo
from tickmon.machine.files import read_word
from tickmon.text import harmless
from tickmon.windows import ClockReading, ReadingWarning

_FOLDER = "sys/devices/system/clocksource/clocksource0"
_COUNTERS = {"tsc", "tsc-early", "kvm-clock", "xen", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
"""Clocksources that read the counter itself, some scaled by the hypervisor."""
_IN_STEP = {"tsc", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
"""Of these one reading serves all CPUs, so the kernel must hold their counters to be in step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockSource:
    """What the kernel itself takes the time from, and what that says of the counter."""

    name: str | None
    is_counter: bool
    """The kernel's clocks are this counter times the kernel's own figure, so they cannot check it."""
    synchronised: bool
    """The kernel vouches that counter reads on different CPUs can be compared."""
    warnings: tuple[ReadingWarning, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discipline:
    """How the kernel's clocks are steered from outside (adjtimex(2))."""

    synchronised: bool
    ppm: float
    """By how much they are made faster than the kernel's figure for its clocksource says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterRate:
    """How fast the counter runs."""

    hz: float
    error_ppm: float | None
    """None where nothing independent vouches for it."""
    source: str


def read_clock_source_name(root: Path = Path("/")) -> str | None:
    """What the kernel takes its time from just now."""
    name = read_word(root / _FOLDER / "current_clocksource")
    return None if name is None else harmless(name)


def read_clock_source(info: CpuInfo, root: Path = Path("/")) -> ClockSource:
    """Whether the kernel trusts the counter.

    A TSC that its watchdog found unstable disappears from ``available_clocksource`` (kernel/time/
    clocksource.c), so one that is listed is trusted even where another clocksource was chosen.
    """
    name = read_word(root / _FOLDER / "current_clocksource")
    available = set((read_word(root / _FOLDER / "available_clocksource") or "").split())
    warnings = []
    if name is None:
        text = "the kernel's clocksource cannot be read, so nothing vouches for the counter"
        warnings.append(ReadingWarning(code="counter_unvouched", message=text))
    elif name not in _COUNTERS and "tsc" not in available:
        text = (
            f"the kernel does not trust the counter (clocksource {harmless(name)}): the reading may be wrong"
        )
        warnings.append(ReadingWarning(code="counter_untrusted", message=text))
    missing = [flag for flag in ("constant_tsc", "nonstop_tsc") if flag not in info.flags]
    if "tsc" in info.flags and missing:
        text = f"the processor does not promise a steady TSC (no {' and no '.join(missing)})"
        warnings.append(ReadingWarning(code="counter_unsteady", message=text))
    return ClockSource(
        name=None if name is None else harmless(name),
        is_counter=name in _COUNTERS,
        synchronised=name in _IN_STEP or (name is not None and "tsc" in available),
        warnings=tuple(warnings),
    )


def counter_rate(
    readings: Sequence[ClockReading],
    source: ClockSource,
    discipline: Discipline | None,
    *,
    stated_hz: float | None = None,
    option_hz: float | None = None,
) -> CounterRate | None:
    """The counter's frequency by the best that is known of it; None when nothing is.

    ``option_hz`` is the user's word and final. ``readings`` show the kernel's figure where the clocksource
    is the counter: true or not, CLOCK_MONOTONIC_RAW repeats it. Its error is known only while the kernel's
    clock is held to an outside one, which then shows by how much it must be corrected. Another clocksource
    is an independent clock, and the error is the fit's. Without readings ``stated_hz`` remains, the
    hardware's own word.
    """
    if option_hz is not None:
        return CounterRate(hz=option_hz, error_ppm=None, source="option --tsc-hz")
    fit = fit_counter(readings)
    if fit is None:
        if stated_hz is None:
            return None
        return CounterRate(hz=stated_hz, error_ppm=None, source="stated by the hardware")
    hz, fit_ppm = fit
    if source.name is not None and not source.is_counter:
        return CounterRate(hz=hz, error_ppm=fit_ppm, source=f"measured against {source.name}")
    if discipline is not None and discipline.synchronised:
        error_ppm = abs(discipline.ppm) + fit_ppm
        return CounterRate(hz=hz, error_ppm=error_ppm, source="kernel, held against its synchronised clock")
    return CounterRate(hz=hz, error_ppm=None, source="kernel, unverified")


def fit_counter(readings: Sequence[ClockReading]) -> tuple[float, float] | None:
    """Cycles a second of CLOCK_MONOTONIC_RAW, and within how many ppm; None without a distance in time.

    From the two readings that know it best: both ends may be off by their ``uncertain_cycles``, and ns are
    whole, so the farther apart and the closer read, the better. Never rounded.
    """
    fits = []
    for early, late in combinations(readings, 2):
        cycles, ns = late.cycles - early.cycles, late.monotonic_raw_ns - early.monotonic_raw_ns
        if cycles > 0 and ns > 0:
            off = (early.uncertain_cycles + late.uncertain_cycles) / cycles + 1 / ns
            fits.append((off, cycles * 1e9 / ns))
    if not fits:
        return None
    off, hz = min(fits)
    return hz, off * 1e6


class _Timex(ctypes.Structure):
    """``struct timex`` of include/uapi/linux/timex.h on 64-bit machines."""

    _fields_ = (
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("constant", ctypes.c_long),
        ("precision", ctypes.c_long),
        ("tolerance", ctypes.c_long),
        ("time", ctypes.c_long * 2),
        ("tick", ctypes.c_long),
        ("rest", ctypes.c_long * 14),
    )


_STA_UNSYNC = 0x0040
_TIME_ERROR = 5


def read_discipline() -> Discipline | None:
    """How the kernel's clocks are steered now; None where that must not be asked. Changes nothing."""
    timex = _Timex(modes=0)
    state = ctypes.CDLL(None).adjtimex(ctypes.byref(timex))
    if state < 0:
        return None
    synchronised = state != _TIME_ERROR and not timex.status & _STA_UNSYNC
    return Discipline(synchronised=synchronised, ppm=steering_ppm(timex.freq, timex.tick))


def steering_ppm(freq: int, tick_us: int) -> float:
    """``freq`` counts 2^-16 ppm; ``tick_us`` is what a tick of USER_HZ is made to last (adjtimex(2))."""
    nominal_us = 1_000_000 / os.sysconf("SC_CLK_TCK")
    return freq / 65536 + (tick_us / nominal_us - 1) * 1e6
