"""JSON Lines: the members of the contract, nothing else, and nothing that JSON cannot hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import contract
from tests.making import make_segment, make_window
from tests.readings import (
    HEADER,
    loop_window,
    lossy_window,
    quiet_window,
    read_one,
    sum_up,
    three_windows,
)
from tickmon.analysis.readings import Analysis
from tickmon.formats import lines, members
from tickmon.windows import INTERRUPTION, Method, RowChange

GAPS = st.integers(min_value=401, max_value=60 * 10**9)
"""Cycles: from just above the threshold to half a minute."""


def parsed(line: members.Line, *, kind: str) -> dict[str, object]:
    """The line as another program reads it, without the member that says what it is."""
    text = lines.text_of(line)
    assert text.endswith("}\n")
    assert text.count("\n") == 1
    value = contract.read_line(text)
    assert value.pop("line") == kind
    return value


def counted(line: dict[str, object]) -> int:
    """All counts of a line's histogram together."""
    histogram = line["histogram"]
    assert isinstance(histogram, dict)
    assert len(histogram["counts"]) == len(histogram["edges_cycles"]) + 1
    return sum(histogram["counts"])


def test_header_has_the_members_of_the_contract() -> None:
    contract.check(parsed(lines.header_line(HEADER), kind="header"), contract.HEADER)


def test_unknown_facts_of_the_host_are_null() -> None:
    host = replace(HEADER.host, name=None, kernel=None, cpu_model=None)
    line = parsed(lines.header_line(replace(HEADER, host=host, clocksource=None)), kind="header")
    contract.check(line, contract.HEADER)
    assert line["clocksource"] is None


@pytest.mark.parametrize("method", list(Method))
def test_segment_has_the_members_of_the_contract(method: Method) -> None:
    segment = make_segment(method=method, origin_cycles=2**64 - 1, tsc_hz_error_ppm=1.5)
    line = parsed(lines.segment_line(segment), kind="segment")
    contract.check(line, contract.SEGMENT)
    assert line["origin_cycles"] == "18446744073709551615"


def test_segment_without_known_hz_says_null() -> None:
    line = parsed(lines.segment_line(make_segment(kernel_tick=None)), kind="segment")
    contract.check(line, contract.SEGMENT)
    assert line["kernel_hz"] is line["kernel_hz_source"] is None


@pytest.mark.parametrize("make", [quiet_window, lossy_window, lambda: three_windows()[2]])
def test_window_has_the_members_of_the_contract(make: object) -> None:
    assert callable(make)
    contract.check(parsed(lines.window_line(make()), kind="window"), contract.WINDOW)


def test_loop_window_has_its_own_members_and_no_reads() -> None:
    line = parsed(lines.window_line(loop_window()), kind="window")
    contract.check(line, contract.LOOP_WINDOW)
    assert line["samples"] == 7
    assert line["reads"] is line["typical_cycles"] is line["trains"] is None


def test_loop_window_carries_its_samples_in_order_when_asked() -> None:
    line = lines.window_line(loop_window(), events=True)
    assert line["sample_cycles"] == [6_800, 6_803, 6_800, 14_809, 6_811, 6_800, 7_999]
    assert "sample_cycles" not in lines.window_line(three_windows()[0], events=True)


def test_loop_window_with_too_many_samples_for_a_line_leaves_them_to_its_events() -> None:
    count = lines.SAMPLES_A_LINE + 1
    details = np.zeros(count, INTERRUPTION)
    details["start_cycles"], details["gap_cycles"] = np.arange(count) * 7_000, 6_800
    segment = make_segment(method=Method.LOOP)
    analysis = read_one(make_window(details, segment=segment, end_cycles=count * 7_000))
    assert "sample_cycles" not in lines.window_line(analysis, events=True)


