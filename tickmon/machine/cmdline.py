"""What the kernel was booted with: the words of its command line."""

from __future__ import annotations

from pathlib import Path

from tickmon.errors import UsageError
from tickmon.machine.cpulist import parse_cpu_list
from tickmon.machine.files import read_text


def read_cmdline(root: Path = Path("/")) -> tuple[str, ...] | None:
    """The words of /proc/cmdline; None when it cannot be read."""
    text = read_text(root / "proc/cmdline")
    return None if text is None else tuple(text.split())


def boot_value(words: tuple[str, ...], option: str) -> str | None:
    """What ``option=`` was set to, the last time it was; None when it was not."""
    return next((word.partition("=")[2] for word in reversed(words) if word.startswith(option + "=")), None)


def boot_cpus(words: tuple[str, ...], option: str) -> frozenset[int]:
    """The CPUs that ``option`` lists, whatever that is; none when it is no list.

    ``isolcpus`` may begin with flags (kernel/sched/isolation.c); without ``domain`` among them it takes only
    interrupts or the tick away, and the scheduler still uses these CPUs.
    """
    parts = (boot_value(words, option) or "").split(",")
    flags = {part for part in parts if part in ("nohz", "domain", "managed_irq")}
    if flags and "domain" not in flags:
        return frozenset()
    return lenient_cpus(",".join(part for part in parts if part not in flags))


def lenient_cpus(text: str) -> frozenset[int]:
    """The CPUs of a list; none when it is malformed."""
    try:
        return frozenset(parse_cpu_list(text))
    except UsageError:
        return frozenset()
