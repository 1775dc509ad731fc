"""``tickmon watch``: its options and its help."""

from __future__ import annotations

import argparse

from tickmon import options
from tickmon.commandline.grammar import Commands, add_command, checked
from tickmon.commandline.measurement import add_measurement, measure_options
from tickmon.commandline.screen import add_screen, screen_options
from tickmon.commandline.texts import BLIND, CONSENT

_WATCH_END = f"""\
{CONSENT}

examples:
  tickmon                        an idle CPU
  tickmon --cpu 2,4-6            CPU 2 first; the keys lead to the others
  tickmon --window 5s --hz 1000  longer windows, on a kernel that hides its HZ
  tickmon --against FILE         what has changed since FILE was recorded

{BLIND}"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = add_command(
        commands,
        "watch",
        _options,
        help="the live screen (also without COMMAND)",
        description="Shows one CPU live. The keys are in the footer; ? explains them all.",
        epilog=_WATCH_END,
    )
    add_measurement(
        parser,
        "CPUs that may be measured, as in 1 or 2,4-6; the first comes first "
        "(default: an idle one, isolated if there is one)",
    )
    parser.add_argument(
        "--against",
        metavar="FILE",
        type=checked(options.input_path),
        help="a recording or snapshot to compare with: its last minute, as if it had been pinned with p",
    )
    add_screen(parser)
    parser.add_argument(
        "--events",
        action="store_true",
        help="key R records every interruption, not only summaries and the 100 worst of each window",
    )


def _options(arguments: argparse.Namespace) -> options.WatchOptions:
    return options.WatchOptions(
        measure=measure_options(arguments),
        screen=screen_options(arguments),
        events=arguments.events,
        against=arguments.against,
    )
