"""How a command is added to the parser, and how a value that makes no sense is told."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn, TypeAlias, TypeVar

from tickmon import options
from tickmon.errors import UsageError
from tickmon.limits import parse_limit

_T = TypeVar("_T")

Build = Callable[[argparse.Namespace], options.Options]
"""Makes of what was parsed what a command takes; UsageError for options that contradict each other."""


class Parser(argparse.ArgumentParser):
    """One line for wrong usage, printed where all errors are."""

    def error(self, message: str) -> NoReturn:
        """Raises what is printed there."""
        raise UsageError(f"{message} (see {self.prog} --help)")


Commands: TypeAlias = "argparse._SubParsersAction[Parser]"


def add_command(
    commands: Commands, name: str, build: Build, *, help: str, description: str, epilog: str
) -> Parser:
    """The parser of a new command; what it parses has ``build``."""
    parser = commands.add_parser(
        name,
        help=help,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(build=build)
    return parser


def checked(parse: Callable[[str], _T]) -> Callable[[str], _T]:
    """``parse`` as argparse calls it: a UsageError tells which argument it is about."""

    def convert(text: str) -> _T:
        try:
            return parse(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def add_fail_if(parser: argparse.ArgumentParser) -> None:
    """The limits of a whole run."""
    parser.add_argument(
        "--fail-if",
        metavar="LIMIT",
        type=checked(parse_limit),
        action="append",
        default=[],
        help="end with 3 when the whole run crosses it, as in 'max_ns>50us'; may be given again",
    )


def check_events(form: str, events: bool) -> None:
    """UsageError when a format has no place for every interruption."""
    if events and form not in ("json", "jsonl", "csv"):
        raise UsageError(f"--events goes with json, jsonl or csv, not with {form}")
