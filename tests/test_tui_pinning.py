"""Before and after: what is pinned, what is compared with it, and how that is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.desk import Desk, on_screen
from tests.readings import HEADER, read, sum_up
from tests.recordings import file_of, written
from tests.scripted import LIFE, scripted_segment, scripted_windows
from tickmon.analysis.alike import unlike
from tickmon.analysis.change import Change
from tickmon.analysis.histogram import bin_edges_cycles, count_bins
from tickmon.analysis.readings import Analysis, TraceCounts
from tickmon.compare import report
from tickmon.errors import TickmonError
from tickmon.recording import save_snapshot
from tickmon.tui.pinfile import load_pin
from tickmon.tui.pinning import Pin
from tickmon.tui.plots import Axis, column_counts, spread_over_columns
from tickmon.tui.widgets.against import names_of
from tickmon.tui.words import change_text
from tickmon.windows import Method, Settings

QUICKER = replace(LIFE, tick_ns=8_600.0, noise_hz=120.0)
"""The same machine after somebody tuned it: a tick costs 22 % less."""


# -- on the screen ------------------------------------------------------------------------------


@on_screen()
async def test_a_change_is_told_with_what_it_was_and_how_certain_it_is(at: Desk) -> None:
    await at.windows(12)
    await at.press("p")
    await at.windows(12, life=QUICKER)
    figures = at.part("figures")
    assert "8.60 µs median" in figures
    assert "11.0 µs median, −22 % ± 1 %" in figures
    assert "was 0.8" in figures
    assert "now 12 s: better: tick, overhead" in at.part("against")
    assert "−22 % ± 1 %" in next(row for row in at.part("sources").splitlines() if "kernel tick" in row)


@on_screen()
async def test_without_a_change_none_is_claimed(at: Desk) -> None:
    await at.windows(10)
    await at.press("p")
    await at.windows(10)
    assert "better" not in at.part("against")
    assert "worse" not in at.part("against")


@on_screen()
async def test_p_pins_and_unpins_and_says_so_on_screen(at: Desk) -> None:
    await at.windows(9)
    assert at.app.main.query_one("#against").size.height == 0
    await at.press("p")
    assert "PINNED" in at.part("against")
    assert ", 9 s" in at.part("against")
    assert at.part("against").rstrip().endswith("p unpins")
    await at.press("p")
    assert at.app.session.pinning.pin is None
    assert not at.app.main.query_one("#against").display


@on_screen()
async def test_before_a_window_is_complete_there_is_nothing_to_pin(at: Desk) -> None:
    await at.press("p")
    assert "no window is complete yet" in at.notices
    assert at.app.session.pinning.pin is None


@on_screen()
async def test_too_few_windows_are_told_and_no_change_is_shown(at: Desk) -> None:
    await at.windows(10)
    await at.press("p")
    await at.windows(7, life=QUICKER)
    assert "too few windows yet: 7 of 8" in at.part("against")
    assert "was" not in at.part("figures")
    assert "±" not in at.text


@on_screen()
async def test_windows_that_are_pinned_are_not_compared_with_themselves(at: Desk) -> None:
    await at.windows(3)
    await at.press("p")
    assert "too few windows yet: 0 of 8" in at.part("against")
    await at.windows(3)
    assert "750 ticks in the 3.0 s since" in at.part("figures")


@on_screen()
async def test_another_cpu_is_said_not_to_be_comparable_and_shows_no_change(at: Desk) -> None:
    await at.windows(10)
    await at.press("p", "1")
    await at.opened(2)
    await at.windows(10)
    assert "not comparable: CPU 3, now 1" in at.part("against")
    assert "was" not in at.part("figures")
    assert "pinned" not in at.part("histogram")
    await at.press("3")
    await at.opened(3)
    await at.windows(9, life=QUICKER)
    assert "better: tick" in at.part("against")


@on_screen()
async def test_after_a_new_start_only_what_came_since_is_compared(at: Desk) -> None:
    await at.windows(10)
    await at.press("p")
    await at.windows(10)
    await at.press("r")
    await at.opened(2)
    await at.windows(9, life=QUICKER)
    assert "now 9 s: better: tick" in at.part("against")


@on_screen()
async def test_on_hold_the_window_on_show_is_compared_and_not_the_newest(at: Desk) -> None:
    await at.windows(8)
    await at.press("p")
    await at.windows(8)
    await at.windows(8, life=QUICKER)
    assert "now 16 s" in at.part("against")
    await at.press(*["comma"] * 8)
    assert "now 8 s" in at.part("against")
    assert "better" not in at.part("against")


@on_screen()
async def test_the_window_on_show_is_pinned_when_the_picture_is_on_hold(at: Desk) -> None:
    await at.windows(9)
    await at.press(*["comma"] * 5, "p", "space")
    assert ", 4 s" in at.part("against")
    assert "too few windows yet: 5 of 8" in at.part("against")


@on_screen()
async def test_the_histogram_shows_what_was_pinned_behind_in_another_shape(at: Desk) -> None:
    await at.windows(2)
    before = at.part("histogram")
    await at.press("p")
    await at.windows(1, life=QUICKER)
    assert "░" not in before
    assert "░ pinned" in at.part("histogram")
    tick_rows = at.part("histogram").splitlines()[1:3]
    columns = {mark: [row.find(mark) for row in tick_rows if mark in row] for mark in "█░"}
    # What was pinned took longer, so it lies further right.
    assert min(columns["█"]) < max(columns["░"])


@pytest.mark.parametrize("size", [(60, 14), (80, 24), (120, 40), (200, 50)])
def test_with_something_pinned_every_part_still_fills_its_place(size: tuple[int, int]) -> None:
    @on_screen(size=size)
    async def run(at: Desk) -> None:
        await at.windows(10)
        await at.press("p")
        await at.windows(9, life=QUICKER)
        for name in ("against", "figures", "histogram", "sources"):
            assert all(len(row) == row_width(at, name) for row in at.part(name).splitlines())
        assert "p unpins" in at.part("against")

    run()


def row_width(at: Desk, name: str) -> int:
    return at.app.main.query_one(f"#{name}").size.width


@on_screen(
    pin=Pin(analyses=tuple(read(scripted_windows(scripted_segment(Settings(cpu=3)), 20))), file="x.gz")
)
async def test_a_reading_from_elsewhere_is_compared_with_from_the_first_windows_on(at: Desk) -> None:
    await at.windows(8, life=QUICKER)
    assert "PINNED x.gz, 20 s" in at.part("against")
    assert "−22 % ± 1 %" in at.part("figures")


# -- what may be compared -----------------------------------------------------------------------


def one(**changes: object) -> Analysis:
    settings = replace(Settings(cpu=3), **changes)  # type: ignore[arg-type]
    return read(scripted_windows(scripted_segment(settings), 1))[0]


def with_segment(analysis: Analysis, **changes: object) -> Analysis:
    segment = replace(analysis.window.segment, **changes)  # type: ignore[arg-type]
    return replace(analysis, window=replace(analysis.window, segment=segment))


BEFORE = one()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda a: with_segment(a, cpu=5), "CPU 3, now 5"),
        (lambda a: one(method=Method.LOOP), "method gap, now loop"),
        (lambda a: with_segment(a, threshold_cycles=800), "threshold 200 ns, now 400 ns"),
        (lambda a: with_segment(a, priority=5), "priority none, now SCHED_FIFO 5"),
        (lambda a: with_segment(a, kernel_tick=None), "HZ 250, now unknown"),
        (lambda a: replace(a, tsc_hz=a.tsc_hz * 1.01), "counter 2000 MHz, now 2020 MHz"),
        (lambda a: replace(a, traced=TraceCounts(events=1, outside=0, lost=0)), "trace off, now on"),
    ],
)
def test_what_was_taken_differently_is_named(change: Callable[[Analysis], Analysis], words: str) -> None:
    assert words in " · ".join(unlike(BEFORE, change(BEFORE)))


def test_a_threshold_that_was_found_again_and_a_longer_window_can_be_compared() -> None:
    assert unlike(BEFORE, with_segment(BEFORE, threshold_cycles=405, window_s=2.0)) == ()


# -- from a file --------------------------------------------------------------------------------


def test_a_snapshot_can_be_pinned_and_a_change_be_told_from_it(tmp_path: Path) -> None:
    path = save_snapshot(BEFORE, HEADER, tmp_path)
    pin = load_pin(path, 3)
    assert len(pin.analyses) == 1
    assert len(pin.analyses[0].window.details) == BEFORE.window.interruptions

    @on_screen(pin=pin)
    async def run(at: Desk) -> None:
        await at.windows(8, life=QUICKER)
        assert "better: tick" in at.part("against")

    run()


def test_of_a_recording_the_last_windows_of_that_cpu_are_pinned(tmp_path: Path) -> None:
    of_5 = read(scripted_windows(scripted_segment(Settings(cpu=5), segment=2), 1, first=2))
    path = file_of(tmp_path, written([BEFORE, *of_5], summary=sum_up([BEFORE]), orderly=False))
    assert [pinned_cpus(path, cpu) for cpu in (3, 5, 9)] == [[3], [5], [5]]


def pinned_cpus(path: Path, cpu: int) -> list[int]:
    return [analysis.window.segment.cpu for analysis in load_pin(path, cpu).analyses]


def test_windows_before_a_change_of_settings_are_not_pinned(tmp_path: Path) -> None:
    other = read(scripted_windows(scripted_segment(Settings(cpu=3), segment=2), 2, first=2))
    windows = [BEFORE, *(with_segment(analysis, threshold_cycles=900) for analysis in other)]
    path = file_of(tmp_path, written(windows))
    assert [a.window.segment.threshold_cycles for a in load_pin(path, 3).analyses] == [900, 900]


def test_a_file_without_a_window_is_no_reading_to_compare_with(tmp_path: Path) -> None:
    header = written([BEFORE]).splitlines(keepends=True)[0]
    with pytest.raises(TickmonError, match="has no finished window: there is nothing to compare with"):
        load_pin(file_of(tmp_path, header), 3)


# -- words and numbers --------------------------------------------------------------------------


def change(before: float | None, after: float | None, uncertain: float | None = 0.02) -> Change:
    share = after / before - 1 if before and after is not None else None
    return Change(
        name="tick_median_ns",
        of=None,
        before=before,
        after=after,
        change_share=share,
        uncertain_share=uncertain,
        p=0.01,
        verdict="better",
        reason=None,
        block_s=1.0,
    )


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (change(1_550.0, 1_210.0, 0.018), "−22 % ± 2 %"),
        (change(100.0, 101.4, 0.0031), "+1.4 % ± 0.4 %"),
        (change(100.0, 101.4, 0.02), "+1 % ± 2 %"),
        (change(100.0, 101.4, None), ""),
        (change(1.0, 10.9, 0.3), "+990 % ± 30 %"),
        (change(1.0, 26.4, 12.5), "26 ± 13 times"),
        (change(1.0, 1_812.2, 0.4), "1,812 ± 1 times"),
        (change(0.0, 3.0, 1.0), "new"),
        (change(3.0, 0.0, 1.0), "gone"),
        (change(None, None), ""),
    ],
)
def test_a_change_is_never_told_more_precisely_than_it_is_known(told: Change, text: str) -> None:
    assert change_text(told) == text


def test_a_report_tells_what_grew_more_than_tenfold_as_times() -> None:
    assert report.change_text(change(1.0, 10.9, 0.3)) == "+990 % ± 30 %"
    assert report.change_text(change(1.0, 26.4, 12.5)) == "26 ± 13 times"
    assert report.change_text(change(1.0, 1_812.2, None)) == "1,812 times"


def test_what_became_both_better_and_worse_says_in_what() -> None:
    def of(source: str, name: str, verdict: str) -> Change:
        return replace(change(2.0, 1.0), name=name, of=source, verdict=verdict)

    better, worse = names_of(
        (
            change(2.0, 1.0),
            of("preemption", "source_share", "better"),
            of("preemption", "source_per_s", "worse"),
            of("aftermath", "source_per_s", "worse"),
            of("aftermath", "source_share", "worse"),
        )
    )
    assert better == "tick, preemption of CPU"
    assert worse == "preemption/s, aftermath"


def test_bins_behind_the_bars_lie_where_the_lengths_do_and_none_is_lost() -> None:
    rng = np.random.default_rng(1)
    lengths = np.exp(rng.normal(np.log(10_000), 1.0, 20_000)).astype(np.int64)
    axis = Axis(200.0, 1e7)
    spread = spread_over_columns(count_bins(lengths), bin_edges_cycles(), axis, 50)
    exact = column_counts(lengths.astype(float), axis, 50)
    assert spread.sum() == pytest.approx(20_000)
    assert np.abs(np.cumsum(spread) - np.cumsum(exact)).max() < 20_000 * 0.01