def test_window_without_interruptions_has_null_where_there_is_nothing() -> None:
    line = parsed(lines.window_line(quiet_window()), kind="window")
    names = ("min_cycles", "median_cycles", "p90_cycles", "p99_cycles", "p999_cycles", "max_cycles", "tick")
    assert [line[name] for name in names] == [None] * len(names)
    assert line["overhead_share"] == 0


def test_percentiles_are_exact_until_details_are_lost() -> None:
    assert lines.window_line(three_windows()[0])["percentiles"] == "exact"
    assert lines.window_line(lossy_window())["percentiles"] == "binned"


def test_smallest_interruption_is_not_known_when_details_are_lost() -> None:
    assert lines.window_line(lossy_window())["min_cycles"] is None
    shortest = three_windows()[0].window.details["gap_cycles"].min()
    assert lines.window_line(three_windows()[0])["min_cycles"] == shortest


def test_worst_without_detail_has_a_length_and_null_for_when_it_was() -> None:
    line = parsed(lines.window_line(lossy_window()), kind="window")
    worst, sources = line["worst"], line["sources"]
    assert isinstance(worst, list)
    assert isinstance(sources, list)
    assert worst[0]["gap_cycles"] == line["max_cycles"] == 6_000_000_000
    assert worst[0]["start_cycles"] is worst[0]["at"] is None
    assert sources[worst[0]["source"]]["kind"] == "detail-lost"
    assert worst[1]["at"] is not None


def test_rows_of_interrupts_that_did_not_move_are_left_out() -> None:
    rows = (RowChange(row="LOC", name="Local timer", count=9), RowChange(row="TLB", name="TLB", count=0))
    line = lines.window_line(read_one(make_window(interrupts=rows)))
    assert line["interrupts"] == [{"row": "LOC", "name": "Local timer", "count": 9}]


def test_counts_of_all_sources_add_up_to_the_interruptions() -> None:
    line = parsed(lines.window_line(lossy_window()), kind="window")
    sources = line["sources"]
    assert isinstance(sources, list)
    assert sum(source["count"] for source in sources) == line["interruptions"] == 5


@settings(max_examples=25, deadline=None)
@given(gaps=st.lists(GAPS, max_size=40), lost=st.lists(GAPS, max_size=5))
def test_histogram_holds_every_interruption_once(gaps: list[int], lost: list[int]) -> None:
    details, at = [], 0
    for gap in gaps:
        details.append((at, gap))
        at += gap + 100
    end_cycles = at + sum(lost) + 1_000_000
    line = lines.window_line(read_one(make_window(details, lost_cycles=lost, end_cycles=end_cycles)))
    read = contract.read_line(lines.text_of(line))
    assert counted(read) == read["interruptions"] == len(gaps) + len(lost)


@settings(deadline=None)
@given(threshold=st.integers(1, 10**9), tsc_hz=st.floats(1e6, 6e9))
def test_histogram_begins_at_the_threshold_and_ends_at_about_ten_seconds(
    threshold: int, tsc_hz: float
) -> None:
    segment = make_segment(threshold_cycles=threshold, tsc_hz=tsc_hz)
    edges = members.histogram_edges_cycles(segment).tolist()
    assert edges == sorted(set(edges))
    if threshold <= 10 * tsc_hz:
        assert edges[0] <= threshold < edges[0] * 9 / 8 + 1
        assert edges[-1] <= 10 * tsc_hz + 1 < edges[-1] * 9 / 8 + 2


def test_histogram_has_the_same_edges_through_a_segment() -> None:
    edges = [lines.window_line(analysis)["histogram"]["edges_cycles"] for analysis in three_windows()]  # type: ignore[index]
    assert edges[0] == edges[1] == edges[2]


def test_bins_hold_their_lower_edge_and_not_their_upper() -> None:
    line = lines.window_line(read_one(make_window([(1_000, 1_024), (9_000, 1_151), (20_000, 1_152)])))
    histogram = line["histogram"]
    assert isinstance(histogram, dict)
    at = histogram["edges_cycles"].index(1_024)
    # One count more than edges: the first lies below the first edge.
    assert histogram["counts"][at + 1 : at + 3] == [2, 1]


