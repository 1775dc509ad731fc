"""CSV: what pandas, R and gnuplot read at once."""

from __future__ import annotations

import csv
import io

import pytest

from tests.readings import loop_window, lossy_window, quiet_window, three_windows
from tickmon.analysis.readings import Analysis
from tickmon.formats import table
from tickmon.formats.lines import window_line


def rows(text: str) -> list[dict[str, str]]:
    """The rows as another program reads them."""
    read = list(csv.DictReader(io.StringIO(text)))
    assert all(None not in row and None not in row.values() for row in read)
    return read


def window_rows(*analyses: Analysis) -> list[dict[str, str]]:
    return rows(table.window_columns() + "".join(map(table.window_row, analyses)))


def event_rows(*analyses: Analysis) -> list[dict[str, str]]:
    return rows(table.event_columns() + "".join(map(table.event_rows, analyses)))


def test_window_s_row_says_what_its_line_says() -> None:
    analysis = three_windows()[1]
    (row,) = window_rows(analysis)
    line = window_line(analysis)
    for name in (
        "window",
        "cpu",
        "started_at",
        "end_cycles",
        "interruptions",
        "overhead_share",
        "p99_cycles",
    ):
        assert row[name] == str(line[name]), name
    tick, check = line["tick"], line["check"]
    assert isinstance(tick, dict)
    assert isinstance(check, dict)
    assert row["tick_median_cycles"] == str(tick["median_cycles"])
    assert (row["check_seen"], row["check_verdict"]) == (str(check["seen"]), "ok")


def test_lengths_are_there_in_nanoseconds_too() -> None:
    analysis = three_windows()[1]
    (row,) = window_rows(analysis)
    assert float(row["max_ns"]) == pytest.approx(int(row["max_cycles"]) / analysis.tsc_hz * 1e9, abs=0.06)
    assert float(row["tick_median_ns"]) == pytest.approx(
        int(row["tick_median_cycles"]) / analysis.tsc_hz * 1e9, abs=0.06
    )


@pytest.mark.parametrize("make", [quiet_window, lossy_window, loop_window])
def test_value_that_does_not_exist_is_an_empty_field(make: object) -> None:
    assert callable(make)
    (row,) = window_rows(make())
    assert row["p999_cycles"] == ""
    assert not {"None", "nan", "null"} & set(row.values())


def test_every_window_has_its_row_in_order() -> None:
    assert [row["window"] for row in window_rows(*three_windows())] == ["1", "2", "3"]


def test_every_interruption_has_its_row() -> None:
    first, second, _ = three_windows()
    read = event_rows(first, second)
    assert len(read) == first.window.interruptions + second.window.interruptions
    row = read[first.window.interruptions]
    start, gap = second.window.details[0].tolist()
    assert (row["window"], row["cpu"]) == ("2", "1")
    assert int(row["start_cycles"]) == start - second.window.start_cycles
    assert int(row["gap_cycles"]) == gap
    assert float(row["start_s"]) == pytest.approx(start / second.tsc_hz, abs=1e-9)
    assert float(row["gap_ns"]) == pytest.approx(gap / second.tsc_hz * 1e9, abs=0.06)
    assert float(row["gap_ns"]) - float(row["overhead_ns"]) == pytest.approx(20.0, abs=0.11)


def test_interruption_s_row_names_its_source_and_its_ticks() -> None:
    analysis = three_windows()[0]
    read = event_rows(analysis)
    assert sum(int(row["ticks"]) for row in read) == analysis.check.seen
    for source in analysis.sources:
        assert sum(row["source"] == source.name for row in read) == source.spread.n


def test_window_without_interruptions_has_no_event_rows() -> None:
    assert event_rows(quiet_window()) == []
