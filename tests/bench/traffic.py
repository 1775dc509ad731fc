"""Bytes a second and CPU of the live screen beside htop, btop and s-tui, in turns.

``python -m tests.bench.traffic [--cpu N] [--turns N] [--seconds S]``
"""

from __future__ import annotations

import argparse
import shutil
import statistics

from tests.bench.programs import Turn, tickmon_command, watch_program

SIZES = ((80, 24), (120, 40), (200, 50))
OTHERS = ("htop", "btop", "s-tui")


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
    for size in SIZES:
        for other in programs.keys() - {"tickmon"}:
            pairs = zip(turns["tickmon", size], turns[other, size], strict=True)
            ratio = statistics.median(mine.bytes_per_s / theirs.bytes_per_s for mine, theirs in pairs)
            print(f"bytes of tickmon at {size[0]}×{size[1]}: {ratio:.2f} times those of {other}")


if __name__ == "__main__":
    main()
