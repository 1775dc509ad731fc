"""When the time of a sampler is cut: windows on a steady grid, and looks at one that is open."""

from __future__ import annotations

from dataclasses import dataclass

EARLY_S = 0.1
"""The first look at the first window, so that a screen says something at once."""

REFRESH_S = 1.0
"""A longer window is looked at so often while it grows …"""

_GROWTH_SHARE = 0.05
"""… or each time it has grown by this share: every look is at the whole of it."""

_CRUMB_SHARE = 0.01
"""A rest of the run shorter than this share of a window goes into the window before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The next cut, its time in seconds of time.monotonic()."""

    due_s: float
    closes: bool
    """A window ends here; otherwise it is only looked at."""
    last: bool
    """The run ends here."""


class Cuts:
    """The grid of one run. Windows begin where the last one ended, so nothing drifts from cut to cut."""

    def __init__(self, *, window_s: float, start_s: float, end_s: float | None, looks: bool) -> None:
        """The times are of time.monotonic(); ``end_s`` of None: without end."""
        self._window_s = window_s
        self._end_s = end_s
        self._opened_s = start_s
        self._looked_s = start_s
        self._looks = looks
        self._early = looks and window_s >= 2 * EARLY_S

    def next(self) -> Cut:
        """The cut that is due next; the same until ``taken``."""
        closes_s = self._opened_s + self._window_s
        last = self._end_s is not None and closes_s > self._end_s - _CRUMB_SHARE * self._window_s
        if last and self._end_s is not None:
            closes_s = self._end_s
        if self._early and self._looked_s + EARLY_S < closes_s:
            return Cut(due_s=self._looked_s + EARLY_S, closes=False, last=False)
        look_s = self._looked_s + max(REFRESH_S, _GROWTH_SHARE * (self._looked_s - self._opened_s))
        if self._looks and look_s < closes_s - REFRESH_S / 2:
            return Cut(due_s=look_s, closes=False, last=False)
        return Cut(due_s=closes_s, closes=True, last=last)

    def taken(self, now_s: float) -> None:
        """The due cut was made at ``now_s``, perhaps late: a long interruption held it up."""
        cut = self.next()
        late = now_s - cut.due_s > self._window_s / 2
        at_s = now_s if late else cut.due_s
        if cut.closes:
            self._opened_s = at_s
        # After the early look the others keep the whole seconds.
        self._looked_s = self._opened_s if self._early or cut.closes else at_s
        self._early = False
