"""What is short and comes right after an interruption that has a name is called its aftermath."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.making import make_segment, make_trace, make_window
from tests.readings import HEADER, sum_up
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.aftermath import AFTERMATH, AFTERMATH_WORDS
from tickmon.analysis.kernel_causes import UNSEEN
from tickmon.analysis.readings import Analysis
from tickmon.report import reading_text
from tickmon.windows import KernelEvent

TICK_AT, TICK_END = 10_000, 30_000
"""At 2 cycles a ns."""


def read(*others: tuple[int, int], events_at: tuple[int, ...] = (TICK_AT + 100,)) -> Analysis:
    """A window with a tick's interruption, and others after it, each (start, gap) in cycles."""
    details = [(TICK_AT, TICK_END - TICK_AT), *others]
    trace = make_trace(*((at, KernelEvent.TICK, None) for at in events_at))
    window = replace(make_window(details, segment=make_segment(kernel_tick=None)), trace=trace)
    return analyse(window, Clocks())[0]


def names(*others: tuple[int, int], events_at: tuple[int, ...] = (TICK_AT + 100,)) -> list[str]:
    """What the interruptions are called, in order."""
    analysis = read(*others, events_at=events_at)
    return [analysis.sources[index].name for index in analysis.source_of]


@pytest.mark.parametrize("start", [TICK_END, TICK_END + 800])
def test_short_interruption_right_after_an_explained_one_is_its_aftermath(start: int) -> None:
    assert names((start, 900)) == ["tick", AFTERMATH]


def test_what_follows_an_aftermath_right_away_belongs_to_it() -> None:
    assert names((TICK_END, 900), (TICK_END + 1_000, 500)) == ["tick", AFTERMATH, AFTERMATH]


@pytest.mark.parametrize("other", [(TICK_END + 900, 900), (TICK_END, 11_000)], ids=["later", "longer"])
def test_later_or_longer_one_is_not(other: tuple[int, int]) -> None:
    assert names(other) == ["tick", UNSEEN]


def test_nothing_is_the_aftermath_of_something_unexplained() -> None:
    assert names((TICK_END + 5_000, 900), (TICK_END + 5_900, 900)) == ["tick", UNSEEN, UNSEEN]
    assert names((TICK_END, 11_000), (TICK_END + 11_000, 900)) == ["tick", UNSEEN, UNSEEN]


def test_one_with_a_cause_of_its_own_keeps_it_and_has_an_aftermath_itself() -> None:
    found = names((TICK_END, 900), (TICK_END + 900, 600), events_at=(TICK_AT + 100, TICK_END + 100))
    assert found == ["tick", "tick", AFTERMATH]


def test_report_says_what_an_aftermath_is() -> None:
    for other, said in (((TICK_END, 900), True), ((TICK_END + 900, 900), False)):
        text = reading_text(HEADER, sum_up([read(other)]), windows=1)
        assert (f"{AFTERMATH}: {AFTERMATH_WORDS}" in text) is said
