"""What the analysis of a window costs, beside np.sort of the same array: python -m tests.bench.analysis."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

from tests.making import Life, make_segment, simulate
from tickmon.analysis import Clocks, analyse
from tickmon.windows import Window

INTERRUPTIONS = (10_000, 100_000, 1_000_000)
RATE_HZ = 200_000.0
"""The windows differ in length only, so that everything in them grows alike."""
REPEATS = 9
MOST_SORTS = 30.0


def main() -> int:
    """Prints a line for each size; 1 when 10^6 interruptions take more than MOST_SORTS times a sort."""
    print("interruptions     np.sort   a window   ratio   (medians of paired runs)")
    ratio = 0.0
    for count in INTERRUPTIONS:
        first, second = _windows(count)
        _, clocks = analyse(first, Clocks())
        gaps_cycles = second.details["gap_cycles"].copy()
        pairs = [
            (_seconds(lambda: np.sort(gaps_cycles)), _seconds(lambda: analyse(second, clocks)))  # noqa: B023
            for _ in range(REPEATS)
        ]
        ratio = median(analysis_s / sort_s for sort_s, analysis_s in pairs)
        sort_s, analysis_s = (median(times) for times in zip(*pairs, strict=True))
        print(f"{len(gaps_cycles):13,d} {sort_s * 1e3:8.2f} ms {analysis_s * 1e3:7.1f} ms {ratio:7.1f}")
    _print_live()
    return int(ratio > MOST_SORTS)


def _print_live() -> None:
    """What windows of a second cost one after the other, while a host's train is followed."""
    life = Life(noise_hz=11_800, host_hz=999.98)
    ends_ns = [(number + 1) * 1e9 for number in range(40)]
    clocks, used_s = Clocks(), []
    for window in simulate(life, segment=make_segment(guest=True), ends_ns=ends_ns):
        start_s = time.process_time()
        _, clocks = analyse(window, clocks)
        used_s.append(time.process_time() - start_s)
    # Only now are thirteen seconds remembered, which is as much as ever.
    settled_s = used_s[14:]
    print(
        f"windows of a second, {len(window.details):,} each: {median(settled_s) * 1e3:.1f} ms in the middle, "
        f"{min(settled_s) * 1e3:.1f} ms at best, {sum(settled_s) / len(settled_s) * 1e3:.1f} ms in the mean "
        "with the search for trains"
    )


def _windows(count: int) -> tuple[Window, ...]:
    """Two windows of about ``count`` interruptions, in a guest whose host ticks as well."""
    length_ns = count / RATE_HZ * 1e9
    life = Life(noise_hz=RATE_HZ * 1.07, noise_ns=100, host_hz=999.98)
    return simulate(life, segment=make_segment(guest=True), ends_ns=(length_ns, 2 * length_ns))


def _seconds(work: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    work()
    return time.perf_counter() - start_s


if __name__ == "__main__":
    sys.exit(main())
