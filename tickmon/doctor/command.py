"""``tickmon doctor``: the findings about one CPU as text or JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict

from tickmon import __version__
from tickmon.doctor.examine import examine
from tickmon.doctor.findings import LEVELS, Diagnosis
from tickmon.doctor.page import Line, Style, page
from tickmon.errors import TickmonError, UsageError
from tickmon.machine.affinity import keep_away
from tickmon.machine.busy import look
from tickmon.machine.choose import check_cpus, default_cpu
from tickmon.machine.cpulist import parse_cpu_list
from tickmon.machine.cpus import read_cpus
from tickmon.options import DoctorOptions
from tickmon.stdout import write_output

_COLOURS: Mapping[Style, str] = {
    "verdict": "1",
    "bad": "1;31",
    "warning": "33",
    "unknown": "35",
    "note": "36",
    "ok": "32",
    "label": "2",
}
"""ANSI's numbers (ECMA-48, SGR)."""
_WIDTH = 80


def doctor(asked: DoctorOptions) -> int:
    """Examines one CPU of this machine and writes what was found; the exit code.

    The CPU that was named, else the one that the live screen would choose. TickmonError when there is none
    or it cannot be read, UsageError when it cannot be measured. Nothing is changed, and nothing spins.
    """
    if sys.stdout is None:
        raise TickmonError("standard output is closed")
    cpu = _settle(asked.cpus)
    diagnosis = examine(cpu)
    write_output(json_text(diagnosis) if asked.format == "json" else _text(diagnosis))
    return 0


def json_text(diagnosis: Diagnosis) -> str:
    """One object: ``format`` ("tickmon-doctor"), ``version`` (1), ``tickmon_version`` (string), ``cpu`` (the
    kernel's number), ``verdict`` (string), ``counts`` (an object: level → number), ``findings`` (a list, the
    gravest first).

    A finding: ``code`` (string, stays the same), ``level`` ("bad", "warning", "unknown", "note", "ok"),
    ``what`` (string), ``where`` (list of strings: files and calls), ``why`` (string), ``change`` and ``doc``
    (string or null).
    """
    return (
        json.dumps(
            {
                "format": "tickmon-doctor",
                "version": 1,
                "tickmon_version": __version__,
                "cpu": diagnosis.cpu,
                "verdict": diagnosis.verdict,
                "counts": {level: diagnosis.count(level) for level in LEVELS},
                "findings": [asdict(finding) for finding in diagnosis.findings],
            },
            ensure_ascii=False,
            indent=1,
        )
        + "\n"
    )


def plain_text(diagnosis: Diagnosis, width: int, *, coloured: bool) -> str:
    """The page as text of ``width`` columns."""
    return "".join(f"{_shown(line, coloured=coloured)}\n" for line in page(diagnosis, width))


def _settle(asked: str | None) -> int:
    """Which CPU, and this process off it."""
    cpus = read_cpus()
    if asked is not None:
        named = parse_cpu_list(asked, highest=max(cpus.possible))
        check_cpus(cpus, named)
        if len(named) > 1:
            raise UsageError("the doctor examines one CPU at a time: name one with --cpu")
        (cpu,) = named
    elif len(cpus.usable) == 1:
        (cpu,) = cpus.usable
    else:
        cpu = default_cpu(cpus, look).cpu
    keep_away((cpu,), cpus)
    return cpu


def _text(diagnosis: Diagnosis) -> str:
    terminal = sys.stdout.isatty()
    coloured = terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    width = shutil.get_terminal_size((_WIDTH, 24)).columns if terminal else _WIDTH
    return plain_text(diagnosis, width, coloured=coloured)


def _shown(line: Line, *, coloured: bool) -> str:
    text = "".join(text for text, _ in line).rstrip()
    if not coloured or not text:
        return text
    return "".join(
        f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if style in _COLOURS and text.strip() else text
        for text, style in line
    )
