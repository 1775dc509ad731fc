"""``tickmon doctor``: its options and its help."""

from __future__ import annotations

import argparse

from tickmon import options
from tickmon.commandline.grammar import Commands, add_command

_DOCTOR = """\
Says for one CPU what was seen, why it matters for the measurement, what to
change, and where the kernel's documentation says so. It only reads, runs none
of the commands that it names, spins on no CPU, and reads nothing that would
interrupt the CPU in question."""

_DOCTOR_END = """\
levels (in JSON: bad, warning, unknown, note, ok):
  hurts    the figures are wrong or mean something else while this is so
  better   a change would make the CPU quieter or the reading fuller
  unknown  could not be told here; root or another place may see more
  note     worth knowing; ok: as it should be

examples:
  tickmon doctor --cpu 3
  tickmon doctor --format json | jq '.findings[] | select(.level == "bad")'

exit codes:
  0 whatever was found, 1 could not be read, 2 wrong usage"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = add_command(
        commands,
        "doctor",
        _options,
        help="what of this machine helps or hurts the measurement, and what to change",
        description=_DOCTOR,
        epilog=_DOCTOR_END,
    )
    parser.add_argument(
        "--cpu", metavar="N", help="the CPU to examine (default: the one that the live screen would choose)"
    )
    parser.add_argument(
        "--format", choices=options.DOCTOR_FORMATS, default="text", help="text (default) or json"
    )


def _options(arguments: argparse.Namespace) -> options.DoctorOptions:
    return options.DoctorOptions(cpus=arguments.cpu, format=arguments.format)
