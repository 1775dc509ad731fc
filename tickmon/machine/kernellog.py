"""What the kernel wrote into its log about its clocks, where that may be read."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tickmon.text import harmless

_ABOUT_CLOCKS = re.compile(r"\btsc\b|clocksource|clocks? skew|timekeeping watchdog", re.IGNORECASE)


def read_clock_log(root: Path = Path("/")) -> tuple[str, ...] | None:
    """The lines about TSC and clocksources, oldest first; None when the log may not be read.

    /dev/kmsg hands out a record a read (Documentation/ABI/testing/dev-kmsg); old ones may have gone.
    """
    try:
        log = os.open(root / "dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    lines = []
    try:
        while record := _read_record(log):
            lines += record.decode("utf-8", "replace").splitlines()
    except PermissionError:
        return None
    except OSError:
        pass  # Nothing more, for now.
    finally:
        os.close(log)
    messages = (line.partition(";")[2] for line in lines)
    return tuple(harmless(message, 160) for message in messages if _ABOUT_CLOCKS.search(message))


def _read_record(log: int) -> bytes:
    while True:
        try:
            return os.read(log, 8192)
        except BrokenPipeError:
            continue  # Records were overwritten before they were read; the next one is there.
