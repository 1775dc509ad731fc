"""Standard output, which may be closed, full, or a pipe whose reader has gone."""

from __future__ import annotations

import os
import sys

from tickmon.errors import TickmonError


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


def drop_output() -> None:
    """Throws away what could not be written: Python would try once more at its end, and complain."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
