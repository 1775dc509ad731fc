"""What a frame of the overview costs at 16 and at 1,024 CPUs, side by side: python -m tests.bench.overview.

Both on a screen that shows 16 rows. A frame is what a finished visit leads to: one row has new figures. The
last line is a frame in which all rows in view are others; sixteen cannot be scrolled, so it begins at 32.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
import time
from dataclasses import replace
from statistics import median

from tests.desk import desk
from tests.scripted import scripted_cpus, scripted_segment, scripted_windows
from tickmon.sampling.survey import Seen
from tickmon.tui.board import Board, CpuRow
from tickmon.tui.screens.overview import Overview
from tickmon.tui.widgets.cputable import CpuTable
from tickmon.windows import Settings

COUNTS = (16, 32, 1024)
SIZE = (120, 20)
"""Four lines are around the sixteen rows."""
FRAMES = 60
TURNS = 3
MOST = 1.5
SCROLLED = "scrolled, of"


def main() -> int:
    """Prints a line for each way to draw; 1 when 1,024 CPUs cost more than MOST times what 16 cost."""
    print("CPU time of a frame          few CPUs     1,024 CPUs    ratio   (medians, ms)")
    turns = [[asyncio.run(_measure(count)) for count in COUNTS] for _ in range(TURNS)]
    worst = 0.0
    for name in turns[0][0]:
        size = 1 if name == SCROLLED else 0
        # In turns, since the machine's own speed drifts.
        ratio = median(turn[-1][name] / turn[size][name] for turn in turns)
        worst = max(worst, ratio)
        few_s, many_s = (median(turn[at][name] for turn in turns) for at in (size, -1))
        print(f"{name:20}{COUNTS[size]:4}: {few_s * 1e3:9.3f} {many_s * 1e3:14.3f} {ratio:8.2f}")
    return int(worst > MOST)


async def _measure(count: int) -> dict[str, float]:
    cpus = scripted_cpus(count, nodes={})
    found: dict[str, float] = {}
    async with desk(size=SIZE, cpus=cpus, settings=Settings(cpu=count - 1)) as at:
        await at.press("o", "g")
        await at.opened(2)
        screen = at.app.screen
        assert isinstance(screen, Overview)
        table = screen.query_one(CpuTable)
        screen._survey += 1  # What the scripted scan tells does not count.
        rows = _rows(count)
        screen._rows |= rows
        turns = itertools.count()

        async def frame(*, whole: bool) -> float:
            held = table.table
            assert held is not None
            # A visit of a CPU in view: every frame has something to draw.
            cpu = held.lines[table.in_view.start + next(turns) % 16].cpu
            assert cpu is not None
            row = screen._rows[cpu]
            screen._rows[cpu] = replace(row, windows=row.windows + 1, shares=(*row.shares, 0.01)[-100:])
            begun_s = time.process_time()
            if whole:
                table.action_choose_end(0 if table.scroll_offset.y else -1)
            screen._draw()
            screen._on_timer_update()
            await asyncio.sleep(0)
            return time.process_time() - begun_s

        for name, sort, whole in (
            ("by number", False, False),
            ("the worst first", True, False),
            (SCROLLED, False, True),
        ):
            if sort != screen._by_worst:
                screen.action_sort()
            await at.pilot.pause()
            costs = []
            for _ in range(FRAMES):
                # A new worst in each frame: the order has to be found again.
                screen._lines_stale = sort
                costs.append(await frame(whole=whole))
            found[name] = median(costs)
    return found


def _rows(count: int) -> dict[int, CpuRow]:
    """All CPUs as after a visit."""
    segment = scripted_segment(Settings(cpu=0, window_s=0.25))
    board = Board(scripted_cpus(1))
    board.take(Seen(cpu=0, window=scripted_windows(segment, 1)[0]))
    first = board.rows[0]
    assert first.worst_ns is not None
    return {cpu: replace(first, cpu=cpu, worst_ns=first.worst_ns + cpu) for cpu in range(count)}


if __name__ == "__main__":
    sys.exit(main())
