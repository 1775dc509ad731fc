"""The command line's grammar: what may be asked for, and the help that explains it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tickmon import __version__, options
from tickmon.commandline import compare, doctor, replay, sample, show, validate, watch
from tickmon.commandline.grammar import Parser
from tickmon.commandline.texts import BLIND
from tickmon.errors import UsageError

_DESCRIPTION = """\
Shows what the timer tick and every other interruption take from a program
that only wants to run on one CPU, and whether that reading can be believed.

A process of its own reads the CPU's cycle counter without pause. When two
reads lie further apart than the threshold, something else ran there: that is
an interruption, and what it took beyond an undisturbed read is overhead."""

_MAIN_END = f"""\
examples:
  tickmon                        the live screen, on an idle CPU
  tickmon --cpu 3                ... on CPU 3
  tickmon sample --duration 60   a minute without a screen, then a summary
  tickmon doctor --cpu 3         what helps or hurts the measurement there
  tickmon show FILE              what such a run recorded with --output
  tickmon replay FILE            ... on the live screen
  tickmon compare A B            what changed between two of them
  tickmon COMMAND --help         all options of one command

{BLIND}

exit codes:
  0 fine, 1 could not measure, 2 wrong usage, 3 a limit was crossed or the
  reading is not valid (validate), 128+n ended by signal n"""


def parse(argv: Sequence[str]) -> options.Options:
    """What ``argv`` asks for. UsageError when it makes no sense, SystemExit after --help and --version."""
    arguments, rest = parser().parse_known_args(_with_command(argv))
    if rest:
        raise UsageError(f"unknown: {' '.join(rest)} (see tickmon {arguments.command} --help)")
    asked: options.Options = arguments.build(arguments)
    return asked


def _with_command(argv: Sequence[str]) -> list[str]:
    """``tickmon`` alone, or with options only, is ``tickmon watch``."""
    if not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help", "--version")):
        return ["watch", *argv]
    return list(argv)


def parser() -> Parser:
    """The whole grammar."""
    whole = Parser(
        prog="tickmon",
        description=_DESCRIPTION,
        epilog=_MAIN_END,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    whole.add_argument("--version", action="version", version=f"tickmon {__version__}")
    commands = whole.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    for command in (watch, sample, doctor, show, replay, compare, validate):
        command.add(commands)
    return whole
