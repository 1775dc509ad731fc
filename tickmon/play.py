"""``tickmon replay``: puts the screen of a recording together, on any machine."""

from __future__ import annotations

from pathlib import Path

from tickmon.analysis.history import all_of
from tickmon.analysis.readings import Analysis
from tickmon.formats.lines import Header
from tickmon.loading.read import read
from tickmon.options import THEMES, ReplayOptions
from tickmon.recording import save_snapshot
from tickmon.remembered import remembered_theme
from tickmon.replay import load_tape
from tickmon.tui.terminal import speaks_utf8
from tickmon.windows import Window


def replay(asked: ReplayOptions) -> int:
    """Plays it on this terminal, which must be fit for that; the exit code. TickmonError: no recording."""
    tape = load_tape(asked.file)

    def save(window: Window, analysis: Analysis) -> Path:
        return save_snapshot(
            _with_interruptions(asked.file, tape.header, window) or analysis, tape.header, Path()
        )

    from tickmon.tui.playback import Playback
    from tickmon.tui.player import ReplayApp, replay_actions
    from tickmon.tui.run import run_screen

    cpus = sorted({analysis.window.segment.cpu for analysis in tape.windows})
    playback = Playback(
        {cpu: all_of(a for a in tape.windows if a.window.segment.cpu == cpu) for cpu in cpus},
        host=tape.header.host.name or "an unnamed host",
        actions=replay_actions(len(cpus)),
        ascii_only=asked.screen.ascii or not speaks_utf8(),
    )
    app = ReplayApp(
        playback,
        save_snapshot=save,
        remarks=tape.remarks,
        theme=asked.screen.theme or remembered_theme() or THEMES[0],
        sync=asked.screen.sync,
    )
    return run_screen(app, mouse=asked.screen.mouse)


def _with_interruptions(path: Path, header: Header, window: Window) -> Analysis | None:
    """The window with its interruptions, as far as the file has them; None: it is not there any more."""
    found, wanted = None, False
    for item in read(path):
        if isinstance(item, Header):
            wanted = item == header
        elif wanted and isinstance(item, Analysis):
            segment = item.window.segment.segment
            if (segment, item.window.window) == (window.segment.segment, window.window):
                found = item
    return found
