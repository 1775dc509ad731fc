"""What the user asked to be remembered between runs: the theme, in a file that says nothing else."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

from tickmon.errors import TickmonError
from tickmon.options import THEMES


def remembered_theme() -> str | None:
    """The theme to begin with; None when none was remembered. TickmonError for a file that says nonsense."""
    try:
        path = _path()
        text = path.read_bytes()
    except (OSError, TickmonError):
        # A home directory that cannot be read must not keep anybody from measuring.
        return None
    try:
        theme = tomllib.loads(text.decode()).get("theme")
    except ValueError:
        theme = ""
    if theme is None or theme in THEMES:
        return theme
    raise TickmonError(f'{path} names no theme: it may say theme = "dark", "light" or "safe"')


def remember_theme(theme: str) -> Path:
    """Writes it down for the next start and returns where; TickmonError says why not."""
    path = _path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'theme = "{theme}"\n')
    except OSError as error:
        raise TickmonError(f"not remembered: {path}: {error.strerror}") from error
    return path


def _path() -> Path:
    """As the XDG base directory specification has it: a relative XDG_CONFIG_HOME does not count."""
    asked = os.environ.get("XDG_CONFIG_HOME", "")
    try:
        folder = Path(asked) if os.path.isabs(asked) else Path.home() / ".config"
    except RuntimeError:
        raise TickmonError("not remembered: this user has no home directory; set XDG_CONFIG_HOME") from None
    return folder / "tickmon" / "config.toml"
