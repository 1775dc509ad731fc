"""One reading of the kernel's big tables for all who ask at about the same moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from tickmon.machine.files import read_text


class SharedFiles:
    """The texts of files in /proc, which hold all CPUs anyway; may be asked from any thread.

    On big machines each reading takes milliseconds and locks of the kernel.
    """

    def __init__(self, root: Path = Path("/"), *, now_s: Callable[[], float] = time.monotonic) -> None:
        self._root = root
        self._now_s = now_s
        self._lock = threading.Lock()
        self._read: dict[str, tuple[float, str]] = {}

    def text(self, name: str, *, fresh_s: float) -> str:
        """Of the file ``name`` in /proc, read at most ``fresh_s`` ago; empty when it cannot be read."""
        # Whoever comes while another reads waits for that one's text.
        with self._lock:
            at_s, text = self._read.get(name, (None, ""))
            now_s = self._now_s()
            if at_s is None or now_s - at_s >= fresh_s:
                text = read_text(self._root / "proc" / name) or ""
                self._read[name] = now_s, text
            return text
