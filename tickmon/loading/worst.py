"""The longest interruptions of a window, of which a line holds a hundred."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from operator import itemgetter
from types import NoneType
from typing import Any

from tickmon.analysis.readings import Worst
from tickmon.analysis.worst import Columns
from tickmon.formats.members import NUMBER_MOST
from tickmon.loading.members import PARTS_MOST, TEXT_LIMIT, BadMemberError, Members, harmless_text
from tickmon.windows import Window

_MEMBERS = itemgetter("start_cycles", "gap_cycles", "source", "at", "causes")


def all_worst(line: Members, window: Window, sources: int, above_cycles: int) -> Sequence[Worst]:
    """Those of ``line``, longest first; the source of each is one of so many ``sources``.

    When the first of them and the maximum of ``window`` are no longer than ``above_cycles``, the others are
    passed over unread, and there are none.
    """
    values = line.values("worst", PARTS_MOST)
    if values:
        first_cycles = Members(values[0], "worst[]").whole("gap_cycles")
        if max(first_cycles, window.max_cycles or 0) <= above_cycles:
            return ()
    if (plain := _plain(values, sources)) is not None:
        return plain
    worst = [_worst(Members(value, "worst[]"), window, sources) for value in values]
    return tuple(sorted(worst, key=lambda one: -one.gap_cycles))


def _plain(values: Sequence[Any], sources: int) -> Columns | None:
    """Where all are as always, whole numbers within bounds and times in UTC; None when anything is not.

    Held against its bounds column by column, a line takes a fifth of the time.
    """
    try:
        starts, gaps, places, times, causes = zip(*map(_MEMBERS, values), strict=True)
        at = tuple(map(datetime.fromisoformat, times))
    except (KeyError, TypeError, ValueError):
        return None
    if (
        set(map(type, starts + gaps + places)) != {int}
        or not -NUMBER_MOST <= min(starts) <= max(starts) <= NUMBER_MOST
        or not 0 <= gaps[-1] <= gaps[0] <= NUMBER_MOST
        or list(gaps) != sorted(gaps, reverse=True)
        or not 0 <= min(places) <= max(places) < sources
        or [one.tzinfo for one in at].count(UTC) != len(at)
    ):
        return None
    kinds = set(map(type, causes))
    if kinds == {str, NoneType} or kinds == {str}:
        causes = tuple(cause and harmless_text(cause, TEXT_LIMIT) for cause in causes)
    elif kinds != {NoneType}:
        return None
    return Columns(starts_cycles=starts, gaps_cycles=gaps, sources=places, at=at, causes=causes)


def _worst(part: Members, window: Window, sources: int) -> Worst:
    source = part.whole_or_none("source", most=max(sources - 1, 0))
    if source is not None and not sources:
        raise BadMemberError("says the source of a worst interruption, but no sources")
    return Worst(
        start_cycles=part.whole_or_none("start_cycles", least=-(2**53)),
        gap_cycles=part.whole("gap_cycles"),
        source=source,
        at=part.when_or_none("at") or window.started_at,
        causes=part.text_or_none("causes"),
    )
