"""Writes what people install beside a command, all of it from the parser: a man page, and completion.

``python build_manual.py FOLDER`` writes ``tickmon.1``, ``tickmon.bash``, ``_tickmon`` (zsh) and
``tickmon.fish`` there. The parser needs nothing that is not in Python itself.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path

# The usage is filled by whoever shows the page, so it must come as one line.
os.environ["COLUMNS"] = "1000"
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import shtab
from argparse_manpage.manpage import Manpage

from tickmon import __version__
from tickmon.commandline import parser

_IN_SHORT = "what the timer tick and every other interruption take from a CPU, live"
_SHELLS = {"bash": "tickmon.bash", "zsh": "_tickmon", "fish": "tickmon.fish"}


def man_page() -> str:
    """The page in man(7) macros: what ``--help`` of tickmon and of every command say."""
    whole = parser()
    epilog, whole.epilog = whole.epilog, None
    page = Manpage(whole)
    page.source = f"tickmon {__version__}"
    page.manual = "User Commands"
    page.description = _IN_SHORT
    for name, command in _commands(whole):
        if command.epilog:
            page.add_section(f"MORE ON 'tickmon {name}'", ">", _as_it_stands(command.epilog))
    page.add_section("NOTES", ">", _as_it_stands(epilog or ""))
    return str(page)


def completion(shell: str) -> str:
    """What completes a command line of tickmon in ``shell``: bash, zsh or fish."""
    whole = parser()
    for _, command in _commands(whole):
        for action in command._actions:
            if action.metavar in ("FILE", "A", "B"):
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    return str(shtab.complete(whole, shell=shell))


def _commands(whole: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in whole._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _as_it_stands(text: str) -> str:
    """``text`` with its lines kept: examples and tables are in it."""
    lines = (f"\\&{line}" for line in text.replace("\\", "\\e").replace("-", "\\-").splitlines())
    return "\n".join((".nf", *lines, ".fi"))


def main(folder: Path) -> None:
    """Writes all of them."""
    (folder / "tickmon.1").write_text(man_page())
    for shell, name in _SHELLS.items():
        (folder / name).write_text(completion(shell))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
