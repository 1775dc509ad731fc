"""What the reader of a window or of a run should know before believing it, the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tickmon.analysis.placed import blind_to
from tickmon.analysis.readings import Analysis, Check, SwitchCounts, TraceCounts
from tickmon.analysis.spread import BEYOND
from tickmon.units import count_text, counted, cycles_to_ns, duration_text, share_text
from tickmon.windows import ReadingWarning, Window

GRAVEST_FIRST = (
    # The counter, which everything is measured with, is in doubt.
    "backwards",
    "moved",
    "untrusted",
    "counter_untrusted",
    "tsc_hz_contradiction",
    "jump",
    "counter_unsteady",
    # Something was not seen, or is tickmon's own doing.
    "not_measured",
    "screen_behind",
    "near",
    "stopped",
    "throttled",
    # The ticks are in doubt.
    "rate_faster",
    "hz_contradiction",
    "tick_cost_mixed",
    "switches_lost",
    # Something that was asked for is not there, or less than it might be.
    "not_traced",
    "trace_not_whole",
    "details_lost",
    "check_measured",
    "check_weak",
    "coarse_counter",
    "no_symbols",
    "not_locked",
    "counter_unvouched",
    "few_ticks",
)
"""All codes, in the order of what they spoil. One that is not among them comes last."""

_FEW = 5
"""So many switches more may be counted than dated: those right before the end of the measurement."""

EXCLUDED = {
    "backwards": "the counter went backwards",
    "moved": "the sampler was found on another CPU",
    "jump": "the counter and the kernel's clock disagreed (suspended, migrated, or the clock was corrected)",
    "untrusted": "the kernel gave up the counter as unstable",
    "stopped": "the sampler was stopped (a stop signal, a debugger or a freezer)",
    "throttled": "the kernel took the CPU from the sampler for the sake of --priority",
}
"""What the code of an exclusion, and of the warning of it, means."""


def caveats(analysis: Analysis) -> tuple[ReadingWarning, ...]:
    """The warnings that the window came with, and what else ``analysis`` lacks, but for its own warnings.

    Of a whole run they say the numbers of the run.
    """
    window = analysis.window
    own = (
        *_of_exclusions(window),
        *_of_preemptions(window, analysis.switches),
        *_of_details(window),
        *_of_trace(analysis.traced, blind_to(window.interrupts)),
        *_of_counter(window, analysis.tsc_hz),
        *_of_check(window, analysis.check),
        *_of_tick(analysis),
    )
    return gravest_first((*own, *window.warnings))


def gravest_first(warnings: Iterable[ReadingWarning]) -> tuple[ReadingWarning, ...]:
    """``warnings`` in order, each code once: the first that carries it."""
    first: dict[str, ReadingWarning] = {}
    for warning in warnings:
        first.setdefault(warning.code, warning)
    rank = {code: place for place, code in enumerate(GRAVEST_FIRST)}
    return tuple(sorted(first.values(), key=lambda warning: rank.get(warning.code, len(rank))))


def _of_exclusions(window: Window) -> Iterator[ReadingWarning]:
    times = Counter(exclusion.code for exclusion in window.excluded)
    # Only the first are listed. The others are of their kind, as long as there is only one.
    unlisted = window.excluded_count - times.total()
    for code, what in EXCLUDED.items():
        if code not in times:
            continue
        known = times[code] + (unlisted if len(times) == 1 else 0)
        often = "once" if known == 1 else f"{known:,} times"
        if unlisted and len(times) > 1:
            often = f"at least {often}"
        yield ReadingWarning(code=code, message=f"{what} {often}: that stretch is left out")


def _of_preemptions(window: Window, switches: SwitchCounts) -> Iterator[ReadingWarning]:
    mixed = "they may be part of what a tick seems to cost"
    if switches.undated != 0:
        undated = switches.undated
        many = "an unknown number of preemptions" if undated is None else counted(undated, "preemption")
        message = f"{many} could not be dated: {mixed}"
        yield ReadingWarning(code="tick_cost_mixed", message=message)
    elif switches.missed - window.switches_lost > max(_FEW, 0.02 * switches.dated):
        of_all = counted(switches.dated + switches.missed, "context switch", "context switches")
        message = f"{count_text(switches.missed)} of {of_all} are not dated: {mixed}"
        yield ReadingWarning(code="tick_cost_mixed", message=message)
    elif switches.unplaced - window.lost > max(2, 0.1 * switches.dated):
        message = (
            f"{switches.unplaced:,} of {switches.dated:,} dated preemptions lie in no interruption: {mixed}"
        )
        yield ReadingWarning(code="tick_cost_mixed", message=message)
    if window.switches_lost:
        message = (
            f"the kernel dropped {counted(window.switches_lost, 'record')} of context switches: "
            "some preemptions are not dated"
        )
        yield ReadingWarning(code="switches_lost", message=message)


def _of_details(window: Window) -> Iterator[ReadingWarning]:
    if window.lost:
        yield ReadingWarning(
            code="details_lost",
            message=(
                f"{count_text(window.lost)} of {count_text(window.interruptions)} interruptions could "
                "not be kept one by one: counts, sums and the maximum are exact, percentiles are not"
            ),
        )


def _of_trace(traced: TraceCounts | None, blind: int) -> Iterator[ReadingWarning]:
    if traced is None:
        return
    unseen = "what it did not see is called unexplained"
    if traced.lost:
        message = f"the kernel dropped {counted(traced.lost, 'record')} of its trace: {unseen}"
        yield ReadingWarning(code="trace_not_whole", message=message)
    elif traced.outside:
        message = (
            f"{count_text(traced.outside)} of {counted(traced.events, 'traced event')} lie where nothing "
            f"seemed to interrupt: in their windows {unseen}"
        )
        yield ReadingWarning(code="trace_not_whole", message=message)
    elif blind:
        message = (
            f"{counted(blind, 'interrupt')} came of a kind that the kernel cannot trace (such as a "
            f"hypervisor's call): in their windows {unseen}"
        )
        yield ReadingWarning(code="trace_not_whole", message=message)


def _of_counter(window: Window, tsc_hz: float) -> Iterator[ReadingWarning]:
    segment = window.segment
    step_ns = cycles_to_ns(segment.step_cycles, tsc_hz)
    if 3 * step_ns > 200:
        shortest_ns = max(step_ns, cycles_to_ns(segment.threshold_cycles or 0, tsc_hz))
        yield ReadingWarning(
            code="coarse_counter",
            # Because the counter moves in such steps, or because a read of it takes so long.
            message=(
                f"reads of the counter come no closer than {duration_text(step_ns)}: "
                f"interruptions shorter than {duration_text(shortest_ns)} are not seen"
            ),
        )


def _of_check(window: Window, check: Check) -> Iterator[ReadingWarning]:
    if check.faster_hz is not None and check.hz is not None:
        yield ReadingWarning(
            code="rate_faster",
            message=(
                f"the tick runs at {check.faster_hz:g} Hz here, not at {check.hz:g} Hz as --hz says"
                if check.basis == "option"
                # The kernel knows its own rate.
                else f"something else runs at {check.faster_hz:g} Hz in phase with the tick's {check.hz:g} Hz"
            ),
        )
    if check.basis == "measured":
        known = "neither rate nor moments of the tick are known here"
        if window.segment.kernel_tick is not None:
            known = "the tick's moments are not known here (no clock can be compared with the counter)"
        message = f"{known}, and no regular train was found"
        if check.hz is not None:
            message = (
                f"the tick's rate is measured ({check.hz:.3f} Hz): the check proves only that it is regular"
            )
        yield ReadingWarning(code="check_measured", message=message)
    elif check.chance_share > 0.9 and check.seen is not None:
        yield ReadingWarning(
            code="check_weak",
            message=(
                f"interruptions fill the time: {share_text(check.chance_share)} of the tick slots would be "
                "held without any tick, so the check proves little"
            ),
        )


def _of_tick(analysis: Analysis) -> Iterator[ReadingWarning]:
    tick, check = analysis.tick, analysis.check
    # An early look cannot hold many.
    if tick is None or not check.expected or check.verdict == "stopped" or analysis.window.provisional:
        return
    if tick.spread.n < BEYOND:
        n = tick.spread.n
        alone = f"only {counted(n, 'tick stands', 'ticks stand')}" if n else "no tick stands"
        message = f"{alone} alone in an interruption: too few to say what one costs"
        yield ReadingWarning(code="few_ticks", message=message)
