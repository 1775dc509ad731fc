"""Analyses of made-up windows, and a host, for what only shows or writes them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from tests.making import Life, make_segment, make_window, simulate
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, Summary, add
from tickmon.formats.lines import Header
from tickmon.machine.host import Host
from tickmon.windows import Exclusion, Method, Window

HEADER = Header(
    started_at=datetime(2026, 9, 21, 14, 13, 19, 987_654, tzinfo=UTC),
    host=Host(name="trade7", kernel="6.18.0-rt", cpu_model="Xeon 8480", virtualization=None, guest=False),
    clocksource="tsc",
)

LIFE = Life(host_hz=999.98)
"""Its kernel ticks 250 times a second, another clock about 1000 times."""


def read(windows: Iterable[Window]) -> list[Analysis]:
    """The analyses of windows of one segment, each knowing those before."""
    clocks, analyses = Clocks(), []
    for window in windows:
        analysis, clocks = analyse(window, clocks)
        analyses.append(analysis)
    return analyses


def read_one(window: Window) -> Analysis:
    """The analysis of a window without any before."""
    return read([window])[0]


def three_windows() -> list[Analysis]:
    """Three seconds of LIFE."""
    return read(simulate(LIFE, ends_ns=(1e9, 2e9, 3e9)))


def loop_window() -> Analysis:
    """Samples of the loop method: 6,800 cycles but for four."""
    samples = [6_800, 6_803, 6_800, 14_809, 6_811, 6_800, 7_999]
    details = [(7_000 * i, cycles) for i, cycles in enumerate(samples)]
    segment = make_segment(method=Method.LOOP)
    return read_one(make_window(details, segment=segment, end_cycles=49_000))


def lossy_window() -> Analysis:
    """Three interruptions, and two more whose details are lost."""
    details = [(1_000, 9_000), (50_000, 8_000), (90_000, 700_000)]
    return read_one(make_window(details, lost_cycles=(5_000, 6_000_000_000)))


def quiet_window() -> Analysis:
    """A second without any interruption."""
    return read_one(make_window())


def unwatched_window() -> Analysis:
    """A second that is left out whole, the kernel having given up its counter."""
    away = Exclusion(code="untrusted", start_cycles=0, cycles=round(make_segment().tsc_hz))
    return read_one(replace(make_window(excluded=(away,), reads=0), min_cycles=None, max_cycles=None))


def sum_up(analyses: Iterable[Analysis]) -> Summary:
    """The summary of a run."""
    total = NO_TOTAL
    for analysis in analyses:
        total = add(total, analysis)
    return total.summary()
