"""A recording on the screen: it plays, is held, stepped through and saved from."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from textual.pilot import Pilot

from tests.making import Life, make_segment, simulate
from tests.readings import read
from tickmon.analysis.history import all_of
from tickmon.analysis.readings import Analysis
from tickmon.tui.playback import Playback
from tickmon.tui.player import ReplayApp, replay_actions
from tickmon.tui.screens.details import Details
from tickmon.tui.widgets.panel import Panel
from tickmon.windows import Window

LIFE = Life(gaps=((1.5013e9, 4e6), (2.5013e9, 2e6)), tick_ns=9_000.0)


@dataclass
class Theatre:
    """A replay, and what was saved of it."""

    app: ReplayApp
    pilot: Pilot[int]
    saved: list[Window]

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def until(self, holds: Callable[[], bool]) -> None:
        """Waits for something that a timer does."""
        end_s = time.monotonic() + 20
        while not holds():
            assert time.monotonic() < end_s, f"this never came; the title is {self.part('title')}"
            await self.pilot.pause(0.01)

    def part(self, name: str) -> str:
        panel = self.app.main.query_one(f"#{name}", Panel)
        return "\n".join(panel.render_line(y).text for y in range(panel.size.height))

    @property
    def notices(self) -> str:
        return "\n".join(notice.message for notice in self.app._notifications)


def recorded(cpu: int = 3, count: int = 6, length_s: float = 1.0) -> list[Analysis]:
    segment = make_segment(cpu=cpu, segment=cpu, window_s=length_s)
    return read(simulate(LIFE, ends_ns=[(n + 1) * length_s * 1e9 for n in range(count)], segment=segment))


@asynccontextmanager
async def theatre(*runs: Sequence[Analysis], remarks: Sequence[str] = ()) -> AsyncIterator[Theatre]:
    saved: list[Window] = []

    def save(window: Window, _analysis: Analysis) -> Path:
        saved.append(window)
        return Path("snapshot.jsonl.gz")

    histories = {run[0].window.segment.cpu: all_of(run) for run in runs}
    actions = replay_actions(len(histories))
    playback = Playback(histories, host="trade7", actions=actions, ascii_only=False)
    app = ReplayApp(playback, save_snapshot=save, remarks=remarks)
    async with app.run_test(size=(80, 24), notifications=True) as pilot:
        yield Theatre(app=app, pilot=pilot, saved=saved)


def at_theatre(
    *runs: Sequence[Analysis], remarks: Sequence[str] = ()
) -> Callable[[Callable[[Theatre], Awaitable[None]]], Callable[[], None]]:
    """Runs a test at a replay of these."""

    def decorate(test: Callable[[Theatre], Awaitable[None]]) -> Callable[[], None]:
        async def sit_down() -> None:
            async with theatre(*runs, remarks=remarks) as at:
                await test(at)

        def run() -> None:
            asyncio.run(sit_down())

        run.__name__ = test.__name__
        return run

    return decorate


@at_theatre(recorded())
async def test_it_says_that_it_is_a_replay_and_of_what(at: Theatre) -> None:
    title = at.part("title")
    for words in ("REPLAY of trade7", "CPU 3", "×1", "1 of 6"):
        assert words in title
    assert "250 ticks in the last 1.0 s" in at.part("figures")


@at_theatre(recorded(count=4, length_s=0.1))
async def test_it_plays_to_its_end_and_is_held_there_and_space_begins_anew(at: Theatre) -> None:
    await at.press(*[">"] * 5)
    await at.until(lambda: "PAUSED" in at.part("title"))
    assert "4 of 4" in at.part("title")
    assert "plays anew" in at.part("message")
    await at.press("<", "<", "<", "<", "<", "<", "space")
    assert "PAUSED" not in at.part("title")
    assert "1 of 4" in at.part("title")


@at_theatre(recorded())
async def test_speed_is_shown_and_ends_at_its_limits(at: Theatre) -> None:
    await at.press(">")
    assert "×2" in at.part("title")
    await at.press(*["<"] * 12)
    assert "×0.1" in at.part("title")


@at_theatre(recorded())
async def test_steps_and_ends_are_held_and_show_what_was_known_by_then(at: Theatre) -> None:
    await at.press("end")
    assert "6 of 6" in at.part("title")
    assert "in the last 6.0 s" in at.part("figures")
    await at.press("comma", "comma")
    assert "PAUSED" in at.part("title")
    assert "4 of 6" in at.part("title")
    assert "in the last 4.0 s" in at.part("figures")
    await at.press("home")
    assert "1 of 6" in at.part("title")


@at_theatre(recorded())
async def test_w_leads_to_the_worst_of_the_whole_recording(at: Theatre) -> None:
    await at.press("w")
    assert "2 of 6" in at.part("title")
    assert "worst 1 of 10: 4.00 ms" in at.part("message")
    await at.press("w")
    assert "3 of 6" in at.part("title")


@at_theatre(recorded())
async def test_the_window_on_show_is_saved(at: Theatre) -> None:
    await at.press("home", ".", "s")
    await at.until(lambda: bool(at.saved))
    assert at.saved[0].window == 2


@at_theatre(recorded())
async def test_what_cannot_be_changed_has_no_key(at: Theatre) -> None:
    keys = at.part("keys")
    for word in ("window", "method", "restart", "trace", "doctor", "CPU"):
        assert word not in keys
    await at.press("space")
    before = at.part("title")
    await at.press("m", "+", "r", "k", "d", "c", "right", "5")
    assert at.part("title") == before
    titles = [command.title for command in at.app.get_system_commands(at.app.screen)]
    assert at.app.screen is at.app.main
    assert "Slower" in titles
    assert "Doctor" not in titles


@at_theatre(recorded(cpu=1), recorded(cpu=3, count=4))
async def test_of_several_cpus_the_keys_go_to_the_same_moment_of_the_next(at: Theatre) -> None:
    assert "←→ CPU" in at.part("keys")
    await at.press("end", "right")
    assert "CPU 3" in at.part("title")
    assert "4 of 4" in at.part("title")
    await at.press("home", "left")
    assert "CPU 1" in at.part("title")
    assert "1 of 6" in at.part("title")


@at_theatre(recorded(), remarks=("a.jsonl is cut in line 9: what is before it is whole",))
async def test_what_is_wrong_with_the_file_is_said(at: Theatre) -> None:
    assert "a.jsonl is cut in line 9" in at.notices


@at_theatre(recorded())
async def test_help_details_and_quit_work_as_on_the_live_screen(at: Theatre) -> None:
    await at.press("question_mark")
    assert "slower, faster" in str(at.app.screen.query_one("#help-text").render())
    await at.press("escape", "exclamation_mark")
    assert isinstance(at.app.screen, Details)
    await at.press("q", "q")
    await at.until(lambda: at.app.return_value is not None)
    assert at.app.return_value == 0


def test_a_new_start_within_a_recording_keeps_the_worst_from_before_apart() -> None:
    before, after = recorded(count=3), recorded(cpu=3, count=3)
    again = make_segment(cpu=3, segment=9, reason="reset")
    later = [
        replace(
            a,
            window=replace(a.window, segment=again, started_at=a.window.started_at + timedelta(seconds=3)),
        )
        for a in after
    ]
    history = all_of([*before, *later])
    assert [entry.begins for entry in history.entries] == ["start", "", "", "reset", "", ""]
    assert len(history.earlier) == len(history.worst) == 10
    assert history.entries[3].trend.windows == 1
