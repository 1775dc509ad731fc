"""Textual's lists and palette, with pages that may be turned before there are any.

Textual 8.2.8 looks up the chosen option's line for PageUp and PageDown also when no line was laid out yet,
or when the palette hides its list, and fails.
"""

from __future__ import annotations

from typing import Any

from textual.command import CommandList, CommandPalette
from textual.widgets import OptionList
from textual.worker import Worker

from tickmon.tui.screens.page import Page


class Choices(OptionList):
    """A list of options."""

    def action_page_up(self) -> None:
        """One page up."""
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """One page down."""
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]


class Palette(CommandPalette, Page[None]):
    """All actions by name."""

    def run_worker(self, *work: Any, **options: Any) -> Worker[Any]:
        """Runs a search; one that is still at work when the page goes, and so fails, is nobody's concern."""
        return super().run_worker(*work, **{**options, "exit_on_error": False})

    def _action_command_list(self, action: str) -> None:
        if self.query_one(CommandList).scrollable_content_region:
            super()._action_command_list(action)