def test_loop_samples_lie_in_the_histogram_whatever_the_clock_speed() -> None:
    line = lines.window_line(loop_window())
    histogram = line["histogram"]
    assert isinstance(histogram, dict)
    assert counted(line) == 7
    assert histogram["counts"][0] == histogram["counts"][-1] == 0


def test_sample_shorter_than_thought_possible_is_counted_below_the_first_edge() -> None:
    segment = make_segment(method=Method.LOOP)
    histogram = lines.window_line(read_one(make_window([(0, 100), (200, 6_800)], segment=segment)))[
        "histogram"
    ]
    assert isinstance(histogram, dict)
    assert histogram["counts"][0] == 1


def test_events_count_from_the_start_of_their_window() -> None:
    second = three_windows()[1]
    (line,) = [parsed(line, kind="events") for line in lines.event_lines(second)]
    contract.check(line, contract.EVENTS)
    starts = second.window.details["start_cycles"] - second.window.start_cycles
    assert line["start_cycles"] == starts.tolist()
    assert line["gap_cycles"] == second.window.details["gap_cycles"].tolist()
    assert line["window"] == 2


def test_events_say_for_each_interruption_its_ticks_and_its_source() -> None:
    analysis = three_windows()[0]
    (line,) = lines.event_lines(analysis)
    ticks, sources = line["ticks"], line["source"]
    assert isinstance(ticks, list)
    assert isinstance(sources, list)
    assert sum(ticks) == analysis.check.seen
    assert sources.count(0) == analysis.sources[0].spread.n


def test_no_line_holds_more_interruptions_than_the_contract_allows() -> None:
    count = 2 * lines.EVENTS_A_LINE + 1
    window = make_window([(1_000 * i, 500) for i in range(count)], end_cycles=1_000 * count)
    sizes = [len(line["gap_cycles"]) for line in lines.event_lines(read_one(window))]  # type: ignore[arg-type]
    assert sizes == [65_536, 65_536, 1]


def test_window_without_interruptions_has_no_events() -> None:
    assert list(lines.event_lines(quiet_window())) == []


def test_note_has_the_members_of_the_contract() -> None:
    line = lines.note_line(HEADER.started_at, "ended by SIGINT")
    contract.check(parsed(line, kind="note"), contract.NOTE)


@pytest.mark.parametrize(
    ("analyses", "members"),
    [(three_windows(), contract.SUMMARY), ([loop_window(), loop_window()], contract.LOOP_SUMMARY)],
)
def test_summary_has_a_window_s_members_and_two_more(
    analyses: list[Analysis], members: dict[str, object]
) -> None:
    line = parsed(lines.summary_line(sum_up(analyses), windows=len(analyses)), kind="summary")
    contract.check(line, members)


def test_summary_sums_the_windows_up() -> None:
    analyses = three_windows()
    line = parsed(lines.summary_line(sum_up(analyses), windows=3), kind="summary")
    assert line["windows"] == 3
    assert line["interruptions"] == counted(line) == sum(a.window.interruptions for a in analyses)
    assert (line["start_cycles"], line["end_cycles"]) == (0, analyses[-1].window.end_cycles)


def test_numbers_of_three_weeks_at_five_ghz_stay_exact() -> None:
    end = 20 * 86_400 * 5 * 10**9
    segment = make_segment(tsc_hz=5e9)
    line = lines.window_line(read_one(make_window(segment=segment, start_cycles=end - 10**9, end_cycles=end)))
    contract.check(parsed(line, kind="window"), contract.WINDOW)


def test_names_from_outside_cannot_break_a_line() -> None:
    host = replace(HEADER.host, name='a"\n\x1b[2J\u2028')
    text = lines.text_of(lines.header_line(replace(HEADER, host=host)))
    assert text.isascii()
    assert text.count("\n") == 1
