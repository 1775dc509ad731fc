"""Options of every command that draws a screen."""

from __future__ import annotations

import argparse

from tickmon import options


def add_screen(parser: argparse.ArgumentParser) -> None:
    """How to draw."""
    group = parser.add_argument_group("screen")
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument(
        "--theme",
        choices=options.THEMES,
        help="colours; safe tells nothing by red and green (default: what key T remembered, or dark)",
    )
    group.add_argument(
        "--no-mouse", dest="mouse", action="store_false", help="leave the mouse to the terminal: select, copy"
    )
    group.add_argument(
        "--no-sync",
        dest="sync",
        action="store_false",
        help="no synchronized output, for a terminal that flickers or slows down with it",
    )


def screen_options(arguments: argparse.Namespace) -> options.ScreenOptions:
    """What ``add_screen`` asked for."""
    return options.ScreenOptions(
        ascii=arguments.ascii, mouse=arguments.mouse, sync=arguments.sync, theme=arguments.theme
    )
