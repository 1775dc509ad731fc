"""Lines of a recording back as the values that they were made from, as far as a line holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.histogram import BINS, bins_of
from tickmon.analysis.readings import (
    Analysis,
    BaselineVerdict,
    Check,
    Source,
    SwitchCounts,
    Tick,
    TraceCounts,
    Train,
    Worst,
)
from tickmon.analysis.spread import Said, Spread, gap_sum_cycles
from tickmon.analysis.total import Summary
from tickmon.formats.lines import CLOCKS, Header
from tickmon.loading.members import MOST, BadMemberError, Members
from tickmon.machine.host import Host
from tickmon.units import tick_period_ns
from tickmon.windows import (
    INTERRUPTION,
    SWITCH,
    ClockReading,
    Counters,
    Exclusion,
    KernelTick,
    Method,
    ReadingWarning,
    RowChange,
    Segment,
    SoftirqCount,
    Window,
)

NAME_LIMIT = 200
"""Characters of a name that are kept."""

CPU_MOST = 1 << 20
_PRIORITY_MOST = 99
PARTS_MOST = 1000
"""So many sources, trains or rows a window may have."""

_HZ_LEAST, _HZ_MOST = 1e-3, 1e12
_BASES = ("kernel", "option", "measured")
_VERDICTS = ("ok", "missing", "extra", "stopped", "unknown")
_NO_INTS = np.zeros(0, np.int32)


def header_of(line: Members) -> Header:
    """Where and when."""
    host = line.part("host")
    virtualization = host.text_or_none("virtualization", NAME_LIMIT)
    return Header(
        started_at=line.when("started_at"),
        host=Host(
            name=host.text_or_none("name", NAME_LIMIT),
            kernel=host.text_or_none("kernel", NAME_LIMIT),
            cpu_model=host.text_or_none("cpu_model", NAME_LIMIT),
            virtualization=virtualization,
            guest=virtualization is not None,
        ),
        clocksource=line.text_or_none("clocksource", NAME_LIMIT),
        tickmon_version=line.text("tickmon_version", NAME_LIMIT),
    )


def segment_of(line: Members) -> Segment:
    """What windows have in common."""
    return Segment(
        segment=line.whole("segment"),
        cpu=line.whole("cpu", most=CPU_MOST),
        method=Method(line.word("method", tuple(Method))),
        origin_cycles=line.counter("origin_cycles"),
        tsc_hz=line.number("tsc_hz", least=_HZ_LEAST, most=_HZ_MOST),
        tsc_hz_error_ppm=line.number_or_none("tsc_hz_error_ppm"),
        tsc_hz_source=line.text("tsc_hz_source"),
        counter_synchronised=line.truth_or_none("counter_synchronised") or False,
        kernel_tick=_kernel_tick(line),
        guest=line.truth_or_none("guest") or False,
        threshold_cycles=line.whole_or_none("threshold_cycles"),
        step_cycles=line.whole_or_none("step_cycles") or 0,
        window_s=line.number("window_s", least=0),
        loop_size=line.whole_or_none("loop_size"),
        priority=line.whole_or_none("priority", most=_PRIORITY_MOST),
        reason=line.text("reason", NAME_LIMIT),
    )


def analysis_of(line: Members, segment: Segment) -> Analysis:
    """A window as it was recorded, without its interruptions; BadMemberError when it contradicts itself."""
    return _analysis(line, segment, number=line.whole("window"))


def summary_of(line: Members, segment: Segment) -> Summary:
    """A whole run, as it was recorded."""
    return Summary(
        analysis=_analysis(line, segment, number=line.whole("windows")),
        mean_cycles=line.number_or_none("mean_cycles"),
        p9999_cycles=line.whole_or_none("p9999_cycles"),
    )


def _kernel_tick(line: Members) -> KernelTick | None:
    hz = line.number_or_none("kernel_hz", least=_HZ_LEAST, most=_HZ_MOST)
    if hz is None:
        return None
    more = line.part_or_none("kernel_tick") or Members({})
    return KernelTick(
        hz=hz,
        period_ns=more.whole_or_none("period_ns", least=1) or tick_period_ns(hz),
        source=line.text_or_none("kernel_hz_source") or "recorded",
        basis=more.word("basis", _BASES) if more.has("basis") else "kernel",
        phases_ns=tuple(more.whole_numbers("phases_ns").tolist()),
        may_stop=more.truth_or_none("may_stop") or False,
    )


def _analysis(line: Members, segment: Segment, *, number: int) -> Analysis:
    window = _window(line, segment, number)
    exact = line.word("percentiles", ("exact", "binned")) == "exact"
    loop = segment.method is Method.LOOP
    tick = line.part_or_none("tick")
    # What was only counted is made again from the window.
    measured = (p for p in line.parts("sources", PARTS_MOST) if p.text("basis", NAME_LIMIT) != "counter")
    sources = tuple(_source(part, window, exact) for part in measured)
    verdict = line.part_or_none("baseline_verdict") if loop else None
    return Analysis(
        window=window,
        tsc_hz=line.number("tsc_hz", least=_HZ_LEAST, most=_HZ_MOST),
        baseline_cycles=window.min_cycles,
        typical_cycles=line.number_or_none("typical_cycles"),
        mode_cycles=line.whole_or_none("mode_cycles"),
        baseline_verdict=None
        if verdict is None
        else BaselineVerdict(holds=verdict.truth_or_none("holds"), reason=verdict.text("reason")),
        overhead_cycles=line.whole("overhead_cycles", least=-(2**53)),
        overhead_share=line.number_or_none("overhead_share"),
        spread=Spread(
            n=window.interruptions,
            sum_cycles=window.gap_sum_cycles,
            min_cycles=line.whole_or_none("min_cycles"),
            max_cycles=window.max_cycles,
            counts=window.counts,
            pieces=None,
            said=Said(
                exact=exact,
                at_cycles={
                    0.5: line.whole_or_none("median_cycles"),
                    0.9: line.whole_or_none("p90_cycles"),
                    0.99: line.whole_or_none("p99_cycles"),
                    0.999: line.whole_or_none("p999_cycles"),
                },
            ),
        ),
        tick=None if tick is None else _tick(tick, window, exact),
        check=_check(line.part("check"), segment, tick),
        switches=SwitchCounts(dated=0, unplaced=0, undated=0),
        trains=tuple(_train(part, window, exact) for part in line.parts("trains", PARTS_MOST)),
        sources=sources,
        ticks=_NO_INTS,
        source_of=_NO_INTS,
        worst=_all_worst(line, window, len(sources)),
        warnings=window.warnings,
        traced=_traced(line.part_or_none("trace")),
    )


def _traced(part: Members | None) -> TraceCounts | None:
    if part is None:
        return None
    return TraceCounts(events=part.whole("events"), outside=part.whole("outside"), lost=part.whole("lost"))


def _window(line: Members, segment: Segment, number: int) -> Window:
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
    excluded_cycles = line.whole_or_none("excluded_cycles")
    window = Window(
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
        counts=_histogram(line.part("histogram"), interruptions),
        details=np.zeros(0, INTERRUPTION),
        switches=_switches(line.part_or_none("switches"), start_cycles),
        switch_count=None,
        interrupts=tuple(_row(part, line.part("check")) for part in line.parts("interrupts", PARTS_MOST)),
        counters=_counters(line.part_or_none("counters")),
        excluded=excluded,
        excluded_count=len(excluded) if excluded_count is None else excluded_count,
        warnings=tuple(
            ReadingWarning(code=part.text("code", NAME_LIMIT), message=part.text("message"))
            for part in line.parts("warnings", PARTS_MOST)
        ),
    )
    if excluded_cycles is None:
        return window
    return replace(window, unlisted_cycles=max(0, excluded_cycles - window.excluded_cycles))


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


def _histogram(part: Members, interruptions: int) -> NDArray[np.int64]:
    """Counts in the bins of tickmon.analysis.histogram; what the two open ones hold goes to their borders."""
    edges_cycles, given = part.whole_numbers("edges_cycles"), part.whole_numbers("counts")
    if not len(edges_cycles) or len(given) != len(edges_cycles) + 1:
        raise BadMemberError("says a histogram that has not one count more than edges")
    places = bins_of(edges_cycles)
    counts = _counts(np.concatenate([[max(int(places[0]) - 1, 0)], places]), given)
    if int(counts.sum()) != interruptions:
        raise BadMemberError("says a histogram that does not hold all interruptions")
    return counts


def _counts(places: NDArray[np.int64], given: NDArray[np.int64]) -> NDArray[np.int64]:
    counts = np.zeros(BINS, np.int64)
    np.add.at(counts, places, given)
    return counts


def _spread(part: Members, n: int, sum_cycles: int, exact: bool) -> Spread:
    """What is said of a tick's, a train's or a source's lengths."""
    median, p99, most = (part.whole_or_none(f"{name}_cycles") for name in ("median", "p99", "max"))
    bins = part.part_or_none("bins")
    counts = None
    if bins is not None:
        from_cycles, given = bins.whole_numbers("from_cycles"), bins.whole_numbers("counts")
        if len(from_cycles) != len(given):
            raise BadMemberError("says bins in lists of different lengths")
        counts = _counts(bins_of(from_cycles), given)
    if counts is None or int(counts.sum()) != n:
        # All that is known: where the middle lies, and how far it goes.
        middle = median or 0
        shares = {middle: n} if n < 2 or most is None else {middle: n - 1, most: 1}
        counts = _counts(bins_of(np.array(list(shares))), np.array(list(shares.values()), np.int64))
    return Spread(
        n=n,
        sum_cycles=sum_cycles,
        min_cycles=None,
        max_cycles=most,
        counts=counts,
        pieces=None,
        said=Said(exact=exact, at_cycles={0.5: median, 0.99: p99}),
    )


