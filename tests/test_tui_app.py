"""What the keys do and what is shown when, on scripted sources."""

from __future__ import annotations

import gc
import operator
import time
import warnings
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from textual.command import CommandPalette
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static

from tests.desk import Desk, on_screen
from tests.scripted import early_look, scripted_cpus, scripted_windows
from tickmon.errors import TickmonError
from tickmon.tui.actions import ACTIONS
from tickmon.tui.screens.cpus import CpuList
from tickmon.tui.screens.details import Details
from tickmon.tui.screens.help import Help, keys_page
from tickmon.tui.screens.main import MainScreen, hidden_words
from tickmon.tui.screens.question import Question
from tickmon.tui.widgets.panel import Panel
from tickmon.windows import Ended, Method, OpenGap, ReadingWarning, Settings, WindowSource

# -- what is shown ------------------------------------------------------------------------------


@on_screen()
async def test_before_the_first_reading_it_says_what_it_waits_for(at: Desk) -> None:
    assert "CPU 3 · isolated · nohz_full · sibling of CPU 1 · gap · 1 s" in at.part("title")
    assert "STARTING" in at.part("title")
    assert "starting on CPU 3" in at.part("message")


@on_screen()
async def test_an_early_look_is_shown_and_marked_as_such(at: Desk) -> None:
    await at.give(early_look(at.source.segment))
    assert "LIVE 0.1 of 1 s" in at.part("title")
    assert "the first 0.1 s of a window" in at.part("histogram")
    assert "25 due, 25 seen: ok" in at.part("figures")


@on_screen()
async def test_an_early_look_leaves_no_trace_in_what_is_remembered(at: Desk) -> None:
    await at.give(early_look(at.source.segment))
    await at.windows(1)
    assert "250 ticks in the last 1.0 s" in at.part("figures")


@on_screen()
async def test_every_figure_of_a_reading_is_shown_with_its_unit(at: Desk) -> None:
    await at.windows(6)
    figures = at.part("figures")
    assert "ticks in the last 6.0 s" in figures
    for words in ("µs median", "µs 99th", "worst", "min-baseline   20.0 ns · drift none · threshold 200 ns"):
        assert words in figures
    assert "250 due, 250 seen: ok · kernel's LOC row +259" in figures
    assert "1.90 ms at" in figures
    assert "kernel tick 250 Hz        250 /s" in at.part("sources")
    assert "host tick 1000 Hz" in at.part("sources")
    assert "no warnings" in at.part("message")


@pytest.mark.parametrize(
    "size",
    [
        (60, 14),
        (60, 15),
        (60, 40),
        (70, 18),
        (80, 20),
        (80, 24),
        (100, 30),
        (120, 40),
        (200, 14),
        (200, 20),
        (200, 50),
        (300, 90),
    ],
)
def test_at_every_size_each_part_fills_its_place_and_no_more(size: tuple[int, int]) -> None:
    @on_screen(size=size)
    async def at_size(at: Desk) -> None:
        await at.windows(3)
        shown = [panel for panel in at.app.main.query(Panel) if panel.display and panel.size.height]
        for panel in shown:
            for y in range(panel.size.height):
                assert panel.render_line(y).cell_length == panel.size.width
        rows = {y for panel in shown for y in range(panel.region.y, panel.region.bottom)}
        assert max(rows) == size[1] - 1
        assert ("host tick" in at.text) == ("sources" not in hidden_words(*size))
        assert (" 0 to 1 %" in at.part("overhead")) == ("time lines" not in hidden_words(*size))
        assert hidden_words(*size) in at.part("hidden")
        assert "≥10 ms" in at.part("histogram")
        assert "…" not in at.part("figures").rpartition(" at ")[0]
        # What a figure is must stand beside it at every size.
        assert "1,5" in at.part("histogram").splitlines()[0]
        for word in ("median", "worst", "baseline", "250 due, 250 seen: ok"):
            assert word in at.part("figures")

    at_size()


