"""What the reader of a window should know before believing it, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tickmon.analysis.readings import Tick
from tickmon.analysis.spread import BEYOND
from tickmon.analysis.ticks import Ticks
from tickmon.units import count_text, cycles_to_ns, duration_text, share_text
from tickmon.windows import ReadingWarning, Window

FEW_TICKS = "few_ticks"

GRAVEST_FIRST = (
    "backwards",
    "moved",
    "clock_untrusted",
    "rate_faster",
    "tick_cost_mixed",
    "switches_lost",
    "*",
    "details_lost",
    "check_measured",
    "check_weak",
    "coarse_counter",
    FEW_TICKS,
)
"""Codes in the order of what they spoil; ``*`` is where all others stand."""

_EXCLUDED = {
    "backwards": "the counter went backwards",
    "moved": "the sampler was found on another CPU",
}


def caveats(
    window: Window, ticks: Ticks, tick: Tick | None, *, tsc_hz: float, unplaced: int
) -> tuple[ReadingWarning, ...]:
    """The warnings that ``window`` came with and those that its analysis adds.

    ``unplaced`` dated switches lie in no recorded interruption.
    """
    own = (
        *sampler_caveats(window, tsc_hz),
        *_of_preemptions(window, unplaced),
        *_of_ticks(window, ticks, tick),
    )
    return gravest_first((*window.warnings, *own))


def gravest_first(warnings: Iterable[ReadingWarning]) -> tuple[ReadingWarning, ...]:
    """``warnings`` in order, each code once: the first that carries it."""
    first: dict[str, ReadingWarning] = {}
    for warning in warnings:
        first.setdefault(warning.code, warning)
    return tuple(sorted(first.values(), key=lambda warning: _rank(warning.code)))


def _rank(code: str) -> int:
    return GRAVEST_FIRST.index(code if code in GRAVEST_FIRST else "*")


def sampler_caveats(window: Window, tsc_hz: float) -> Iterator[ReadingWarning]:
    """What the sampler could not see, or not one by one, in ``window``."""
    for code, what in _EXCLUDED.items():
        times = sum(exclusion.code == code for exclusion in window.excluded)
        if times:
            often = f"{times} times" if times > 1 else "once"
            yield ReadingWarning(code=code, message=f"{what} {often}: that stretch is left out")
    if window.lost:
        yield ReadingWarning(
            code="details_lost",
            message=(
                f"{count_text(window.lost)} of {count_text(window.interruptions)} interruptions came too "
                "fast to be kept one by one: counts, sums and the maximum are exact, percentiles are not"
            ),
        )
    step_ns = cycles_to_ns(window.segment.step_cycles, tsc_hz)
    if 3 * step_ns > 200:
        yield ReadingWarning(
            code="coarse_counter",
            message=(
                f"the counter moves in steps of {duration_text(step_ns)}: "
                f"interruptions shorter than {duration_text(3 * step_ns)} are not seen"
            ),
        )


def _of_preemptions(window: Window, unplaced: int) -> Iterator[ReadingWarning]:
    mixed = "they may be part of what a tick seems to cost"
    if window.switches is None:
        if window.switch_count != 0:
            often = "an unknown number of" if window.switch_count is None else f"{window.switch_count:,}"
            message = f"{often} preemptions could not be dated: {mixed}"
            yield ReadingWarning(code="tick_cost_mixed", message=message)
    elif unplaced - window.lost > max(2, 0.1 * len(window.switches)):
        message = (
            f"{unplaced:,} of {len(window.switches):,} dated preemptions lie in no interruption: {mixed}"
        )
        yield ReadingWarning(code="tick_cost_mixed", message=message)


def _of_ticks(window: Window, ticks: Ticks, tick: Tick | None) -> Iterator[ReadingWarning]:
    if ticks.faster_hz is not None and ticks.hz is not None:
        yield ReadingWarning(
            code="rate_faster",
            message=f"the tick runs at {ticks.faster_hz:g} Hz here, not at {ticks.hz:g} Hz as assumed",
        )
    if ticks.basis == "measured":
        message = "neither rate nor time of the tick is known here, and no regular train was found"
        if ticks.hz is not None:
            message = (
                f"the tick's rate is measured ({ticks.hz:.3f} Hz): the check proves only that it is regular"
            )
        yield ReadingWarning(code="check_measured", message=message)
    elif ticks.chance_share > 0.9 and ticks.seen is not None:
        yield ReadingWarning(
            code="check_weak",
            message=(
                f"interruptions fill the time: {share_text(ticks.chance_share)} of the tick slots would be "
                "held without any tick, so the check proves little"
            ),
        )
    if not window.provisional:
        yield from tick_caveats(tick, expected=ticks.expected, verdict=ticks.verdict)


def tick_caveats(tick: Tick | None, *, expected: int | None, verdict: str) -> Iterator[ReadingWarning]:
    """What a tick's cost lacks, where ticks were ``expected``."""
    if tick is not None and expected and verdict != "stopped" and tick.spread.n < BEYOND:
        alone = "1 tick stands" if tick.spread.n == 1 else f"{tick.spread.n} ticks stand"
        message = f"only {alone} alone in an interruption: too few to say what one costs"
        yield ReadingWarning(code=FEW_TICKS, message=message)
