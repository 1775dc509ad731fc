"""The state behind a replay: where a recording stands, and what is on show of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tickmon.analysis.history import Entry, History
from tickmon.replay import Position
from tickmon.tui.actions import Action
from tickmon.tui.browsing import Held
from tickmon.tui.pinning import Pinning
from tickmon.tui.plots import Axis
from tickmon.tui.session import remark, settings_of
from tickmon.tui.view import Reading, Replayed, View
from tickmon.tui.widgets.histogram import axis_for


class Playback:
    """Goes through what was recorded of one CPU after the other; ``view`` says what that looks like now."""

    def __init__(
        self,
        histories: Mapping[int, History],
        *,
        host: str,
        actions: tuple[Action, ...],
        ascii_only: bool,
    ) -> None:
        """``histories`` hold all windows of each CPU (at least one), as ``all_of`` makes them."""
        self._histories = histories
        self.order = sorted(histories)
        """The CPUs that the keys go through."""
        self.cpu = self.order[0]
        self._host = host
        self._actions = actions
        self.ascii_only = ascii_only
        self._axis: Axis | None = None
        self._worst: int | None = None
        self._pinning = Pinning()
        self.position = Position(at=0, length=self.history.windows)
        self.in_cycles = False

    @property
    def history(self) -> History:
        """Of the CPU on show."""
        return self._histories[self.cpu]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Of the CPU on show, in the order of time."""
        return self.history.levels[0]

    @property
    def shown(self) -> Reading:
        """What is on show."""
        return self._on_show().reading

    @property
    def held(self) -> Held | None:
        """The same while it does not play."""
        return None if self.position.playing else self._on_show()

    def _on_show(self) -> Held:
        entry = self.entries[self.position.at]
        reading = Reading(analysis=entry.analysis, trend=entry.trend, history=self.history)
        return Held(reading=reading, entry=entry, worst=self._worst)

    def toggle_pause(self) -> None:
        """Holds it, or goes on; from the end it begins anew."""
        self._move(self.position.toggled())

    def step(self, by: int) -> None:
        """So many windows on or back, on hold."""
        self._move(self.position.stepped(by))

    def look_back(self, find: Callable[[History], Held | None]) -> bool:
        """Goes to what ``find`` finds among all windows; False when that is nothing."""
        found = find(self.history)
        if found is None or found.entry is None:
            return False
        self._move(self.position.sought(found.entry.number - 1))
        self._worst = found.worst
        return True

    def toggle_pin(self) -> bool:
        """Pins what led up to the window on show, or unpins it."""
        return self._pinning.toggle(self.entries[: self.position.at + 1])

    def play_on(self) -> None:
        """The next window."""
        self._move(self.position.next())

    def faster(self, by: int) -> None:
        """So many steps faster, or slower when negative."""
        self.position = self.position.faster(by)

    def choose_cpu(self, cpu: int) -> None:
        """The same moment on another CPU."""
        at = self.entries[self.position.at].analysis.window.started_at
        self.cpu = cpu
        self._axis = None
        earlier = sum(entry.analysis.window.started_at <= at for entry in self.entries)
        there = replace(self.position, at=max(earlier - 1, 0), length=self.history.windows)
        self._move(there)

    def _move(self, position: Position) -> None:
        self.position, self._worst = position, None

    def view(self) -> View:
        """What is to be seen."""
        on_show, held = self._on_show(), self.held
        self._axis = axis_for(on_show.reading, self._axis)
        return View(
            actions=self._actions,
            settings=settings_of(on_show.reading),
            reading=on_show.reading,
            axis=self._axis,
            history=self.history,
            cursor=on_show.entry,
            against=self._pinning.against(on_show.reading.analysis, self.entries[: self.position.at + 1]),
            remark=None if held is None else remark(held, in_cycles=self.in_cycles),
            paused=held is not None,
            replayed=Replayed(
                host=self._host,
                times=self.position.times,
                at=self.position.at + 1,
                windows=self.position.length,
            ),
            in_cycles=self.in_cycles,
            ascii_only=self.ascii_only,
        )
