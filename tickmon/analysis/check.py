"""The sanity check: ticks that must have happened against ticks that were seen."""

from __future__ import annotations

from collections.abc import Sequence

from tickmon.windows import RowChange


def verdict_of(
    *, expected: int, seen: int, lost: int, chance_share: float, may_stop: bool, faster: bool
) -> str:
    """What ``seen`` of ``expected`` slots means.

    ``lost`` interruptions have no detail: each of them may have held a slot. ``chance_share`` of the
    slots would be held without any tick; ``faster``: a train at the tick's phase runs faster.
    """
    if faster:
        return "extra"
    if not expected:
        return "unknown"
    if expected - seen <= max(2, 0.002 * expected):
        return "ok"
    ticked_share = (seen / expected - chance_share) / max(1 - chance_share, 1e-9)
    if may_stop and ticked_share < 0.5:
        return "stopped"
    return "missing" if expected - seen > lost else "unknown"


def timer_count(interrupts: Sequence[RowChange]) -> tuple[int | None, str | None]:
    """What the kernel counted itself, and in which row; both None where no row counts its timer's interrupts.

    All of them on that CPU: an upper bound of its ticks, and no part of the verdict.
    """
    timers = [change for change in interrupts if change.timer]
    most = max(timers, key=lambda change: change.count, default=None)
    return (None, None) if most is None else (most.count, most.timer)
