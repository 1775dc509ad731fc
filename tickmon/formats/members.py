"""What windows and whole runs have in common in a line: an analysis as members, and those of its parts."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.counted import CountedSource, counted_sources
from tickmon.analysis.histogram import bin_edges_cycles, bins_of
from tickmon.analysis.readings import Analysis, Source, Tick, TraceCounts, Train, Worst
from tickmon.analysis.spread import Spread
from tickmon.windows import Counters, Method, ReadingWarning, Segment, Window

HISTOGRAM_END_S = 10.0
"""The last bin begins about here and is open: longer gaps are counted, not told apart."""

NUMBER_MOST = 2**53 - 1
"""Programs read JSON's numbers as doubles, which do not tell larger ones apart."""

CLOCKS = ("monotonic_ns", "monotonic_raw_ns", "realtime_ns")
"""What is read beside the counter."""

Line = dict[str, object]
"""One line before it is text: only what JSON knows, null for what does not exist, never NaN."""


def members_of(analysis: Analysis) -> Line:
    """All that a window and a summary have in common."""
    window, spread = analysis.window, analysis.spread
    loop = window.segment.method is Method.LOOP
    members: Line = {
        "segment": window.segment.segment,
        "cpu": window.segment.cpu,
        "started_at": iso_text(window.started_at),
        "start_cycles": window.start_cycles,
        "end_cycles": window.end_cycles,
        "tsc_hz": analysis.tsc_hz,
        "reads": None if loop else window.reads,
        "interruptions": window.interruptions,
        "lost": window.lost,
        "baseline_cycles": analysis.baseline_cycles,
        "typical_cycles": analysis.typical_cycles,
        "gap_sum_cycles": window.gap_sum_cycles,
        "overhead_cycles": analysis.overhead_cycles,
        "overhead_share": analysis.overhead_share,
        "min_cycles": spread.min_cycles,
        "median_cycles": spread.median_cycles,
        "p90_cycles": spread.percentile_cycles(0.9),
        "p99_cycles": spread.p99_cycles,
        "p999_cycles": spread.percentile_cycles(0.999),
        "max_cycles": spread.max_cycles,
        "percentiles": "exact" if spread.exact else "binned",
        "histogram": _histogram(window.segment, window.counts),
        "tick": _tick(analysis.tick) if analysis.tick else None,
        "check": {
            "expected": analysis.check.expected,
            "seen": analysis.check.seen,
            "kernel": analysis.check.kernel,
            "kernel_row": analysis.check.kernel_row,
            "basis": analysis.check.basis,
            "verdict": analysis.check.verdict,
        },
        "trains": None if loop else [_train(train) for train in analysis.trains],
        "sources": [
            *(_source(source) for source in analysis.sources),
            *(_counted(source) for source in counted_sources(window)),
        ],
        "interrupts": [
            {"row": r.row, "name": r.name, "count": r.count} for r in window.interrupts if r.count
        ],
        "counters": _counters(window.counters) if window.counters else None,
        "excluded": [
            {"code": e.code, "start_cycles": e.start_cycles, "cycles": e.cycles} for e in window.excluded
        ],
        "excluded_count": window.excluded_count,
        "excluded_cycles": window.excluded_cycles,
        "trace": _traced(analysis.traced) if analysis.traced else None,
        "worst": [_worst(worst) for worst in analysis.worst],
        "warnings": [_warning(warning) for warning in analysis.warnings],
    }
    if loop:
        verdict = analysis.baseline_verdict
        members["samples"] = window.interruptions
        members["loop_size"] = window.segment.loop_size
        members["mode_cycles"] = analysis.mode_cycles
        members["baseline_verdict"] = {"holds": verdict.holds, "reason": verdict.reason} if verdict else None
    return members


