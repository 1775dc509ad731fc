"""A series that grows coarser with age, so that it stays short however long it becomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_T = TypeVar("_T")

Levels = tuple[tuple[_T, ...], ...]
"""The newest level first; within each the oldest item first."""


def push(
    levels: Levels[_T],
    item: _T,
    *,
    sizes: Sequence[int],
    at_once: Sequence[int],
    coarser: Sequence[Callable[[Sequence[_T]], Sequence[_T]]],
) -> Levels[_T]:
    """``levels`` with a newer ``item``.

    Level n holds at most ``sizes[n]`` items. Once it has more, its oldest ``at_once[n]`` go to the next
    level as what ``coarser[n]`` makes of them: as many at most, in their order. The last level's are gone.
    """
    aged = []
    arriving: Sequence[_T] = (item,)
    for level, size, count, makes in zip(levels, sizes, at_once, coarser, strict=True):
        items = (*level, *arriving)
        arriving = ()
        if len(items) > size:
            arriving = makes(items[:count])
            items = items[count:]
        aged.append(items)
    return tuple(aged)
