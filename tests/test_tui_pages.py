"""Every page: how it is opened, left and ended, and that its keys do what they are said to do."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tests.desk import Desk, desk
from tests.scripted import examine_scripted
from tickmon.tui.actions import ACTIONS, Action
from tickmon.tui.app import TickmonApp
from tickmon.tui.overview_actions import OVERVIEW_ACTIONS
from tickmon.tui.screens.help import Help, figures_page, keys_page
from tickmon.tui.screens.overview import Overview

PAGES = [
    ("question_mark",),
    ("question_mark", "question_mark"),
    ("d",),
    ("exclamation_mark",),
    ("c",),
    ("W",),
    ("o",),
    ("o", "a"),
    ("o", "question_mark"),
    ("2",),
]
"""The keys that lead to each; 2 is busy, which is asked about."""
PALETTE = ("colon",)


async def open_page(at: Desk, keys: Sequence[str]) -> None:
    await at.windows(2)
    await at.press(*keys)
    await at.until(lambda: at.app.screen is not at.app.main)
    await at.pilot.pause()


@pytest.mark.parametrize(
    ("page", "action"),
    [("help", "turn"), ("cpus", "shorten"), ("overview", "open"), ("overview", "save"), ("overview", "sort")],
)
def test_a_key_that_comes_before_the_parts_of_its_page_does_nothing(page: str, action: str) -> None:
    async def hurry() -> None:
        async with desk(examine=examine_scripted) as at:
            await at.windows(2)
            await at.app.run_action(page)
            assert not at.app.screen.is_mounted
            await at.app.run_action(action, default_namespace=at.app.screen)
            await at.until(lambda: at.app.screen.is_mounted)
            await at.press("escape")
            await at.until(lambda: at.app.screen is at.app.main)

    asyncio.run(hurry())


@pytest.mark.parametrize("keys", PAGES, ids=" ".join)
@pytest.mark.parametrize("key", ["q", "escape"])
def test_q_and_escape_lead_back_from_every_page_and_q_ends_it_there(keys: Sequence[str], key: str) -> None:
    async def leave() -> None:
        async with desk(examine=examine_scripted) as at:
            await open_page(at, keys)
            while at.app.screen is not at.app.main:
                depth = len(at.app.screen_stack)
                await at.press(key)
                await at.until(lambda depth=depth: len(at.app.screen_stack) == depth - 1)  # type: ignore[misc]
            assert at.app.return_value is None
            await at.press("q")
            assert at.app.return_value == 0

    asyncio.run(leave())


@pytest.mark.parametrize("keys", [*PAGES, PALETTE, ("o", "colon")], ids=" ".join)
def test_ctrl_c_ends_it_on_every_page(keys: Sequence[str]) -> None:
    async def end() -> None:
        async with desk(examine=examine_scripted) as at:
            await open_page(at, keys)
            await at.press("ctrl+c")
            assert at.app.return_value == 0

    asyncio.run(end())


@pytest.mark.parametrize("action", [*ACTIONS, *OVERVIEW_ACTIONS], ids=lambda action: action.name)
def test_every_action_has_a_method_where_it_is_looked_for(action: Action) -> None:
    place, _, name = action.name.partition("(")[0].rpartition(".")
    assert callable(getattr(Overview if place == "screen" else TickmonApp, f"action_{name}"))


def test_help_in_the_overview_tells_the_keys_of_the_overview() -> None:
    async def look() -> None:
        async with desk() as at:
            await open_page(at, ("o", "question_mark"))
            assert isinstance(at.app.screen, Help)
            words = str(at.app.screen.query_one("#help-text").render())
            for action in OVERVIEW_ACTIONS:
                assert action.shown.split()[0] in words
            assert "the chosen CPU's last window" in words
            assert "window on show" not in words

    asyncio.run(look())


@pytest.mark.parametrize("width", [40, 56, 78, 198])
def test_lines_of_the_help_are_broken_where_they_begin(width: int) -> None:
    for page, column in ((keys_page(ACTIONS, width), 11), (figures_page(width), 15)):
        lines = page.plain.split("\n\nWhat")[0].splitlines()
        assert max(map(len, lines)) <= width
        assert all(line[:column].isspace() or line[0] != " " for line in lines)


def test_the_help_fits_24_rows() -> None:
    for page in (keys_page(ACTIONS), keys_page(OVERVIEW_ACTIONS), figures_page()):
        assert len(page.plain.splitlines()) <= 22
