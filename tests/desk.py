"""A desk to try the live screen at: an app on scripted sources, its keys, and what it shows."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.readings import HEADER
from tests.scripted import TRADED, ScriptedSource, look_idle, scripted_cpus, scripted_windows
from tickmon.analysis.readings import Analysis
from tickmon.doctor.findings import Diagnosis
from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpus import Cpus
from tickmon.recorder import Recorder
from tickmon.tui.app import TickmonApp
from tickmon.tui.feed import Feed
from tickmon.tui.pinning import Pin
from tickmon.tui.widgets.panel import Panel
from tickmon.windows import Settings, Window, WindowSource


@dataclass
class Desk:
    """An app, and everything that it asked for."""

    app: TickmonApp
    pilot: Pilot[int]
    sources: list[ScriptedSource]
    saved: list[Window]
    looked: list[int]
    kept_away: list[int]
    traded: set[int]
    """The CPUs that are found busy from now on."""
    offline: set[int]
    """The CPUs that are found offline from now on."""
    themes: list[str]
    """Those that were to be remembered."""
    given: Counter[ScriptedSource] = field(default_factory=Counter)
    """How many windows each source has handed on."""

    @property
    def source(self) -> ScriptedSource:
        return self.sources[-1]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for something that comes from another thread or a timer."""
        end_s = time.monotonic() + 20
        while not holds():
            if self.app.fault is not None and not isinstance(self.app.fault, ZeroDivisionError):
                raise self.app.fault
            assert time.monotonic() < end_s, f"this never came; the screen shows:\n{self.text}"
            await self.pilot.pause(0.01)

    async def hand_on(self, *events: Any, source: ScriptedSource | None = None) -> None:
        """Has a source, or else the newest, hand on events, and waits until the app was told of each."""
        for event in events:
            await asyncio.to_thread((source or self.source).give, event)
            assert await asyncio.to_thread(self.app.feed.wait_idle, 20)
        await self.pilot.pause()

    async def give(self, *events: Any) -> None:
        """Has the newest source hand on events, and waits until they are drawn."""
        await self.hand_on(*events)
        self.app.draw()
        await self.pilot.pause()

    async def windows(self, count: int, **options: Any) -> None:
        """Has the newest source hand on so many more, each when the one before was read: none are joined."""
        source = self.source
        made = scripted_windows(
            source.segment, self.given[source] + count, first=source.first_window, **options
        )
        await self.give(*made[self.given[source] :])
        self.given[source] += count

    async def opened(self, number: int) -> None:
        """Waits until the source with this number, from 1, runs."""
        await self.until(lambda: len(self.sources) >= number and self.sources[number - 1].started)

    def part(self, name: str) -> str:
        panel = self.app.main.query_one(f"#{name}", Panel)
        return "\n".join(panel.render_line(y).text for y in range(panel.size.height))

    @property
    def text(self) -> str:
        return "\n".join(self.part(name) for name in ("title", "figures", "message", "histogram", "sources"))

    @property
    def notices(self) -> str:
        return "\n".join(notice.message for notice in self.app._notifications)


def on_screen(**options: Any) -> Callable[[Callable[[Desk], Awaitable[None]]], Callable[[], None]]:
    """Runs a test at a desk with these options."""

    def decorate(test: Callable[[Desk], Awaitable[None]]) -> Callable[[], None]:
        async def sit_down() -> None:
            async with desk(**options) as at:
                await test(at)

        def run() -> None:
            asyncio.run(sit_down())

        run.__name__ = test.__name__
        return run

    return decorate


@asynccontextmanager
async def desk(
    *,
    size: tuple[int, int] = (80, 24),
    cpus: Cpus | None = None,
    settings: Settings | None = None,
    named: Collection[int] = (),
    refusal: str | None = None,
    disturbance: str | None = None,
    source_of: Callable[..., WindowSource] | None = None,
    examine: Callable[[int], Diagnosis] | None = None,
    recordings: Path | None = None,
    pin: Pin | None = None,
    why: str = "",
) -> AsyncIterator[Desk]:
    sources: list[ScriptedSource] = []
    saved: list[Window] = []
    looked: list[int] = []
    kept_away: list[int] = []
    traded = set(TRADED)
    offline: set[int] = set()
    themes: list[str] = []

    def open_source(settings: Settings, *, segment: int, first_window: int, reason: str) -> WindowSource:
        source = ScriptedSource(settings, segment=segment, first_window=first_window, reason=reason)
        sources.append(source)
        return source

    def keep_away(cpus: Collection[int]) -> str | None:
        kept_away.extend(cpus)
        return disturbance

    def save(window: Window, _analysis: Analysis) -> Path:
        if refusal:
            raise TickmonError(refusal)
        saved.append(window)
        return Path("snapshot.jsonl.gz")

    def remember(theme: str) -> Path:
        if refusal:
            raise TickmonError(refusal)
        themes.append(theme)
        return Path("config.toml")

    def look(asked: Collection[int]) -> Mapping[int, CpuUse]:
        looked.extend(asked)
        return look_idle(asked, traded, offline)

    first = settings or Settings(cpu=3)
    recorder = None if recordings is None else Recorder(HEADER, recordings)
    feed = Feed(open_source=source_of or open_source, keep_away=keep_away, recorder=recorder)
    feed.switch(first, "start")
    app = TickmonApp(
        settings=first,
        cpus=cpus or scripted_cpus(4),
        feed=feed,
        save_snapshot=save,
        look=look,
        examine=examine,
        named=named,
        pin=pin,
        why=why,
        remember_theme=remember,
        wonder_s=math.inf,  # However long the machine of the test takes.
    )
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            at = Desk(
                app=app,
                pilot=pilot,
                sources=sources,
                saved=saved,
                looked=looked,
                kept_away=kept_away,
                traded=traded,
                offline=offline,
                themes=themes,
            )
            if source_of is None:
                await at.opened(1)
            yield at
    finally:
        feed.close(5)
