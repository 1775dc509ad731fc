"""The configuration that the running kernel was built with, from wherever it can be read."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from tickmon.machine.files import read_text, read_word


def read_config(root: Path = Path("/")) -> str | None:
    """The text of the kernel's configuration; None when it cannot be found."""
    release = read_word(root / "proc/sys/kernel/osrelease")
    if release and "/" not in release:
        places = (root / f"boot/config-{release}", root / f"lib/modules/{release}/config")
        text = next((text for text in map(read_text, places) if text), None)
        if text is not None:
            return text
    try:
        with gzip.open(root / "proc/config.gz") as file:
            return file.read().decode("utf-8", "replace")
    except (OSError, EOFError):
        return None


def config_value(config: str, name: str) -> str | None:
    """What ``CONFIG_<name>`` was set to (``y``, ``250``); None when it was not set."""
    match = re.search(rf"^CONFIG_{name}=(\S+)\s*$", config, re.MULTILINE)
    return match[1] if match else None
