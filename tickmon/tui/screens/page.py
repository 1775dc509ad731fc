"""A page over the main screen, which only closes while it is on top."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType

_LEAVING = ("close", "answer")
"""Actions that need no part of a page."""


class Page(Screen[ScreenResultType]):
    """What is typed in one breath can reach a page that has closed already, or over which another lies."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether ``action`` can be done. Before its parts are there a page can only be left."""
        if not self.is_mounted and action not in _LEAVING:
            return False
        return super().check_action(action, parameters)

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Closes the page with ``result``. Textual would take away the one on top, whichever that is."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
