"""Lines of text that a mail leaves as they are."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

WIDTH = 78
"""A mail shows so many columns without breaking them."""

_LABEL = 11
"""Columns that the word in front of a line takes."""


def labelled(label: str, *texts: str) -> Iterator[str]:
    """Each text broken into lines, with the label in front of the first."""
    for text in texts:
        for line in textwrap.wrap(text, WIDTH - _LABEL, break_on_hyphens=False):
            yield f"{label:<{_LABEL}}{line}"
            label = ""


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows of as many cells each: the first to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        numbers = (f"{cell:>{width}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        yield "  ".join([f"{row[0]:<{widths[0]}}", *numbers]).rstrip()
