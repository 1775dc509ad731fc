"""Textual's app as a program at a terminal needs it: its errors and its end, its size, its notices."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from rich.console import RenderableType
from textual._compositor import ChopsUpdate
from textual.app import App
from textual.events import Resize
from textual.geometry import Size
from textual.notifications import SeverityLevel
from textual.screen import Screen
from textual.worker import WorkerFailed

from tickmon.tui.driver import TerminalDriver
from tickmon.tui.exact import ExactUpdate

_RESIZE_S = 0.05
"""By then the kernel has set the size of which it told."""


class Base(App[int]):
    """Ends in order whatever fails, and follows the terminal's size."""

    def __init__(self) -> None:
        super().__init__(driver_class=TerminalDriver, ansi_color=True if "NO_COLOR" in os.environ else None)
        self.animation_level = "none"
        self.set_class(self.no_color, "-colourless")
        self.fault: Exception | None = None
        """An error of our own that ended the app."""
        self.when_ending: Callable[[int], None] = lambda code: None
        """Told once the app begins to end, and with which exit code; may be called from any thread."""

    # -- errors and the end ---------------------------------------------------------------------

    def on_load(self) -> None:
        """Has no error pass unseen from now on."""
        asyncio.get_running_loop().set_exception_handler(self._on_loop_error)

    def _on_loop_error(self, _loop: asyncio.AbstractEventLoop, what: dict[str, Any]) -> None:
        # Of a task that nobody waits for; asyncio would print it over whatever is on the terminal.
        error = what.get("exception")
        self.fail(error if isinstance(error, Exception) else RuntimeError(what["message"]))

    def fail(self, error: Exception) -> None:
        """Ends the app because of an error of its own; may be called from any thread."""
        self.fault = self.fault or error
        # The event loop may hang in a write that nobody carries out.
        self.when_ending(1)
        self.end(1)

    def end(self, code: int) -> None:
        """Ends the app; may be called from any thread and inside a signal handler."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self.exit, code)

    def exit(
        self, result: int | None = None, return_code: int = 0, message: RenderableType | None = None
    ) -> None:
        """Ends the app; to be called on the event loop."""
        self.when_ending(result or 0)
        super().exit(result, return_code, message)

    def _fatal_error(self) -> None:
        # Textual would print a traceback of a screenful.
        error = self._exception.error if isinstance(self._exception, WorkerFailed) else self._exception
        self.fault = self.fault or (error if isinstance(error, Exception) else None)
        self.when_ending(1)
        self._close_messages_no_wait()

    # -- what is seen ---------------------------------------------------------------------------

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        update = ExactUpdate(renderable) if isinstance(renderable, ChopsUpdate) else renderable
        super()._display(screen, update)

    def on_resize(self) -> None:
        """Looks at the size once more: the kernel sends SIGWINCH before it sets the new one (pty_resize() in
        drivers/tty/pty.c), and Textual's timer that gathers sizes may never fire."""
        self._after(_RESIZE_S, self._heed_size)

    def _heed_size(self) -> None:
        self._check_resize()
        if isinstance(self._driver, TerminalDriver):
            size = Size(*self._driver._get_terminal_size())
            if size != self.size:
                self.post_message(Resize(size, size))

    def _after(self, seconds: float, callback: Callable[[], object]) -> asyncio.TimerHandle:
        # Textual's own timer never fires when the event loop is held up for longer than its time.
        return asyncio.get_running_loop().call_later(seconds, self.call_later, callback)

    def _backlog(self) -> int:
        return self._driver.backlog if isinstance(self._driver, TerminalDriver) else 0

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,
    ) -> None:
        """One notice at a time: each of several would hide more of what is shown."""
        self.clear_notifications()
        super().notify(message, title=title, severity=severity, timeout=timeout, markup=markup)
