"""Judges the gaps, and what is said of them, by the kernel's own trace of that CPU."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.readings import Analysis
from tickmon.units import count_text, cycles_to_ns, duration_text
from tickmon.validate.findings import Finding, Outcome, at_least, unjudged
from tickmon.windows import KernelEvent, Trace

_PART = "trace"

RIGHT_SHARE = 0.999
"""So many of what is said to hold a tick must, and of what does must be said to."""

NEEDS = "it needs root, or CAP_PERFMON with tracefs and the kernel's symbols readable"

_AT_WORK = (
    KernelEvent.TIMER_ENTRY,
    KernelEvent.VECTOR_ENTRY,
    KernelEvent.TICK,
    KernelEvent.TIMER,
    KernelEvent.IRQ_ENTRY,
    KernelEvent.SOFTIRQ_ENTRY,
    KernelEvent.SWITCH,
    KernelEvent.PAGE_FAULT,
    KernelEvent.NMI,
)
"""While one of these happens the sampler does not run."""

_EVENTS = "kernel events that lie in a gap"
_PRECISION = "said to hold a tick, does (precision)"
_RECALL = "holds a tick, said to (recall)"
_HANDLER = "a tick's gap holds its handler's time"


def judge_trace(analyses: Sequence[Analysis]) -> tuple[Finding, ...]:
    """The events of each window's trace against the gaps of the same window."""
    traces = [a.window.trace for a in analyses]
    known = [trace for trace in traces if trace is not None]
    if not analyses or len(known) < len(traces):
        said = (w.message for a in analyses for w in a.window.warnings if w.code == "not_traced")
        reason = next(said, f"not traced: {NEEDS}").removeprefix("not traced: ").rstrip(".")
        return (unjudged(_PART, "trace", "gaps and ticks", reason),)
    if any(a.window.lost for a in analyses):
        return (unjudged(_PART, "events", _EVENTS, "details of interruptions were lost"),)
    return (_events(analyses, known), *_ticks(analyses, known))


