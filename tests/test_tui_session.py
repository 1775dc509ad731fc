"""What is chosen, what runs, and what is shown of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from tests.scripted import scripted_cpus, scripted_segment, scripted_windows
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.trend import NO_TREND, extend
from tickmon.tui.session import Session
from tickmon.tui.view import Reading
from tickmon.windows import Ended, Method, OpenGap, Settings

SETTINGS = Settings(cpu=3)
NOW = datetime(2026, 11, 30, 15, 16, 18, tzinfo=UTC)
TURN = 1


def begun() -> Session:
    session = Session(SETTINGS, scripted_cpus(4))
    session.opened(TURN, "start")
    return session


def a_reading() -> Reading:
    (window,) = scripted_windows(scripted_segment(SETTINGS), 1)
    analysis, _ = analyse(window, Clocks())
    return Reading(analysis=analysis, trend=extend(NO_TREND, analysis))


def test_only_the_news_of_the_newest_turn_are_heard() -> None:
    session = begun()
    assert not session.hear(TURN - 1, a_reading())
    assert session.shown is None


def test_the_first_reading_is_shown_without_delay_and_later_ones_when_due() -> None:
    session = begun()
    assert session.hear(TURN, a_reading())
    assert not session.hear(TURN, a_reading())


def test_a_chosen_cpu_hides_the_reading_until_the_choice_is_taken_back() -> None:
    session, reading = begun(), a_reading()
    session.hear(TURN, reading)
    session.choose(replace(SETTINGS, cpu=1), "cpu")
    assert session.view().reading is None
    session.hear(TURN, a_reading())
    assert session.view().reading is None
    session.go_back()
    assert session.view().reading is not None
    assert session.reason == ""


def test_of_several_changes_the_strongest_reason_counts() -> None:
    session = begun()
    session.choose(replace(SETTINGS, method=Method.LOOP), "method")
    session.choose(replace(SETTINGS, method=Method.LOOP, window_s=2.0), "settings")
    assert session.reason == "method"


def test_starting_again_with_the_same_settings_is_a_change() -> None:
    session = begun()
    session.choose(SETTINGS, "reset")
    assert session.reason == "reset"


def test_going_back_takes_a_start_again_back_too() -> None:
    session, reading = begun(), a_reading()
    session.hear(TURN, reading)
    session.choose(SETTINGS, "reset")
    session.go_back()
    assert session.reason == ""
    assert session.view().reading is reading


def test_a_cpu_is_entered_anew_once_its_source_has_ended_or_was_suspended() -> None:
    session = begun()
    assert session.runs_on(3)
    assert not session.runs_on(1)
    session.hear(TURN, Ended(error="it was killed"))
    assert not session.runs_on(3)
    session.opened(TURN + 1, "reset")
    assert session.runs_on(3)
    session.come_back()
    assert not session.runs_on(3)


def test_nothing_is_called_live_until_it_is_opened_again() -> None:
    session = begun()
    session.hear(TURN, a_reading())
    session.come_back()
    assert session.view().reading is None


def test_another_window_length_keeps_the_picture_until_the_next_reading() -> None:
    session = begun()
    session.hear(TURN, a_reading())
    session.choose(replace(SETTINGS, window_s=2.0), "settings")
    session.opened(TURN + 1, "settings")
    assert session.view().reading is not None


def test_another_method_begins_with_an_empty_picture() -> None:
    session = begun()
    session.hear(TURN, a_reading())
    session.choose(replace(SETTINGS, method=Method.LOOP), "method")
    session.opened(TURN + 1, "method")
    view = session.view()
    assert view.reading is None
    assert view.axis is None


def test_a_pause_holds_through_being_suspended() -> None:
    session, reading = begun(), a_reading()
    session.hear(TURN, reading)
    session.toggle_pause()
    session.opened(TURN + 1, "jump")
    session.hear(TURN + 1, a_reading())
    view = session.view()
    assert view.reading is reading
    assert view.paused


def test_nothing_can_be_paused_before_there_is_a_reading() -> None:
    session = begun()
    session.toggle_pause()
    assert not session.paused


def test_the_first_sign_of_an_open_gap_is_shown_without_delay() -> None:
    session = begun()
    session.hear(TURN, a_reading())
    assert session.hear(TURN, OpenGap(since=NOW, gap_s=0.3))
    assert not session.hear(TURN, OpenGap(since=NOW, gap_s=0.4))
    assert session.view().open_gap is not None
    session.hear(TURN, a_reading())
    assert session.view().open_gap is None


def test_an_end_is_forgotten_once_something_else_is_opened() -> None:
    session = begun()
    session.hear(TURN, Ended(error="it was killed"))
    assert session.view().ended == "it was killed"
    session.choose(SETTINGS, "reset")
    assert session.view().ended is None
    session.opened(TURN + 1, "reset")
    assert session.view().ended is None
