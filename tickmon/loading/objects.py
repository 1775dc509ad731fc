"""A file that is one object of several lines, as --format json writes it, taken as one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tickmon.errors import TickmonError
from tickmon.loading.files import name_of

OBJECT_MAX_BYTES = 64 << 20
"""An object of --format json is held in memory as a whole, which takes some ten times its length."""


def with_object_as_line(
    path: Path, lines: Iterator[tuple[int, bytes, bool]]
) -> Iterator[tuple[int, bytes, bool]]:
    """``lines`` as from ``lines_of``; when the first only begins an object, all of them as that one.

    TickmonError when that is too long.
    """
    for number, line, whole in lines:
        if number == 1 and _is_part(line):
            yield number, _whole_object(path, line, lines), whole
        else:
            yield number, line, whole


def _is_part(line: bytes) -> bool:
    """Whether a first line may begin an object of several lines."""
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _whole_object(path: Path, first: bytes, lines: Iterator[tuple[int, bytes, bool]]) -> bytes:
    """All lines as one; they are an object of --format json, or none at all."""
    parts, size = [first], len(first)
    for _, line, _ in lines:
        parts.append(line)
        size += len(line) + 1
        if size > OBJECT_MAX_BYTES:
            raise TickmonError(
                f"cannot read {name_of(path)}: as one JSON object it is too large to be read; "
                "record as .jsonl what is longer"
            )
    return b"\n".join(parts)
