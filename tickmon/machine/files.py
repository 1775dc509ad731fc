"""Reading the kernel's small text files, where missing and unreadable are normal."""

from __future__ import annotations

from pathlib import Path


def read_text(path: Path | str) -> str | None:
    """All of the file, undecodable bytes replaced; None when it is missing, unreadable or went away."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.readall().decode("utf-8", "replace")
    except OSError:
        return None


def read_word(path: Path | str) -> str | None:
    """The file's text without white space around it; None when there is none."""
    return (read_text(path) or "").strip(" \t\n\0") or None


def folders_in(path: Path) -> list[Path]:
    """The folders right below ``path``; none when it cannot be read."""
    try:
        return sorted(entry for entry in path.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return []
