"""The options of a command line as the settings of one CPU."""

from __future__ import annotations

from tickmon.options import MeasureOptions
from tickmon.windows import Method, Settings


def settings_for(measure: MeasureOptions, cpu: int, *, samples: int | None = None) -> Settings:
    """What a source is told. ``samples``: of one pass of the loop method, None without end."""
    return Settings(
        cpu=cpu,
        method=Method(measure.method),
        window_s=measure.window_s,
        threshold_ns=measure.threshold_ns,
        loop_size=measure.loop_size,
        samples=samples,
        kernel_hz=measure.kernel_hz,
        tsc_hz=measure.tsc_hz,
        priority=measure.priority,
        trace=measure.trace,
    )