@pytest.mark.parametrize("size", [(1, 1), (5, 2), (40, 10), (59, 20), (120, 13)])
def test_a_terminal_that_is_too_small_is_told_so_and_nothing_else(size: tuple[int, int]) -> None:
    @on_screen(size=size)
    async def run(at: Desk) -> None:
        await at.windows(1)
        words = "tickmon needs 60 columns and 14 rows"
        assert words in " ".join(at.part("small").split()) or size < (40, 10)
        assert [panel.id for panel in at.app.main.query(Panel) if panel.size.height] == ["small"]

    run()


@on_screen()
async def test_one_interruption_is_drawn_beside_a_thousand(at: Desk) -> None:
    await at.windows(8)
    assert "▁" in at.part("histogram").splitlines()[-2]


@on_screen()
async def test_the_axis_stays_where_it_is_from_window_to_window(at: Desk) -> None:
    await at.windows(1)
    before = at.part("histogram").splitlines()[-1]
    await at.windows(6)
    assert at.part("histogram").splitlines()[-1] == before


@on_screen()
async def test_an_open_gap_is_shown_growing_until_the_next_window(at: Desk) -> None:
    await at.windows(1)
    await at.give(OpenGap(since=datetime.now(UTC), gap_s=0.31))
    assert "CPU 3: not running for 310 ms" in at.part("message")
    await at.give(OpenGap(since=datetime.now(UTC), gap_s=1.2))
    assert "CPU 3: not running for 1.2 s" in at.part("message")
    await at.windows(1)
    assert "not running" not in at.part("message")


@on_screen()
async def test_the_gravest_warning_is_shown_with_how_many_there_are(at: Desk) -> None:
    await at.windows(
        1, warnings=(ReadingWarning(code="moved", message="it moved"), ReadingWarning(code="x", message="x"))
    )
    assert "! 1 of 2  it moved" in at.part("message")
    await at.press("exclamation_mark")
    assert isinstance(at.app.screen, Details)


@on_screen(disturbance="tickmon itself shares a core with CPU 3")
async def test_a_screen_that_cannot_keep_away_says_so_in_snapshots_too(at: Desk) -> None:
    await at.windows(1)
    assert at.kept_away == [3]
    assert "!  tickmon itself shares a core with CPU 3" in at.part("message")
    await at.press("s")
    await at.until(lambda: len(at.saved) == 1)
    assert [warning.code for warning in at.saved[0].warnings] == ["near"]


@on_screen()
async def test_an_ended_source_is_told_in_words_and_started_again_by_r(at: Desk) -> None:
    await at.windows(2)
    await at.give(Ended(error="the sampler on CPU 3 was killed"))
    assert "the sampler on CPU 3 was killed" in at.part("message")
    assert "r starts it again" in at.part("message")
    assert "STOPPED" in at.part("title")
    await at.press("r")
    await at.opened(2)
    assert at.source.reason == "reset"
    await at.windows(1)
    assert "LIVE" in at.part("title")
    assert "killed" not in at.part("message")


@pytest.mark.parametrize("key", ["c", "question_mark", "exclamation_mark", "colon"])
def test_a_sampler_that_ends_is_told_on_whatever_page_is_on_top(key: str) -> None:
    @on_screen()
    async def run(at: Desk) -> None:
        await at.windows(1)
        await at.press(key)
        assert at.app.screen is not at.app.main
        await at.give(Ended(error="the sampler on CPU 3 was killed; start it again"))
        assert at.notices == "the sampler on CPU 3 was killed\nEsc, then r starts it again"
        await at.press("escape", "r")
        await at.opened(2)
        assert at.notices == ""

    run()


# -- keys ---------------------------------------------------------------------------------------


