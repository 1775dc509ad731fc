"""CPU lists in the kernel's own grammar: ``0-4``, ``0-1,8``, ``0-31:2/4``, ``all``, ``N``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from tickmon.errors import UsageError
from tickmon.machine.files import read_text
from tickmon.text import harmless

HIGHEST_CPU = 65_535
"""Eight times what the largest kernel can hold (NR_CPUS 8,192), so that no list can fill the memory."""

_REGION = re.compile(
    r"(?:(?P<all>(?i:all))|(?P<first>N|[0-9]+)-(?P<last>N|[0-9]+))(?P<stride>:.*)?|(?P<only>N|[0-9]+)"
)
_STRIDE = re.compile(r":(N|[0-9]+)/(N|[0-9]+)")


def parse_cpu_list(text: str, *, highest: int = HIGHEST_CPU) -> tuple[int, ...]:
    """The CPUs that ``text`` names, in the order written, each once; UsageError when it is malformed.

    The grammar is that of ``bitmap_parselist()`` in the kernel's lib/bitmap-str.c: regions set apart by
    commas or white space; a region is a number, a range, or a range with ``:USED/GROUP``, which takes the
    first USED of every GROUP numbers. ``N`` is the ``highest`` number, ``all`` is ``0-N``. Nothing, and the
    ``(null)`` that kernels print for a mask that was never made, are the empty list.
    """
    if text.strip() == "(null)":
        return ()
    # A dict keeps the order and holds each once.
    cpus: dict[int, None] = {}
    for region in re.split(r"[,\s]+", text):
        if region:
            cpus.update(dict.fromkeys(_parse_region(region, text, highest)))
    return tuple(cpus)


def cpu_list_text(cpus: Iterable[int]) -> str:
    """``cpus`` in the kernel's short form: ``0-1,4-5,8``; empty for none."""
    ranges: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if ranges and cpu == ranges[-1][-1] + 1:
            ranges[-1][1:] = [cpu]
        else:
            ranges.append([cpu])
    return ",".join("-".join(str(end) for end in ends) for ends in ranges)


def read_cpu_list(path: Path) -> frozenset[int] | None:
    """The CPUs that a file of the kernel lists; None when it cannot be read or holds no list."""
    text = read_text(path)
    try:
        return None if text is None else frozenset(parse_cpu_list(text))
    except UsageError:
        return None


def _parse_region(region: str, text: str, highest: int) -> Iterable[int]:
    match = _REGION.fullmatch(region)
    if not match:
        raise _malformed(text, f"{harmless(region, 24)!r} is no number and no range")
    first = 0 if match["all"] else _number(match["only"] or match["first"], highest)
    last = highest if match["all"] else _number(match["only"] or match["last"], highest)
    if first > last:
        raise _malformed(text, f"{harmless(region, 24)!r} runs backwards")
    if last > highest:
        raise UsageError(f"{harmless(text)!r} names CPUs beyond {highest}, the highest number there is")
    if not match["stride"]:
        return range(first, last + 1)
    sizes = _STRIDE.fullmatch(match["stride"])
    used, group = (_number(size, highest) for size in sizes.groups()) if sizes else (0, 0)
    if not 0 < group >= used:
        raise _malformed(text, f"{harmless(match['stride'], 24)!r} must be :USED/GROUP, USED at most GROUP")
    return (cpu for cpu in range(first, last + 1) if (cpu - first) % group < used)


def _number(digits: str, highest: int) -> int:
    if digits == "N":
        return highest
    # Python refuses to convert more than 4,300 digits; far fewer are already beyond every limit.
    return int(digits[-20:]) if not digits[:-20].strip("0") else 10**20


def _malformed(text: str, why: str) -> UsageError:
    return UsageError(f"{harmless(text)!r} is no CPU list: {why}; write it like 1 or 2,4-6")
