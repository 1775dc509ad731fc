"""The replay as an app: the live screen without anything that measures."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from textual.binding import BindingType

from tickmon.analysis.readings import Analysis
from tickmon.remembered import remember_theme
from tickmon.replay import Position, pause_s
from tickmon.tui.actions import ACTIONS, Action
from tickmon.tui.driver import TerminalDriver
from tickmon.tui.playback import Playback
from tickmon.tui.screens.main import MainScreen, bindings_of
from tickmon.tui.session import next_cpu
from tickmon.tui.shell import Shell
from tickmon.tui.themes import THEMES
from tickmon.windows import Window

_SHARED = (
    "step(-1)",
    "step(1)",
    "oldest",
    "newest",
    "worst",
    "all_worst",
    "snapshot",
    "pin",
    "unit",
    "warnings",
    "theme",
    "remember_theme",
    "help",
    "command_palette",
    "quit",
)
"""What a replay can do as the live screen does."""

_GO = tuple(action for action in ACTIONS if action.name.startswith("go("))
_PAUSE = next(action for action in ACTIONS if action.name == "pause")

_ACTIONS = (
    replace(_PAUSE, sentence="hold, play on; from the end: again from the beginning"),
    Action(
        name="speed(-1)",
        title="Slower",
        keys="less_than_sign",
        shown="<",
        word="",
        sentence="slower",
        rank=9,
    ),
    Action(
        name="speed(1)",
        title="Faster",
        keys="greater_than_sign",
        shown=">",
        word="",
        sentence="faster",
        rank=9,
    ),
    *(action for action in ACTIONS if action.name in _SHARED),
)


def replay_actions(cpus: int) -> tuple[Action, ...]:
    """What can be done with a recording of so many CPUs."""
    return (*(_GO if cpus > 1 else ()), *_ACTIONS)


class ReplayScreen(MainScreen, inherit_bindings=False):
    """The main screen with the keys of a replay."""

    BINDINGS: ClassVar[list[BindingType]] = bindings_of((*_GO, *_ACTIONS))


class ReplayApp(Shell):
    """Plays a recording."""

    def __init__(
        self,
        playback: Playback,
        *,
        save_snapshot: Callable[[Window, Analysis], Path],
        remarks: Sequence[str] = (),
        theme: str = THEMES[0].name,
        remember_theme: Callable[[str], Path] = remember_theme,
        sync: bool = True,
    ) -> None:
        """``remarks`` are what the viewer should know of the file; the rest is as of ``Shell``."""
        self._playback = playback
        self._remarks = remarks
        self._next: asyncio.TimerHandle | None = None
        self._timed: Position | None = None
        """Where it stood when the next window was made due."""
        super().__init__(
            session=playback,
            actions=replay_actions(len(playback.order)),
            save_snapshot=save_snapshot,
            theme=theme,
            remember_theme=remember_theme,
            ascii_only=playback.ascii_only,
            sync=sync,
        )

    def get_default_screen(self) -> MainScreen:
        """The main screen lies beneath all others."""
        return ReplayScreen()

    def on_mount(self) -> None:
        """Begins to play."""
        self.draw()
        if self._remarks:
            self.notify("\n".join(self._remarks), timeout=12, markup=False)

    def _show(self) -> None:
        super()._show()
        if self._playback.position != self._timed:
            self._wait_for_next()

    def _wait_for_next(self) -> None:
        """Has the next window shown when it is due, counted from now."""
        if self._next is not None:
            self._next.cancel()
            self._next = None
        playback = self._playback
        position = self._timed = playback.position
        if position.playing:
            here = playback.entries[position.at : position.at + 2]
            due_s = pause_s(here[0].analysis, here[-1].analysis, position.times)
            self._next = self._after(due_s, self._play_on)

    def _play_on(self) -> None:
        self._playback.play_on()
        self._wait_for_next()
        # There may be many a second: those for which there is no time are passed over.
        self._frames.soon()

    def action_speed(self, by: int) -> None:
        """Faster or slower."""
        self._playback.faster(by)
        self.draw()

    def action_go(self, step: int) -> None:
        """Previous or next CPU of the recording."""
        playback = self._playback
        if len(playback.order) > 1:
            playback.choose_cpu(next_cpu(playback.order, playback.cpu, step))
            self.draw()

    async def action_suspend(self) -> None:
        """Gives the terminal back until the shell says fg."""
        if isinstance(self._driver, TerminalDriver):
            self._driver.suspend()
            self.refresh(layout=True)