@on_screen(cpus=scripted_cpus(8), settings=Settings(cpu=7), named=(4,))
async def test_quick_presses_move_the_sampler_once(at: Desk) -> None:
    await at.press("left", "left", "[")
    assert "CPU 4 " in at.part("title")
    await at.opened(2)
    assert [source.settings.cpu for source in at.sources] == [7, 4]
    assert at.sources[0].stopped
    assert at.source.reason == "cpu"
    assert at.kept_away == [7, 4]


@on_screen()
async def test_news_of_the_cpu_that_was_left_are_not_shown(at: Desk) -> None:
    await at.windows(1)
    await at.press("1")
    old = at.source
    assert "overhead" in at.part("figures")
    await at.hand_on(*scripted_windows(old.segment, 3)[1:], source=old)
    assert "CPU 1" in at.part("title")
    assert "host tick" not in at.part("sources")
    await at.opened(2)


@on_screen()
async def test_going_there_and_back_again_keeps_the_source(at: Desk) -> None:
    await at.windows(1)
    await at.press("left", "right")
    assert "host tick" in at.part("sources")
    await at.windows(2)
    assert len(at.sources) == 1
    assert not at.source.stopped


@on_screen()
async def test_a_cpu_that_cannot_be_used_is_refused_in_words(at: Desk) -> None:
    await at.press("9")
    assert "CPU 9 cannot be used here; usable: 0-3" in at.notices
    assert "CPU 3" in at.part("title")


@on_screen(cpus=scripted_cpus(40), settings=Settings(cpu=39))
async def test_with_many_cpus_a_digit_opens_the_list_with_that_digit_typed(at: Desk) -> None:
    await at.press("1")
    assert isinstance(at.app.screen, CpuList)
    await at.press("2")
    options = at.app.screen.query_one(OptionList)
    assert [option.id for option in options.options] == ["12"]
    await at.press("enter")
    await at.until(lambda: isinstance(at.app.screen, MainScreen))
    assert "CPU 12" in at.part("title")


@on_screen()
async def test_the_list_says_what_each_cpu_is_and_does(at: Desk) -> None:
    await at.press("c")
    screen = at.app.screen
    options = screen.query_one(OptionList)
    await at.until(lambda: "trader" in str(options.get_option("2").prompt))
    assert "isolated · nohz_full · sibling of CPU 1" in str(options.get_option("3").prompt)
    assert "measured now" in str(options.get_option("3").prompt)
    assert 3 not in at.looked
    await at.press("q")
    assert isinstance(at.app.screen, MainScreen)


@on_screen()
async def test_the_list_looks_again_while_it_is_open_and_keeps_the_choice(at: Desk) -> None:
    await at.press("c")
    options = at.app.screen.query_one(OptionList)
    await at.until(lambda: "trader" in str(options.get_option("2").prompt))
    await at.press("up", "up")
    at.traded.clear()
    await at.until(lambda: "is idle" in str(options.get_option("2").prompt))
    assert options.highlighted_option is not None
    assert options.highlighted_option.id == "1"
    await at.give(Ended(error="the sampler on CPU 3 was killed"))
    await at.until(lambda: "is idle" in str(options.get_option("3").prompt))


@on_screen(settings=Settings(cpu=2))
async def test_a_sampler_that_gets_no_time_is_said_with_who_holds_its_cpu(at: Desk) -> None:
    turn = at.app.session.turn
    await at.app._wonder(turn)
    assert "hardly gets to run on CPU 2: it runs trader (98.0 %)" in at.part("message")
    await at.give(OpenGap(since=datetime(2026, 11, 30, tzinfo=UTC), gap_s=4.2))
    assert "hardly gets to run on CPU 2" in at.part("histogram")
    await at.windows(1)
    assert "hardly" not in at.text
    await at.app._wonder(turn)
    assert "hardly" not in at.text


@on_screen()
async def test_why_nothing_is_measured_is_said_in_full(at: Desk) -> None:
    why = "cannot start the sampler /a/long/way/to/it/tickmon-sampler: it is missing, so install it again"
    await at.give(Ended(error=f"{why}; start it again"))
    assert why not in at.part("message")
    assert why in " ".join(at.part("histogram").split())
    # That is said with the key that does it.
    assert "; start it again" not in at.text


