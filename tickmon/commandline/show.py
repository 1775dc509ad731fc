"""``tickmon show``: its options and its help."""

from __future__ import annotations

import argparse
from pathlib import Path

from tickmon import options
from tickmon.commandline.grammar import Commands, add_command, add_fail_if, check_events, checked
from tickmon.commandline.texts import LIMITS

_SHOW_END = f"""\
formats:
  text   the summary, as tickmon sample prints it
  json, jsonl, csv, seed
         as of tickmon sample; seed, and --events, of what was recorded with
         --events

examples:
  tickmon show before.jsonl.gz
  tickmon show trade7-cpu3-20260921T141319Z.jsonl.gz --format csv --events
  tickmon show before.jsonl.gz --window 17
  ssh trade7 cat before.jsonl.gz | tickmon show -
  tickmon show before.jsonl.gz --fail-if 'tick.p99_ns>5us'

{LIMITS}

exit codes:
  0 fine, 1 could not read or judge a limit, 2 wrong usage, 3 a limit was
  crossed"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = add_command(
        commands,
        "show",
        _options,
        help="a recording or snapshot as text, or in another format",
        description="Prints what a file holds, on any machine and without any rights.",
        epilog=_SHOW_END,
    )
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a recording or snapshot; - is standard input"
    )
    parser.add_argument(
        "--window",
        metavar="N",
        type=checked(options.whole_number(0, 2**53)),
        help="only the window of this number (default: the whole run)",
    )
    parser.add_argument("--format", choices=options.FORMATS, default="text", help="see below (default text)")
    parser.add_argument(
        "--events", action="store_true", help="every interruption, not only the summary and the worst"
    )
    add_fail_if(parser)


def _options(arguments: argparse.Namespace) -> options.ShowOptions:
    check_events(arguments.format, arguments.events)
    return options.ShowOptions(
        file=arguments.file,
        window=arguments.window,
        format=arguments.format,
        events=arguments.events,
        fail_if=tuple(arguments.fail_if),
    )
