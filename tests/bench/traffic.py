"""Bytes a second and CPU of the live screen beside htop, btop and s-tui, in turns; and that of a pause.

The goals: at 120×40 at most the bytes of btop, and while the picture is on hold none at all.
Ends with 3 when one is missed or, for want of btop, cannot be judged.

``python -m tests.bench.traffic [--cpu N] [--turns N] [--seconds S]``
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys

from tests.bench.programs import Turn, tickmon_command, watch_program

SIZES = ((80, 24), (120, 40), (200, 50))
OTHERS = ("htop", "btop", "s-tui")
JUDGED = (120, 40)
MOST_PAUSED = 0
"""Bytes a second: a picture on hold changes in nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpu", default="1", help="the CPU that tickmon watches")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10.0)
    asked = parser.parse_args()
    programs = {"tickmon": [tickmon_command(), "watch", "--cpu", asked.cpu]}
    programs |= {name: [path] for name in OTHERS if (path := shutil.which(name))}
    print(f"{'':10}" + "".join(f"{f'{columns}×{rows}':>24}" for columns, rows in SIZES))
    turns: dict[tuple[str, tuple[int, int]], list[Turn]] = {}
    for _ in range(asked.turns):
        for size in SIZES:
            for name, argv in programs.items():
                turn = watch_program(argv, columns=size[0], rows=size[1], settle_s=4.0, seconds=asked.seconds)
                turns.setdefault((name, size), []).append(turn)
    for name in programs:
        cells = []
        for size in SIZES:
            mine = turns[name, size]
            kilobytes = statistics.median(turn.bytes_per_s for turn in mine) / 1e3
            cpu = statistics.median(turn.cpu_share for turn in mine)
            cells.append(f"{f'{kilobytes:.1f} kB/s {cpu:6.1%} CPU':>24}")
        print(f"{name:10}" + "".join(cells))
    held = False
    for size in SIZES:
        for other in programs.keys() - {"tickmon"}:
            pairs = zip(turns["tickmon", size], turns[other, size], strict=True)
            ratio = statistics.median(mine.bytes_per_s / theirs.bytes_per_s for mine, theirs in pairs)
            print(f"bytes of tickmon at {size[0]}×{size[1]}: {ratio:.2f} times those of {other}")
            if size == JUDGED and other == "btop":
                held = ratio <= 1
                print(f"at most 1 times those of btop: {'ok' if held else 'MISSED'}")
    if "btop" not in programs:
        print("btop is not installed: whether its bytes are kept cannot be judged")
    columns, rows = JUDGED
    paused = watch_program(
        programs["tickmon"], columns=columns, rows=rows, settle_s=4.0, seconds=asked.seconds, keys=" "
    )
    quiet = paused.bytes_per_s <= MOST_PAUSED
    words = f"at most {MOST_PAUSED}: {'ok' if quiet else 'MISSED'}"
    print(f"on hold at {columns}×{rows}: {paused.bytes_per_s:.0f} bytes a second, {words}")
    sys.exit(0 if held and quiet else 3)


if __name__ == "__main__":
    main()
