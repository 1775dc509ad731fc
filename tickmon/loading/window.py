"""What the sampler and the kernel's counters said of a window, from its line."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tickmon.formats.members import CLOCKS
from tickmon.loading.bins import histogram_counts
from tickmon.loading.members import CPU_MOST, NAME_LIMIT, PARTS_MOST, BadMemberError, Members
from tickmon.windows import (
    INTERRUPTION,
    SWITCH,
    ClockReading,
    Counters,
    Exclusion,
    ReadingWarning,
    RowChange,
    Segment,
    SoftirqCount,
    Window,
)

_NO_DETAILS = np.zeros(0, INTERRUPTION)


def window_of(line: Members, segment: Segment, number: int) -> Window:
    """Window ``number`` without its interruptions; BadMemberError when it contradicts itself."""
    start_cycles, end_cycles = line.whole("start_cycles"), line.whole("end_cycles")
    interruptions, lost = line.whole("interruptions"), line.whole("lost")
    if end_cycles < start_cycles or lost > interruptions:
        raise BadMemberError("contradicts itself (end before start, or more lost than there were)")
    if line.whole("cpu", most=CPU_MOST) != segment.cpu:
        raise BadMemberError("says another cpu than its segment does")
    reads = line.whole_or_none("reads")
    excluded = tuple(
        Exclusion(
            code=part.text("code", NAME_LIMIT),
            start_cycles=part.whole("start_cycles", least=-(2**53)),
            cycles=part.whole("cycles"),
        )
        for part in line.parts("excluded")
    )
    excluded_count = line.whole_or_none("excluded_count")
    excluded_cycles = line.whole_or_none("excluded_cycles") or 0
    listed_cycles = sum(e.cycles for e in excluded if e.code != "backwards")
    return Window(
        window=number,
        segment=segment,
        provisional=False,
        started_at=line.when("started_at"),
        start_cycles=start_cycles,
        end_cycles=end_cycles,
        clocks=_clocks(line.part_or_none("clocks"), segment),
        reads=interruptions if reads is None else reads,
        interruptions=interruptions,
        lost=lost,
        gap_sum_cycles=line.whole("gap_sum_cycles"),
        min_cycles=line.whole_or_none("baseline_cycles"),
        max_cycles=line.whole_or_none("max_cycles"),
        counts=histogram_counts(line.part("histogram"), interruptions),
        details=_NO_DETAILS,
        switches=_switches(line.part_or_none("switches"), start_cycles),
        switch_count=None,
        interrupts=tuple(_rows(line)),
        counters=_counters(line.part_or_none("counters")),
        excluded=excluded,
        excluded_count=len(excluded) if excluded_count is None else excluded_count,
        unlisted_cycles=max(0, excluded_cycles - listed_cycles),
        warnings=tuple(
            ReadingWarning(code=part.text("code", NAME_LIMIT), message=part.text("message"))
            for part in line.parts("warnings", PARTS_MOST)
        ),
    )


def _clocks(part: Members | None, segment: Segment) -> tuple[ClockReading, ...]:
    if part is None:
        return ()
    cycles = part.whole_numbers("cycles", least=-(2**53))
    columns = [part.whole_numbers("uncertain_cycles")]
    columns += [part.whole_numbers(name, least=-(2**53)) for name in CLOCKS]
    if any(len(column) != len(cycles) for column in columns):
        raise BadMemberError("says clocks in lists of different lengths")
    firsts = [part.counter(f"first_{name}") for name in CLOCKS]
    return tuple(
        ClockReading(
            cycles=segment.origin_cycles + at,
            uncertain_cycles=uncertain,
            **dict(
                zip(CLOCKS, (first + time for first, time in zip(firsts, times, strict=True)), strict=True)
            ),
        )
        for at, uncertain, *times in zip(cycles.tolist(), *(c.tolist() for c in columns), strict=True)
    )


def _switches(part: Members | None, start_cycles: int) -> NDArray[np.void] | None:
    if part is None:
        return None
    columns = {name: part.whole_numbers(name, least=-(2**53)) for name in ("out_cycles", "in_cycles")}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1:
        raise BadMemberError("says switches in lists of different lengths")
    switches = np.zeros(lengths.pop(), SWITCH)
    for name, column in columns.items():
        switches[name] = column + start_cycles
    return switches


def _rows(line: Members) -> Iterator[RowChange]:
    timer = line.part("check").text_or_none("kernel_row", NAME_LIMIT)
    for part in line.parts("interrupts", PARTS_MOST):
        row, name = part.text("row", NAME_LIMIT), part.text("name", NAME_LIMIT)
        ours = timer is not None and (timer == row or timer in name)
        yield RowChange(row=row, name=name, count=part.whole("count"), timer=timer if ours else None)


def _counters(part: Members | None) -> Counters | None:
    if part is None:
        return None
    softirqs = part.parts("softirqs", PARTS_MOST) if part.has("softirqs") else None
    return Counters(
        run_delay_ns=part.whole_or_none("run_delay_ns"),
        steal_ns=part.whole_or_none("steal_ns"),
        throttled_ns=part.whole_or_none("throttled_ns"),
        throttled_count=part.whole_or_none("throttled_count"),
        softirqs=None
        if softirqs is None
        else tuple(
            SoftirqCount(name=one.text("name", NAME_LIMIT), count=one.whole("count")) for one in softirqs
        ),
    )
