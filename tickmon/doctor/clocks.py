"""Findings: the counter, the kernel's clocks, and the tick."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.doctor.facts import Facts
from tickmon.doctor.findings import Finding, Level
from tickmon.units import duration_text

_PARAMETERS = "Documentation/admin-guide/kernel-parameters.txt"
_TIMEKEEPING = "Documentation/timers/timekeeping.rst"
_SOURCES = "/sys/devices/system/clocksource/clocksource0"
_LEVELS: dict[str, Level] = {
    "counter_untrusted": "bad",
    "counter_unvouched": "unknown",
    "counter_unsteady": "warning",
}


def clocks(facts: Facts) -> Iterator[Finding]:
    """All of them."""
    yield from _counter(facts)
    yield _log(facts)
    yield _discipline(facts)
    yield from _tick(facts)


def _counter(facts: Facts) -> Iterator[Finding]:
    clock = facts.clock
    where = (f"{_SOURCES}/current_clocksource", f"{_SOURCES}/available_clocksource")
    why = "Every figure is read off this counter; where it jumps or drifts, so do the figures."
    for warning in clock.warnings:
        yield Finding(
            code=warning.code,
            level=_LEVELS.get(warning.code, "warning"),
            what=warning.message,
            where=where if warning.code != "counter_unsteady" else ("/sys/devices/system/cpu/modalias",),
            why=why,
            change="dmesg | grep -i -e tsc -e clocksource   says why; in a guest let the host offer an "
            "invariant "
            "TSC, on hardware update the firmware"
            if warning.code == "counter_untrusted"
            else None,
            doc=_TIMEKEEPING,
        )
    if not clock.warnings:
        compared = "can" if clock.synchronised else "cannot"
        yield Finding(
            code="clocksource",
            level="ok",
            what=f"the kernel keeps time by {clock.name} and trusts the counter; reads on different CPUs "
            f"{compared} be compared",
            where=where,
            why=why,
            doc=_TIMEKEEPING,
        )


def _log(facts: Facts) -> Finding:
    lines = facts.clock_log
    grave = [line for line in lines or () if "unstable" in line.lower()]
    level: Level = "unknown" if lines is None else "bad" if grave else "ok"
    if lines is None:
        what = "what the kernel's log says of its clocks may not be read here"
    elif lines:
        what = f"the kernel's log: {(grave or list(lines))[-1]}"
    else:
        what = "the kernel's log, as far as it is kept, says nothing of its clocks"
    return Finding(
        code="clock_log",
        level=level,
        what=what,
        where=("/dev/kmsg",),
        why="The kernel's watchdog compares the counter with another clock, and says so when they part.",
        change="as root: dmesg | grep -i -e tsc -e clocksource" if lines is None else None,
        doc=_PARAMETERS,
    )


def _discipline(facts: Facts) -> Finding:
    state = facts.discipline
    level: Level = "unknown" if state is None else "ok" if state.synchronised else "note"
    words = {
        "unknown": "whether the clock is synchronised may not be asked here",
        "ok": "the kernel's clock is held to an outside one, which vouches for the counter's frequency",
        "note": "the kernel's clock is not synchronised: nothing vouches for the counter's frequency",
    }
    return Finding(
        code="clock_sync",
        level=level,
        what=words[level],
        where=("adjtimex(2)",),
        why="Lengths in ns are cycles divided by that frequency; its error is theirs. Cycles are not "
        "affected.",
        change="run chronyd or systemd-timesyncd on this machine" if level == "note" else None,
        doc=_TIMEKEEPING,
    )


def _tick(facts: Facts) -> Iterator[Finding]:
    tick = facts.tick
    if tick is None:
        yield Finding(
            code="hz",
            level="unknown",
            what="the kernel does not say how often it ticks",
            where=("clock_getres(CLOCK_MONOTONIC_COARSE)", "/boot/config-*", "/proc/config.gz"),
            why="Without HZ it cannot be checked whether every tick was seen.",
            change="tickmon --hz N, if you know it",
            doc="Documentation/timers/highres.rst",
        )
        return
    doubts = [warning.message for warning in facts.tick_warnings]
    yield Finding(
        code="hz",
        level="warning" if doubts else "ok",
        what=doubts[0]
        if doubts
        else f"the kernel ticks {tick.hz:g} times a second ({tick.source}), every "
        f"{duration_text(tick.period_ns)}",
        where=("clock_getres(CLOCK_MONOTONIC_COARSE)", "/boot/config-*", "/proc/config.gz"),
        why="The moments at which ticks are due follow from it, and by them ticks are told from "
        "everything else.",
        change="tickmon --hz N decides" if doubts else None,
        doc="Documentation/timers/highres.rst",
    )
    alone = len(facts.cpus.online) == 1
    phase = duration_text(tick.phases_ns[0]) if tick.phases_ns and tick.phases_ns[0] else "0"
    yield Finding(
        code="skew_tick",
        level="ok" if facts.skewed or alone else "note",
        what=f"the tick of CPU {facts.cpu} is expected {phase} after each whole period"
        + (", its own moment (skew_tick)" if facts.skewed else ", as on every other CPU"),
        where=("/proc/cmdline", "/proc/self/timens_offsets"),
        why="CPUs that tick at the same moment wait for the same locks, which makes ticks dearer on big "
        "machines.",
        change=None if facts.skewed or alone else "boot with skew_tick=1, where that wait shows",
        doc=_PARAMETERS,
    )
