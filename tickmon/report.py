"""A reading as text that an engineer pastes into a mail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tickmon.analysis.aftermath import AFTERMATH, AFTERMATH_WORDS
from tickmon.analysis.kernel_causes import UNSEEN
from tickmon.analysis.readings import Analysis, BaselineVerdict, Check, Worst
from tickmon.analysis.spread import Spread
from tickmon.analysis.total import Summary
from tickmon.conditions import conditions
from tickmon.counted import counted_lines
from tickmon.formats.lines import Header
from tickmon.layout import labelled, table
from tickmon.units import count_text, counted, cycles_to_ns, duration_text, share_text, significant
from tickmon.windows import Method

WORST_SHOWN = 5

_VERDICTS = {
    "ok": "",
    "missing": "; the program ran undisturbed through the others",
    "extra": ", and something runs faster at the tick's own phase",
    "stopped": "; the kernel stops the tick on this CPU, as it may",
    "unknown": ", which proves nothing here",
}
"""What each verdict of the check means."""


def reading_text(header: Header, summary: Summary, *, windows: int) -> str:
    """What was measured in ``windows`` windows of one CPU, where, how, and what came out."""
    analysis = summary.analysis
    paragraphs = (
        conditions(header, analysis, windows),
        _findings(summary),
        _sources(analysis),
        _trains(analysis),
        _worst(analysis),
        labelled("counted", *counted_lines(analysis.window)),
        labelled("warning", *(warning.message for warning in analysis.warnings)),
    )
    return "\n".join("".join(f"{line}\n" for line in lines) for lines in map(list, paragraphs) if lines)


def comparison_text(summaries: Sequence[Summary]) -> str:
    """CPUs side by side, a row each."""
    rows = [["cpu", "overhead", "per second", "median", "99 %", "worst", "a tick", "check"]]
    for analysis in (summary.analysis for summary in summaries):
        tick_cycles = analysis.tick.spread.median_cycles if analysis.tick else None
        rows.append(
            [
                str(analysis.window.segment.cpu),
                share_text(analysis.overhead_share),
                *_costs(analysis.spread, analysis),
                _duration(tick_cycles, analysis),
                analysis.check.verdict,
            ]
        )
    return "".join(f"{line}\n" for line in table(rows))


def live_text(analysis: Analysis) -> str:
    """One window as one short line, to watch a run while it lasts."""
    window, check = analysis.window, analysis.check
    parts = [
        f"{window.started_at.astimezone(UTC):%H:%M:%S}  cpu {window.segment.cpu}",
        f"overhead {share_text(analysis.overhead_share):>8}",
        f"worst {_duration(analysis.spread.max_cycles, analysis):>8}",
    ]
    if analysis.tick:
        parts.append(f"tick {_duration(analysis.tick.spread.median_cycles, analysis):>8}")
    parts.append(f"ticks {count_text(check.seen)} of {count_text(check.expected)} {check.verdict}")
    return "   ".join(parts) + "\n"


def check_text(check: Check, kernel_hz: float | None) -> str:
    """The check of the ticks in words."""
    due = counted(check.expected, "tick was due", "ticks were due")
    if kernel_hz is not None:
        due += f" at {kernel_hz:g} Hz"
    if check.expected is None:
        text = (
            "unknown, since HZ is not known."
            if kernel_hz is None
            else f"unknown: HZ is {kernel_hz:g}, but nothing here says when a tick is due."
        )
    elif check.seen is None:
        text = f"unknown: {due}; how many came cannot be told."
    else:
        seen = counted(check.seen, "was seen", "were seen")
        text = f"{check.verdict}: {due}, {seen}{_VERDICTS[check.verdict]}."
    if check.basis == "option" and check.verdict == "extra":
        text += " So HZ is not what --hz says."
    if check.basis == "measured" and check.hz is not None:
        text += " HZ was measured on the ticks themselves, so this shows only that they come regularly."
    if check.kernel is not None:
        text += f" The kernel counted {counted(check.kernel, 'timer interrupt')} of every kind"
        text += f" ({check.kernel_row})." if check.kernel_row else "."
    return text


def _findings(summary: Summary) -> Iterator[str]:
    analysis = summary.analysis
    window = analysis.window
    length_s = window.watched_cycles / analysis.tsc_hz
    yield from labelled("baseline", _baseline_text(analysis))
    if analysis.baseline_verdict:
        yield from labelled("", _verdict_text(analysis.baseline_verdict))
    what = "sample" if window.segment.method is Method.LOOP else "interruption"
    yield from labelled(
        "overhead",
        f"{share_text(analysis.overhead_share)} of the CPU: "
        f"{_duration(analysis.overhead_cycles, analysis)} in {significant(length_s, 4)} s, "
        f"{counted(window.interruptions, what)}",
        _percentiles_text(summary),
    )
    if window.lost:
        yield from labelled("", f"{count_text(window.lost)} of them without detail; all sums hold them")
    if analysis.tick:
        tick = analysis.tick
        yield from labelled(
            "tick",
            f"{tick.hz:g} Hz, {_spread_text(tick.spread, analysis)}, "
            f"{share_text(tick.overhead_share)} of the CPU (n = {count_text(tick.spread.n)})",
        )
    hz = window.segment.kernel_tick.hz if window.segment.kernel_tick else None
    yield from labelled("check", check_text(analysis.check, hz))


def _baseline_text(analysis: Analysis) -> str:
    text = f"{_duration(analysis.baseline_cycles, analysis)} ({count_text(analysis.baseline_cycles)} cycles)"
    if analysis.typical_cycles is not None:
        text += f", typical {_duration(analysis.typical_cycles, analysis)}"
    if analysis.mode_cycles is not None:
        text += f", commonest {_duration(analysis.mode_cycles, analysis)}"
    return text


def _verdict_text(verdict: BaselineVerdict) -> str:
    holds = {True: "holds", False: "does not hold", None: "cannot be judged"}
    return f"This baseline {holds[verdict.holds]}. {verdict.reason}"


def _percentiles_text(summary: Summary) -> str:
    analysis, spread = summary.analysis, summary.analysis.spread
    ranks = (
        ("90 %", spread.percentile_cycles(0.9)),
        ("99 %", spread.p99_cycles),
        ("99.9 %", spread.percentile_cycles(0.999)),
        ("99.99 %", summary.p9999_cycles),
    )
    parts = [f"{name} {_duration(cycles, analysis)}" for name, cycles in ranks if cycles is not None]
    text = ", ".join(
        [
            f"median {_duration(spread.median_cycles, analysis)}",
            *parts,
            f"worst {_duration(spread.max_cycles, analysis)}",
        ]
    )
    return text if spread.exact else f"{text} (from bins)"


def _sources(analysis: Analysis) -> Iterator[str]:
    """What interrupted, each interruption counted once."""
    if not analysis.sources:
        return
    watched_cycles = analysis.window.watched_cycles
    rows = [["what interrupted", "count", "per second", "median", "99 %", "worst", "of CPU"]]
    rows += [
        [
            source.short_name,
            count_text(source.spread.n),
            *_costs(source.spread, analysis),
            share_text(source.overhead_cycles / watched_cycles if watched_cycles else None),
        ]
        for source in analysis.sources
    ]
    yield from table(rows)
    if any(source.basis == "trace" for source in analysis.sources):
        yield from labelled("", "named by the kernel's own trace, each interruption by its first cause")
    if any(source.name == AFTERMATH for source in analysis.sources):
        yield from labelled("", f"{AFTERMATH}: {AFTERMATH_WORDS}")
    if any(source.name == UNSEEN for source in analysis.sources):
        yield from labelled("", f"{UNSEEN}: no trace point ran in it, so the host or the hardware took it")


def _trains(analysis: Analysis) -> Iterator[str]:
    """What keeps time; the tick's interruptions may hold more than the tick."""
    if not analysis.trains:
        return
    names = {"kernel": "the kernel's tick", "host": "the host's tick"}
    rows = [["what keeps time", "Hz", "seen", "due", "median", "99 %", "worst", "jitter"]]
    rows += [
        [
            names.get(train.origin, "an unknown clock"),
            f"{train.hz:.7g}",
            count_text(train.seen),
            count_text(train.expected),
            *_costs(train.spread, analysis)[1:],
            duration_text(train.jitter_ns),
        ]
        for train in analysis.trains
    ]
    yield from table(rows)


