"""A survey of all CPUs as rows of the overview."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

from tickmon.sampling.everywhere import sample_everywhere
from tickmon.sampling.scan import scan
from tickmon.sampling.survey import Failed, Means, Survey, SurveyEvent
from tickmon.tui.board import Board, CpuRow


def survey_of(means: Means, *, everywhere: bool, tell: Callable[[dict[int, CpuRow]], None]) -> Survey:
    """All CPUs of ``means``, one after another or all at once; nothing runs before its ``start``.

    ``tell`` is called with the rows that change, from another thread.
    """
    board = Board(means.cpus, means.consented)

    def told(event: SurveyEvent) -> None:
        if rows := board.take(event):
            # What comes after the app's end is for nobody.
            with suppress(RuntimeError):
                tell(rows)

    def refused(why: str) -> None:
        for cpu in means.cpus.usable:
            told(Failed(cpu=cpu, why=why))

    return Survey(partial(sample_everywhere if everywhere else scan, means, told), refused)
