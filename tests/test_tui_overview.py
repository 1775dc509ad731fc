"""The overview: what its rows say, how they are ordered, and what the keys do."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from textual.command import CommandPalette

from tests.desk import Desk, on_screen
from tests.making import Life, make_tick, make_window
from tests.scripted import QUIET_LIFE, look_idle, scripted_cpus, scripted_segment, scripted_windows
from tickmon.machine.busy import CpuUse, Occupant
from tickmon.sampling.survey import Failed, Looked, Sampling, Seen
from tickmon.tui.board import Board, CpuRow, busy_words
from tickmon.tui.roster import lines_of
from tickmon.tui.screens.help import Help
from tickmon.tui.screens.overview import Overview
from tickmon.tui.screens.question import Question
from tickmon.tui.widgets.cpurow import draw_cpu, heading_text
from tickmon.tui.widgets.cputable import CpuTable
from tickmon.windows import Ended, Settings, Window

# -- rows ---------------------------------------------------------------------------------------


ONE = scripted_cpus(2, usable=frozenset({1}))
SEGMENTS = itertools.count(1)
"""Each visit begins one."""


def a_window(cpu: int = 1, *, life: Life = QUIET_LIFE, **changes: Any) -> Window:
    segment = scripted_segment(Settings(cpu=cpu, window_s=0.25), segment=next(SEGMENTS))
    segment = replace(segment, **changes)
    return scripted_windows(segment, 1, life=life)[0]


def text_of(row: CpuRow, width: int = 80) -> str:
    return "".join(piece.text for piece in draw_cpu(row, bracket="╭", what="isolated", width=width))


def seen_row(**changes: Any) -> CpuRow:
    board = Board(ONE)
    board.take(Seen(cpu=1, window=a_window()))
    return replace(board.rows[1], **changes)


def test_a_measured_cpu_shows_its_figures() -> None:
    text = text_of(seen_row())
    assert text.startswith(" ╭    1  0.04")
    assert "250 of 250" in text
    assert "1.9" in text
    assert " ok " in text


@pytest.mark.parametrize("width", [64, 80, 104, 132, 200])
def test_every_row_fits_and_stands_below_its_heading(width: int) -> None:
    row, heading = text_of(seen_row(), width), heading_text(width)
    assert len(row) <= width
    assert len(heading) <= width
    assert row[heading.index("check") :].startswith("ok")
    assert row[: heading.index("overhead") + len("overhead")].endswith("%")


def test_a_wide_row_says_when_it_was_measured_and_what_the_cpu_is() -> None:
    at = datetime.fromtimestamp(1_790_000_000, UTC)
    assert f"{at.astimezone():%H:%M}" in text_of(seen_row(), 104)
    assert "isolated" in text_of(seen_row(), 132)


def test_a_busy_cpu_shows_what_runs_there_and_no_old_figures() -> None:
    board = Board(ONE)
    board.take(Seen(cpu=1, window=a_window()))
    board.take(Looked(uses=look_idle([1], traded=[1])))
    assert "left alone: runs trader (98 %)" in text_of(board.rows[1])
    assert "of 250" not in text_of(board.rows[1])


def test_a_busy_cpu_that_was_named_shows_its_figures() -> None:
    board = Board(ONE, consented=[1])
    board.take(Looked(uses=look_idle([1], traded=[1])))
    board.take(Seen(cpu=1, window=a_window()))
    assert "250 of 250" in text_of(board.rows[1])


def test_a_cpu_that_goes_offline_says_so_and_nothing_of_it_is_used_again() -> None:
    board = Board(ONE)
    board.take(Seen(cpu=1, window=a_window()))
    board.take(Looked(uses=look_idle([1], offline=[1])))
    assert "offline" in text_of(board.rows[1])
    board.take(Looked(uses=look_idle([1])))
    assert board.rows[1] == CpuRow(cpu=1)


def test_a_failed_visit_says_why_until_the_next_one() -> None:
    board = Board(ONE)
    board.take(Seen(cpu=1, window=a_window()))
    board.take(Failed(cpu=1, why="the sampler was killed"))
    assert "not measured: the sampler was killed" in text_of(board.rows[1])
    board.take(Seen(cpu=1, window=a_window()))
    assert "250 of 250" in text_of(board.rows[1])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sampled": True}, "being measured"),
        ({"spared": True}, "left to tickmon's own screen"),
        ({}, "…"),
    ],
)
def test_a_cpu_without_figures_says_why(changes: dict[str, Any], words: str) -> None:
    assert words in text_of(CpuRow(cpu=1, **changes))


def test_a_stopped_tick_and_an_unknown_hz_are_told_apart() -> None:
    board = Board(scripted_cpus(3))
    board.take(Seen(cpu=1, window=a_window(life=Life(hz=None), kernel_tick=make_tick(may_stop=True))))
    board.take(Seen(cpu=2, window=a_window(2, life=Life(hz=None, noise_hz=0.0), kernel_tick=None)))
    assert "stopped" in text_of(board.rows[1])
    assert "– " in text_of(board.rows[2])
    assert "unknown" in text_of(board.rows[2])


def test_the_worst_is_kept_while_the_other_figures_are_the_newest() -> None:
    board = Board(ONE)
    board.take(Seen(cpu=1, window=make_window([(1000, 2_000_000)])))
    board.take(Seen(cpu=1, window=a_window()))
    assert board.rows[1].worst_ns == 1e6
    assert "1.00 ms" in text_of(board.rows[1])


def test_what_did_not_change_is_not_told_again() -> None:
    board = Board(scripted_cpus(2))
    use = CpuUse(cpu=1, idle_share=0.05, occupants=(Occupant(name="trader", pid=1, share=0.951),))
    assert set(board.take(Looked(uses={1: use}))) == {1}
    assert (
        board.take(Looked(uses={1: replace(use, occupants=(replace(use.occupants[0], share=0.949),))})) == {}
    )
    assert set(board.take(Sampling(cpus=frozenset({0})))) == {0}


def test_busy_is_told_without_an_occupant_too() -> None:
    assert busy_words(CpuUse(cpu=1, idle_share=0.71, occupants=())) == "is 29 % busy"
    assert busy_words(CpuUse(cpu=1, idle_share=None, occupants=())) == "cannot be seen to be idle"


def test_the_time_line_has_the_same_scale_for_every_cpu() -> None:
    shares = (0.0, 1e-5, 1e-3, 0.02, 0.9)
    lines = [text_of(seen_row(shares=(share,), windows=1)).rstrip(" │")[-1] for share in shares[1:]]
    assert lines == ["▁", "▃", "▅", "█"]
    nothing = text_of(seen_row(shares=(0.0,), windows=1))
    assert not set("▁▂▃▄▅▆▇█") & set(nothing)


# -- order --------------------------------------------------------------------------------------

ROWS = {cpu: CpuRow(cpu=cpu, worst_ns=ns) for cpu, ns in enumerate([10.0, 30.0, None, 50.0, 20.0, 40.0])}
PAIRS = {0: 3, 3: 0, 1: 4, 4: 1, 2: 5, 5: 2}


def listed(
    *, by_worst: bool = False, grouped: bool = False, nodes: dict[int, int] | None = None
) -> list[Any]:
    cpus = scripted_cpus(6, siblings={a: frozenset({b}) for a, b in PAIRS.items()}, nodes=nodes or {})
    lines = lines_of(ROWS, cpus, by_worst=by_worst, grouped=grouped)
    return [line.text if line.cpu is None else line.cpu for line in lines]


def test_one_list_by_number_and_by_worst() -> None:
    assert listed() == [0, 1, 2, 3, 4, 5]
    assert listed(by_worst=True) == [3, 5, 1, 4, 0, 2]


def test_the_cpus_of_a_core_stay_together() -> None:
    assert listed(grouped=True) == [0, 3, 1, 4, 2, 5]
    assert listed(grouped=True, by_worst=True) == [0, 3, 2, 5, 1, 4]


def test_nodes_have_headings_where_there_are_several() -> None:
    nodes = {0: 0, 3: 0, 1: 1, 4: 1, 2: 1, 5: 1}
    assert listed(grouped=True, nodes=nodes) == [
        "node 0 · CPUs 0,3",
        0,
        3,
        "node 1 · CPUs 1-2,4-5",
        1,
        4,
        2,
        5,
    ]
    assert listed(grouped=True, nodes=dict.fromkeys(range(6), 0)) == [0, 3, 1, 4, 2, 5]


# -- the screen ---------------------------------------------------------------------------------


def table(at: Desk) -> CpuTable:
    return at.app.screen.query_one(CpuTable)


def shown(at: Desk) -> str:
    return "\n".join(table(at).render_line(y).text for y in range(table(at).size.height))


async def opened(at: Desk) -> None:
    """Has the overview open and its first visit begun."""
    await at.windows(1)
    count = len(at.sources)
    await at.press("o")
    await at.opened(count + 1)


async def visit(at: Desk) -> int:
    """Lets the visit at hand end well, and waits for the next one; returns the CPU."""
    source, count = at.source, len(at.sources)
    await at.hand_on(a_window(source.settings.cpu), source=source)
    await at.opened(count + 1)
    return source.settings.cpu


@on_screen()
async def test_o_has_the_main_sampler_stopped_before_the_scan_begins(at: Desk) -> None:
    await opened(at)
    assert isinstance(at.app.screen, Overview)
    assert at.sources[0].stopped
    assert at.source.reason == "scan"
    assert "CPU 3's own screen rests" in str(at.app.screen.query_one("#overview-notes").render())


@on_screen()
async def test_the_scan_fills_row_after_row_and_leaves_the_trader_alone(at: Desk) -> None:
    await opened(at)
    assert [await visit(at) for _ in range(3)] == [1, 3, 1]
    await at.until(lambda: shown(at).count("250 of 250") == 2)
    assert "left alone: runs trader (98 %)" in shown(at)


@on_screen()
async def test_an_idle_cpu_beside_a_busy_one_of_its_core_is_left_alone_and_says_why(at: Desk) -> None:
    await opened(at)
    await at.until(lambda: "left alone: sibling CPU 2 runs trader (98 %)" in shown(at))
    assert "2 left alone" in str(at.app.screen.query_one("#overview-notes").render())


@on_screen(named=(0, 3))
async def test_a_named_cpu_is_measured_beside_a_busy_one(at: Desk) -> None:
    await opened(at)
    assert [await visit(at) for _ in range(3)] == [0, 1, 3]


@on_screen()
async def test_s_saves_the_last_window_of_the_chosen_cpu(at: Desk) -> None:
    await opened(at)
    await at.press("s")
    await at.until(lambda: "nothing of CPU 0 to be saved: left alone: sibling CPU 2" in at.notices)
    await at.press("end", "s")
    await at.until(lambda: "nothing of CPU 3 to be saved: not measured yet" in at.notices)
    windows = [a_window(await visit(at)) for _ in range(2)]
    await at.until(lambda: shown(at).count("250 of 250") == 2)
    await at.press("s")
    await at.until(lambda: "snapshot.jsonl.gz" in at.notices)
    (saved,) = at.saved
    assert (saved.segment.cpu, saved.interruptions) == (3, windows[1].interruptions)


@on_screen(cpus=scripted_cpus(8))
async def test_all_at_once_says_that_siblings_disturb_each_other(at: Desk) -> None:
    await opened(at)
    notes = at.app.screen.query_one("#overview-notes")
    assert "siblings" not in str(notes.render())
    await at.press("a")
    await at.until(lambda: isinstance(at.app.screen, Question))
    words = " ".join(str(part.render()) for part in at.app.screen.query("Static"))
    assert "disturb each other" in words
    await at.press("y")
    await at.until(lambda: "siblings disturb each other" in str(notes.render()))


@pytest.mark.parametrize("key", ["o", "escape", "q"])
def test_back_from_the_overview_the_main_cpu_goes_on_after_a_look(key: str) -> None:
    @on_screen()
    async def by_key(at: Desk) -> None:
        await opened(at)
        await at.press(key)
        await at.until(lambda: at.app.screen is at.app.main and at.source.reason == "jump")
        assert at.source.settings.cpu == 3
        assert all(source.stopped for source in at.sources[:-1])
        await at.windows(1)
        assert "LIVE" in at.part("title")

    by_key()


@on_screen()
async def test_enter_opens_the_chosen_cpu(at: Desk) -> None:
    await opened(at)
    # By core: 0 and 2, 1 and 3.
    await at.press("down", "down", "enter")
    await at.until(lambda: at.source.reason == "cpu")
    assert at.source.settings.cpu == 1


@on_screen()
async def test_enter_that_comes_to_the_overview_below_a_question_takes_none_of_them_away(at: Desk) -> None:
    await opened(at)
    overview = at.app.screen
    assert isinstance(overview, Overview)
    # In one breath: the table has told of Enter, and nobody heard of it yet.
    table(at).action_open()
    overview.action_feed()
    await at.pilot.pause()
    assert isinstance(at.app.screen, Question)
    await at.press("n", "escape")
    await at.until(lambda: at.app.screen is at.app.main)
    assert at.app.screen_stack == [at.app.main]


@on_screen()
async def test_a_busy_cpu_is_entered_after_a_question_and_a_no_goes_back_to_the_main_one(at: Desk) -> None:
    await opened(at)
    await at.press("down", "enter")
    await at.until(lambda: isinstance(at.app.screen, Question))
    await at.press("n")
    await at.until(lambda: at.source.reason == "jump" and at.source.settings.cpu == 3)


@on_screen()
async def test_where_the_main_sampler_had_ended_it_stays_ended(at: Desk) -> None:
    await at.give(Ended(error="the sampler on CPU 3 was killed"))
    await at.press("o")
    await at.opened(2)
    await at.press("escape")
    await at.until(lambda: at.source.stopped)
    at.app.draw()
    assert "the sampler on CPU 3 was killed" in at.part("message")
    assert len(at.sources) == 2


@on_screen()
async def test_all_at_once_only_after_a_question(at: Desk) -> None:
    await opened(at)
    await at.press("a")
    await at.until(lambda: isinstance(at.app.screen, Question))
    await at.press("n", "a", "y")
    await at.until(lambda: {s.settings.cpu for s in at.sources if s.started and not s.stopped} == {1, 3})
    await at.press("a")
    await at.until(lambda: at.source.settings.window_s == 0.25)
    assert sum(not source.stopped for source in at.sources) == 1


@on_screen()
async def test_a_cpu_that_goes_offline_says_so_on_its_row(at: Desk) -> None:
    await opened(at)
    await visit(at)
    at.offline.add(1)
    await visit(at)
    await at.until(lambda: "offline" in shown(at))


@on_screen(named=(2,))
async def test_a_named_cpu_is_scanned_though_it_is_busy(at: Desk) -> None:
    await opened(at)
    assert [await visit(at) for _ in range(3)] == [1, 2, 3]


@on_screen()
async def test_sorting_and_grouping_by_key(at: Desk) -> None:
    await opened(at)
    assert [line.cpu for line in lines(at)] == [0, 2, 1, 3]
    await at.press("g")
    assert [line.cpu for line in lines(at)] == [0, 1, 2, 3]
    source = at.source
    await at.hand_on(replace(a_window(source.settings.cpu)), source=source)
    await at.press("w")
    await at.until(lambda: lines(at)[0].cpu == source.settings.cpu)


def lines(at: Desk) -> tuple[Any, ...]:
    held = table(at).table
    assert held is not None
    return held.lines


@on_screen(cpus=scripted_cpus(1024), settings=Settings(cpu=1023))
async def test_a_thousand_cpus_are_scrolled_through(at: Desk) -> None:
    await opened(at)
    await at.press("end")
    await at.pilot.pause()
    assert table(at).chosen == 1023
    assert " 1023 " in shown(at)
    assert "1,026 lines" in str(at.app.screen.query_one("#list-title").render())
    await at.press("home", "pagedown")
    await at.pilot.pause()
    assert " 1023 " not in shown(at)


@on_screen()
async def test_ctrl_z_in_the_overview_goes_on_with_it(at: Desk) -> None:
    await opened(at)
    screen = at.app.screen
    assert isinstance(screen, Overview)
    screen.begin()
    await at.until(lambda: at.source.reason == "scan" and at.sources[1].stopped and not at.source.stopped)


@on_screen()
async def test_its_keys_are_on_its_last_line_and_its_actions_in_the_palette(at: Desk) -> None:
    await opened(at)
    keys = str(at.app.screen.query_one("#list-keys").render())
    for words in ("Enter open", "w worst", "s save", "g group", "a all at once", "o Esc back"):
        assert words in keys
    await at.press("question_mark")
    assert isinstance(at.app.screen, Help)
    await at.press("escape", "ctrl+p")
    assert isinstance(at.app.screen, CommandPalette)
    await at.pilot.pause()
    await at.press(*"group by")
    await at.until(lambda: at.app.screen.query_one("CommandList").option_count == 1)  # type: ignore[attr-defined]
    await at.press("enter")
    await at.until(lambda: isinstance(at.app.screen, Overview))
    await at.until(lambda: [line.cpu for line in lines(at)] == [0, 1, 2, 3])


@on_screen()
async def test_a_frame_that_was_due_when_it_closed_is_not_drawn(at: Desk) -> None:
    await opened(at)
    screen = at.app.screen
    await at.press("escape")
    await at.pilot.pause()
    assert isinstance(screen, Overview)
    screen._draw()
    assert at.app.fault is None


@on_screen()
async def test_only_what_changes_is_drawn_again(at: Desk) -> None:
    await opened(at)
    await at.until(lambda: "left alone" in shown(at))
    drawn: list[Any] = []
    held = table(at)
    held.refresh = lambda *regions, **_options: drawn.extend(regions)  # type: ignore[method-assign, assignment]
    screen = at.app.screen
    assert isinstance(screen, Overview)
    screen._draw()
    assert drawn == []
    screen._rows[3] = seen_row(cpu=3)
    screen._draw()
    assert {region.y for region in drawn} == {3}
