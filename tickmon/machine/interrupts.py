"""The rows of /proc/interrupts for one CPU, and how far they moved."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.files import read_text
from tickmon.text import harmless
from tickmon.windows import RowChange

_WRAP = 1 << 32
"""Counts are printed as ``unsigned int`` (kernel/irq/proc.c, ``show_interrupts()``)."""
_OF_NO_CPU = {"ERR", "MIS"}
"""Rows with one count for the whole machine, which on a machine of one CPU look like any other."""


@dataclass(frozen=True, slots=True)
class Row:
    """What one row says of one CPU."""

    name: str
    count: int
    timer: str | None = None
    """``LOC`` (x86), ``HVS`` (Hyper-V), ``timer0`` (Xen) or ``arch_timer`` (arm64) when it counts timer
    interrupts of that CPU."""


def read_rows(cpu: int, root: Path = Path("/")) -> dict[str, Row]:
    """Every row of ``cpu`` by its label (``24``, ``LOC``); empty when the file or the CPU is not there.

    On big machines this takes milliseconds and locks: once a window, and from a CPU that is not measured.
    """
    return parse_rows(read_text(root / "proc/interrupts") or "", cpu)


def parse_rows(text: str, cpu: int) -> dict[str, Row]:
    """The rows of ``cpu`` in the text of /proc/interrupts, whatever that text may be.

    The header says which CPUs have a column: only those online. A row with fewer counts is of no CPU.
    Whatever follows the counts is a name, digits, commas and all. A last line that was cut off is left out.
    """
    header, *lines = text[: text.rfind("\n") + 1].splitlines() or [""]
    columns = header.split()
    if f"CPU{cpu}" not in columns:
        return {}
    before = columns.index(f"CPU{cpu}")
    # One expression and no list of counts: there may be a thousand rows of a thousand.
    skipped, after = (rf"(?:\s++\d++){{{count}}}" for count in (before, len(columns) - before - 1))
    row = re.compile(r"\s*([^:]+):" + skipped + r"\s++(\d{1,10})" + after + r"(\s.*)?", re.ASCII)
    matches = (row.fullmatch(line) for line in lines)
    return {
        match[1].strip(): Row(
            _name(match[1], match[3] or ""), int(match[2]), _timer(match[1].strip(), match[3] or "", cpu)
        )
        for match in matches
        if match and match[1].strip().upper() not in _OF_NO_CPU
    }


def changes(before: Mapping[str, Row], after: Mapping[str, Row]) -> tuple[RowChange, ...]:
    """How far each row moved, in the order of ``after``, without those that did not.

    Only the platform's timer row stays: that nothing came is what a stopped tick looks like. Of several it is
    the one that has counted most, since the others are of timers that are not in use.
    A row that is new, or belongs to another device than before, started from 0. One that is gone is left
    out. A count that passed 2^32 went on from 0.
    """
    timers = [label for label, row in after.items() if row.timer]
    in_use = max(timers, key=lambda label: after[label].count, default=None)
    moved = []
    for label, row in after.items():
        old = before.get(label)
        since = old.count if old is not None and old.name == row.name else 0
        count = (row.count - since) % _WRAP
        if count >= _WRAP // 2:
            # Nothing interrupts two thousand million times in a window: the row was set back.
            count = row.count
        if count or label == in_use:
            moved.append(RowChange(row=label, name=row.name, count=count, timer=row.timer))
    return tuple(moved)


def _name(label: str, text: str) -> str:
    """The devices of a numbered row, which stand last, after chip and line; the whole of any other."""
    parts = re.split(r"\s{2,}", text.strip())
    has_devices = label.strip().isdigit() and len(parts) > 2 and not parts[-1].startswith("-")
    return harmless(parts[-1] if has_devices else text)


def _timer(label: str, text: str, cpu: int) -> str | None:
    """The word for a row of timer interrupts: on Xen and arm64 the row is a number, and the word its name."""
    words = text.replace("-", " ").split()
    if label in ("LOC", "HVS"):
        return label
    # Xen has a row for every CPU (arch/x86/xen/time.c, xen_setup_timer()).
    if "xen" in words and f"timer{cpu}" in words:
        return "timer0"
    return "arch_timer" if "arch_timer" in words else None
