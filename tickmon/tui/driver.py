"""Textual's driver of the terminal, with what it lacks: suspending, clearing, a backlog, plain ASCII,
input of any kind, and keys that end the app also when nothing else is heeded."""

from __future__ import annotations

import os
import select
import signal
import threading
from codecs import getincrementaldecoder
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING, Any

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

if TYPE_CHECKING:
    from tickmon.tui.app import TickmonApp

_ASCII = str.maketrans(
    {
        **dict(zip("▁▂▃▄▅▆▇█", ".::-=+*#", strict=True)),
        **dict.fromkeys("─━╌╶╴╺╸▔▀", "-"),
        **dict.fromkeys("│┃┊╵╷╹╻▌▐▊▎▏▕", "|"),
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
        **dict.fromkeys("·•", "."),
        "░": "/",
        "±": "~",
        "−": "-",
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


_ENDING_KEYS = ("q", "ctrl+c")
_ANSWER_S = 3.0
"""An event loop that does nothing for so long after such a key hangs in a write that nobody reads."""
_LOOK_MS = 100
"""So often the input thread looks whether it is to end."""


class TerminalDriver(LinuxDriver):
    """Drives the terminal of a ``TickmonApp``."""

    _app: TickmonApp

    def __init__(self, app: TickmonApp, **options: Any) -> None:
        super().__init__(app, **options)
        signal.signal(signal.SIGTSTP, self._on_stop_asked)
        self._found: list[Any] | None = None

    @property
    def backlog(self) -> int:
        """How many writes the terminal has not taken yet."""
        return self._writer_thread._queue.qsize() if self._writer_thread else 0

    def write(self, data: str) -> None:
        """Queues ``data`` for the terminal."""
        super().write(to_ascii(data) if self._app.ascii_only else data)

    def _request_terminal_sync_mode_support(self) -> None:
        # Frames are marked only after the terminal has answered that it knows the marks.
        if self._app.sync:
            super()._request_terminal_sync_mode_support()

    def start_application_mode(self) -> None:
        """Takes the terminal; how it was found is kept from the first time."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        # After a SIGSTOP that nobody foresaw it is found as we had set it.
        self._found = self.attrs_before = self._found or self.attrs_before

    def stop_application_mode(self) -> None:
        """Gives the terminal back as it was."""
        # tmux 3.3a shows rows of ours afterwards when the screen was enlarged meanwhile.
        self.write("\x1b[2J")
        super().stop_application_mode()

    def close(self) -> None:
        """Ends the thread that writes, if it could be started, and does what that left undone by failing."""
        if self._writer_thread is not None and self._writer_thread.ident is not None:
            writer = self._writer_thread
            super().close()
            with suppress(OSError):  # The terminal is gone.
                while not writer._queue.empty():
                    os.write(writer.fileno(), (writer._queue.get_nowait() or "").encode())

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

    def run_input_thread(self) -> None:
        """Hands on what is typed until the app ends; whatever the bytes are, they are data."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        poller = select.poll()
        poller.register(self.fileno, select.POLLIN)
        while not self.exit_event.is_set():
            messages: list[Message] = []
            if poller.poll(_LOOK_MS):
                try:
                    typed = os.read(self.fileno, 4096)
                except OSError:
                    typed = b""
                if not typed:
                    # The terminal is gone, which others notice too.
                    return
                try:
                    messages += parser.feed(decode(typed))
                except ParseError:
                    parser = XTermParser(self._debug)
            messages += parser.tick()
            if any(isinstance(message, events.Key) and message.key in _ENDING_KEYS for message in messages):
                self._await_answer()
            for message in messages:
                self.process_message(message)

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except Exception as error:
            self._app.fail(error)

    def _await_answer(self) -> None:
        """Lets a key that ends the app end it also when the event loop does not come to it any more."""
        answered = threading.Event()
        self._loop.call_soon_threadsafe(answered.set)
        for _ in range(round(_ANSWER_S * 1000 / _LOOK_MS)):
            if answered.wait(_LOOK_MS / 1000) or self.exit_event.is_set():
                return
        self._app.when_ending(0)

    def _sigcont_application(self, *_: object) -> None:
        if self._must_signal_resume:
            super()._sigcont_application()
        elif self._writer_thread is not None:
            # Stopped from outside: meanwhile a shell may have made the terminal its own.
            self._loop.call_soon_threadsafe(self._app.call_later, self._take_again)

    def _take_again(self) -> None:
        self.disable_input()
        self.close()
        self.start_application_mode()
        self._app.refresh(layout=True)

    def _on_stop_asked(self, _number: int, _frame: FrameType | None) -> None:
        self._loop.call_soon_threadsafe(self._app.call_later, self._app.action_suspend)
