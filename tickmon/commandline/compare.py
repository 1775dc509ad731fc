"""``tickmon compare``: its options and its help."""

from __future__ import annotations

import argparse
from pathlib import Path

from tickmon import options
from tickmon.commandline.grammar import Commands, add_command
from tickmon.errors import UsageError

_COMPARE = """\
Prints what changed from BEFORE to AFTER, by how much, and whether that is
more than chance: first what differs in their settings, then each figure, then
one sentence. Readings that were not taken alike (method, threshold, loop
size, trace) get no verdict."""

_COMPARE_END = """\
how it is told:
  Windows, or parts of them where a file has few and each interruption, are put
  together into blocks that do not depend on their neighbours. A figure is
  better or worse when hardly any other division of the blocks into before and
  after would differ as much. At most one comparison in 20 calls different what
  is not, over all its figures together.

examples:
  tickmon compare before.jsonl.gz after.jsonl.gz
  tickmon compare a.jsonl b.jsonl --format json | jq -r '.comparisons[].verdict'
  ssh trade7 cat after.jsonl.gz | tickmon compare before.jsonl.gz -

exit codes:
  0 whatever changed, 1 could not be read or has nothing to compare, 2 wrong
  usage"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = add_command(
        commands,
        "compare",
        _options,
        help="two recordings or snapshots: what changed, and whether that is more than chance",
        description=_COMPARE,
        epilog=_COMPARE_END,
    )
    parser.add_argument(
        "before", metavar="BEFORE", type=Path, help="a recording or snapshot; - is standard input"
    )
    parser.add_argument("after", metavar="AFTER", type=Path, help="another one")
    parser.add_argument(
        "--format", choices=options.COMPARE_FORMATS, default="text", help="text (default) or json"
    )


def _options(arguments: argparse.Namespace) -> options.CompareOptions:
    """UsageError when both are standard input."""
    if str(arguments.before) == str(arguments.after) == "-":
        raise UsageError("standard input can be read once only: give a file for one of the two")
    return options.CompareOptions(before=arguments.before, after=arguments.after, format=arguments.format)
