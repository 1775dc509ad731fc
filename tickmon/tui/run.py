"""Runs the app so that the terminal survives it, whatever ends it."""

from __future__ import annotations

import traceback

from tickmon.errors import TickmonError, lack_text
from tickmon.tui.shell import Shell
from tickmon.tui.terminal import Guard

_STOP_S = 0.5
"""The sampler is told to end, and ends anyway when this process does."""


def run_screen(app: Shell, *, mouse: bool = True) -> int:
    """Runs ``app`` on this terminal and returns the exit code; call ``check_terminal()`` first.

    ``mouse`` may be left to the terminal.

    TickmonError when the program itself failed; by then the terminal is as it was.
    """
    guard = Guard(
        end=lambda: app.end(0),
        words=lambda: _fault_text(app.fault) if app.fault else "",
        last=lambda: app.close(_STOP_S),
    )
    app.when_ending = guard.expect_end
    with guard.watching():
        code = app.run(mouse=mouse)
        app.close(_STOP_S)
    if guard.signal is not None:
        return 128 + guard.signal
    if app.fault is not None:
        raise TickmonError(_fault_text(app.fault)) from app.fault
    return code or 0


def _fault_text(fault: Exception) -> str:
    lack = lack_text(fault)
    if lack is not None:
        return lack
    where = traceback.extract_tb(fault.__traceback__)
    place = f" in {where[-1].filename}, line {where[-1].lineno}" if where else ""
    words = " ".join(str(fault).split())
    return f"tickmon has a fault of its own, please report it: {type(fault).__name__}: {words}{place}"
