"""The kernel's trace points as tracefs describes them: their numbers, and where in a record a field lies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tickmon.machine.files import read_text

PLACES = ("sys/kernel/tracing", "sys/kernel/debug/tracing")
"""Where tracefs is mounted, if it is."""

_FIELD = re.compile(r"field:(?P<what>[^;]+);\s*offset:(?P<at>\d+);\s*size:(?P<bytes>\d+);")
_SYMBOL = re.compile(r'\{ (\d+|0x[0-9a-f]+), "([^"]*)" \}')
_STRING = re.compile(r'^0x([0-9a-f]+) : "(.*)"$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a field lies in a record of a trace point."""

    at: int
    bytes: int
    far: bool = False
    """``__data_loc``: what lies there is the place and the length of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """One trace point."""

    id: int
    places: dict[str, Place]
    """By the field's name."""
    symbols: dict[int, str]
    """The words that its own text has for numbers: ``{ 1, "TIMER" }``."""


def mounted(root: Path = Path("/")) -> Path | None:
    """Where tracefs can be read already; None where it cannot."""
    return next((root / place for place in PLACES if (root / place / "events/sched").is_dir()), None)


def read_format(tracefs: Path, name: str) -> Format | None:
    """The trace point ``group/event``; None when it is missing or not understood."""
    text = read_text(tracefs / "events" / name / "format") or ""
    number = re.search(r"^ID: (\d+)$", text, re.MULTILINE)
    if number is None:
        return None
    fields, _, words = text.partition("print fmt:")
    places = {}
    for field in _FIELD.finditer(fields):
        # "char next_comm[16]", "__data_loc char[] name", "void * function"
        named = re.sub(r"\[[^]]*\]$", "", field["what"].strip())
        places[named.split()[-1].lstrip("*")] = Place(
            at=int(field["at"]), bytes=int(field["bytes"]), far=field["what"].startswith("__data_loc")
        )
    symbols = {int(value, 0): word for value, word in _SYMBOL.findall(words)}
    return Format(id=int(number[1]), places=places, symbols=symbols)


def read_strings(tracefs: Path) -> dict[int, str]:
    """The kernel's own constant texts by their address: some trace points tell no more than that."""
    text = read_text(tracefs / "printk_formats") or ""
    return {int(address, 16): string for address, string in _STRING.findall(text)}
