"""``tickmon watch``: puts the live screen together."""

from __future__ import annotations

import resource
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tickmon.analysis.readings import Analysis
from tickmon.doctor.findings import Diagnosis
from tickmon.errors import TickmonError
from tickmon.formats.lines import Header
from tickmon.machine.affinity import keep_away
from tickmon.machine.busy import look
from tickmon.machine.facts import read_machine
from tickmon.machine.shared import SharedFiles
from tickmon.options import THEMES, WatchOptions
from tickmon.ready import Ready
from tickmon.recorder import Recorder
from tickmon.recording import save_snapshot
from tickmon.remembered import remembered_theme
from tickmon.sampling.collector import Collector
from tickmon.settings import settings_for
from tickmon.stdout import say
from tickmon.tui.feed import Feed
from tickmon.tui.pinning import Pin
from tickmon.tui.terminal import speaks_utf8
from tickmon.windows import Settings, Window, WindowSource

FILES = 16
"""So many files the live screen has open at once, and a few to spare."""


def watch(asked: WatchOptions, ready: Ready) -> int:
    """Shows the first of the chosen CPUs on this terminal, which must be fit for that; the exit code."""
    machine = replace(read_machine(), cpus=ready.cpus)
    header = Header(started_at=datetime.now(UTC), host=machine.host, clocksource=machine.clock.name)

    tables = SharedFiles()

    def open_source(settings: Settings, *, segment: int, first_window: int, reason: str) -> WindowSource:
        return Collector(
            settings,
            machine,
            segment=segment,
            first_window=first_window,
            reason=reason,
            looks=reason != "scan",
            tables=tables,
        )

    def save(_window: Window, analysis: Analysis) -> Path:
        return save_snapshot(analysis, header, Path())

    def examine(cpu: int) -> Diagnosis:
        # Nothing of it is needed before the first reading.
        from tickmon.doctor.examine import examine

        return examine(cpu)

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed < FILES:
        raise TickmonError(
            f"the live screen opens up to {FILES} files, and {allowed} are allowed here (ulimit -n): raise it"
        )
    theme = asked.screen.theme or remembered_theme() or THEMES[0]
    cpu = ready.chosen[0]
    settings = settings_for(asked.measure, cpu)
    pin = _pin(asked.against, cpu) if asked.against else None
    recorder = Recorder(header, Path(), events=asked.events)
    feed = Feed(
        open_source=open_source,
        keep_away=lambda sampled: keep_away(sampled, ready.cpus),
        recorder=recorder,
    )
    feed.switch(settings, "start")

    # Textual takes a while to load; the sampler is at work meanwhile.
    from tickmon.tui.app import TickmonApp
    from tickmon.tui.run import run_screen

    app = TickmonApp(
        settings=settings,
        cpus=ready.cpus,
        feed=feed,
        save_snapshot=save,
        look=look,
        examine=examine,
        named=ready.named,
        why=f"CPU {cpu} is measured: {ready.reason}" if ready.reason else "",
        pin=pin,
        theme=theme,
        ascii_only=asked.screen.ascii or not speaks_utf8(),
        sync=asked.screen.sync,
    )
    code = run_screen(app, mouse=asked.screen.mouse)
    if recorder.parting:
        say(recorder.parting)
    return code


def _pin(path: Path, cpu: int) -> Pin:
    """What of a file is compared with; TickmonError before anything is measured when it cannot be read."""
    from tickmon.tui.pinfile import load_pin

    return load_pin(path, cpu)
