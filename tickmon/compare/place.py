"""Where a reading was taken, and in what two places differ."""

from __future__ import annotations

from tickmon.analysis.alike import Setting
from tickmon.formats.lines import Header

_CALLED = {"cpu_model": "processor", "tickmon_version": "tickmon"}
"""What people call a member."""


def place_of(header: Header) -> dict[str, str | None]:
    """The machine and the programs, by the members of the JSON output; None: not known."""
    host = header.host
    return {
        "host": host.name,
        "cpu_model": host.cpu_model,
        "kernel": host.kernel,
        "virtualization": host.virtualization,
        "clocksource": header.clocksource,
        "tickmon_version": header.tickmon_version,
    }


def place_differences(before: Header, after: Header) -> list[Setting]:
    """In what they differ: all of it may be what was changed."""
    was, now = place_of(before), place_of(after)
    return [
        Setting(
            name=_CALLED.get(name, name),
            before=was[name] or "unknown",
            after=now[name] or "unknown",
            alike=True,
        )
        for name in was
        if was[name] != now[name]
    ]
