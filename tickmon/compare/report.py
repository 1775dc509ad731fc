"""What changed between two readings, as text for a mail and as JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from pathlib import Path

import tickmon
from tickmon.analysis.alike import Setting
from tickmon.analysis.change import Change
from tickmon.analysis.compare import ERROR_RATE, Comparison
from tickmon.compare.load import Reading
from tickmon.compare.place import place_of
from tickmon.formats.members import iso_text
from tickmon.layout import labelled, table
from tickmon.text import harmless
from tickmon.units import (
    MANY_PERCENT,
    count_text,
    counted,
    duration_text,
    share_text,
    significant,
    times_text,
)

FORMAT = "tickmon-comparison"
VERSION = 1

SHORT_S = 10.0
"""What comes and goes more slowly is in no reading that is shorter."""

_NAME_LIMIT = 26
"""Characters of a source's name in the table."""

_LABELS = {
    "tick_median_ns": "a tick, median",
    "tick_p99_ns": "a tick, 99 %",
    "overhead_share": "overhead",
    "sample_median_ns": "a sample, median",
    "interruptions_per_s": "interruptions/s",
    "worst_ns": "worst",
    "source_per_s": "/s",
    "source_share": " of CPU",
    "train_median_ns": ", median",
}

_VERDICTS = {"better": "better", "worse": "worse", "same": "not told apart"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two readings and what they say of each other."""

    before: Reading
    after: Reading
    settings: tuple[Setting, ...]
    """In what they differ."""
    comparison: Comparison
    notes: tuple[str, ...]

    @property
    def comparable(self) -> bool:
        """They were taken in the same way."""
        return all(setting.alike for setting in self.settings)


def pair_text(pair: Pair) -> str:
    """The readings, what differs in their settings, the figures, and one sentence."""
    rows = [["", "before", "after", "change", ""]]
    rows += [_row(change, judged=pair.comparable) for change in pair.comparison.changes]
    paragraphs = (
        [*_conditions("before", pair.before), *_conditions("after", pair.after)],
        [
            *labelled("differs", *(_setting_text(setting) for setting in pair.settings)),
            *labelled("note", *pair.notes),
        ],
        list(_figures(rows)),
        [*_verdict_lines(sentence(pair)), *labelled("", *_footnotes(pair))],
    )
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in paragraphs if lines)


def sentence(pair: Pair) -> str:
    """Better, worse, or not to be told apart, and by what."""
    if not pair.comparable:
        ways = ", ".join(setting.name for setting in pair.settings if not setting.alike)
        return f"Not comparable: the readings were not taken alike ({ways}). Measure both in the same way."
    changes, verdict = pair.comparison.changes, pair.comparison.verdict
    better, worse = (
        ", ".join(f"{label(c)} {change_text(c)}" for c in changes if c.verdict == way)
        for way in ("better", "worse")
    )
    if verdict == "better":
        return f"Better: {better}." + (f" But worse: {worse}." if worse else "")
    if verdict == "worse":
        return f"Worse: {worse}." + (f" But better: {better}." if better else "")
    if verdict == "mixed":
        return f"Mixed. Better: {better}. Worse: {worse}."
    if verdict == "same":
        return "Not to be told apart: no figure differs by more than chance would make it."
    reasons = {change.reason for change in changes if change.reason}
    if "it drifts" in reasons:
        return "It cannot be told: the figures drift through the readings. Record longer ones."
    return "It cannot be told: too little was recorded. Record longer, or with --events."


def _verdict_lines(text: str) -> Iterator[str]:
    """No number stands apart from what belongs to it."""
    for line in labelled("verdict", text.replace(" %", "\u00a0%").replace(" ± ", "\u00a0±\u00a0")):
        yield line.replace("\u00a0", " ")


def json_text(pairs: Sequence[Pair], paths: tuple[Path, Path]) -> str:
    """One object; values that do not exist are null."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "tickmon_version": tickmon.__version__,
        "before": str(paths[0]),
        "after": str(paths[1]),
        "error_rate": ERROR_RATE,
        "comparisons": [_members(pair) for pair in pairs],
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _members(pair: Pair) -> dict[str, object]:
    comparison = pair.comparison
    changes = [asdict(change) for change in (*comparison.changes, *comparison.left_out)]
    if not pair.comparable:
        changes = [{**change, "verdict": None, "p": None} for change in changes]
    return {
        "before": _reading_members(pair.before),
        "after": _reading_members(pair.after),
        "differences": [asdict(setting) for setting in pair.settings],
        "comparable": pair.comparable,
        "notes": list(pair.notes),
        "changes": changes,
        "sources_left_out": _sources_left_out(comparison),
        "verdict": comparison.verdict if pair.comparable else None,
        "sentence": sentence(pair),
    }


def _sources_left_out(comparison: Comparison) -> int:
    return len({change.of for change in comparison.left_out})


def _reading_members(reading: Reading) -> dict[str, object]:
    return {
        **asdict(reading.taken),
        **place_of(reading.header),
        "started_at": iso_text(reading.started_at),
        "length_s": reading.length_s,
        "windows": len(reading.stretches),
    }


def _conditions(name: str, reading: Reading) -> Iterator[str]:
    windows = counted(len(reading.stretches), "window")
    yield from labelled(
        name,
        f"CPU {reading.taken.cpu} of {reading.header.host.name or 'an unknown host'}, "
        f"{reading.started_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC, "
        f"{significant(reading.length_s, 4)} s in {windows}",
    )


def _setting_text(setting: Setting) -> str:
    return f"{setting.name}: {setting.after}, was {setting.before}" + (
        "" if setting.alike else "; so they are not comparable"
    )


def _row(change: Change, *, judged: bool) -> list[str]:
    verdict = _VERDICTS.get(change.verdict) or f"? {change.reason}"
    return [
        label(change),
        _value_text(change, change.before),
        _value_text(change, change.after),
        change_text(change),
        verdict if judged else "",
    ]


def _figures(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table whose last column is words."""
    verdicts = [row[-1] for row in rows]
    lines = list(table([row[:-1] for row in rows]))
    width = max(map(len, lines))
    for line, verdict in zip(lines, verdicts, strict=True):
        yield f"{line:<{width}}  {verdict}".rstrip()


def label(change: Change) -> str:
    """What a figure is called."""
    if change.of is not None:
        return harmless(change.of, _NAME_LIMIT) + _LABELS[change.name]
    if change.name == "worst_ns" and change.block_s is not None:
        return f"worst of {duration_text(change.block_s * 1e9, digits=2)}"
    return _LABELS[change.name]


def change_text(change: Change) -> str:
    """``−22.1 % ± 1.8 %``, ``26 ± 13 times`` as much, ``new``, ``gone``; ``–``: nothing can be said."""
    if change.before is None or change.after is None or change.before == change.after == 0:
        return "–"
    if not change.before:
        return "new"
    if not change.after:
        return "gone"
    share = change.change_share or 0.0
    if share * 100 >= MANY_PERCENT:
        return times_text(share, change.uncertain_share)
    if change.uncertain_share is None:
        return f"{_signed(share * 100, 1)} %"
    uncertain = change.uncertain_share * 100
    # As many decimals as the uncertainty has two digits for.
    decimals = min(max(1 - math.floor(math.log10(max(uncertain, 1e-9))), 0), 2)
    return f"{_signed(share * 100, decimals)} % ± {uncertain:.{decimals}f} %"


def _signed(value: float, decimals: int) -> str:
    return f"{value:+.{decimals}f}".replace("-", "−")


def _value_text(change: Change, value: float | None) -> str:
    if value is None:
        return "–"
    if change.name.endswith("_ns"):
        return duration_text(value)
    if change.name.endswith("_share"):
        return share_text(value)
    return count_text(value) if value >= 999.5 else significant(value, 3)


def _footnotes(pair: Pair) -> Iterator[str]:
    others = _sources_left_out(pair.comparison)
    if others:
        yield f"{counted(others, 'source')} that cost less: not compared, but in --format json."
    tested = sum(change.p is not None for change in pair.comparison.changes)
    if pair.comparable and tested:
        yield (
            f"±: 95 % of one figure by itself. Over all {tested} figures together at most one comparison in "
            f"{1 / ERROR_RATE:.0f} calls better or worse what has not changed."
        )
    span_s = min(pair.comparison.span_s)
    if pair.comparable and span_s < SHORT_S:
        yield f"{significant(span_s, 2)} s say nothing of what comes and goes more slowly: record longer."
