"""``tickmon replay``: its options and its help."""

from __future__ import annotations

import argparse
from pathlib import Path

from tickmon import options
from tickmon.commandline.grammar import Commands, add_command
from tickmon.commandline.screen import add_screen, screen_options

_REPLAY_END = """\
keys:
  space      hold, play on; from the end: again from the beginning
  , .        one window back, on        < >     slower, faster
  Home End   the first, the last        w W     the worst, the ten worst
  s          save the window on show    ?       all keys

examples:
  tickmon replay before.jsonl.gz
  tickmon replay trade7-cpu3-20260921T141319Z.jsonl.gz

exit codes:
  0 fine, 1 could not read, 2 wrong usage, 128+n ended by signal n"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = add_command(
        commands,
        "replay",
        _options,
        help="a recording or snapshot on the live screen, with pause, step and speed",
        description="Plays a file on the live screen, on any machine and without any rights.",
        epilog=_REPLAY_END,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="a recording or snapshot")
    add_screen(parser)


def _options(arguments: argparse.Namespace) -> options.ReplayOptions:
    return options.ReplayOptions(file=arguments.file, screen=screen_options(arguments))
