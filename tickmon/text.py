"""Text that comes from outside (the kernel, firmware, other people's threads), made safe to show."""

from __future__ import annotations


def harmless(text: str, limit: int = 64) -> str:
    """``text`` on one line of at most ``limit`` characters that no terminal obeys.

    A thread may call itself ``\\x1b[2J``: whatever is not printable becomes ``?``, white space becomes one
    space, and what is too long ends in ``…``.
    """
    line = " ".join(text.split())
    if not line.isprintable():
        line = "".join(char if char.isprintable() else "?" for char in line)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
