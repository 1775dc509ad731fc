"""Lines of a recording back as the values that they were made from, as far as a line holds them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tickmon.analysis.histogram import bins_of
from tickmon.analysis.readings import (
    Analysis,
    BaselineVerdict,
    Check,
    Source,
    SwitchCounts,
    Tick,
    TraceCounts,
    Train,
)
from tickmon.analysis.spread import Said, Spread, gap_sum_cycles
from tickmon.analysis.total import Summary
from tickmon.loading.bins import counts_of, spread_counts
from tickmon.loading.members import BASES, HZ_LEAST, HZ_MOST, NAME_LIMIT, PARTS_MOST, Members
from tickmon.loading.window import window_of
from tickmon.loading.worst import all_worst
from tickmon.windows import Method, Segment, Window

_VERDICTS = ("ok", "missing", "extra", "stopped", "unknown")
_NO_INTS = np.zeros(0, np.int32)


def analysis_of(line: Members, segment: Segment, *, worst_above_cycles: int) -> Analysis:
    """A window as it was recorded, without its interruptions; BadMemberError when it contradicts itself.

    Its worst are left out when none took longer than ``worst_above_cycles``.
    """
    return _analysis(line, segment, number=line.whole("window"), worst_above_cycles=worst_above_cycles)


def summary_of(line: Members, segment: Segment) -> Summary:
    """A whole run, as it was recorded."""
    return Summary(
        analysis=_analysis(line, segment, number=line.whole("windows"), worst_above_cycles=-1),
        mean_cycles=line.number_or_none("mean_cycles"),
        p9999_cycles=line.whole_or_none("p9999_cycles"),
    )


def _analysis(line: Members, segment: Segment, *, number: int, worst_above_cycles: int) -> Analysis:
    window = window_of(line, segment, number)
    exact = line.word("percentiles", ("exact", "binned")) == "exact"
    loop = segment.method is Method.LOOP
    tick = line.part_or_none("tick")
    # What was only counted is made again from the window.
    measured = (p for p in line.parts("sources", PARTS_MOST) if p.text("basis", NAME_LIMIT) != "counter")
    sources = tuple(_source(part, window, exact) for part in measured)
    verdict = line.part_or_none("baseline_verdict") if loop else None
    return Analysis(
        window=window,
        tsc_hz=line.number("tsc_hz", least=HZ_LEAST, most=HZ_MOST),
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
        worst=all_worst(line, window, len(sources), worst_above_cycles),
        warnings=window.warnings,
        traced=_traced(line.part_or_none("trace")),
    )


def _traced(part: Members | None) -> TraceCounts | None:
    if part is None:
        return None
    return TraceCounts(events=part.whole("events"), outside=part.whole("outside"), lost=part.whole("lost"))


def _spread(part: Members, n: int, sum_cycles: int, exact: bool) -> Spread:
    """What is said of a tick's, a train's or a source's lengths."""
    median, p99 = part.whole_or_none("median_cycles"), part.whole_or_none("p99_cycles")
    most = part.whole_or_none("max_cycles")
    bins = part.part_or_none("bins")
    counts = None
    if bins is not None:
        counts = spread_counts(bins)
    if counts is None or int(counts.sum()) != n:
        # All that is known: where the middle lies, and how far it goes.
        middle = median or 0
        shares = {middle: n} if n < 2 or most is None else {middle: n - 1, most: 1}
        counts = counts_of(bins_of(np.array(list(shares))), np.array(list(shares.values()), np.int64))
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
        hz=part.number("hz", least=HZ_LEAST, most=HZ_MOST),
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
        hz=part.number("hz", least=HZ_LEAST, most=HZ_MOST),
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
    basis = part.word("basis", BASES)
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
