"""Findings: clock speed and idle states."""

from __future__ import annotations

from collections.abc import Iterator

from tickmon.doctor.facts import Facts
from tickmon.doctor.findings import Finding, Level

_FREQUENCY = "Documentation/admin-guide/pm/cpufreq.rst"
_IDLE = "Documentation/admin-guide/pm/cpuidle.rst"


def speed(facts: Facts) -> Iterator[Finding]:
    """All of them."""
    yield _governor(facts)
    if facts.power.has_preference:
        yield _preference(facts)
    yield _idle(facts)


def _governor(facts: Facts) -> Finding:
    power = facts.power
    folder = f"/sys/devices/system/cpu/cpu{facts.cpu}/cpufreq"
    level: Level
    if power.governor is None:
        what, level = "nothing here manages the clock speed: the firmware or a host does", "note"
    else:
        what = (
            f"the clock speed is managed by {power.scaling_driver or 'an unknown driver'}, {power.governor}"
        )
        level = "ok" if power.governor == "performance" else "note"
    return Finding(
        code="governor",
        level=level,
        what=what,
        where=(f"{folder}/scaling_driver", f"{folder}/scaling_governor"),
        why="Gaps are counted in cycles of a steady counter, so a slower clock makes the same tick "
        "longer; the "
        "loop method's baseline does not survive a change at all.",
        change=f"cpupower -c {facts.cpu} frequency-set -g performance"
        if level == "note" and power.governor is not None
        else None,
        doc=_FREQUENCY,
    )


def _preference(facts: Facts) -> Finding:
    path = f"/sys/devices/system/cpu/cpu{facts.cpu}/cpufreq/energy_performance_preference"
    return Finding(
        code="energy_preference",
        level="unknown",
        what="the energy preference (EPP) is not read: some drivers interrupt the CPU for it",
        where=(),
        why="It decides how fast the clock rises under load; a spinning sampler has it high after a moment.",
        change=f"while nothing is measured: cat {path}",
        doc="Documentation/admin-guide/pm/intel_pstate.rst",
    )


def _idle(facts: Facts) -> Finding:
    power = facts.power
    folder = f"/sys/devices/system/cpu/cpu{facts.cpu}/cpuidle"
    where = ("/sys/devices/system/cpu/cpuidle/current_driver", f"{folder}/state*", "/proc/cmdline")
    why = "Spinning keeps this CPU out of them, and tickmon changes no setting: what leaving them costs "
    why += "a program "
    why += "that sleeps is not measured."
    if power.idle_option == "poll" and facts.cpu in facts.cpus.nohz_full:
        return Finding(
            code="idle_states",
            level="warning",
            what="booted with idle=poll: idle CPUs spin too",
            where=where,
            why="The tick of a nohz_full CPU does not stop with it, and hot neighbours lower the turbo.",
            change="boot without idle=poll; intel_idle.max_cstate=1 keeps the latency low as well",
            doc="Documentation/timers/no_hz.rst",
        )
    states = [
        f"{state.name}{'' if state.exit_us is None else f' {state.exit_us} µs'}"
        f"{' off' if state.disabled else ''}"
        for state in power.idle_states
    ]
    driver = power.idle_driver or "no driver shows"
    what = f"idle states ({driver}): {', '.join(states) or 'none listed'}"
    if power.idle_option:
        what += f"; booted with idle={power.idle_option}"
    return Finding(code="idle_states", level="note", what=what, where=where, why=why, doc=_IDLE)