@on_screen()
async def test_a_cpu_that_went_offline_is_not_entered_and_says_so(at: Desk) -> None:
    await at.windows(1)
    at.offline.add(1)
    await at.press("1")
    await at.until(lambda: "CPU 1 is offline" in at.notices)
    assert len(at.sources) == 1
    assert "CPU 3" in at.part("title")


@on_screen()
async def test_a_busy_cpu_that_nobody_named_is_entered_only_after_a_yes(at: Desk) -> None:
    await at.windows(1)
    await at.press("2")
    await at.until(lambda: isinstance(at.app.screen, Question))
    assert len(at.sources) == 1
    await at.press("n")
    await at.until(lambda: isinstance(at.app.screen, MainScreen))
    await at.until(lambda: "CPU 3" in at.part("title"))
    assert "host tick" in at.part("sources")
    assert len(at.sources) == 1
    await at.press("2")
    await at.until(lambda: isinstance(at.app.screen, Question))
    await at.press("y")
    await at.opened(2)
    assert at.source.settings.cpu == 2


@on_screen()
async def test_a_cpu_that_nobody_named_is_looked_at_each_time_it_is_entered(at: Desk) -> None:
    await at.press("1")
    await at.opened(2)
    at.traded.add(3)
    await at.press("3")
    await at.until(lambda: isinstance(at.app.screen, Question))
    assert at.looked == [1, 3]
    assert [source.settings.cpu for source in at.sources] == [3, 1]
    await at.press("n")
    await at.until(lambda: "CPU 1" in at.part("title"))
    assert not at.source.stopped


@on_screen()
async def test_other_settings_on_the_cpu_that_is_measured_need_no_look(at: Desk) -> None:
    await at.press("+")
    await at.opened(2)
    await at.press("r")
    await at.opened(3)
    assert at.looked == []


@on_screen()
async def test_a_yes_holds_for_that_cpu_from_then_on(at: Desk) -> None:
    await at.press("2")
    await at.until(lambda: isinstance(at.app.screen, Question))
    await at.press("y")
    await at.opened(2)
    await at.press("1")
    await at.opened(3)
    await at.press("2")
    await at.opened(4)
    assert at.source.settings.cpu == 2
    assert at.looked == [2, 1]


@pytest.mark.parametrize("key", ["r", "+", "m"])
def test_a_cpu_whose_sampler_ended_is_looked_at_before_another_begins(key: str) -> None:
    @on_screen()
    async def by_key(at: Desk) -> None:
        await at.windows(1)
        await at.give(Ended(error="the sampler on CPU 3 was killed"))
        at.traded.add(3)
        await at.press(key)
        await at.until(lambda: isinstance(at.app.screen, Question))
        assert at.looked == [3]
        await at.press("n")
        await at.until(lambda: isinstance(at.app.screen, MainScreen))
        assert len(at.sources) == 1
        assert "STOPPED" in at.part("title")
        assert "CPU 3 runs trader (98.0 %): not measured" in at.part("message")
        at.traded.clear()
        await at.press("r")
        await at.opened(2)
        await at.windows(1)
        assert "LIVE" in at.part("title")

    by_key()


@on_screen()
async def test_going_away_and_back_from_a_cpu_whose_sampler_ended_starts_none(at: Desk) -> None:
    await at.give(Ended(error="the sampler on CPU 3 was killed"))
    await at.press("left", "right")
    assert "was killed" in at.part("message")
    assert len(at.sources) == 1
    assert at.looked == []


@on_screen(named=(2,))
async def test_a_busy_cpu_that_was_named_is_entered_without_a_question(at: Desk) -> None:
    await at.press("2")
    await at.opened(2)
    assert at.source.settings.cpu == 2
    assert at.looked == []


