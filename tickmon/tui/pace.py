"""When the next frame may be drawn: few are, and none while the terminal is behind."""

from __future__ import annotations

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
