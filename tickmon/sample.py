"""``tickmon sample``: the measurement without a screen."""

from __future__ import annotations

import contextlib
import itertools
import queue
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from tickmon.analysis import Clocks, analyse
from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, Total, add
from tickmon.errors import TickmonError, UsageError
from tickmon.formats.lines import Header
from tickmon.judging import Judge
from tickmon.keeping import Keeping
from tickmon.machine.facts import read_machine
from tickmon.machine.shared import SharedFiles
from tickmon.options import SampleOptions
from tickmon.ready import Ready
from tickmon.recording import Writer
from tickmon.report import live_text
from tickmon.sampling.collector import Collector
from tickmon.sampling.survey import stop_all
from tickmon.settings import settings_for
from tickmon.stdout import write_output
from tickmon.streams import End, Outcome, seed_words, stream_of
from tickmon.windows import Ended, Event, ReadingWarning, Settings, Window, WindowSource

_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def sample(asked: SampleOptions, ready: Ready) -> int:
    """Measures the chosen CPUs of this machine; returns the exit code, and raises what ``run`` raises."""
    if asked.format == "seed" and len(ready.chosen) > 1:
        raise UsageError("--format seed is a list of samples: it takes one CPU")
    machine = replace(read_machine(), cpus=ready.cpus)
    header = Header(started_at=datetime.now(UTC), host=machine.host, clocksource=machine.clock.name)

    tables = SharedFiles()

    def open_source(settings: Settings) -> WindowSource:
        return Collector(settings, machine, duration_s=asked.duration_s, looks=False, tables=tables)

    near = () if ready.nearness is None else (ReadingWarning(code="near", message=ready.nearness),)
    settings = [settings_for(asked.measure, cpu, samples=asked.samples) for cpu in ready.chosen]
    return run(asked, settings, header=header, open_source=open_source, warnings=near)


class Run:
    """Samplers of several CPUs at once, as one series of windows."""

    def __init__(self, sources: Mapping[int, WindowSource]) -> None:
        """``sources`` by CPU; they start with ``windows()``."""
        self._sources = sources
        self._running = set(sources)
        # Its put() is safe in a signal handler.
        self._events: queue.SimpleQueue[tuple[int, Event] | signal.Signals] = queue.SimpleQueue()
        self._numbers = itertools.count(1)
        self._segments: dict[tuple[int, int], int] = {}
        self.error: str | None = None
        """What ended it, when a sampler died."""
        self.ended_by: signal.Signals | None = None
        """What ended it, when a signal came."""
        self._enough = False

    def windows(self) -> Iterator[Window]:
        """All finished windows as they come, windows and segments numbered through the run.

        It goes on until every source has ended, one of them has died, or ``end_by`` or ``finish`` was called.
        """
        for cpu, source in self._sources.items():
            source.start(partial(self._put, cpu))
        while self._running and self.error is None and self.ended_by is None and not self._enough:
            yield from self._taken(self._events.get())
        self.stop()
        while not self._events.empty():
            yield from self._taken(self._events.get())

    def end_by(self, number: signal.Signals) -> None:
        """Ends it early: for signal handlers."""
        self._events.put(number)

    def finish(self) -> None:
        """Ends it early: for whoever takes its windows."""
        self._enough = True

    def stop(self) -> None:
        """Ends all samplers at once and waits for them. May be called twice."""
        stop_all(self._sources.values())

    def _put(self, cpu: int, event: Event) -> None:
        self._events.put((cpu, event))

    def _taken(self, event: tuple[int, Event] | signal.Signals) -> Iterator[Window]:
        match event:
            case signal.Signals():
                self.ended_by = event
            case cpu, Window(provisional=False) as window:
                yield self._numbered(cpu, window)
            case cpu, Ended(error=error):
                self._running.discard(cpu)
                self.error = self.error or error

    def _numbered(self, cpu: int, window: Window) -> Window:
        key = (cpu, window.segment.segment)
        number = self._segments.setdefault(key, len(self._segments) + 1)
        segment = replace(window.segment, segment=number)
        return replace(window, window=next(self._numbers), segment=segment)


