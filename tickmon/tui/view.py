"""Everything the main screen shows at one moment, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from tickmon.analysis.history import NO_HISTORY, Entry, History
from tickmon.analysis.readings import Analysis
from tickmon.analysis.trend import Trend
from tickmon.recorder import Recorded
from tickmon.tui.actions import ACTIONS, Action
from tickmon.tui.pinning import Against
from tickmon.tui.plots import Axis
from tickmon.windows import OpenGap, Settings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """One window's analysis, and what is remembered of the windows before it."""

    analysis: Analysis
    trend: Trend
    """With this window, also while it is provisional."""
    history: History = NO_HISTORY
    """With this window, unless it is provisional."""
    recorded: Recorded | None = None
    """The recording with this window in it; None: there is none."""

    @property
    def ended_at(self) -> datetime:
        """When its window ended (UTC)."""
        return self.analysis.window.started_at + timedelta(seconds=self.length_s)

    @property
    def length_s(self) -> float:
        """How much time its window covers."""
        return self.analysis.window.length_cycles / self.analysis.tsc_hz

    @property
    def watched_s(self) -> float:
        """How much of it was watched: what shares and rates refer to, never 0."""
        return max(self.analysis.window.watched_cycles, 1) / self.analysis.tsc_hz


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What is said of a recording while it is played back."""

    host: str
    """Where it was taken."""
    times: float
    """So many of its seconds pass in one."""
    at: int
    """The window on show, from 1."""
    windows: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View:
    """What the parts of the main screen are drawn from."""

    actions: tuple[Action, ...] = ACTIONS
    """Those that there are."""
    settings: Settings
    """As chosen by now; the reading on show is always of these."""
    cpu_words: str = ""
    """What that CPU is: ``isolated · nohz_full · sibling of CPU 7``; empty for a common one."""
    reading: Reading | None = None
    """None until the first reading of these settings."""
    axis: Axis | None = None
    """Of the histogram; None as long as there is no reading."""
    history: History = NO_HISTORY
    """What the time lines are drawn from."""
    cursor: Entry | None = None
    """Where in it the reading on show stands; None: live, or further back than it reaches."""
    remark: tuple[str, str] | None = None
    """Why this one is on show: ``worst 2 of 10: 1.40 ms``, ``at 15:16:18 preemption``."""
    against: Against | None = None
    """What is pinned; None: nothing."""
    doctor: str = ""
    """How much the doctor would change: ``2 warnings``; empty for nothing, or not known yet."""
    status: str = ""
    """What is going on while there is no reading."""
    paused: bool = False
    """The reading stands still, while measuring goes on."""
    replayed: Replayed | None = None
    """None: it is no replay."""
    open_gap: OpenGap | None = None
    """The CPU has not run the sampler for so long, and does not now."""
    ended: str | None = None
    """Why no more windows come."""
    recorded: Recorded | None = None
    """The recording that runs."""
    in_cycles: bool = False
    """Lengths as cycles instead of times."""
    ascii_only: bool = False
    """The terminal knows no other characters; most are replaced when they are sent."""
