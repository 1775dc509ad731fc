"""The counter beside the other clocks, and its frequency, as C reads them."""

from __future__ import annotations

import errno
from functools import cache

from tickmon.machine.kernel import namespace_ns
from tickmon.sampling.native import check, ffi, lib
from tickmon.windows import ClockReading


def read_clocks() -> ClockReading:
    """All clocks at one moment, and the absolute counter value of that moment."""
    clocks = ffi.new("struct tm_clocks *")
    check(lib.tm_read_clocks(clocks), "cannot read the clocks")
    return ClockReading(
        cycles=clocks.cycles,
        uncertain_cycles=clocks.uncertain_cycles,
        monotonic_ns=clocks.monotonic_ns,
        monotonic_raw_ns=clocks.monotonic_raw_ns - _namespace_ns(),
        realtime_ns=clocks.realtime_ns,
    )


@cache
def _namespace_ns() -> int:
    # A process cannot leave its time namespace, and the namespace's clocks are set before it has any process.
    return namespace_ns()


def counter_hz() -> float | None:
    """The counter's frequency as the hardware itself states it; None where it does not."""
    hz = ffi.new("double *")
    error = lib.tm_counter_hz(hz)
    if -error == errno.ENOTSUP:
        return None
    check(error, "cannot read the counter's frequency")
    return float(hz[0])
