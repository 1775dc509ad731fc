"""``tickmon validate``: how far the reading can be trusted on one CPU, measured there."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from datetime import UTC, datetime

from tickmon.errors import TickmonError, UsageError
from tickmon.machine.facts import read_machine
from tickmon.options import ValidateOptions
from tickmon.ready import Ready
from tickmon.settings import settings_for
from tickmon.stdout import write_output
from tickmon.validate.baseline import judge_baseline
from tickmon.validate.counters import judge_counters
from tickmon.validate.findings import Finding, verdict_of
from tickmon.validate.injections import judge_injections, see
from tickmon.validate.presence import judge_presence
from tickmon.validate.repeat import judge_repeats
from tickmon.validate.report import Conditions, validation_json, validation_text
from tickmon.validate.run import Gathered, gather
from tickmon.validate.traced import judge_trace


def validate(asked: ValidateOptions, ready: Ready) -> int:
    """Measures, judges, writes the table; returns 0 (valid), 3 (not valid) or 1 (could not be judged).

    TickmonError when the CPU cannot be sampled or disturbed at all, or the table cannot be written.
    """
    if len(ready.chosen) > 1:
        raise UsageError("validate takes one CPU: --cpu names several")
    if sys.stdout is None:
        raise TickmonError("standard output is closed: there is nowhere to write the table")
    machine = replace(read_machine(), cpus=ready.cpus)
    started_at = datetime.now(UTC)
    settings = settings_for(asked.measure, ready.chosen[0])
    gathered = gather(settings, machine, duration_s=asked.duration_s, say=_say)
    findings = judge(gathered)
    verdict = verdict_of(findings)
    last = gathered.disturbed[-1]
    conditions = Conditions(
        started_at=started_at,
        duration_s=asked.duration_s,
        host=machine.host,
        segment=last.window.segment,
        tsc_hz=last.tsc_hz,
        injected_as="SCHED_FIFO" if gathered.priority else "an ordinary task",
    )
    write = validation_json if asked.format == "json" else validation_text
    write_output(write(conditions, findings, verdict))
    return verdict.exit_code


def judge(gathered: Gathered) -> tuple[Finding, ...]:
    """All findings, in the order of the table."""
    windows = [analysis.window for analysis in gathered.disturbed]
    return (
        *judge_trace(gathered.traced),
        *judge_counters((gathered.quiet, gathered.disturbed)),
        *judge_injections(see(windows, gathered.injected), tsc_hz=gathered.disturbed[-1].tsc_hz),
        judge_presence(gathered.quiet),
        *judge_repeats(gathered.quiet),
        judge_baseline(gathered.loop),
    )


def _say(words: str) -> None:
    """A word on how far it is, to a terminal."""
    if sys.stderr is not None and sys.stderr.isatty():
        with contextlib.suppress(OSError):
            print(words, file=sys.stderr, flush=True)
