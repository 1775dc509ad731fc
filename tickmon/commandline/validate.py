"""``tickmon validate``: its options and its help."""

from __future__ import annotations

import argparse

from tickmon import options
from tickmon.commandline.grammar import Commands, add_command, checked
from tickmon.commandline.measurement import add_known
from tickmon.commandline.texts import CONSENT

_VALIDATE_END = f"""\
{CONSENT}

It holds the reading against the kernel's own trace (where this user may read
it), against what the kernel counts, against disturbances whose time is known
(a second process on the same CPU), and against itself; and it says whether the
loop method's baseline holds. Each check passes, fails or could not be judged.

examples:
  tickmon validate               an idle CPU, {options.VALIDATE_S:g} s
  tickmon validate --cpu 3 --duration 2m
  tickmon validate --format json | jq .verdict

exit codes:
  0 valid, 3 not valid, 1 could not be judged, 2 wrong usage, 128+n ended by
  signal n"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = add_command(
        commands,
        "validate",
        _options,
        help="measures how far the reading can be trusted",
        description="Checks the reading of one CPU against everything that knows better.",
        epilog=_VALIDATE_END,
    )
    group = parser.add_argument_group("measurement")
    cpu_help = "the CPU to validate; another must stay free (default: an idle one, isolated if there is one)"
    group.add_argument("--cpu", metavar="N", help=cpu_help)
    add_known(group)
    parser.add_argument(
        "--duration",
        metavar="SECONDS",
        type=checked(options.validate_s),
        default=options.VALIDATE_S,
        help=f"how long in all, 5s to 10m (default {options.VALIDATE_S:g})",
    )
    parser.add_argument("--format", choices=options.VALIDATE_FORMATS, default="text", help="(default text)")


def _options(arguments: argparse.Namespace) -> options.ValidateOptions:
    measure = options.MeasureOptions(
        cpus=arguments.cpu,
        window_s=options.WINDOW_S,
        method="gap",
        loop_size=options.LOOP_SIZE,
        threshold_ns=arguments.threshold_ns,
        kernel_hz=arguments.hz,
        tsc_hz=arguments.tsc_hz,
        priority=0,
        trace=False,
    )
    return options.ValidateOptions(measure=measure, duration_s=arguments.duration, format=arguments.format)
