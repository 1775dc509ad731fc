"""Standard output and error, which may be closed, full, or a pipe whose reader has gone."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys

from tickmon.errors import TickmonError
from tickmon.text import harmless

_MESSAGE_LIMIT = 1000

_CLOSEST = {"µ": "u", "–": "-", "·": "-", "…": "."}


def take_any_text() -> None:
    """Lets standard output and error take every character, whatever the locale; what it lacks comes close."""
    codecs.register_error("closest", _closest)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="closest")


def write_output(text: str) -> None:
    """Writes ``text`` through to whoever reads it; standard output must not be closed.

    TickmonError when it does not arrive there, BrokenPipeError when nobody reads any more.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise TickmonError(f"cannot write to standard output: {error.strerror}") from None


def say(message: str) -> None:
    """A word to the user on standard error, on one line that no terminal obeys: names are in it.

    There may be nobody to hear it.
    """
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print("tickmon:", harmless(message, _MESSAGE_LIMIT), file=sys.stderr, flush=True)


def drop_output() -> None:
    """Throws away what could not be written: Python would try once more at its end, and exit with 120."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _closest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_CLOSEST.get(char, "?") for char in lacking), error.end