@on_screen()
async def test_an_idle_cpu_is_entered_after_a_look(at: Desk) -> None:
    await at.press("1")
    await at.opened(2)
    assert at.looked == [1]


@on_screen()
async def test_pause_keeps_what_is_shown_and_goes_on_with_the_newest(at: Desk) -> None:
    await at.windows(1)
    await at.press("space")
    assert "PAUSED" in at.part("title")
    shown = at.part("figures")
    await at.windows(5)
    assert at.part("figures") == shown
    await at.press("space")
    assert "LIVE" in at.part("title")
    assert "1,500 ticks in the last 6.0 s" in at.part("figures")


@on_screen()
async def test_a_snapshot_holds_the_window_on_show(at: Desk) -> None:
    await at.windows(2)
    await at.press("space")
    await at.windows(3)
    await at.press("s")
    await at.until(lambda: "snapshot.jsonl.gz" in at.notices)
    assert [window.window for window in at.saved] == [2]


@on_screen(refusal="cannot write ./x: read-only file system")
async def test_a_snapshot_that_cannot_be_written_is_a_notice(at: Desk) -> None:
    await at.windows(1)
    await at.press("s")
    await at.until(lambda: "read-only file system" in at.notices)


@on_screen()
async def test_the_end_waits_for_a_snapshot_that_is_being_saved(at: Desk) -> None:
    await at.windows(1)
    await at.app.action_snapshot()
    await at.app.action_quit()
    assert [window.window for window in at.saved] == [1]


