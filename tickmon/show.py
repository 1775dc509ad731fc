"""``tickmon show``: what a recording or snapshot holds, on any machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, Total, add
from tickmon.errors import TickmonError
from tickmon.formats.lines import Header
from tickmon.judging import Judge
from tickmon.loading.files import name_of
from tickmon.loading.read import Summed, read
from tickmon.loading.runs import Gathering, RecordedRun, runs
from tickmon.options import ShowOptions
from tickmon.stdout import say, write_output
from tickmon.streams import End, Outcome, Stream, seed_words, stream_of
from tickmon.units import counted
from tickmon.windows import Method


def show(asked: ShowOptions) -> int:
    """Prints it; returns the exit code: whether a run crossed a limit. TickmonError when there is nothing
    to print."""
    if sys.stdout is None:
        raise TickmonError("standard output is closed: there is nowhere to show anything")
    whole = asked.format == "text" and asked.window is None
    codes = [0]
    for text in _texts(asked, codes) if whole else _streamed(asked, codes):
        if text:
            write_output(text)
    return max(codes)


def _texts(asked: ShowOptions, codes: list[int]) -> Iterator[str]:
    """The whole of every run, from its summary if it has one; adds the exit code of each to ``codes``."""
    apart = ""
    for run in runs(asked.file):
        _say_words(asked, run)
        end = _end(asked, run)
        yield apart + stream_of("text", run.header, events=False).end(end)
        codes.append(Judge(fail_if=asked.fail_if).end(end.outcomes))
        apart = "\n\n"


def _streamed(asked: ShowOptions, codes: list[int]) -> Iterator[str]:
    """All windows or one, as they come; adds the exit code of each run to ``codes``."""
    showing: _Showing | None = None
    least, most, seen = 0, 0, 0
    for item in read(asked.file, events=asked.events or asked.format == "seed"):
        if isinstance(item, Header):
            if showing is not None:
                yield showing.end(codes)
            # A table has one header row, and its rows may be of several runs.
            stream = showing.stream if showing is not None and asked.format == "csv" else None
            showing = _Showing(asked, item, stream)
        elif showing is None or (asked.window is not None and isinstance(item, Summed)):
            continue
        elif not isinstance(item, Analysis):
            showing.gathering.take(item)
        else:
            number = item.window.window
            least, most = min(least or number, number), max(most, number)
            if asked.window in (None, number):
                seen += 1
                yield showing.window(item)
    if asked.window is not None and not seen:
        has = f"its windows are {least} to {most}" if most else "it has none that is finished"
        raise TickmonError(f"{name_of(asked.file)} has no window {asked.window}: {has}")
    if showing is not None:
        yield showing.end(codes)


class _Showing:
    """One run on its way into a stream."""

    def __init__(self, asked: ShowOptions, header: Header, stream: Stream | None) -> None:
        self._asked = asked
        self.stream = stream or stream_of(asked.format, header, events=asked.events)
        self.gathering = Gathering(header)
        self._judge = Judge(fail_if=asked.fail_if)
        self._total: Total = NO_TOTAL
        self._segment = self._left_out = self._windows = 0

    def window(self, analysis: Analysis) -> str:
        """The next window."""
        self._check(analysis)
        self.gathering.take(analysis)
        self._judge.window(analysis)
        self._windows += 1
        return self.stream.window(analysis)

    def end(self, codes: list[int]) -> str:
        """What remains to be written, and words about it; adds the exit code to ``codes``."""
        if self._asked.window is not None and not self._windows:
            return ""
        run = self.gathering.run()
        _say_words(self._asked, run)
        end = _end(self._asked, run)
        text = self.stream.end(end)
        codes.append(self._judge.end(end.outcomes))
        if self._asked.format == "seed" and self._total.analysis is not None:
            outcome = Outcome(summary=self._total.summary(), windows=self._windows)
            say(seed_words(outcome, left_out=self._left_out).rstrip("\n"))
        return text

    def _check(self, analysis: Analysis) -> None:
        """TickmonError when what was asked for is not in the file."""
        window, name = analysis.window, name_of(self._asked.file)
        wanted = self._asked.events or self._asked.format == "seed"
        if self._asked.format == "seed":
            if window.segment.method is not Method.LOOP:
                raise TickmonError(
                    f"{name} is not of --method loop: the 2004 format has nothing to say of it"
                )
            self._add(analysis)
        if wanted and len(window.details) != window.interruptions - window.lost:
            raise TickmonError(
                f"{name} does not hold each interruption of window {window.window}: leave out --events, "
                "or record with --events"
            )

    def _add(self, analysis: Analysis) -> None:
        """The 2004 output begins anew with every segment."""
        segment = analysis.window.segment
        if self._total.analysis is not None:
            if segment.cpu != self._total.analysis.window.segment.cpu:
                raise TickmonError(f"{name_of(self._asked.file)} is of several CPUs: --format seed takes one")
            if segment.segment != self._segment:
                self._left_out += self._total.analysis.window.interruptions
                self._total = NO_TOTAL
        self._segment = segment.segment
        self._total = add(self._total, analysis)


def _end(asked: ShowOptions, run: RecordedRun) -> End:
    if not run.summed:
        raise TickmonError(f"{name_of(asked.file)} has no finished window yet: there is nothing to show")
    note = run.notes[-1] if run.notes else None
    return End(
        at=run.header.started_at if note is None else note.at,
        outcomes=[Outcome(summary=summed.summary, windows=summed.windows) for summed in run.summed],
        note=None if note is None else note.message,
        orderly=True,
    )


def _say_words(asked: ShowOptions, run: RecordedRun) -> None:
    for message in [word.message for word in run.remarks] + [note.message for note in run.notes]:
        say(message)
    if run.summed and not run.ended and asked.window is None:
        windows = counted(sum(summed.windows for summed in run.summed), "window", "windows")
        say(
            f"{name_of(asked.file)} ends without a summary, since its run was killed or goes on: "
            f"summed up from its {windows}"
        )
