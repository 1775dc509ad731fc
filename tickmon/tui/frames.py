"""When a frame is drawn: few are, and none while the terminal is behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

FRAME_S = 0.9
"""Frames are at least this far apart: one a window of a second, which never comes to the millisecond."""

BEHIND_S = 0.25
"""When the terminal is behind, it is asked again after so long."""

MOST_BACKLOG = 2
"""So many writes may wait for the terminal before frames are left out."""


def frame_due_in_s(*, since_last_s: float, backlog: int) -> float:
    """How long the next frame must wait: 0 when it may be drawn now."""
    wait_s = max(FRAME_S - since_last_s, 0.0)
    return max(wait_s, BEHIND_S) if backlog > MOST_BACKLOG else wait_s


class Frames:
    """Draws when something happened, but not more often than that."""

    def __init__(
        self,
        draw: Callable[[], None],
        *,
        backlog: Callable[[], int],
        after: Callable[[float, Callable[[], None]], asyncio.TimerHandle],
    ) -> None:
        """``backlog``: writes that the terminal has not taken; ``after(seconds, call)`` calls later."""
        self._draw = draw
        self._backlog = backlog
        self._after = after
        self._drawn_s = -FRAME_S
        self._due: asyncio.TimerHandle | None = None

    def now(self) -> None:
        """Draws without waiting: somebody pressed a key."""
        if self._due is not None:
            self._due.cancel()
            self._due = None
        self._drawn_s = time.monotonic()
        self._draw()

    def soon(self) -> None:
        """Draws when the last frame is old enough and the terminal has taken it."""
        if self._due is not None:
            return
        wait_s = frame_due_in_s(since_last_s=time.monotonic() - self._drawn_s, backlog=self._backlog())
        if wait_s > 0:
            self._due = self._after(wait_s, self._come_due)
        else:
            self.now()

    def _come_due(self) -> None:
        self._due = None
        self.soon()