def _shared_cycles(part: Members, window: Window, n: int) -> int:
    """The sum of ``n`` lengths from the share of the time that they took."""
    share = part.number_or_none("overhead_share") or 0.0
    return gap_sum_cycles(round(share * window.watched_cycles), n, window.min_cycles)


def _tick(part: Members, window: Window, exact: bool) -> Tick:
    n = part.whole("n")
    return Tick(
        hz=part.number("hz", least=_HZ_LEAST, most=_HZ_MOST),
        phase_ns=part.number_or_none("phase_ns"),
        jitter_ns=part.number_or_none("jitter_ns"),
        basis=part.word("basis", ("phase", "trace")) if part.has("basis") else "phase",
        spread=_spread(part, n, _shared_cycles(part, window, n), exact),
        overhead_share=part.number_or_none("overhead_share"),
    )


def _train(part: Members, window: Window, exact: bool) -> Train:
    seen = part.whole("seen")
    bins = part.part_or_none("bins")
    n = seen if bins is None else int(bins.whole_numbers("counts").sum())
    return Train(
        hz=part.number("hz", least=_HZ_LEAST, most=_HZ_MOST),
        phase_ns=part.number_or_none("phase_ns"),
        jitter_ns=part.number_or_none("jitter_ns"),
        expected=part.whole("expected"),
        seen=seen,
        origin=part.word("origin", ("kernel", "host", "unknown")),
        spread=_spread(part, n, _shared_cycles(part, window, n), exact),
        overhead_share=part.number_or_none("overhead_share"),
    )


