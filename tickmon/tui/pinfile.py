"""A recording or snapshot as what is pinned from the start: ``tickmon watch --against FILE``."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from tickmon.analysis.alike import unlike
from tickmon.analysis.compare import WINDOWS_FEW
from tickmon.analysis.readings import Analysis
from tickmon.errors import TickmonError
from tickmon.loading.files import name_of
from tickmon.loading.read import read
from tickmon.text import harmless
from tickmon.tui.pinning import WINDOWS_MOST, Pin

_FILE_LIMIT = 32
"""Characters of a file's name."""


def load_pin(path: Path, cpu: int) -> Pin:
    """The last windows of ``cpu`` in a recording or snapshot; where it has none of that CPU, of another.

    TickmonError when it cannot be read, or has no window.
    """
    found = _last_windows(path, cpu, events=False)
    if not found:
        raise TickmonError(f"{name_of(path)} has no finished window: there is nothing to compare with")
    if len(found) < WINDOWS_FEW and path.is_file():
        # So few are cut into parts, where their interruptions are known.
        found = _last_windows(path, cpu, events=True)
    return Pin(analyses=found, file=harmless(path.name, _FILE_LIMIT))


def _last_windows(path: Path, cpu: int, *, events: bool) -> tuple[Analysis, ...]:
    last: dict[int, deque[Analysis]] = {}
    newest = cpu
    for item in read(path, events=events):
        if isinstance(item, Analysis):
            newest = item.window.segment.cpu
            windows = last.setdefault(newest, deque(maxlen=WINDOWS_MOST))
            if windows and unlike(windows[-1], item):
                windows.clear()
            windows.append(item)
    return tuple(last.get(cpu) or last.get(newest) or ())
