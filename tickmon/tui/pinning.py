"""Before and after: a reading that was pinned, and how the one on show differs from it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tickmon.analysis.alike import unlike
from tickmon.analysis.change import Change
from tickmon.analysis.compare import WINDOWS_FEW, Comparison, change_between
from tickmon.analysis.history import CONTINUES, Entry
from tickmon.analysis.readings import Analysis

PINNED_S = 60.0
SINCE_S = 30.0
"""So much time is pinned, and compared with that: the less, the sooner a change is seen unmixed."""
WINDOWS_MOST = 60
WINDOWS_LEAST = 12
"""No fewer of windows so long that there are not as many in the time."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pin:
    """A reading that later ones are compared with."""

    analyses: tuple[Analysis, ...]
    """Its windows, taken alike, oldest first; at least one."""
    file: str = ""
    """Where it is from; empty: from this screen."""
    until: int = 0
    """In the history, its last window has this number; 0: it is not in there."""

    @property
    def ended_at(self) -> datetime:
        """UTC."""
        window = self.analyses[-1].window
        return window.started_at + timedelta(seconds=_length_s(self.analyses[-1]))

    @property
    def span_s(self) -> float:
        """How much time it holds."""
        return sum(map(_length_s, self.analyses))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Against:
    """What is pinned, and what the reading on show comes to beside it."""

    pin: Pin
    unlike: tuple[str, ...] = ()
    """In what they were taken differently; then nothing is compared."""
    after: tuple[Analysis, ...] = ()
    """The windows up to the one on show that are compared, oldest first; none of them is pinned."""
    comparison: Comparison | None = None
    """None: too few windows yet, or not comparable."""

    @property
    def span_s(self) -> float:
        """How much time ``after`` holds."""
        return sum(map(_length_s, self.after))

    def change(self, name: str, of: str | None = None) -> Change | None:
        """How a figure changed; None where that is not known."""
        changes = self.comparison.changes if self.comparison is not None else ()
        return next((change for change in changes if (change.name, change.of) == (name, of)), None)


class Pinning:
    """Holds what is pinned, and compares each window with it once."""

    def __init__(self, pin: Pin | None = None) -> None:
        self.pin = pin
        self._latest: Against | None = None

    def toggle(self, entries: Sequence[Entry]) -> bool:
        """Pins the last of ``entries``, or unpins what is pinned; False when there is nothing to pin."""
        if self.pin is not None:
            self.pin = self._latest = None
            return True
        recent = _recent(entries, PINNED_S)
        if recent:
            last = entries[-1]
            self.pin = Pin(analyses=recent, until=last.number + last.windows - 1)
        return bool(recent)

    def against(self, analysis: Analysis | None, entries: Sequence[Entry]) -> Against | None:
        """The window on show (None: there is none) beside what is pinned (None: nothing is).

        ``entries`` are the complete ones so far; the last is the one on show, unless that is provisional.
        """
        pin = self.pin
        if pin is None or analysis is None:
            return None if pin is None else Against(pin=pin)
        differences = unlike(pin.analyses[-1], analysis)
        if differences:
            return Against(pin=pin, unlike=differences)
        since = [entry for entry in entries[-WINDOWS_MOST:] if entry.number > pin.until]
        after = _recent(since, SINCE_S)
        if len(pin.analyses) < WINDOWS_FEW:
            # They are cut into parts as short as those of the pinned ones: of a minute too many.
            after = after[-WINDOWS_FEW:]
        latest = self._latest
        if latest is None or latest.pin is not pin or latest.after != after:
            enough = len(after) >= WINDOWS_FEW
            comparison = change_between(pin.analyses, after) if enough else None
            self._latest = latest = Against(pin=pin, after=after, comparison=comparison)
        return latest


def _recent(entries: Sequence[Entry], span_s: float) -> tuple[Analysis, ...]:
    """The last windows that were taken alike, of one run, oldest first."""
    return tuple(reversed(list(_backwards(entries, span_s))))


def _backwards(entries: Sequence[Entry], span_s: float) -> Iterator[Analysis]:
    covered_s = 0.0
    for count, entry in enumerate(reversed(entries)):
        enough = covered_s >= span_s * 0.999 and count >= WINDOWS_LEAST
        if enough or count == WINDOWS_MOST or unlike(entries[-1].analysis, entry.analysis):
            return
        yield entry.analysis
        covered_s += _length_s(entry.analysis)
        if entry.begins and entry.begins not in CONTINUES:
            return


def _length_s(analysis: Analysis) -> float:
    return analysis.window.length_cycles / analysis.tsc_hz