@on_screen()
async def test_a_snapshot_that_the_end_overtakes_is_no_warning_on_the_terminal(at: Desk) -> None:
    await at.windows(1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        await at.app.action_snapshot()
        at.app.workers.cancel_all()
        await at.pilot.pause()
        gc.collect()
    assert [str(one.message) for one in told if one.category is RuntimeWarning] == []


@on_screen()
async def test_no_snapshot_is_made_of_a_window_that_is_still_open(at: Desk) -> None:
    await at.give(early_look(at.source.segment))
    await at.press("s")
    assert "no window is complete yet" in at.notices
    assert at.saved == []


@on_screen()
async def test_another_window_length_keeps_what_was_remembered(at: Desk) -> None:
    await at.windows(6)
    await at.press("+", "equals_sign")
    await at.opened(2)
    assert at.source.settings.window_s == 5.0
    assert at.source.reason == "settings"
    assert at.source.first_window == 7
    assert "5 s" in at.part("title")
    await at.windows(1)
    assert "1.90 ms" in at.part("figures")


@on_screen()
async def test_shorter_windows_end_at_the_shortest(at: Desk) -> None:
    await at.press("-", "underscore", "-", "-", "-")
    await at.opened(2)
    assert at.source.settings.window_s == 0.1


@on_screen()
async def test_start_again_forgets_the_worst(at: Desk) -> None:
    await at.windows(6)
    await at.press("r")
    await at.opened(2)
    await at.windows(1)
    assert "1.90 ms" not in at.part("figures")
    assert "250 ticks in the last 1.0 s" in at.part("figures")


@on_screen()
async def test_k_has_the_kernel_trace_and_forgets_what_a_tick_cost_without_it(at: Desk) -> None:
    await at.windows(1)
    await at.press("k")
    await at.opened(2)
    assert at.source.settings.trace
    assert at.source.segment.reason == "trace"
    assert "trace on" in at.part("title")
    await at.windows(1)
    assert "250 ticks in the last 1.0 s" in at.part("figures")
    await at.press("k")
    await at.opened(3)
    assert not at.source.settings.trace


@on_screen()
async def test_a_refused_trace_is_said_with_its_remedy_and_the_rest_goes_on(at: Desk) -> None:
    await at.press("k")
    await at.opened(2)
    window = scripted_windows(at.source.segment, 1)[0]
    refused = ReadingWarning(code="not_traced", message="not traced: run tickmon as root")
    await at.give(replace(window, warnings=(refused,)))
    assert "no trace" in at.part("title")
    assert "run tickmon as root" in at.part("message")
    assert "250 due, 250 seen" in at.part("figures")


@on_screen()
async def test_the_loop_method_says_whether_its_baseline_holds(at: Desk) -> None:
    await at.press("m")
    await at.opened(2)
    assert at.source.settings.method is Method.LOOP
    assert at.source.reason == "method"
    await at.windows(3)
    figures = at.part("figures")
    assert "11,000 samples of 6,800 iterations" in figures
    assert "DOES NOT HOLD here" in figures
    assert "the others" in at.part("histogram")


@on_screen()
async def test_lengths_are_shown_as_cycles_too(at: Desk) -> None:
    await at.windows(1)
    await at.press("u")
    assert "min-baseline     40 cy · drift none · threshold 400 cy" in at.part("figures")
    assert "kcy" in at.part("histogram").splitlines()[-1]
    await at.press("u")
    assert "20.0 ns" in at.part("figures")


@pytest.mark.parametrize("key", ["question_mark", "h", "f1"])
def test_help_opens_and_closes(key: str) -> None:
    @on_screen()
    async def by_key(at: Desk) -> None:
        await at.press(key)
        assert isinstance(at.app.screen, Help)
        await at.press("escape")
        assert isinstance(at.app.screen, MainScreen)
        await at.press(key, "q")
        assert isinstance(at.app.screen, MainScreen)

    by_key()


@on_screen()
async def test_both_pages_of_help_fit_80_by_24(at: Desk) -> None:
    await at.press("question_mark")
    for _ in range(2):
        await at.pilot.pause()
        scroll = at.app.screen.query_one("VerticalScroll")
        assert scroll.max_scroll_y == 0
        await at.press("question_mark")


@on_screen()
async def test_the_theme_key_goes_round(at: Desk) -> None:
    await at.windows(1)
    title = at.app.main.query_one("#title", Panel)
    seen = []
    for _ in range(4):
        seen.append((at.app.theme, title.render_line(0)._segments[0].style))
        await at.press("t")
        await at.pilot.pause()
    assert seen[0] == seen[3]
    assert len({theme for theme, _ in seen}) == 3
    assert seen[0][1] != seen[1][1]


@pytest.mark.parametrize("environment", ["COLORTERM", "NO_COLOR"])
@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 40), (200, 50)])
def test_a_part_is_drawn_as_textual_itself_would_draw_it(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], environment: str
) -> None:
    monkeypatch.setenv(environment, "1")

    @on_screen(size=size)
    async def at_size(at: Desk) -> None:
        for key in ("t", "t", "t", "u", "p", "space"):
            await at.windows(1)
            for panel in at.app.main.query(Panel):
                if panel.display and panel.size:
                    whole = panel.size.region
                    for crop in (whole, whole.shrink((0, 9, 0, 3))):
                        assert panel.render_lines(crop) == Widget.render_lines(panel, crop)
                    kept = panel.render_lines(whole)
                    # Has each made anew: what is kept must look like that.
                    panel.notify_style_update()
                    assert panel.render_lines(whole) == kept
            await at.press(key)
            await at.pilot.pause()

    at_size()


@pytest.mark.parametrize("key", ["question_mark", "c", "exclamation_mark", "colon"])
def test_a_page_that_is_closed_twice_in_one_breath_takes_no_other_along(key: str) -> None:
    @on_screen()
    async def run(at: Desk) -> None:
        await at.windows(1)
        await at.press(key)
        page = at.app.screen
        assert page is not at.app.main
        page.dismiss()
        page.dismiss()
        await at.pilot.pause()
        assert at.app.screen is at.app.main

    run()