def run(
    asked: SampleOptions,
    settings: Sequence[Settings],
    *,
    header: Header,
    open_source: Callable[[Settings], WindowSource],
    warnings: tuple[ReadingWarning, ...] = (),
) -> int:
    """Measures as ``asked``, a source for each of ``settings``, writes the reading and returns the exit code.

    ``warnings`` hold for every window. What crosses a limit is said on standard error. TickmonError when the
    result cannot be written, or when a sampler died: what was measured before is written first.
    """
    stream = stream_of(asked.format, header, events=asked.events)
    readings = {each.cpu: _Reading(begins_anew=asked.format == "seed") for each in settings}
    run = Run({each.cpu: open_source(each) for each in settings})
    judge = Judge(fail_if=asked.fail_if, stop_if=asked.stop_if)
    with _output(asked) as output, _signals(run.end_by):
        try:
            for window in run.windows():
                analysis = readings[window.segment.cpu].analysed(window, warnings)
                if (text := stream.window(analysis)) and not output.keep(text):
                    stream.missed(analysis)
                judge.window(analysis)
                if judge.stopped_by is not None:
                    run.finish()
                if asked.format == "text":
                    _show(live_text(analysis), terminal_only=True)
        finally:
            run.stop()
        end = _end(run, readings, judge.stopped_by)
        code = judge.end(end.outcomes)
        if end.outcomes:
            output.end(stream.end(end))
    if asked.format == "seed":
        left_out = sum(reading.left_out for reading in readings.values())
        _show("".join(seed_words(outcome, left_out=left_out) for outcome in end.outcomes))
    if run.error is not None:
        raise TickmonError(run.error)
    return code if run.ended_by is None else 128 + run.ended_by


@dataclass(slots=True)
class _Reading:
    """What is known of one CPU by now."""

    begins_anew: bool
    """A new segment puts aside what was before it, as the 2004 program did when its counter went back."""
    clocks: Clocks = field(default_factory=Clocks)
    total: Total = NO_TOTAL
    windows: int = 0
    left_out: int = 0
    """Interruptions (loop method: samples) that were put aside."""

    def analysed(self, window: Window, warnings: tuple[ReadingWarning, ...]) -> Analysis:
        if self.begins_anew and self.total.analysis is not None and window.segment != self.clocks.segment:
            self.left_out += self.total.analysis.window.interruptions
            self.total = NO_TOTAL
        analysis, self.clocks = analyse(replace(window, warnings=window.warnings + warnings), self.clocks)
        self.total = add(self.total, analysis)
        self.windows += 1
        return analysis


def _end(run: Run, readings: Mapping[int, _Reading], stopped_by: str | None) -> End:
    note = run.error
    if run.error is None and run.ended_by is not None:
        note = f"ended by {run.ended_by.name}"
    elif run.error is None and stopped_by is not None:
        note = f"ended by {stopped_by}"
    return End(
        at=datetime.now(UTC),
        outcomes=[
            Outcome(summary=readings[cpu].total.summary(), windows=readings[cpu].windows)
            for cpu in sorted(readings)
            if readings[cpu].windows
        ],
        note=note,
        orderly=run.error is None,
    )


class _StandardOutput:
    """Results for whoever reads them; without a reader, or room, there is no reason to go on."""

    def keep(self, text: str) -> bool:
        write_output(text)
        return True

    def end(self, text: str) -> None:
        if text:
            write_output(text)


@contextlib.contextmanager
def _output(asked: SampleOptions) -> Iterator[Keeping | _StandardOutput]:
    """Where results were asked for."""
    if asked.output is None:
        if sys.stdout is None:
            raise TickmonError("standard output is closed: give --output FILE")
        yield _StandardOutput()
        return
    with Writer(asked.output, force=asked.force) as writer:
        yield Keeping(writer)


@contextlib.contextmanager
def _signals(end_by: Callable[[signal.Signals], None]) -> Iterator[None]:
    """The first signal that asks for an end is handed to ``end_by``; a second one ends the program at once.

    What was ignored when the program began (nohup, a shell's background) stays ignored.
    """
    before = {number: signal.getsignal(number) for number in _ENDING_SIGNALS}
    heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]

    def hear(number: int, _frame: object) -> None:
        for each in heard:
            signal.signal(each, signal.SIG_DFL)
        end_by(signal.Signals(number))

    for number in heard:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])


def _show(words: str, *, terminal_only: bool = False) -> None:
    """Words beside the result; there may be nobody to read them."""
    if sys.stderr is not None and (sys.stderr.isatty() or not terminal_only):
        with contextlib.suppress(OSError):
            sys.stderr.write(words)
            sys.stderr.flush()
