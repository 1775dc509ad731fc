"""The kernel's functions by their addresses, as far as they may be seen."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

KALLSYMS = Path("/proc/kallsyms")


class Symbols:
    """Looks functions up in a file that holds 10⁵ of them: only when it must, and each only once."""

    def __init__(self, file: Path = KALLSYMS) -> None:
        self._file = file
        self._known: dict[int, str] = {}

    def named(self, addresses: Iterable[int]) -> dict[int, str]:
        """The names of those functions; those without one, or out of sight, are left out."""
        wanted = set(addresses)
        if missing := wanted - self._known.keys():
            text = self._read()
            for address in missing:
                line = (
                    re.search(rb"^%016x [tTwW] ([^\s]+)" % address, text, re.MULTILINE) if address else None
                )
                self._known[address] = line[1].decode("ascii", "replace") if line else ""
        return {address: self._known[address] for address in wanted if self._known[address]}

    def addresses(self, names: Iterable[str]) -> frozenset[int]:
        """Where functions of these names are; empty when there are none or they are out of sight (zeros)."""
        pattern = rb"^([0-9a-f]+) [tTwW] (?:%s)$" % b"|".join(re.escape(name.encode()) for name in names)
        found = re.findall(pattern, self._read(), re.MULTILINE)
        return frozenset(int(address, 16) for address in found) - {0}

    def _read(self) -> bytes:
        try:
            return self._file.read_bytes()
        except OSError:
            return b""