@on_screen()
async def test_a_theme_is_remembered_only_when_that_is_asked_for(at: Desk) -> None:
    await at.press("t")
    assert at.themes == []
    await at.press("T")
    assert at.themes == ["light"]
    assert "theme light from the next start on: config.toml" in at.notices


@on_screen(refusal="no room")
async def test_a_theme_that_cannot_be_remembered_is_told_with_the_reason(at: Desk) -> None:
    await at.press("T")
    assert "no room" in at.notices


@pytest.mark.parametrize("key", ["q", "ctrl+c"])
def test_quit_ends_with_0(key: str) -> None:
    @on_screen()
    async def by_key(at: Desk) -> None:
        await at.press(key)
        await at.until(lambda: at.app.return_value is not None)
        assert at.app.return_value == 0

    by_key()


@on_screen()
async def test_ctrl_c_quits_from_a_question_too(at: Desk) -> None:
    await at.press("2")
    await at.until(lambda: isinstance(at.app.screen, Question))
    await at.press("ctrl+c")
    await at.until(lambda: at.app.return_value == 0)


@on_screen()
async def test_nothing_on_the_main_screen_takes_the_focus(at: Desk) -> None:
    await at.press("tab")
    assert at.app.focused is None


@on_screen()
async def test_every_action_is_in_the_palette(at: Desk) -> None:
    titles = [command.title for command in at.app.get_system_commands(at.app.screen)]
    assert {"Next CPU", "Save a snapshot", "Help", "Quit", "Warnings and details"} <= set(titles)
    await at.press("colon")
    assert isinstance(at.app.screen, CommandPalette)


@on_screen()
async def test_the_words_of_the_key_line_can_be_clicked(at: Desk) -> None:
    await at.windows(1)
    place = at.part("keys").index("pause")
    await at.pilot.click("#keys", offset=(place, 0))
    assert "PAUSED" in at.part("title")


# -- how it behaves -----------------------------------------------------------------------------


@on_screen()
async def test_only_what_changes_is_drawn_again(at: Desk) -> None:
    await at.windows(1)
    drawn: list[str | None] = []
    for panel in at.app.main.query(Panel):
        panel.refresh = lambda *_regions, id=panel.id: drawn.append(id)  # type: ignore[method-assign, assignment]
    at.app.draw()
    assert drawn == []
    at.app.session.in_cycles = True
    at.app.draw()
    assert set(drawn) == {"figures", "histogram", "sources", "worst"}


@on_screen()
async def test_a_row_that_stays_the_same_is_made_once(at: Desk) -> None:
    await at.windows(1)
    panel = at.app.main.query_one("#figures", Panel)
    before = panel.render_lines(panel.size.region)
    at.app.draw()
    assert all(map(operator.is_, before, panel.render_lines(panel.size.region)))
    await at.windows(1)
    after = panel.render_lines(panel.size.region)
    assert [old is new for old, new in zip(before, after, strict=True)] == [
        old == new for old, new in zip(before, after, strict=True)
    ]
    assert before != after


@on_screen()
async def test_what_a_click_would_act_on_is_marked_under_the_mouse(at: Desk) -> None:
    await at.windows(1)
    panel = at.app.main.query_one("#keys", Panel)
    before = panel.render_lines(panel.size.region)
    await at.pilot.hover("#keys", offset=(at.part("keys").index("pause"), 0))
    assert panel.render_lines(panel.size.region) != before
    await at.pilot.hover("#histogram")
    assert panel.render_lines(panel.size.region) == before


@on_screen()
async def test_readings_that_come_faster_are_drawn_once_a_second(at: Desk) -> None:
    drawn = []
    show = at.app.main.show
    at.app.main.show = lambda view: drawn.append(view) or show(view)  # type: ignore[method-assign, func-returns-value]
    begun_s = time.monotonic()
    await at.hand_on(*scripted_windows(at.source.segment, 20))
    assert 1 <= len(drawn) <= 1 + (time.monotonic() - begun_s) / 0.9


