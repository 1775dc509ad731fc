"""The themes: named as the command line names them, and readable with few colours too."""

from __future__ import annotations

from itertools import combinations
from typing import get_args

import pytest
from rich.color import ColorSystem
from rich.style import Style

from tickmon import options
from tickmon.tui.rows import Ink
from tickmon.tui.themes import THEMES, ink_style

INKS: tuple[Ink, ...] = get_args(Ink)
TOLD_APART: tuple[tuple[Ink, ...], ...] = (
    ("tick", "train", "rest"),
    ("live", "paused"),
    ("plain", "good", "warn", "bad"),
    ("line", "older"),
    ("value", "faint"),
)
"""Inks whose difference says something."""

on_each_terminal = pytest.mark.parametrize("colours", [ColorSystem.STANDARD, ColorSystem.EIGHT_BIT])
in_each_theme = pytest.mark.parametrize("name", options.THEMES)


def sent(ink: Ink, name: str, colours: ColorSystem) -> tuple[object, object]:
    """What a terminal with few colours is sent: the number of the letters' colour, and of what is behind."""
    theme = next(theme for theme in THEMES if theme.name == name)
    style = Style.parse(f"{theme.foreground} on {theme.background}") + ink_style(ink, name, colourless=False)
    assert style.color is not None
    assert style.bgcolor is not None
    return style.color.downgrade(colours).number, style.bgcolor.downgrade(colours).number


def test_the_command_line_knows_every_theme_and_the_first_is_the_default() -> None:
    assert tuple(theme.name for theme in THEMES) == options.THEMES


@on_each_terminal
@in_each_theme
@pytest.mark.parametrize("ink", INKS)
def test_letters_are_seen_against_what_is_behind_them(ink: Ink, name: str, colours: ColorSystem) -> None:
    letters, behind = sent(ink, name, colours)
    assert letters != behind


@on_each_terminal
@in_each_theme
@pytest.mark.parametrize("inks", TOLD_APART, ids="-".join)
def test_inks_that_mean_different_things_look_different(
    inks: tuple[Ink, ...], name: str, colours: ColorSystem
) -> None:
    for one, other in combinations(inks, 2):
        assert sent(one, name, colours) != sent(other, name, colours), (one, other)
