"""What is kept between runs, where, and only when asked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tickmon.errors import TickmonError
from tickmon.options import THEMES
from tickmon.remembered import remember_theme, remembered_theme


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return tmp_path


@pytest.mark.parametrize("theme", THEMES)
def test_what_was_remembered_is_known_at_the_next_start(theme: str) -> None:
    remember_theme("light")
    remember_theme(theme)
    assert remembered_theme() == theme


def test_without_a_file_nothing_is_remembered_and_looking_makes_none(home: Path) -> None:
    assert remembered_theme() is None
    assert list(home.iterdir()) == []


def test_the_file_lies_where_the_user_has_configurations(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert remember_theme("safe") == home / ".config/tickmon/config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "elsewhere"))
    assert remembered_theme() is None
    assert remember_theme("safe") == home / "elsewhere/tickmon/config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert remember_theme("dark") == home / ".config/tickmon/config.toml"


@pytest.mark.parametrize("text", ['theme = "solarized"', "theme = 7", "theme", "\udcff"])
def test_a_file_that_says_nonsense_is_named(home: Path, text: str) -> None:
    path = remember_theme("dark")
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(TickmonError, match=r"config\.toml names no theme"):
        remembered_theme()


def test_a_file_that_cannot_be_read_or_written_stops_nobody_and_is_named(home: Path) -> None:
    (home / ".config").write_text("a file where a directory should be")
    assert remembered_theme() is None
    with pytest.raises(TickmonError, match=r"not remembered: .*tickmon.*: (File exists|Not a directory)"):
        remember_theme("dark")
    assert os.listdir(home) == [".config"]
