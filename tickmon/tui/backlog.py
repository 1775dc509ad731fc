"""What waits for the screen's reader: without what nobody needs any more, and bounded however much comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tickmon.analysis.merge import merge
from tickmon.analysis.sums import following, given_up
from tickmon.windows import Ended, OpenGap, ReadingWarning, Window


@dataclass(frozen=True, slots=True)
class Begin:
    """What follows comes from another source."""

    forget: bool
    warnings: tuple[ReadingWarning, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """From here on windows are recorded, or not any more."""

    on: bool
    cpu: int


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished window, or several as one."""

    window: Window
    count: int


Waiting = OpenGap | Ended | Window | Finished | Begin | Record

MOST_WAITING = 8
"""So many finished windows of one source that wait become one: else they would become ever more."""

MOST_DETAILS = 262_144
"""So many interruptions of joined windows are read one by one: as many as a sampler's ring holds."""

_OBJECT_DETAILS = 16
"""What is no row of an array takes as much memory as so many that are."""


def put(waiting: deque[tuple[int, Waiting]], turn: int, newest: Waiting) -> None:
    """``newest`` waits behind the others, and what it makes needless no longer."""
    kept = [one for one in waiting if not _is_superseded(one[1], newest)]
    waiting.clear()
    waiting.extend((*kept, (turn, newest)))
    run: list[Finished] = []
    for its_turn, event in reversed(waiting):
        if its_turn != turn or not isinstance(event, Finished):
            break
        run.insert(0, event)
    if len(run) >= MOST_WAITING:
        for _ in run:
            waiting.pop()
        waiting.append((turn, _as_one(run)))


def as_window(finished: Finished) -> Window:
    """The window that is read, which says how many it was."""
    window, count = finished.window, finished.count
    if count == 1:
        return window
    message = f"the screen is behind: {count} windows joined, since analysing them takes longer than they do"
    return replace(window, warnings=(*window.warnings, ReadingWarning(code="screen_behind", message=message)))


def _as_one(finished: Sequence[Finished]) -> Finished:
    """All of them; of very many interruptions, or where windows do not touch, only what they come to."""
    windows = [one.window for one in finished]
    touch = all(
        before.segment == after.segment and before.end_cycles == after.start_cycles
        for before, after in pairwise(windows)
    )
    if touch and sum(map(_size, windows)) <= MOST_DETAILS:
        whole = merge(windows)
    else:
        whole = following([given_up(window) for window in windows])
    return Finished(whole, sum(one.count for one in finished))


def _size(window: Window) -> int:
    """What it takes in memory, in interruptions."""
    rows = len(window.details)
    rows += 0 if window.switches is None else len(window.switches)
    rows += 0 if window.trace is None else len(window.trace.events)
    return rows + _OBJECT_DETAILS * (len(window.clocks) + len(window.excluded) + len(window.warnings))


def _is_superseded(event: Waiting, newer: Waiting) -> bool:
    """Whether nobody needs ``event`` any more when ``newer`` comes after it."""
    if isinstance(event, OpenGap):
        return True
    # A window that is not yet finished.
    return isinstance(event, Window) and isinstance(newer, Window | Finished | Begin)
