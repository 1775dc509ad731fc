"""What the doctor says: findings, how grave each is, and a verdict over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["bad", "warning", "unknown", "note", "ok"]
"""``bad`` hurts the measurement, ``warning`` could be better, ``unknown`` could not be told, ``note`` is
worth knowing and ``ok`` is as it should be."""

LEVELS: tuple[Level, ...] = ("bad", "warning", "unknown", "note", "ok")
"""The gravest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was looked at."""

    code: str
    level: Level
    what: str
    """What was seen."""
    where: tuple[str, ...]
    """The files or calls that told it."""
    why: str
    """Why it matters for the measurement."""
    change: str | None = None
    """The command or boot parameter that changes it, which is never run by tickmon; None: nothing to do."""
    doc: str | None = None
    """Where the kernel's documentation says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """All findings about one CPU, the gravest first."""

    cpu: int
    findings: tuple[Finding, ...]

    def count(self, level: Level) -> int:
        """How many are that grave."""
        return Counter(finding.level for finding in self.findings)[level]

    @property
    def verdict(self) -> str:
        """``CPU 3: 2 things hurt the measurement, 3 could be better, 4 unknown``."""
        bad, better, unknown = (self.count(level) for level in ("bad", "warning", "unknown"))
        parts = []
        if bad:
            parts.append(f"{bad} {'things hurt' if bad > 1 else 'thing hurts'} the measurement")
        if better:
            parts.append(f"{better} could be better")
        if not parts:
            parts.append("nothing hurts the measurement")
        if unknown:
            parts.append(f"{unknown} unknown")
        return f"CPU {self.cpu}: {', '.join(parts)}"

    @property
    def short(self) -> str:
        """The same in two words: ``2 warnings``; empty when there is nothing to mend."""
        count = self.count("bad") + self.count("warning")
        return f"{count} warning{'s' if count > 1 else ''}" if count else ""


def diagnosis(cpu: int, findings: Iterable[Finding]) -> Diagnosis:
    """The findings in order; those of one level stay as they came."""
    return Diagnosis(cpu=cpu, findings=tuple(sorted(findings, key=lambda f: LEVELS.index(f.level))))
