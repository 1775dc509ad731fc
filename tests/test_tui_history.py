"""Looking back on the live screen: the cursor in the time lines, the worst and their windows."""

from __future__ import annotations

import re

from textual.widgets import OptionList

from tests.desk import Desk, on_screen
from tests.making import make_window
from tests.scripted import scripted_windows
from tickmon.tui.plots import large
from tickmon.tui.widgets.panel import Panel
from tickmon.tui.widgets.timelines import BEGIN_MARK
from tickmon.tui.words import clock_text
from tickmon.windows import Segment, Window


def cursor_columns(at: Desk, name: str = "overhead") -> list[int]:
    """The columns of a time line that are marked as the window on show."""
    panel = at.app.main.query_one(f"#{name}", Panel)
    columns: list[int] = []
    column = 0
    for piece in panel._rows[-1]:
        if piece.ink == "cursor":
            columns += range(column, column + len(piece.text))
        column += len(piece.text)
    return columns


@on_screen()
async def test_stepping_back_shows_each_part_as_it_was_and_forth_again(at: Desk) -> None:
    await at.windows(6)
    now = at.part("figures")
    assert cursor_columns(at) == []
    await at.press("comma", "comma")
    assert "PAUSED" in at.part("title")
    assert "in the last 4.0 s" in at.part("figures")
    assert cursor_columns(at) == [1 + 3]
    assert cursor_columns(at, "worst") == [1 + 3]
    await at.press(".", ".", ".")
    assert at.part("figures") == now
    assert "PAUSED" in at.part("title")


@on_screen()
async def test_home_and_end_lead_to_the_oldest_and_the_newest_window(at: Desk) -> None:
    await at.windows(4)
    await at.press("home")
    assert "in the last 1.0 s" in at.part("figures")
    assert cursor_columns(at) == [1]
    await at.windows(1)
    assert "in the last 1.0 s" in at.part("figures")
    await at.press("end")
    assert "in the last 5.0 s" in at.part("figures")
    assert "PAUSED" in at.part("title")
    await at.press("space")
    assert "LIVE" in at.part("title")
    assert cursor_columns(at) == []


@on_screen()
async def test_a_click_on_a_time_line_leads_to_that_window(at: Desk) -> None:
    await at.windows(5)
    await at.pilot.click("#worst", offset=(1 + 2, 1))
    assert "in the last 3.0 s" in at.part("figures")
    await at.pilot.click("#worst", offset=(30, 1))
    assert "in the last 3.0 s" in at.part("figures")


@on_screen()
async def test_w_leads_to_the_worst_and_on_to_the_next_worst(at: Desk) -> None:
    await at.windows(6)
    await at.press("w")
    assert "worst 1 of 10: 1.90 ms" in at.part("message")
    assert cursor_columns(at) == [1 + 4]
    await at.press("w")
    assert "worst 2 of 10: 900 µs" in at.part("message")
    assert cursor_columns(at) == [1 + 2]
    await at.press(*["w"] * 9)
    assert "worst 1 of 10: 1.90 ms" in at.part("message")


@on_screen()
async def test_the_window_of_the_worst_is_saved_with_every_interruption_when_it_is_long_past(
    at: Desk,
) -> None:
    await at.windows(6)
    await at.hand_on(*shortened(at, 100))
    await at.press("w", "s")
    await at.until(lambda: len(at.saved) == 1)
    assert at.saved[0].max_cycles == 3_800_040
    assert len(at.saved[0].details) == at.saved[0].interruptions


def shortened(at: Desk, count: int) -> list[Window]:
    """``count`` windows more, each of a twentieth of the usual length."""
    last = scripted_windows(at.source.segment, 6)[-1]
    length_cycles = last.length_cycles // 20
    return [
        simple_window(at.source.segment, 7 + n, last.end_cycles + n * length_cycles, length_cycles)
        for n in range(count)
    ]


def simple_window(segment: Segment, number: int, start_cycles: int, length_cycles: int) -> Window:
    """A window with one short interruption."""
    return make_window(
        [(start_cycles + 100, 900)],
        segment=segment,
        window=number,
        start_cycles=start_cycles,
        end_cycles=start_cycles + length_cycles,
    )


@on_screen()
async def test_a_window_whose_interruptions_are_gone_is_shown_but_not_saved(at: Desk) -> None:
    await at.windows(1)
    await at.hand_on(*shortened(at, 70))
    await at.press("home", "s")
    assert "too old to be saved whole" in at.notices
    await at.press("comma")
    assert at.saved == []


@on_screen()
async def test_the_list_of_the_worst_says_when_how_long_and_what_and_leads_there(at: Desk) -> None:
    await at.windows(6)
    await at.press("W")
    options = at.app.screen.query_one(OptionList)
    assert options.option_count == 10
    first = str(options.options[0].prompt)
    assert "1.90 ms" in first
    assert "unexplained" in first
    assert re.search(r"\d\d:\d\d:\d\d", first)
    await at.press("down", "enter")
    assert "worst 2 of 10: 900 µs" in at.part("message")


@on_screen()
async def test_start_again_keeps_what_was_marked_and_the_worst_apart(at: Desk) -> None:
    await at.windows(6)
    await at.press("r")
    await at.opened(2)
    await at.windows(2)
    assert BEGIN_MARK in at.part("worst")
    await at.press("comma", "comma")
    assert "in the last 6.0 s" in at.part("figures")
    await at.press("W")
    options = at.app.screen.query_one(OptionList)
    assert "before the last new start" in str(options.options[10].prompt)
    assert "1.90 ms" in str(options.options[11].prompt)
    await at.press("end", "enter")
    assert "worst 10 of 10 before" in at.part("message")


@on_screen()
async def test_windows_of_another_cpu_are_shown_as_such(at: Desk) -> None:
    await at.windows(2)
    await at.press("1")
    await at.opened(2)
    await at.windows(1)
    await at.press("comma")
    assert "CPU 3 · isolated" in at.part("title")
    assert "of CPU 3" in at.part("figures")
    await at.press(".")
    assert "CPU 1 " in at.part("title")


@on_screen()
async def test_paused_is_written_large_with_the_time_of_what_is_shown(at: Desk) -> None:
    await at.windows(2)
    await at.press("space")
    assert at.app.main.query_one("#message", Panel).size.height == 3
    word = large("P A U S E D   ")
    rows = at.part("message").splitlines()
    assert all(letters in row for letters, row in zip(word, rows, strict=True))
    shown = at.app.session.shown
    assert shown is not None
    assert large(clock_text(shown.ended_at))[0] in rows[0]


@on_screen()
async def test_before_anything_interrupted_there_is_no_worst(at: Desk) -> None:
    await at.press("w", "W", "home", "comma")
    assert "nothing has interrupted yet" in at.notices
    assert "PAUSED" not in at.part("title")


@on_screen()
async def test_sampling_goes_on_while_an_older_window_is_on_show(at: Desk) -> None:
    await at.windows(3)
    await at.press("home")
    line = at.part("overhead")
    await at.windows(3)
    assert at.part("overhead") == line
    assert not at.source.stopped
    await at.press("space")
    assert at.part("overhead") != line


@on_screen(size=(80, 24))
async def test_a_cursor_further_back_than_the_line_reaches_draws_that_part(at: Desk) -> None:
    await at.windows(1)
    await at.hand_on(*shortened(at, 90))
    await at.press("home")
    assert len(cursor_columns(at)) == 1
    before = cursor_columns(at)
    await at.press(".")
    assert cursor_columns(at) != before