def _events(analyses: Sequence[Analysis], traces: Sequence[Trace]) -> Finding:
    total = inside = 0
    for analysis, trace in zip(analyses, traces, strict=True):
        at_work = trace.events[np.isin(trace.events["event"], _AT_WORK)]
        total += len(at_work)
        inside += int(np.count_nonzero(_place(analysis, trace, at_work["at_cycles"]) >= 0))
    if not total:
        return unjudged(_PART, "events", _EVENTS, "the kernel's trace holds no events")
    # One at each cut: an event may be put on the other side of it.
    least = total - max(2, total // 1000) - len(traces)
    lost = sum(trace.lost for trace in traces)
    reason = f"the kernel dropped {count_text(lost)} more" if lost else ""
    return at_least(
        _PART, "events", _EVENTS, inside, least, n=total, value_name="inside_share", reason=reason
    )


def _ticks(analyses: Sequence[Analysis], traces: Sequence[Trace]) -> tuple[Finding, ...]:
    lacking = None
    if any(KernelEvent.TICK not in trace.events_known for trace in traces):
        lacking = "which timer is the tick's cannot be seen: the kernel's symbols cannot be read"
    elif any(trace.lost for trace in traces):
        lacking = "the kernel dropped records of its trace, ticks maybe among them"
    elif any(a.check.seen is None or not a.check.hz for a in analyses):
        lacking = "no tick was told from the rest in some window"
    if lacking is not None:
        codes = (("precision", _PRECISION), ("recall", _RECALL), ("handler", _HANDLER))
        return tuple(unjudged(_PART, code, what, lacking) for code, what in codes)
    claimed = true = both = skipped = 0
    due = _skipped_ticks(analyses, traces)
    gaps_ns: list[NDArray[np.floating]] = []
    handlers_ns: list[NDArray[np.floating]] = []
    for analysis, trace in zip(analyses, traces, strict=True):
        said = analysis.ticks > 0
        places = _place(analysis, trace, _at(trace, KernelEvent.TICK))
        holds = np.zeros(len(said), bool)
        holds[places[places >= 0]] = True
        away = said & ~holds & _holding(analysis, due)
        skipped += int(np.count_nonzero(away))
        claimed += int(np.count_nonzero(said & ~away))
        true += int(np.count_nonzero(holds))
        both += int(np.count_nonzero(said & holds))
        gap_cycles, handler_cycles = _handlers(analysis, trace)
        ns_per_cycle = cycles_to_ns(1, analysis.tsc_hz)
        gaps_ns.append(gap_cycles * ns_per_cycle)
        handlers_ns.append(handler_cycles * ns_per_cycle)
    return (
        _share("precision", _PRECISION, both, claimed, skipped=skipped),
        _share("recall", _RECALL, both, true),
        _cost(np.concatenate(gaps_ns), np.concatenate(handlers_ns)),
    )


def _share(code: str, what: str, right: int, n: int, *, skipped: int = 0) -> Finding:
    if not n:
        return unjudged(_PART, code, what, "no tick came: the kernel may have stopped it")
    # Two are what a run's ends may cost.
    least = n - max(2, math.floor(n * (1 - RIGHT_SHARE)))
    reason = f"in {count_text(skipped)} more a tick was due that the kernel itself skipped" if skipped else ""
    return at_least(_PART, code, what, right, least, n=n, value_name="right_share", reason=reason)


def _skipped_ticks(analyses: Sequence[Analysis], traces: Sequence[Trace]) -> NDArray[np.float64]:
    """When a tick was due that the kernel itself left out, as absolute counter values, ascending.

    A kernel whose CPU was taken by its host for longer than a period goes on with the next tick that is due.
    """
    origins = [analysis.window.segment.origin_cycles for analysis in analyses]
    came = [_at(trace, KernelEvent.TICK) + origin for trace, origin in zip(traces, origins, strict=True)]
    ticks = np.concatenate(came)
    period = _period_cycles(analyses[0])
    missing = np.rint(np.diff(ticks) / period).astype(np.int64) - 1
    due = [ticks[i] + period * np.arange(1, missing[i] + 1) for i in np.flatnonzero(missing > 0)]
    return np.concatenate([*due, np.zeros(0)])


def _holding(analysis: Analysis, due: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The details that lie where one of ``due`` does: they are counted from ticks that may have been late."""
    details, late = analysis.window.details, _period_cycles(analysis) / 8
    starts = details["start_cycles"] + analysis.window.segment.origin_cycles
    low = np.searchsorted(due, starts - late)
    high = np.searchsorted(due, starts + details["gap_cycles"] + late)
    return np.asarray(high > low)


def _period_cycles(analysis: Analysis) -> float:
    return analysis.tsc_hz / (analysis.check.hz or math.nan)


def _cost(gaps_ns: NDArray[np.floating], handlers_ns: NDArray[np.floating]) -> Finding:
    """The tick's cost as user space sees it, beside what its handler alone takes."""
    n = len(gaps_ns)
    if not n:
        return unjudged(_PART, "handler", _HANDLER, "no tick's handler could be seen from entry to exit")
    holding = int(np.count_nonzero(gaps_ns >= handlers_ns))
    gap, handler = float(np.median(gaps_ns)), float(np.median(handlers_ns))
    return Finding(
        part=_PART,
        code="handler",
        what=_HANDLER,
        outcome=Outcome.PASS if n - holding <= max(2, n // 1000) else Outcome.FAIL,
        n=n,
        result=count_text(holding),
        value=gap - handler,
        value_name="beyond_handler_ns",
        bound=f"≥ {count_text(n - max(2, n // 1000))}",
        reason=(
            f"median of a tick {duration_text(gap)} as the program sees it, {duration_text(handler)} in the "
            "handler; what tracing costs is in both"
        ),
    )


def _handlers(analysis: Analysis, trace: Trace) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Gap and handler's time of each interruption that holds one tick and no other timer interrupt."""
    entries, exits = _at(trace, KernelEvent.TIMER_ENTRY), _at(trace, KernelEvent.TIMER_EXIT)
    after = np.searchsorted(exits, entries)
    whole = after < len(exits)
    entries, exits = entries[whole], exits[after[whole]]
    ticks = _at(trace, KernelEvent.TICK)
    ticking = np.searchsorted(ticks, exits) > np.searchsorted(ticks, entries)
    places = _place(analysis, trace, entries)
    held = np.bincount(places[places >= 0], minlength=len(analysis.ticks))
    alone = ticking & (places >= 0)
    alone[alone] = held[places[alone]] == 1
    gaps_cycles = analysis.window.details["gap_cycles"][places[alone]] + trace.uncertain_cycles
    return gaps_cycles, (exits - entries)[alone]


def _at(trace: Trace, event: KernelEvent) -> NDArray[np.int64]:
    return np.ascontiguousarray(trace.events["at_cycles"][trace.events["event"] == event])


def _place(analysis: Analysis, trace: Trace, at_cycles: NDArray[np.int64]) -> NDArray[np.int64]:
    """The detail in which each moment lies, -1 where none; as near as the clocks could be fitted."""
    details = analysis.window.details
    if not len(details):
        return np.full(len(at_cycles), -1)
    starts = np.ascontiguousarray(details["start_cycles"])
    unsure = trace.uncertain_cycles
    index = np.searchsorted(starts, at_cycles, side="right") - 1
    inside = (index >= 0) & (at_cycles <= starts[index] + details["gap_cycles"][index] + unsure)
    # A moment right before a gap belongs to it.
    following = np.minimum(index + 1, len(starts) - 1)
    soon = ~inside & (np.abs(starts[following] - at_cycles) <= unsure)
    return np.where(inside, index, np.where(soon, following, -1))
