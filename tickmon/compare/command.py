"""``tickmon compare``: which readings belong together, and what each pair comes to."""

from __future__ import annotations

import sys

from tickmon.analysis.alike import differences
from tickmon.analysis.compare import compare, stretches_alike
from tickmon.compare.load import Reading, Recording, load
from tickmon.compare.place import place_differences
from tickmon.compare.report import Pair, json_text, pair_text
from tickmon.errors import TickmonError
from tickmon.loading.files import name_of
from tickmon.options import CompareOptions
from tickmon.stdout import say, write_output
from tickmon.units import counted
from tickmon.windows import Method


def compare_files(asked: CompareOptions) -> int:
    """Prints what changed; returns the exit code. TickmonError when there is nothing to compare."""
    if sys.stdout is None:
        raise TickmonError("standard output is closed: there is nowhere to show anything")
    before, after = load((asked.before, asked.after))
    for recording in (before, after):
        for remark in recording.remarks:
            say(remark)
    pairs = [_pair(*readings) for readings in _together(before, after)]
    if asked.format == "json":
        write_output(json_text(pairs, (asked.before, asked.after)))
    else:
        write_output("\n\n".join(pair_text(pair) for pair in pairs))
    return 0


def _together(before: Recording, after: Recording) -> list[tuple[Reading, Reading]]:
    """The readings of the same CPUs; where each file has only one, of that."""
    cpus = sorted(before.readings.keys() & after.readings.keys())
    if not cpus and len(before.readings) == len(after.readings) == 1:
        return list(zip(before.readings.values(), after.readings.values(), strict=True))
    if not cpus:
        raise TickmonError(
            f"{name_of(before.path)} and {name_of(after.path)} have no CPU in common: "
            "record the same ones, or one CPU in each file"
        )
    for recording in (before, after):
        alone = sorted(recording.readings.keys() - cpus)
        if alone:
            cpus_text = f"CPU{'s' * (len(alone) > 1)} {', '.join(map(str, alone))}"
            say(f"only {name_of(recording.path)} has {cpus_text}: left out")
    return [(before.readings[cpu], after.readings[cpu]) for cpu in cpus]


def _pair(before: Reading, after: Reading) -> Pair:
    notes = []
    for name, reading in (("before", before), ("after", after)):
        if reading.left_out:
            windows = counted(reading.left_out, "window")
            notes.append(f"{name} changes its settings: its first {windows} are left out")
    sides = before.stretches, after.stretches
    if before.short or after.short:
        sides = stretches_alike(tuple(before.recent), tuple(after.recent))
        for name, reading in (("before", before), ("after", after)):
            if len(reading.recent) < len(reading.stretches):
                notes.append(f"of {name} only the last {len(reading.recent)} windows, as the other is short")
    loop = Method.LOOP.value in (before.taken.method, after.taken.method)
    return Pair(
        before=before,
        after=after,
        settings=(
            *differences(before.taken, after.taken),
            *place_differences(before.header, after.header),
        ),
        comparison=compare(*sides, loop=loop),
        notes=tuple(notes),
    )
