"""Textual's driver of the terminal, with what it lacks: suspending, clearing, a backlog, plain ASCII."""

from __future__ import annotations

import os
import signal
from types import FrameType
from typing import TYPE_CHECKING, Any

from textual.drivers.linux_driver import LinuxDriver

if TYPE_CHECKING:
    from tickmon.tui.app import TickmonApp

_ASCII = str.maketrans(
    {
        **dict(zip("▁▂▃▄▅▆▇█", ".::-=+*#", strict=True)),
        **dict.fromkeys("─━╌╶╴╺╸▔▀", "-"),
        **dict.fromkeys("│┃┊╵╷╹╻▌▐▊▎▏▕", "|"),
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
        **dict.fromkeys("·•", "."),
        "■": "*",
        "–": "-",
        "—": "-",
        "…": ".",
        "µ": "u",
        "≥": ">",
        "≤": "<",
        "←": "<",
        "→": ">",
        "↑": "^",
        "↓": "v",
        "×": "x",
    }
)


def to_ascii(text: str) -> str:
    """``text`` for a terminal that knows ASCII only; every character keeps its one column."""
    return text.translate(_ASCII).encode("ascii", "replace").decode()


class TerminalDriver(LinuxDriver):
    """Drives the terminal of a ``TickmonApp``."""

    _app: TickmonApp

    def __init__(self, app: TickmonApp, **options: Any) -> None:
        super().__init__(app, **options)
        signal.signal(signal.SIGTSTP, self._on_stop_asked)

    @property
    def backlog(self) -> int:
        """How many writes the terminal has not taken yet."""
        return self._writer_thread._queue.qsize() if self._writer_thread else 0

    def write(self, data: str) -> None:
        """Queues ``data`` for the terminal."""
        super().write(to_ascii(data) if self._app.ascii_only else data)

    def stop_application_mode(self) -> None:
        """Gives the terminal back as it was."""
        # tmux 3.3a shows rows of ours afterwards when the screen was enlarged meanwhile.
        self.write("\x1b[2J")
        super().stop_application_mode()

    def suspend(self) -> None:
        """Stops the whole process group as Ctrl-Z does in a shell; returns when it goes on.

        The group, because whoever started us (``uv run``) must stop as well for the shell to notice.
        Without a shell that would ever continue us, the kernel ignores the signal and we go on at once.
        """
        self.suspend_application_mode()
        self._must_signal_resume = True
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(0, signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._on_stop_asked)
        if self._must_signal_resume:
            self.resume_application_mode()

    def _on_stop_asked(self, _number: int, _frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._app.call_later, self._app.action_suspend)
