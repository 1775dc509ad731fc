"""The terminal must survive: checks before the start, signals, a terminal that is gone or does not read.

Nothing of Textual is imported here, so that a refusal costs nothing.
"""

from __future__ import annotations

import contextlib
import locale
import os
import select
import signal
import sys
import termios
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from tickmon.errors import TickmonError
from tickmon.threads import begin

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)

PATIENCE_S = 0.8
"""An orderly end must come within so long after a signal; then the process ends without one."""

QUIT_S = 3.0
"""The same after a key; nobody is in a hurry then, and a loaded machine may take its time."""

_RESTORE = (
    "\x18"  # ends an escape sequence that was cut off in the middle
    "\x1b[?2026l"  # synchronized output
    "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1016l"  # mouse
    "\x1b[?1004l\x1b[?2004l\x1b[?2048l"  # focus, paste and resize reports
    "\x1b[<u"  # the keyboard protocol
    "\x1b[0m\x1b[2J\x1b[?7h\x1b[?1049l\x1b[?25h"  # colours, wrap, the alternate screen, the cursor
)


def check_terminal(instead: str = "'tickmon sample' measures without a screen") -> None:
    """TickmonError when the screen cannot be drawn here; it says what can be done ``instead``."""
    for stream, name in ((sys.__stdin__, "input"), (sys.__stdout__, "output"), (sys.__stderr__, "error")):
        if stream is None or stream.closed or not stream.isatty():
            raise TickmonError(f"the live screen needs a terminal, but standard {name} is none: {instead}")
    term = os.environ.get("TERM", "")
    if term in ("", "dumb", "unknown"):
        raise TickmonError(
            f"the live screen cannot be drawn on a terminal of type {term or 'unknown'!r} (TERM): {instead}"
        )


def speaks_utf8() -> bool:
    """What is written to the terminal goes out as UTF-8; if not, the screen must do with ASCII."""
    sent = getattr(sys.__stderr__, "encoding", None) or "ascii"
    # Under LC_ALL=C Python sends UTF-8 all the same; whoever sets that wants something else.
    return all(name.lower().replace("-", "") == "utf8" for name in (sent, locale.getencoding()))


class Guard:
    """Ends the process whatever the terminal does, and leaves the terminal as it was found.

    A signal asks for an orderly end first. That can hang for ever in writes that nobody reads, so a thread
    waits for it only so long, then restores the terminal itself and leaves.
    """

    def __init__(
        self,
        *,
        end: Callable[[], None],
        words: Callable[[], str] = str,
        last: Callable[[], object] = lambda: None,
    ) -> None:
        """``end`` asks for an orderly end and returns at once; called in a signal handler or a thread.

        ``words()`` is one line for whoever sees an end that is not orderly, empty for none; ``last()`` is
        called then, and must return soon.
        """
        self._end = end
        self._words = words
        self._last = last
        self._attributes: list[Any] | None = None
        self._expected = False
        self._woken: int
        self._leave_at: tuple[float, int] | None = None
        """When (time.monotonic) an end is overdue, and its exit code."""
        self.signal: int | None = None
        """The signal that ended it; SIGHUP also when the terminal was lost without one."""

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, signals and the loss of the terminal end the process."""
        with contextlib.suppress(termios.error):
            self._attributes = termios.tcgetattr(0)
        # Signal handlers may write to it, and at the end no thread needs to be started.
        self._woken = os.eventfd(0)
        before = {}
        for number in ENDING_SIGNALS:
            # Under nohup a hang-up is ignored on purpose; the terminal's loss is seen by other means.
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, self._on_signal)
        begin(self._watch, name="hangup")
        try:
            yield
        finally:
            # Its loss may have ended the app through a failed read or write, before it was noticed here.
            if self.signal is None and _is_gone():
                self.signal = signal.SIGHUP
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._leave_because(number)

    def _leave_because(self, number: int) -> None:
        if self.signal is not None:
            return
        self.signal = number
        self._leave_within(PATIENCE_S, 128 + number)
        self._end()

    def expect_end(self, code: int) -> None:
        """The orderly end has begun by itself; it too must come, or the process ends without it."""
        if not self._expected:
            self._expected = True
            self._leave_within(QUIT_S, code)

    def _leave_within(self, seconds: float, code: int) -> None:
        overdue = (time.monotonic() + seconds, code)
        if self._leave_at is None or overdue < self._leave_at:
            self._leave_at = overdue
            os.eventfd_write(self._woken, 1)

    def leave(self, code: int) -> None:
        """Restores the terminal without waiting for anything, and ends the process."""
        with contextlib.suppress(OSError, termios.error):
            self._restore()
        self._last()
        os._exit(code)

    def _restore(self) -> None:
        # A descriptor of its own, so that not waiting stays a matter of this one write.
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)
        termios.tcflush(terminal, termios.TCOFLUSH)
        if self._attributes is not None:
            termios.tcsetattr(terminal, termios.TCSANOW, self._attributes)
        words = self._words()
        os.write(terminal, (_RESTORE + (f"tickmon: {words}\r\n" if words else "")).encode())

    def _watch(self) -> None:
        """Sleeps until an end is overdue, or the terminal gone: Textual would read there for ever."""
        poller = select.poll()
        poller.register(0, 0)
        poller.register(self._woken, select.POLLIN)
        while True:
            wait_s = None if self._leave_at is None else max(0.0, self._leave_at[0] - time.monotonic())
            ready = dict(poller.poll(None if wait_s is None else wait_s * 1000))
            if self._leave_at is not None and time.monotonic() >= self._leave_at[0]:
                self.leave(self._leave_at[1])
            if self._woken in ready:
                os.eventfd_read(self._woken)
            if 0 in ready and _is_lost(ready[0]):
                poller.unregister(0)
                self._leave_because(signal.SIGHUP)


def _is_gone() -> bool:
    """Whether the terminal at standard input was closed."""
    poller = select.poll()
    poller.register(0, 0)
    return any(_is_lost(events) for _, events in poller.poll(0))


def _is_lost(events: int) -> bool:
    return bool(events & (select.POLLHUP | select.POLLERR))
