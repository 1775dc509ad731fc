"""What the kernel only counted, in words for a report and the screen."""

from __future__ import annotations

from tickmon.analysis.counted import counted_sources
from tickmon.units import count_text, duration_text
from tickmon.windows import Window


def counted_lines(window: Window) -> list[str]:
    """Sentences; what cannot be read here is left out. None of it can be tied to an interruption."""
    sources = [f"{source.name} {count_text(source.count)}" for source in counted_sources(window)]
    lines = [", ".join(sources)] if sources else []
    counters = window.counters
    if counters is None:
        return lines
    if counters.run_delay_ns is not None:
        lines.append(f"the sampler waited {duration_text(counters.run_delay_ns)} for its CPU, others running")
    if counters.steal_ns is not None:
        lines.append(f"the hypervisor took the CPU for {duration_text(counters.steal_ns)} (steal)")
    if counters.throttled_count:
        often, long = count_text(counters.throttled_count), duration_text(counters.throttled_ns)
        lines.append(
            f"the CPU limit of tickmon's control group throttled it in {often} periods, for {long} in all"
        )
    return lines
