"""A program in a real pseudo-terminal: what it draws, what it is told, what it leaves behind."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import pyte

WAIT_S = 30.0
"""Far longer than anything takes: a wait fails by it only when nothing comes at all."""

_PRIVATE_MODE = re.compile(rb"\x1b\[\?([\d;]+)([hl])")
# Keyboard protocols, which pyte does not know and would draw.
_UNKNOWN_TO_PYTE = re.compile(rb"\x1b\[[<>=?][\d;]*u|\x1b\[>[\d;]*[mq]|\x1bP[^\x1b]*\x1b\\")


class PseudoTerminal:
    """Runs ``argv`` as the leader of a session of its own, with a terminal of the given size."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        columns: int = 80,
        rows: int = 24,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stderr: int | None = None,
        before: Callable[[], None] | None = None,
    ) -> None:
        """``stderr`` replaces the terminal there; ``before`` runs in the new process before ``argv``."""
        self.master, slave = pty.openpty()
        self.set_size(columns, rows)
        self.modes_before = termios.tcgetattr(slave)
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.output = bytearray()
        """Everything that came, in order."""
        self.process = subprocess.Popen(
            argv,
            stdin=slave,
            stdout=slave,
            stderr=slave if stderr is None else stderr,
            env={
                "TERM": "xterm-256color",
                "TEXTUAL_DISABLE_KITTY_KEY": "1",
                **(os.environ if env is None else env),
            },
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_controlling(before),
        )
        # Kept open so that modes can be read after the program has gone.
        self.slave = slave

    def __enter__(self) -> PseudoTerminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """Closes the terminal, as a window that is closed or a cut connection does."""
        for descriptor in (self.master, self.slave):
            if descriptor >= 0:
                os.close(descriptor)
        self.master = self.slave = -1

    def set_size(self, columns: int, rows: int) -> None:
        """Gives the terminal another size; the program hears SIGWINCH."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        if hasattr(self, "screen"):
            self.screen.resize(rows, columns)

    def send(self, keys: str) -> None:
        """Types ``keys``."""
        os.write(self.master, keys.encode())

    def read(self, for_s: float) -> None:
        """Takes in what comes during ``for_s``."""
        end_s = time.monotonic() + for_s
        while (left_s := end_s - time.monotonic()) > 0 and self._read_once(left_s):
            pass

    def wait_for(self, wanted: str | Callable[[str], bool], *, within_s: float = WAIT_S) -> str:
        """Reads until the screen shows ``wanted`` (text, or what a function finds right); the screen."""
        end_s = time.monotonic() + within_s
        while True:
            shown = self.text
            if wanted in shown if isinstance(wanted, str) else wanted(shown):
                return shown
            left_s = end_s - time.monotonic()
            if left_s <= 0 or not self._read_once(left_s):
                raise AssertionError(f"the screen never showed {wanted!r}; it shows:\n{self.text}")

    def wait_for_exit(self, *, within_s: float = WAIT_S) -> int:
        """Reads until the program has ended; its exit code, negative when a signal killed it."""
        end_s = time.monotonic() + within_s
        while self.process.poll() is None:
            if time.monotonic() > end_s:
                raise AssertionError(f"the program did not end; the screen shows:\n{self.text}")
            self._read_once(0.02)
        while self.master >= 0 and self._read_once(0.0):
            pass
        return self.process.returncode

    @property
    def text(self) -> str:
        """The screen as lines of text."""
        return "\n".join(line.rstrip() for line in self.screen.display)

    @property
    def private_modes(self) -> set[int]:
        """The private modes that are on by now: alternate screen, mouse, paste…"""
        modes: set[int] = set()
        for numbers, switch in _PRIVATE_MODE.findall(bytes(self.output)):
            for number in numbers.split(b";"):
                (modes.add if switch == b"h" else modes.discard)(int(number))
        return modes

    @property
    def modes_now(self) -> list[Any]:
        """The terminal's own modes: echo, line editing, signals."""
        return termios.tcgetattr(self.slave)

    def _read_once(self, within_s: float) -> bool:
        """Takes in what is there within some time; False at the end of everything."""
        ready, _, _ = select.select([self.master], [], [], max(within_s, 0.0))
        if not ready:
            return within_s > 0
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.output += data
        self._stream.feed(_UNKNOWN_TO_PYTE.sub(b"", data))
        return bool(data)


def _controlling(before: Callable[[], None] | None) -> Callable[[], None]:
    """Makes the new session's standard input its controlling terminal, as a login does."""

    def prepare() -> None:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        if before is not None:
            before()

    return prepare
