"""Rows of inked text: fitting, spreading, and what of a row must be sent again."""

from __future__ import annotations

import pytest

from tickmon.analysis.readings import Check
from tickmon.tui.actions import ACTIONS
from tickmon.tui.driver import to_ascii
from tickmon.tui.frames import frame_due_in_s
from tickmon.tui.rows import Piece, changed_spans, fit, heading, row, spread_apart, width_of
from tickmon.tui.words import (
    check_words,
    cycles_text,
    kernel_row_words,
    length_text,
    range_text,
    rate_text,
    short_count,
)


def text_of(pieces: tuple[Piece, ...]) -> str:
    return "".join(piece.text for piece in pieces)


def test_a_row_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert text_of(fit(row("abc", ("defg", "value")), 5)) == "abcd…"
    assert text_of(fit(row("abc", ("defg", "value")), 7)) == "abcdefg"


def test_two_ends_of_a_row_keep_their_places() -> None:
    assert text_of(spread_apart(row("left"), row("right"), 12)) == "left   right"
    assert text_of(spread_apart(row("much too long"), row("right"), 12)) == "much t…right"


@pytest.mark.parametrize("width", [8, 20, 40])
def test_a_heading_fills_its_width(width: int) -> None:
    assert width_of(heading("name", width, "a longer note", "a note")) == max(width, 8)


def test_a_heading_says_the_longest_note_that_has_room() -> None:
    texts = [text_of(heading("name", width, "a longer note", "a note")) for width in (25, 20, 12)]
    assert texts == ["─ name ── a longer note ─", "─ name ──── a note ─", "─ name ─────"]


def test_only_the_columns_that_changed_are_sent_again() -> None:
    before = row("one ", ("12", "value"), " three")
    assert changed_spans(before, row("one ", ("13", "value"), " three")) == [(5, 6)]
    assert changed_spans(before, before) == []


def test_how_a_row_is_cut_into_pieces_makes_no_difference() -> None:
    assert changed_spans(row("one two"), row("one ", "two")) == []


def test_what_a_longer_row_left_behind_is_sent_again() -> None:
    assert changed_spans(row("one ", "two"), row("one ")) == [(4, 7)]


def test_what_moved_is_sent_again_though_it_is_the_same() -> None:
    assert changed_spans(row("one", ("two", "value")), row("ones", ("two", "value"))) == [(3, 7)]
    assert changed_spans(row("one", "two", "two"), row("one", "two")) == [(6, 9)]
    assert changed_spans(row("two"), row("one", "two")) == [(0, 6)]


def test_changes_close_to_each_other_are_sent_together() -> None:
    assert changed_spans(row("a123456b"), row("x123456y")) == [(0, 8)]
    assert changed_spans(row("a12345678b"), row("x12345678y")) == [(0, 1), (9, 10)]


def test_a_change_of_ink_is_a_change() -> None:
    assert changed_spans(row(("ab", "good")), row(("ab", "bad"))) == [(0, 2)]


@pytest.mark.parametrize(
    ("cycles", "text"),
    [
        (34, "34 cy"),
        (9_999, "9,999 cy"),
        (10_000, "10.0 kcy"),
        (999_600, "1.00 Mcy"),
        (4_210_000_000, "4.21 Gcy"),
    ],
)
def test_cycles_are_exact_up_to_four_digits(cycles: int, text: str) -> None:
    assert cycles_text(cycles) == text


def test_a_length_is_shown_in_the_chosen_unit() -> None:
    assert length_text(25_410, 2.1e9, in_cycles=False) == "12.1 µs"
    assert length_text(25_410, 2.1e9, in_cycles=True) == "25.4 kcy"
    assert length_text(None, 2.1e9, in_cycles=True) == "–"


def test_counts_stay_short() -> None:
    assert [short_count(n) for n in (0, 1_558, 12_345, 4_560_000)] == ["0", "1,558", "12.3 k", "4.56 M"]


def test_a_range_names_its_unit_once() -> None:
    assert range_text("16.2 ns", "17.1 ns") == "16.2–17.1 ns"
    assert range_text("900 ns", "1.20 µs") == "900 ns–1.20 µs"


def test_rates_are_of_one_second() -> None:
    assert rate_text(125, 0.5) == "250"
    assert rate_text(29_000, 2.0) == "14,500"


@pytest.mark.parametrize(
    ("check", "counted", "words"),
    [
        (
            Check(expected=250, seen=250, kernel=264, kernel_row="LOC", basis="kernel", verdict="ok"),
            "250 due, 250 seen",
            "ok",
        ),
        (
            Check(expected=250, seen=212, kernel=None, kernel_row=None, basis="kernel", verdict="missing"),
            "250 due, 212 seen",
            "38 MISSING",
        ),
        (
            Check(expected=250, seen=250, kernel=None, kernel_row=None, basis="kernel", verdict="extra"),
            "250 due, 250 seen",
            "EXTRA: it ticks faster than HZ",
        ),
        (
            Check(expected=250, seen=1, kernel=None, kernel_row=None, basis="kernel", verdict="stopped"),
            "250 due, 1 seen",
            "tick stopped, as nohz_full may",
        ),
        (
            Check(expected=250, seen=240, kernel=None, kernel_row=None, basis="kernel", verdict="unknown"),
            "250 due, 240 seen",
            "cannot be judged",
        ),
        (
            Check(expected=250, seen=None, kernel=None, kernel_row=None, basis="kernel", verdict="unknown"),
            "250 due",
            "when exactly is not known",
        ),
        (
            Check(
                expected=None, seen=None, kernel=None, kernel_row=None, basis="measured", verdict="unknown"
            ),
            "how many were due is not known",
            "cannot be checked",
        ),
        (
            Check(expected=250, seen=250, kernel=None, kernel_row=None, basis="option", verdict="ok"),
            "250 due, 250 seen",
            "ok, by your --hz",
        ),
        (
            Check(expected=250, seen=250, kernel=None, kernel_row=None, basis="measured", verdict="ok"),
            "250 due, 250 seen",
            "regular, HZ unknown",
        ),
    ],
)
def test_the_tick_check_is_told_in_words(check: Check, counted: str, words: str) -> None:
    assert check_words(check)[:2] == (counted, words)


def test_the_kernels_own_count_is_named_as_such() -> None:
    check = Check(expected=250, seen=250, kernel=264, kernel_row="LOC", basis="kernel", verdict="ok")
    assert kernel_row_words(check)[0] == "kernel's LOC row +264"


def test_every_character_of_ours_has_an_ascii_one_of_the_same_width() -> None:
    ours = "▁▂▃▄▅▆▇█─│┊╵┤╭╮╰╯╶╴╷•·■–…µ≥←→"
    assert to_ascii(ours).isascii()
    assert len(to_ascii(ours)) == len(ours)
    assert "?" not in to_ascii(ours)


def test_every_action_has_a_key_of_its_own() -> None:
    keys = [key for action in ACTIONS for key in action.keys.split(",")]
    assert len(keys) == len(set(keys))


def test_frames_are_nearly_a_second_apart() -> None:
    assert frame_due_in_s(since_last_s=0.2, backlog=0) == pytest.approx(0.7)
    assert frame_due_in_s(since_last_s=0.95, backlog=2) == 0.0


def test_no_frame_is_due_while_the_terminal_is_behind() -> None:
    assert frame_due_in_s(since_last_s=5.0, backlog=3) > 0
