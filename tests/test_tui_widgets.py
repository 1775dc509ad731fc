"""The parts of the main screen as plain functions: a view in, rows of text out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from tests.making import Life, make_trace
from tests.scripted import LIFE, scripted_cpus, scripted_segment, scripted_windows
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.history import NO_HISTORY, remember
from tickmon.analysis.readings import Analysis, Check, Source
from tickmon.analysis.spread import spread_of
from tickmon.analysis.trend import NO_TREND, extend
from tickmon.sampling.endings import end_message
from tickmon.tui.rows import Row
from tickmon.tui.screens.details import details_text
from tickmon.tui.session import Session, next_cpu, next_window_s
from tickmon.tui.view import Reading, View
from tickmon.tui.widgets.figures import draw_figures
from tickmon.tui.widgets.histogram import draw_histogram, strip_of
from tickmon.tui.widgets.keys import draw_keys
from tickmon.tui.widgets.message import draw_message
from tickmon.tui.widgets.panel import Draw
from tickmon.tui.widgets.sources import basis_words, draw_sources
from tickmon.tui.widgets.timelines import WRITE_MARK, draw_overhead_line, draw_worst_line, entry_at
from tickmon.tui.widgets.title import draw_title
from tickmon.windows import Exclusion, KernelEvent, Method, ReadingWarning, Settings, Trace, Window

SETTINGS = Settings(cpu=3)


def view_of(
    *,
    life: Life = LIFE,
    windows: int = 1,
    settings: Settings = SETTINGS,
    change: Callable[[Analysis], Analysis] = lambda analysis: analysis,
) -> View:
    """The view after so many windows of a life, the analyses being changed first."""
    clocks, trend, history = Clocks(), NO_TREND, NO_HISTORY
    for window in scripted_windows(scripted_segment(settings), windows, life=life):
        analysis, clocks = analyse(window, clocks)
        analysis = change(analysis)
        trend = extend(trend, analysis)
        history = remember(history, analysis, trend)
    session = Session(settings, scripted_cpus(4))
    session.hear(0, Reading(analysis=analysis, trend=trend, history=history))
    return session.view()


def lines(
    draw: Callable[[View, int, int], list[Row]], view: View, width: int = 80, height: int = 8
) -> list[str]:
    return ["".join(piece.text for piece in row) for row in draw(view, width, height)]


def with_gaps(*lengths_ms: float) -> Life:
    """A quiet life with some long interruptions, each after a tick."""
    return replace(LIFE, gaps=[(0.1025e9 + 0.02e9 * n, ms * 1e6) for n, ms in enumerate(lengths_ms)])


def test_what_lies_beyond_the_axis_is_drawn_and_counted() -> None:
    view = view_of(life=with_gaps(12.0, 15.0))
    rows = lines(draw_histogram, view)
    assert sum(row.rstrip().endswith("▁▁ 2") for row in rows) == 1
    assert rows[-1].endswith("╵≥10 ms")


@pytest.mark.parametrize("draw", [draw_histogram, draw_sources, draw_overhead_line, draw_figures])
def test_it_is_drawn_into_whatever_room_a_resize_leaves(draw: Draw) -> None:
    view = view_of()
    for width in (1, 12, 30, 31, 40, 60):
        for height in range(1, 12):
            assert draw(view, width, height)


@pytest.mark.parametrize("cursor", [None, 0])
def test_a_time_line_without_room_for_a_window_is_its_heading(cursor: int | None) -> None:
    view = view_of(windows=3)
    view = replace(view, cursor=None if cursor is None else view.history.entries[cursor])
    for width in range(5):
        assert draw_overhead_line(view, width, 4)
        assert entry_at(view, 1, width) in (None, *view.history.entries)
    assert len(draw_overhead_line(view, 3, 4)) == 1


def test_the_end_of_the_axis_has_room_in_cycles_too() -> None:
    view = replace(view_of(life=with_gaps(*[12.0] * 12)), in_cycles=True)
    *_, axis = lines(draw_histogram, view, width=120, height=20)
    assert axis.endswith("0 Mcy")
    assert len(axis) <= 120


def test_the_axis_grows_when_much_lies_beyond_it() -> None:
    view = view_of(life=with_gaps(*[11.0] * 12))
    assert lines(draw_histogram, view)[-1].rstrip().endswith("╵≥100 ms")


@pytest.mark.parametrize(("ticks", "median"), [(1, False), (4, False), (5, True)])
def test_the_cost_of_a_tick_has_a_median_only_when_some_were_seen(ticks: int, median: bool) -> None:
    view = view_of(life=replace(LIFE, tick_ns=11_000.0))
    assert view.reading is not None
    few = spread_of(np.arange(ticks) + 22_000)
    reading = replace(view.reading, trend=replace(view.reading.trend, recent=((1.0, few),)))
    cost, note = lines(draw_figures, replace(view, reading=reading), height=5)[:2]
    assert ("11.0 µs median" in cost) == median
    assert ("– median" in cost) != median
    assert "11.0 µs worst" in cost
    assert (f"{ticks} tick" in note, "too few for a median" in note) == (True, not median)


def test_what_is_unexplained_is_no_train_though_a_tick_fell_into_it() -> None:
    def source(name: str, *parts: str) -> Source:
        spread = spread_of(np.array([500]))
        return Source(
            name=name, kind="unknown", basis="phase", parts=parts, spread=spread, overhead_cycles=460
        )

    assert strip_of(source("unexplained")) == "rest"
    assert strip_of(source("unexplained", "kernel tick 250 Hz", "train 100 Hz")) == "rest"
    assert strip_of(source("train 100 Hz", "train 100 Hz", "kernel tick 250 Hz")) == "train"


def test_each_strip_prints_its_own_scale() -> None:
    view = view_of()
    rows = lines(draw_histogram, view)
    tops = [int(rows[row][:19].split()[-1].replace(",", "")) for row in (1, 3, 5)]
    assert len(set(tops)) == 3
    assert [rows[row].split()[0] for row in (1, 3, 5)] == ["kernel", "other", "the"]


def test_lengths_whose_detail_was_lost_are_drawn_from_their_bins() -> None:
    def lose(analysis: Analysis) -> Analysis:
        sources = [replace(s, spread=replace(s.spread, pieces=None)) for s in analysis.sources]
        return replace(analysis, sources=tuple(sources))

    exact, binned = lines(draw_histogram, view_of()), lines(draw_histogram, view_of(change=lose))
    assert [row[:20].split()[:2] for row in exact] == [row[:20].split()[:2] for row in binned]
    assert binned[1:-1] != exact[1:-1]
    assert "█" in "".join(binned[3:5])


def test_a_train_within_loop_samples_stands_among_the_others() -> None:
    def as_host(analysis: Analysis) -> Analysis:
        return replace(analysis, sources=tuple(replace(s, kind="host") for s in analysis.sources))

    view = view_of(settings=Settings(cpu=3, method=Method.LOOP), change=as_host)
    assert any("the others" in row for row in lines(draw_histogram, view))


@pytest.mark.parametrize("width", [64, 80, 120, 200])
@pytest.mark.parametrize("in_cycles", [False, True])
def test_no_row_is_cut_at_the_width_it_was_drawn_for(width: int, in_cycles: bool) -> None:
    view = replace(view_of(windows=5), in_cycles=in_cycles)
    parts = (draw_histogram, draw_sources, draw_overhead_line, draw_worst_line, draw_title, draw_keys)
    for draw in parts if width < 80 else (*parts, draw_figures):
        assert max(len(line.rstrip()) for line in lines(draw, view, width)) <= width


def test_the_tick_check_drops_words_before_numbers() -> None:
    check = Check(expected=1_000, seen=1_000, kernel=1_264, kernel_row="LOC", basis="kernel", verdict="ok")
    view = view_of(change=lambda analysis: replace(analysis, check=check))
    assert "1,000 due, 1,000 seen: ok · LOC row +1,264" in lines(draw_figures, view)[3]
    assert "kernel's LOC row +1,264" in lines(draw_figures, view, width=200)[3]


@pytest.mark.parametrize("width", [64, 72, 80])
def test_figures_that_have_no_room_are_left_out_and_not_cut(width: int) -> None:
    for view in (view_of(), view_of(settings=replace(SETTINGS, method=Method.LOOP))):
        cost, _, baseline, _, _ = lines(draw_figures, view, width, height=5)
        assert max(len(cost), len(baseline)) <= width
        assert cost.rstrip().endswith("worst")
        assert "min-baseline" in baseline


def test_a_value_that_does_not_exist_is_a_dash() -> None:
    assert "– 99th" in lines(draw_figures, view_of())[0]


def test_more_sources_than_rows_are_summed_up() -> None:
    def many(analysis: Analysis) -> Analysis:
        first = analysis.sources[0]
        return replace(analysis, sources=tuple(replace(first, name=f"source {n}") for n in range(9)))

    rows = lines(draw_sources, view_of(change=many), height=5)
    assert len(rows) == 5
    assert "6 more" in rows[-1]
    assert "! shows all" in rows[-1]


def test_rates_and_shares_are_of_the_time_that_was_watched() -> None:
    def half(analysis: Analysis) -> Analysis:
        length_cycles = analysis.window.length_cycles
        asleep = Exclusion(code="jump", start_cycles=0, cycles=length_cycles // 2)
        return replace(analysis, window=replace(analysis.window, excluded=(asleep,)))

    whole = next(row for row in lines(draw_sources, view_of()) if "kernel tick" in row)
    watched = next(row for row in lines(draw_sources, view_of(change=half)) if "kernel tick" in row)
    assert "250 /s" in whole
    assert "500 /s" in watched


def test_the_tick_comes_first_then_other_trains_then_the_rest() -> None:
    names = [row.split()[1] for row in lines(draw_sources, view_of(windows=2))[1:4]]
    assert names == ["kernel", "host", "unexplained"]


def test_time_lines_begin_at_zero_and_print_their_top() -> None:
    view = view_of(windows=3)
    rows = lines(draw_overhead_line, view, width=40, height=3)
    assert "each window, 0 to 1 %" in rows[0]
    assert rows[-1][1:5] == f"███{WRITE_MARK}"


def test_the_title_gives_way_piece_by_piece() -> None:
    view = view_of()
    texts = [lines(draw_title, view, width=width)[0] for width in (120, 80, 60, 40)]
    assert "tickmon  CPU 3 · isolated · nohz_full · sibling of CPU 1 · gap method · 1 s window" in texts[0]
    assert "CPU 3 · isolated · nohz_full · sibling of CPU 1 · gap · 1 s" in texts[1]
    assert "CPU 3 · isolated · nohz_full · gap · 1 s" in texts[2]
    assert all("CPU 3" in text and "LIVE" in text for text in texts)


@pytest.mark.parametrize("end", ["killed", "lease", "moved", "orphan"])
def test_a_sampler_that_ended_is_told_with_the_key_that_starts_another_once(end: str) -> None:
    message = end_message(end, stage="", error=9, cpu=3, priority=0)
    for width in (80, 200):
        (line,) = lines(draw_message, replace(view_of(), ended=message), width=width, height=1)
        assert line.rstrip().endswith("r starts it again")
        assert len(line) <= width
        assert line.count("again") == 1
    assert "ended" in line or "took the sampler off CPU 3" in line


def test_what_has_no_room_in_the_message_line_is_told_in_the_details() -> None:
    message = end_message("moved", stage="", error=0, cpu=3, priority=0)
    assert message
    assert details_text(replace(view_of(), ended=message)).startswith(f"{message}\n")
    assert details_text(View(settings=SETTINGS, ended=message)) == f"{message}\nEsc, then r starts it again"


def test_a_pause_says_of_when_the_picture_is() -> None:
    view = replace(view_of(), paused=True)
    assert view.reading is not None
    at = f"{view.reading.ended_at.astimezone():%H:%M:%S}"
    assert lines(draw_title, view)[0].endswith(f"PAUSED {at} ")
    assert "go on" in lines(draw_keys, view)[0]


def test_80_columns_hold_the_keys_that_are_needed() -> None:
    (line,) = lines(draw_keys, view_of())
    for words in (
        "←→ CPU",
        "c list",
        "o all",
        "space pause",
        "s save",
        "p pin",
        "! more",
        "? help",
        "q quit",
    ):
        assert words in line
    assert len(line) <= 80


def test_a_wide_key_line_holds_them_all() -> None:
    (line,) = lines(draw_keys, view_of(), width=170)
    for words in ("u unit", "m method", "k trace", "r restart", "d doctor", "t theme"):
        assert words in line


@pytest.mark.parametrize(
    ("cpu", "step", "then"), [(3, 1, 0), (0, -1, 3), (1, 1, 3), (2, 1, 3), (2, -1, 1), (9, 1, 0)]
)
def test_cpus_are_gone_through_round_and_round_past_holes(cpu: int, step: int, then: int) -> None:
    assert next_cpu([0, 1, 3], cpu, step) == then


@pytest.mark.parametrize(
    ("window_s", "step", "then"),
    [
        (1.0, 1, 2.0),
        (1.0, -1, 0.5),
        (3.0, 1, 5.0),
        (3.0, -1, 2.0),
        (60.0, 1, 60.0),
        (300.0, 1, 300.0),
        (0.1, -1, 0.1),
    ],
)
def test_window_lengths_go_in_steps(window_s: float, step: int, then: float) -> None:
    assert next_window_s(window_s, step) == then


# -- the kernel's trace -------------------------------------------------------------------------


def traced_view(task: str = "kworker/1:1", *, granted: bool | None = True) -> View:
    """A window in which a task took the CPU after the longest tick, and nothing else was traced; with
    ``granted=None`` one from before the trace was turned on.
    """
    settings = replace(SETTINGS, trace=True)
    segment = scripted_segment(settings)
    window = scripted_windows(segment, 1, life=with_gaps(12.0))[0]
    if granted:
        window = replace(window, trace=trace_of_the_longest(window, task))
    elif granted is not None:
        refused = ReadingWarning(code="not_traced", message="not traced: run tickmon as root")
        window = replace(window, warnings=(*window.warnings, refused))
    analysis, _ = analyse(window, Clocks())
    session = Session(settings, scripted_cpus(4))
    session.hear(0, Reading(analysis=analysis, trend=extend(NO_TREND, analysis)))
    return session.view()


def trace_of_the_longest(window: Window, task: str) -> Trace:
    start, gap = window.details[window.details["gap_cycles"].argmax()].tolist()
    return make_trace(
        (start + 100, KernelEvent.TIMER_ENTRY, None),
        (start + 200, KernelEvent.TICK, None),
        (start + 3_000, KernelEvent.SWITCH, task),
        (start + gap - 100, KernelEvent.RESUME, None),
    )


def test_the_worst_line_says_all_that_the_kernel_traced_in_it() -> None:
    worst = lines(draw_figures, traced_view(), width=100)[-1]
    assert "tick + preempted by kworker/1:1 for 12.0 ms" in worst


def test_traced_sources_are_named_and_say_by_what_they_are_known() -> None:
    rows = lines(draw_sources, traced_view(), width=100)
    assert any("■ task kworker/1:1 " in row and row.rstrip().endswith("kernel trace") for row in rows)
    assert any("■ unseen by the kernel" in row and row.rstrip().endswith("kernel trace") for row in rows)


def test_the_details_page_names_parts_basis_and_the_worst_one_by_one() -> None:
    text = details_text(traced_view())
    assert "preemption by kworker/1:1: kernel trace; also in them: tick" in text
    assert "12.0 ms at " in text
    assert "4 events of the kernel's trace, 0 outside of interruptions," in text


def test_the_title_says_whether_the_kernel_traces() -> None:
    assert "trace" not in lines(draw_title, view_of(), width=120)[0]
    assert "trace on" in lines(draw_title, traced_view(), width=80)[0]
    assert "no trace: ! says why" in lines(draw_title, traced_view(granted=False), width=120)[0]
    before = lines(draw_title, traced_view(granted=None), width=120)[0]
    assert "not traced" in before
    assert "says why" not in before


def test_unexplained_is_known_by_nothing_even_where_a_tick_lies_in_it() -> None:
    reading = view_of().reading
    assert reading is not None
    (source,) = (source for source in reading.analysis.sources if source.name == "unexplained")
    assert basis_words(replace(source, parts=("kernel tick 250 Hz",))) == "–"


def test_a_tasks_name_is_no_markup_and_no_escape() -> None:
    view = traced_view("[red]\x1b[2J")
    for text in (
        *lines(draw_sources, view, width=100),
        *lines(draw_figures, view, width=118),
        details_text(view),
    ):
        assert "\x1b" not in text
    assert "task [red]?[2J" in "".join(lines(draw_sources, view, width=100))


@pytest.mark.parametrize("width", [60, 80, 120, 200])
@pytest.mark.parametrize("height", [9, 12, 30])
def test_a_count_of_five_digits_does_not_touch_the_name_beside_it(width: int, height: int) -> None:
    def many(analysis: Analysis) -> Analysis:
        crowd = spread_of(np.full(20_700, 11_000))
        return replace(analysis, sources=tuple(replace(each, spread=crowd) for each in analysis.sources))

    view = view_of(life=replace(LIFE, host_hz=1000.0), change=many)
    (row,) = (row for row in lines(draw_histogram, view, width, height) if row.startswith(" other trains"))
    assert re.match(r" other trains +20\.7 k┤", row), row
