"""A page over the main screen, which only closes while it is on top."""

from __future__ import annotations

from textual.await_complete import AwaitComplete
from textual.screen import Screen, ScreenResultType


class Page(Screen[ScreenResultType]):
    """What is typed in one breath can reach a page that has closed already, or over which another lies."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Closes the page with ``result``. Textual would take away the one on top, whichever that is."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