def _worst(analysis: Analysis) -> Iterator[str]:
    yield from labelled(
        "worst",
        *(worst_text(worst, analysis, width=8) for worst in analysis.worst[:WORST_SHOWN]),
    )


def worst_text(worst: Worst, analysis: Analysis, *, width: int = 0) -> str:
    """How long one of the longest interruptions of ``analysis`` was, when, and what it was."""
    return (
        f"{_duration(worst.gap_cycles, analysis):>{width}} "
        + ("at" if worst.start_cycles is not None else "in the window from")
        + f" {clock_text(worst.at)}"
        + ("" if worst.source is None else f", {worst.causes or analysis.sources[worst.source].name}")
    )


def clock_text(at: datetime) -> str:
    """Time of day to the microsecond."""
    return f"{at.astimezone(UTC):%H:%M:%S.%f} UTC"


def _costs(spread: Spread, analysis: Analysis) -> list[str]:
    """Rate, median, 99th percentile and maximum."""
    length_s = analysis.window.watched_cycles / analysis.tsc_hz
    return [
        _rate_text(spread.n / length_s) if length_s else "–",
        _duration(spread.median_cycles, analysis),
        _duration(spread.p99_cycles, analysis),
        _duration(spread.max_cycles, analysis),
    ]


def _rate_text(rate: float) -> str:
    return count_text(rate) if rate >= 1000 else significant(rate, 3)


def _spread_text(spread: Spread, analysis: Analysis) -> str:
    _, median, p99, worst = _costs(spread, analysis)
    # A percentile that too few values vouch for is left out rather than explained.
    return (
        f"median {median}, " + (f"99 % {p99}, " if spread.p99_cycles is not None else "") + f"worst {worst}"
    )


def _duration(cycles: float | None, analysis: Analysis) -> str:
    return duration_text(None if cycles is None else cycles_to_ns(cycles, analysis.tsc_hz))
