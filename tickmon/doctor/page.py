"""A diagnosis as lines of words, for a terminal and for the live screen alike."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Literal

from tickmon.doctor.findings import Diagnosis, Finding, Level

Style = Level | Literal["verdict", "label", "plain"]
Line = tuple[tuple[str, Style], ...]
"""Pieces of text, each in its style."""

_WORDS: dict[Level, str] = {
    "bad": "hurts",
    "warning": "better",
    "unknown": "unknown",
    "note": "note",
    "ok": "ok",
}
_LABEL = 9
_WIDTH_MAX = 110


def page(diagnosis: Diagnosis, width: int) -> Iterator[Line]:
    """The verdict, then each finding; what is as it should be takes a line or two, the rest says why."""
    width = max(40, min(width, _WIDTH_MAX))
    yield from (((line, "verdict"),) for line in textwrap.wrap(diagnosis.verdict, width))
    before: Level | None = None
    for finding in diagnosis.findings:
        if finding.level != "ok" or before != "ok":
            yield ()
        before = finding.level
        yield from _finding(finding, width)


def _finding(finding: Finding, width: int) -> Iterator[Line]:
    what = finding.what[:1].upper() + finding.what[1:]
    for number, line in enumerate(_wrapped(what, width)):
        word = _WORDS[finding.level] if number == 0 else ""
        yield (f"{word:<{_LABEL}}", finding.level), (line, "plain")
    if finding.level == "ok":
        return
    rest = (
        ("why", finding.why),
        ("change", finding.change),
        ("doc", finding.doc),
        ("read in", ", ".join(finding.where)),
    )
    for label, text in rest:
        for number, line in enumerate(_wrapped(text or "", width)):
            word = label if number == 0 else ""
            yield (f"{word:<{_LABEL}}", "label"), (line, "label" if label in ("doc", "read in") else "plain")


def _wrapped(text: str, width: int) -> list[str]:
    # Commands and paths stay whole, so that they can be copied.
    return textwrap.wrap(text, width - _LABEL, break_on_hyphens=False, break_long_words=False)