def _source(part: Members, window: Window, exact: bool) -> Source:
    n = part.whole("count")
    overhead_cycles = part.whole("overhead_cycles", least=-(2**53))
    return Source(
        name=part.text("name", NAME_LIMIT),
        kind=part.text("kind", NAME_LIMIT),
        basis=part.text("basis", NAME_LIMIT),
        parts=part.texts("parts", NAME_LIMIT),
        spread=_spread(part, n, gap_sum_cycles(overhead_cycles, n, window.min_cycles), exact),
        overhead_cycles=overhead_cycles,
    )


def _check(part: Members, segment: Segment, tick: Members | None) -> Check:
    basis = part.word("basis", _BASES)
    known_hz: Mapping[str, float | None] = {
        "measured": None if tick is None else tick.number_or_none("hz"),
    }
    own_hz = None if segment.kernel_tick is None else segment.kernel_tick.hz
    return Check(
        expected=part.whole_or_none("expected"),
        seen=part.whole_or_none("seen"),
        kernel=part.whole_or_none("kernel"),
        kernel_row=part.text_or_none("kernel_row", NAME_LIMIT),
        basis=basis,
        verdict=part.word("verdict", _VERDICTS),
        hz=known_hz.get(basis, own_hz),
    )


def _row(part: Members, check: Members) -> RowChange:
    row, name = part.text("row", NAME_LIMIT), part.text("name", NAME_LIMIT)
    timer = check.text_or_none("kernel_row", NAME_LIMIT)
    ours = timer is not None and (timer == row or timer in name)
    return RowChange(row=row, name=name, count=part.whole("count"), timer=timer if ours else None)


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


def _all_worst(line: Members, window: Window, sources: int) -> tuple[Worst, ...]:
    """There are a hundred in every window, so members that are as always are looked at only once."""
    return tuple(
        _plain_worst(values, sources) or _worst(Members(values, "worst[]"), window, sources)
        for values in line.values("worst", PARTS_MOST)
    )


def _plain_worst(values: Any, sources: int) -> Worst | None:
    """From just whole numbers within bounds, and a time in UTC; None when there is anything else."""
    try:
        start, gap, source = values["start_cycles"], values["gap_cycles"], values["source"]
        at = datetime.fromisoformat(values["at"])
    except (KeyError, TypeError, ValueError):
        return None
    if (
        type(start) is type(gap) is type(source) is int
        and -MOST <= start <= MOST
        and 0 <= gap <= MOST
        and 0 <= source < sources
        and at.tzinfo is UTC
        and values.get("causes") is None
    ):
        return Worst(start_cycles=start, gap_cycles=gap, source=source, at=at, causes=None)
    return None


def _worst(part: Members, window: Window, sources: int) -> Worst:
    source = part.whole_or_none("source", most=max(sources - 1, 0))
    if source is not None and not sources:
        raise BadMemberError("says the source of a worst interruption, but no sources")
    return Worst(
        start_cycles=part.whole_or_none("start_cycles", least=-(2**53)),
        gap_cycles=part.whole("gap_cycles"),
        source=source,
        at=part.when_or_none("at") or window.started_at,
        causes=part.text_or_none("causes"),
    )
