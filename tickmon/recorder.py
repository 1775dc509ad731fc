"""A recording that is switched on and off while windows go by: what ``R`` does on the live screen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, Total, add
from tickmon.errors import TickmonError
from tickmon.formats.lines import Header
from tickmon.keeping import Keeping
from tickmon.recording import Writer, open_recording
from tickmon.streams import End, JsonLines, Outcome
from tickmon.units import counted, size_text
from tickmon.windows import Method


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a recording comes to by now."""

    path: Path
    size_bytes: int = 0
    windows: int = 0
    trouble: str = ""
    """What is wrong with the file, in two words; empty for nothing."""
    said: tuple[str, ...] = ()
    """What the user should hear of it now."""
    ended: bool = False


class Recorder:
    """Keeps every window that it is given between ``begin`` and ``end``; to be used by one thread.

    CPU and window length may change on the way: another segment begins in the same file, and the end sums
    up each CPU. Another method ends the recording, since its figures do not add up with those before.
    """

    def __init__(self, header: Header, directory: Path, *, events: bool = False) -> None:
        """``header`` is that of the program's start; ``events``: every interruption is kept."""
        self._header = header
        self._directory = directory
        self._events = events
        self._running: _Running | None = None
        self.parting = ""
        """What ``close`` found to say."""

    @property
    def running(self) -> bool:
        """Windows are being kept."""
        return self._running is not None

    def begin(self, cpu: int) -> Recorded:
        """Opens a new file, whose name has ``cpu``; TickmonError when that cannot be."""
        header = replace(self._header, started_at=datetime.now(UTC))
        self._running = _Running(open_recording(header, cpu, self._directory), header, events=self._events)
        return self._running.state(f"recording into {self._running.path}")

    def take(self, analysis: Analysis) -> Recorded | None:
        """Writes a finished window at once; None while nothing is recorded."""
        running = self._running
        if running is None:
            return None
        if running.method not in (None, analysis.window.segment.method):
            return self.end("another method began: R records that in a file of its own")
        try:
            return running.take(analysis)
        except TickmonError as error:
            # Nothing is in the file yet.
            self._running = None
            return running.given_up(str(error))

    def end(self, why: str = "") -> Recorded | None:
        """Writes what a whole recording ends with; None while nothing is recorded."""
        running, self._running = self._running, None
        return None if running is None else running.end(why)

    def close(self) -> None:
        """The same when the program ends; ``parting`` says what came of it."""
        ended = self.end()
        if ended is not None:
            self.parting = "; ".join(ended.said)


class _Running:
    """One recording from its first window to its summary."""

    def __init__(self, writer: Writer, header: Header, *, events: bool) -> None:
        self.path = writer.path
        self.method: Method | None = None
        self._writer = writer
        self._unsaid: list[str] = []
        self._keeping = Keeping(writer, tell=self._unsaid.append)
        self._stream = JsonLines(header, events=events)
        self._totals: dict[int, tuple[Total, int]] = {}

    def take(self, analysis: Analysis) -> Recorded:
        """TickmonError when it is the first window and cannot be written."""
        segment = analysis.window.segment
        self.method = segment.method
        if not self._keeping.keep(self._stream.window(analysis)):
            self._stream.missed(analysis)
        total, windows = self._totals.get(segment.cpu, (NO_TOTAL, 0))
        self._totals[segment.cpu] = add(total, analysis), windows + 1
        return self.state()

    def end(self, why: str) -> Recorded:
        """The summaries, and the end of the file; nothing is left of a recording without a window."""
        outcomes = [
            Outcome(summary=total.summary(), windows=windows)
            for _, (total, windows) in sorted(self._totals.items())
        ]
        words = f"{self.path}: {counted(self._windows, 'window')}, "
        wrong = ""
        try:
            if outcomes:
                text = self._stream.end(End(at=datetime.now(UTC), outcomes=outcomes, note=None, orderly=True))
                self._keeping.end(text)
        except TickmonError as error:
            wrong = str(error)
        try:
            self._writer.close()
        except TickmonError as error:
            wrong = wrong or str(error)
        words = f"{words}{size_text(self._writer.size_bytes)}" if outcomes else "nothing was recorded"
        said = (text for text in (why, wrong, words) if text)
        return replace(self.state("; ".join(said)), ended=True, trouble="not complete" if wrong else "")

    def given_up(self, why: str) -> Recorded:
        """There was no room for the first window."""
        self._writer.close()
        return replace(self.state(f"not recorded: {why}"), ended=True)

    def state(self, *said: str) -> Recorded:
        """By now; what went wrong meanwhile is in it once."""
        unsaid = tuple(self._unsaid)
        self._unsaid.clear()
        return Recorded(
            path=self.path,
            size_bytes=self._writer.size_bytes,
            windows=self._windows,
            trouble=self._keeping.trouble,
            said=(*unsaid, *said),
        )

    @property
    def _windows(self) -> int:
        return sum(windows for _, windows in self._totals.values())