@on_screen()
async def test_no_frame_is_drawn_while_the_terminal_is_behind(at: Desk) -> None:
    await at.windows(1)
    frames = at.app._frames
    frames._drawn_s, frames._backlog = 0.0, lambda: 3
    await at.hand_on(*scripted_windows(at.source.segment, 2)[1:])
    assert "250 ticks" in at.part("figures")
    frames._backlog = lambda: 0
    await at.until(lambda: "500 ticks" in at.part("figures"))


def test_a_source_that_cannot_be_opened_is_told_in_words() -> None:
    def refuse(*_args: Any, **_options: Any) -> WindowSource:
        raise TickmonError("the counter cannot be read here")

    @on_screen(source_of=refuse)
    async def refused(at: Desk) -> None:
        await at.until(lambda: "the counter cannot be read here" in at.part("message"))

    refused()


def test_a_fault_of_our_own_ends_the_app() -> None:
    def fail(*_args: Any, **_options: Any) -> WindowSource:
        raise ZeroDivisionError("a bug")

    @on_screen(source_of=fail)
    async def failing(at: Desk) -> None:
        await at.until(lambda: at.app.return_value == 1)
        assert isinstance(at.app.fault, ZeroDivisionError)

    failing()


@pytest.mark.parametrize("opens", ["c", "colon", "ctrl+p"])
def test_pages_of_a_list_can_be_turned_before_there_are_any(opens: str) -> None:
    @on_screen()
    async def turning(at: Desk) -> None:
        await at.windows(1)
        for key in (opens, "pagedown", "pageup", "x", "pagedown", "y", "pageup", "backspace", "pagedown"):
            at.app.simulate_key(key)
        await at.pilot.pause(0.2)
        await at.press("pagedown", "pageup")
        assert at.app.fault is None
        assert at.app.screen is not at.app.main

    turning()


@on_screen()
async def test_only_the_newest_notice_is_shown(at: Desk) -> None:
    await at.windows(1)
    for _ in range(6):
        await at.press("s")
    await at.until(lambda: len(at.saved) == 6)
    await at.until(lambda: len(at.app._notifications) == 1)


@on_screen()
async def test_the_number_of_a_cpu_whose_sampler_has_ended_starts_it_again(at: Desk) -> None:
    await at.windows(1)
    await at.hand_on(Ended(error="the sampler on CPU 3 was killed"))
    await at.press("3")
    await at.opened(2)
    assert at.source.settings.cpu == 3


@pytest.mark.parametrize("key", ["pagedown", "pageup", "down", "up", "left"])
def test_keys_that_move_turn_the_pages_of_the_help(key: str) -> None:
    @on_screen()
    async def turned(at: Desk) -> None:
        await at.press("question_mark")
        await at.press(key)
        await at.pilot.pause()
        assert "page 2 of 2" in str(at.app.screen.query_one("#list-title", Static).render())

    turned()


def test_every_line_of_the_keys_page_fits_80_columns() -> None:
    assert max(len(line) for line in keys_page(ACTIONS).plain.splitlines()) < 80


@on_screen()
async def test_a_click_on_a_figure_explains_it(at: Desk) -> None:
    await at.windows(1)
    await at.pilot.click("#figures", offset=(20, 2))
    screen = at.app.screen
    assert isinstance(screen, Help)
    assert "page 2 of 2" in str(screen.query_one("#list-title", Static).render())
    page = screen.query_one("#help-text", Static).render()
    assert isinstance(page, Content)
    (marked,) = (span for span in page.spans if "reverse" in str(span.style))
    assert page.plain[marked.start : marked.end] == "min-baseline"


@on_screen(why="CPU 3 is measured: isolated and idle")
async def test_the_first_start_says_which_cpu_and_why_until_it_is_dismissed(at: Desk) -> None:
    assert "CPU 3 is measured: isolated and idle\n? explains the figures" in at.notices
    await at.press("escape")
    assert at.notices == ""
