"""Starting threads where the machine may refuse them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from tickmon.errors import NO_MORE_THREADS, TickmonError

_TRIES = 20
_REST_S = 0.005
"""The kernel still counts a thread for a moment after it was joined."""


def begin(work: Callable[[], object], *, name: str) -> threading.Thread:
    """Starts a daemon thread that does ``work``; TickmonError when no more threads may be started."""
    for _ in range(_TRIES):
        thread = threading.Thread(target=work, name=name, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            time.sleep(_REST_S)
        else:
            return thread
    raise TickmonError(NO_MORE_THREADS)