def iso_text(at: datetime) -> str:
    """ISO 8601 in UTC with microseconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def histogram_edges_cycles(segment: Segment) -> NDArray[np.int64]:
    """Where the bins between the two open ones begin, ascending: the same for a whole segment.

    From the bin that holds the threshold, below which nothing is an interruption, to about 10 s. A sample of
    the loop method takes some cycles for each iteration, on any CPU more than a quarter of one.
    """
    lowest = segment.threshold_cycles
    if lowest is None:
        lowest = (segment.loop_size or 0) // 4
    first, last = bins_of(np.array([lowest, round(HISTOGRAM_END_S * segment.tsc_hz)]))
    return bin_edges_cycles()[first : last + 1].astype(np.int64)


def clock_members(window: Window) -> Line | None:
    """All readings of the clocks: cycles from the segment's origin, times from those of the first reading."""
    if not window.clocks:
        return None
    origin = window.segment.origin_cycles
    columns: Line = {
        "cycles": [reading.cycles - origin for reading in window.clocks],
        "uncertain_cycles": [reading.uncertain_cycles for reading in window.clocks],
    }
    for name in CLOCKS:
        first = getattr(window.clocks[0], name)
        columns[f"first_{name}"] = str(first)
        # Only the time of day is ever set, to another year where the machine came up without it.
        since = (getattr(reading, name) - first for reading in window.clocks)
        columns[name] = [max(-NUMBER_MOST, min(time, NUMBER_MOST)) for time in since]
    return columns


def switch_members(window: Window) -> Line | None:
    """When the sampler was switched out and in, from the window's start; None where that is not known."""
    if window.switches is None:
        return None
    return {
        name: (window.switches[name] - window.start_cycles).tolist() for name in ("out_cycles", "in_cycles")
    }


def _histogram(segment: Segment, counts: NDArray[np.int64]) -> Line:
    edges_cycles = histogram_edges_cycles(segment)
    first, last = bins_of(edges_cycles[[0, -1]])
    inner = counts[first:last].tolist()
    return {
        "edges_cycles": edges_cycles.tolist(),
        "counts": [int(counts[:first].sum()), *inner, int(counts[last:].sum())],
    }


def _spread(spread: Spread) -> Line:
    bins = np.flatnonzero(spread.counts)
    return {
        "median_cycles": spread.median_cycles,
        "p99_cycles": spread.p99_cycles,
        "max_cycles": spread.max_cycles,
        # Only those of the histogram's bins that hold something: there are few.
        "bins": {
            "from_cycles": bin_edges_cycles()[bins].astype(np.int64).tolist(),
            "counts": spread.counts[bins].tolist(),
        },
    }


def _tick(tick: Tick) -> Line:
    return {
        "hz": tick.hz,
        "phase_ns": tick.phase_ns,
        "jitter_ns": tick.jitter_ns,
        "basis": tick.basis,
        "n": tick.spread.n,
        **_spread(tick.spread),
        "overhead_share": tick.overhead_share,
    }


def _train(train: Train) -> Line:
    return {
        "hz": train.hz,
        "phase_ns": train.phase_ns,
        "jitter_ns": train.jitter_ns,
        "expected": train.expected,
        "seen": train.seen,
        "origin": train.origin,
        **_spread(train.spread),
        "overhead_share": train.overhead_share,
    }


def _source(source: Source) -> Line:
    return {
        "name": source.name,
        "kind": source.kind,
        "basis": source.basis,
        "parts": list(source.parts),
        "count": source.spread.n,
        "overhead_cycles": source.overhead_cycles,
        **_spread(source.spread),
    }


def _counted(source: CountedSource) -> Line:
    """Behind the others, so that the indices of events stay right; nobody knows what it cost."""
    unknown = dict.fromkeys(("overhead_cycles", "median_cycles", "p99_cycles", "max_cycles", "bins"))
    return {
        "name": source.name,
        "kind": source.kind,
        "basis": "counter",
        "parts": [],
        "count": source.count,
        **unknown,
    }


def _counters(counters: Counters) -> Line:
    return {
        "run_delay_ns": counters.run_delay_ns,
        "steal_ns": counters.steal_ns,
        "throttled_ns": counters.throttled_ns,
        "throttled_count": counters.throttled_count,
        "softirqs": None
        if counters.softirqs is None
        else [{"name": softirq.name, "count": softirq.count} for softirq in counters.softirqs],
    }


def _traced(traced: TraceCounts) -> Line:
    return {"events": traced.events, "outside": traced.outside, "lost": traced.lost}


def _worst(worst: Worst) -> Line:
    return {
        "start_cycles": worst.start_cycles,
        "gap_cycles": worst.gap_cycles,
        "source": worst.source,
        # It was in that window, and no more is known.
        "at": None if worst.start_cycles is None else iso_text(worst.at),
        "causes": worst.causes,
    }


def _warning(warning: ReadingWarning) -> Line:
    return {"code": warning.code, "message": warning.message}
