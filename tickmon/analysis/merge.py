"""Joins windows that touch into the one window that they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TypeVar

import numpy as np

from tickmon.windows import Counters, RowChange, SoftirqCount, Trace, Window

_T = TypeVar("_T")


def merge(windows: Sequence[Window]) -> Window:
    """The window from the start of the first of ``windows`` to the end of the last.

    They must be of one segment, in the order of time, and touch: ValueError when not, or when there are
    none. Number and time of day are the first window's; it is provisional when the
    last one is. What is not known of one of them is not known of the whole.
    """
    if not windows:
        raise ValueError("no windows to merge")
    if len(windows) == 1:
        return windows[0]
    for before, after in pairwise(windows):
        if before.segment != after.segment or before.end_cycles != after.start_cycles:
            raise ValueError(f"windows {before.window} and {after.window} do not touch")
    return joined(windows, [0] * len(windows))


def shifts_of(windows: Sequence[Window]) -> list[int]:
    """By how many cycles each must be moved to begin where the one before it then ends; the first by none."""
    starts_cycles = accumulate((w.length_cycles for w in windows), initial=windows[0].start_cycles)
    return [at - w.start_cycles for w, at in zip(windows, starts_cycles, strict=False)]


def joined(windows: Sequence[Window], shifts_cycles: Sequence[int]) -> Window:
    """At least one window, each moved by its shift, as one: ``merge`` for windows of any segment."""
    first, last = windows[0], windows[-1]
    switches = [w.switches for w in windows if w.switches is not None]
    traces = [w.trace for w in windows if w.trace is not None]
    switch_counts = [w.switch_count for w in windows if w.switch_count is not None]
    return Window(
        window=first.window,
        segment=first.segment,
        provisional=last.provisional,
        started_at=first.started_at,
        start_cycles=first.start_cycles,
        end_cycles=last.end_cycles + shifts_cycles[-1],
        # Two that touch share the reading between them.
        clocks=_once(reading for w in windows for reading in w.clocks),
        reads=sum(w.reads for w in windows),
        interruptions=sum(w.interruptions for w in windows),
        lost=sum(w.lost for w in windows),
        gap_sum_cycles=sum(w.gap_sum_cycles for w in windows),
        min_cycles=min((w.min_cycles for w in windows if w.min_cycles is not None), default=None),
        max_cycles=max((w.max_cycles for w in windows if w.max_cycles is not None), default=None),
        counts=np.sum([w.counts for w in windows], axis=0, dtype=np.int64),
        details=np.concatenate([w.details for w in windows if len(w.details)] or [first.details]),
        switches=np.concatenate(switches) if len(switches) == len(windows) else None,
        switch_count=sum(switch_counts) if len(switch_counts) == len(windows) else None,
        interrupts=_sum_rows(row for w in windows for row in w.interrupts),
        counters=sum_counters([w.counters for w in windows]),
        excluded=tuple(
            replace(e, start_cycles=e.start_cycles + shift_cycles)
            for w, shift_cycles in zip(windows, shifts_cycles, strict=True)
            for e in w.excluded
        ),
        excluded_count=sum(w.excluded_count for w in windows),
        unlisted_cycles=sum(w.unlisted_cycles for w in windows),
        switches_lost=sum(w.switches_lost for w in windows),
        trace=join_traces(traces) if len(traces) == len(windows) else None,
        warnings=_once(warning for w in windows for warning in w.warnings),
    )


def join_traces(traces: Sequence[Trace]) -> Trace:
    """One trace of all the events, at least one trace, in the order of time."""
    names = _once(name for trace in traces for name in trace.names)
    places = {name: place for place, name in enumerate(names)}
    events = np.concatenate([trace.events for trace in traces])
    # The last place is for -1, no name.
    events["name"] = np.concatenate(
        [np.array([*(places[n] for n in trace.names), -1])[trace.events["name"]] for trace in traces]
    )
    return Trace(
        events=events,
        names=names,
        lost=sum(trace.lost for trace in traces),
        events_known=frozenset.intersection(*(trace.events_known for trace in traces)),
        uncertain_cycles=max(trace.uncertain_cycles for trace in traces),
    )


def sum_counters(all_counters: Sequence[Counters | None]) -> Counters | None:
    """What was counted in all of them; None where one of them does not know."""
    counters = [one for one in all_counters if one is not None]
    if not counters or len(counters) < len(all_counters):
        return None
    softirqs: dict[str, int] | None = {}
    for one in counters:
        if one.softirqs is None or softirqs is None:
            softirqs = None
            continue
        for softirq in one.softirqs:
            softirqs[softirq.name] = softirqs.get(softirq.name, 0) + softirq.count
    return Counters(
        run_delay_ns=_sum([one.run_delay_ns for one in counters]),
        steal_ns=_sum([one.steal_ns for one in counters]),
        throttled_ns=_sum([one.throttled_ns for one in counters]),
        throttled_count=_sum([one.throttled_count for one in counters]),
        softirqs=None
        if softirqs is None
        else tuple(SoftirqCount(name=name, count=count) for name, count in softirqs.items()),
    )


def _sum(figures: Sequence[int | None]) -> int | None:
    known = [figure for figure in figures if figure is not None]
    return sum(known) if len(known) == len(figures) else None


def _sum_rows(changes: Iterable[RowChange]) -> tuple[RowChange, ...]:
    """One change a row, rows in the order of their first appearance."""
    counts: Counter[tuple[str, str]] = Counter()
    latest: dict[tuple[str, str], RowChange] = {}
    for change in changes:
        row = change.row, change.name
        counts[row] += change.count
        latest[row] = change
    return tuple(replace(change, count=counts[row]) for row, change in latest.items())


def _once(items: Iterable[_T]) -> tuple[_T, ...]:
    """Without repetition, in the order of their first appearance."""
    return tuple(dict.fromkeys(items))
