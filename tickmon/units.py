"""Cycles to nanoseconds, and numbers to and from the text that people read."""

from __future__ import annotations

import math
import re

from tickmon.errors import UsageError

NS_PER_S = 1_000_000_000

_SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smhd]?)\s*", re.ASCII)


def cycles_to_ns(cycles: float, tsc_hz: float) -> float:
    """``cycles`` of a counter of ``tsc_hz`` as nanoseconds."""
    return cycles * 1e9 / tsc_hz


def tick_period_ns(hz: float) -> int:
    """The kernel's TICK_NSEC for ``hz``: 10^9 / HZ to the nearest, halves up (include/vdso/jiffies.h)."""
    return math.floor(NS_PER_S / hz + 0.5)


def parse_duration_s(text: str) -> float:
    """Seconds from ``90``, ``90s``, ``1.5m``, ``2h`` or ``1d``; UsageError when it is none of these or 0."""
    match = _DURATION.fullmatch(text)
    seconds = float(match[1]) * _SECONDS[match[2]] if match else math.nan
    if not (0 < seconds < math.inf):
        raise UsageError(f"{text!r} is no duration: give seconds above 0, or a number with s, m, h or d")
    return seconds


def duration_text(ns: float | None, *, digits: int = 3) -> str:
    """``ns`` in the unit that fits, with ``digits`` significant digits: ``1.21 µs``; ``–`` for None."""
    if ns is None:
        return "–"
    magnitude = abs(ns)
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        # Rounding must not leave "1000 µs" where "1.00 ms" is meant.
        if magnitude >= size * (1 - 0.5 * 10**-digits):
            return f"{significant(ns / size, digits)} {unit}"
    return f"{significant(ns, digits)} ns"


def significant(value: float, digits: int) -> str:
    """``value`` with ``digits`` significant digits and no exponent: 0.123, 1.23, 12.3, 1230."""
    if value == 0:
        return "0"
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(value, decimals)
    # 9.996 rounds into the next decade, where one decimal less is due.
    if rounded and math.floor(math.log10(abs(rounded))) > math.floor(math.log10(abs(value))):
        decimals -= 1
    return f"{rounded:.{max(decimals, 0)}f}"


def share_text(share: float | None) -> str:
    """A share (0 to 1) as per cent with three significant digits: ``0.123 %``; ``–`` for None."""
    return "–" if share is None else f"{significant(share * 100, 3)} %"


def count_text(count: float | None) -> str:
    """A count with thousands set apart: ``14,500``; ``–`` for None."""
    return "–" if count is None else f"{count:,.0f}"


MANY_PERCENT = 999.5
"""From here on a growth is told as so many times as much."""


def times_text(change_share: float, uncertain_share: float | None) -> str:
    """A growth of at least ``MANY_PERCENT``: ``26 ± 13 times``, ``1,812 times`` as much."""
    # Rounded up: never more certain than it is.
    uncertain = "" if uncertain_share is None else f" ± {count_text(math.ceil(uncertain_share))}"
    return f"{count_text(1 + change_share)}{uncertain} times"


def size_text(size_bytes: int) -> str:
    """A file's size as people read it: ``812 B``, ``12.3 kB``, ``1.20 MB``."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size_bytes >= size:
            return f"{significant(size_bytes / size, 3)} {unit}"
    return f"{size_bytes} B"


def counted(count: float | None, one: str, many: str | None = None) -> str:
    """A count and what is counted: ``1 tick``, ``250 ticks``; ``many`` where it is not ``one`` and s."""
    return f"{count_text(count)} {one if count == 1 else many or f'{one}s'}"
