"""A series that grows coarser with age."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tickmon.analysis.aging import Levels, push

SIZES = (60, 240, 120, 120, 120, 120)


def the_same(items: Sequence[int]) -> Sequence[int]:
    return items


def the_most(items: Sequence[int]) -> Sequence[int]:
    return [max(items)]


def pushed(numbers: Sequence[int], sizes: Sequence[int] = SIZES) -> Levels[int]:
    levels: Levels[int] = ((),) * len(sizes)
    for number in numbers:
        levels = push(
            levels,
            number,
            sizes=sizes,
            at_once=(1, 4, 4, 4, 4, 4),
            coarser=(the_same, *(the_most,) * 5),
        )
    return levels


def test_levels_stay_within_their_sizes_over_100000_items() -> None:
    levels = pushed(range(100_000))
    assert all(len(level) <= size for level, size in zip(levels, SIZES, strict=True))
    assert sum(map(len, levels)) > 700


def test_newest_items_are_all_there_in_their_order() -> None:
    levels = pushed(range(1_000))
    assert [*levels[1], *levels[0]][-296:] == list(range(1_000 - 296, 1_000))


def test_greatest_of_what_is_still_covered_is_never_lost() -> None:
    numbers = list(range(20_000))
    random.Random(7).shuffle(numbers)
    levels = pushed(numbers)
    assert max(map(max, filter(None, levels))) == 19_999


def test_what_is_older_than_the_last_level_is_gone() -> None:
    levels = pushed([10**9, *range(5_000)], sizes=(1, 4, 4, 4, 4, 4))
    assert max(map(max, filter(None, levels))) < 10**9
