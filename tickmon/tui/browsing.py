"""Looking back: which of the windows so far is on show while the picture is on hold."""

from __future__ import annotations

from dataclasses import dataclass

from tickmon.analysis.history import Entry, Found, History
from tickmon.tui.view import Reading


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """A picture on hold. Its reading has the history of the moment at which it was chosen."""

    reading: Reading
    entry: Entry | None
    """Of the reading; None while its window is not complete."""
    worst: int | None = None
    """Which of the history's worst interruptions it was chosen for, from 0; None: for none."""

    @property
    def whole(self) -> bool:
        """Every interruption is there: it can be saved."""
        return self.entry is None or self.entry.whole

    @property
    def found(self) -> Found | None:
        """The interruption that it was chosen for."""
        return None if self.worst is None else self.reading.history.all_worst[self.worst]

    @property
    def cursor(self) -> Entry | None:
        """Where it stands among what the history still has; None: nowhere."""
        return None if self.entry is None else _holding(self.reading.history, self.entry.number)


def hold(reading: Reading) -> Held:
    """What is on show now."""
    newest = reading.history.levels[0][-1:]
    known = [entry for entry in newest if entry.analysis is reading.analysis]
    return Held(reading=reading, entry=known[0] if known else None)


def step(held: Held, history: History, by: int) -> Held:
    """``by`` windows on, or back; not beyond the ends. ``history`` is the newest."""
    entries = history.entries
    if not entries:
        return held
    number = history.windows + 1 if held.entry is None else held.entry.number
    place = sum(entry.number <= number for entry in entries) - (0 if held.entry is None else 1)
    return _at(entries[min(max(place + by, 0), len(entries) - 1)], history)


def oldest(history: History) -> Held | None:
    """The first that is still there; None: there is none."""
    return next((_at(entry, history) for entry in history.entries), None)


def newest(history: History) -> Held | None:
    """The last; None: there is none."""
    return next((_at(entry, history) for entry in reversed(history.entries)), None)


def numbered(history: History, number: int) -> Held | None:
    """The window of this number in the history; None when it has gone."""
    entry = _holding(history, number)
    return None if entry is None else _at(entry, history)


def next_worst(held: Held | None, history: History) -> Held | None:
    """The worst interruption's window, or that of the next worst after it; None: nothing interrupted."""
    place = 0 if held is None or held.worst is None else held.worst + 1
    return worst(history, place % max(len(history.all_worst), 1))


def worst(history: History, place: int) -> Held | None:
    """The window of the interruption at ``place`` of the worst, with every interruption if they were kept."""
    found = history.all_worst[place : place + 1]
    return _at(found[0].entry, history, place) if found else None


def _at(entry: Entry, history: History, place: int | None = None) -> Held:
    reading = Reading(analysis=entry.analysis, trend=entry.trend, history=history)
    return Held(reading=reading, entry=entry, worst=place)


def _holding(history: History, number: int) -> Entry | None:
    return next(
        (entry for entry in history.entries if entry.number <= number < entry.number + entry.windows), None
    )
