"""Imports point one way, so that a recording can be read, and a run made, where other parts are missing."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import tickmon
from tests.command import interpreted

PACKAGE = Path(tickmon.__file__).parent
NATIVE = "tickmon.sampling._native"

ROOMS = {
    "errors": 0,
    "text": 0,
    "threads": 1,
    "units": 1,
    "stdout": 1,
    "limits": 1,
    "options": 2,
    "windows": 2,
    "machine": 3,
    "analysis": 3,
    "commandline": 3,
    "settings": 3,
    "remembered": 3,
    "sampling": 4,
    "counted": 4,
    "layout": 4,
    "doctor": 4,
    "formats": 4,
    "ready": 4,
    "conditions": 5,
    "report": 6,
    "loading": 5,
    "streams": 7,
    "recording": 7,
    "keeping": 8,
    "recorder": 9,
    "tui": 10,
    "judging": 8,
    "sample": 9,
    "show": 9,
    "compare": 9,
    "replay": 6,
    "validate": 7,
    "play": 11,
    "watch": 11,
    "cli": 12,
}
"""Each may import from rooms further down, and from itself."""


def modules_of(room: str) -> list[Path]:
    folder = PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [PACKAGE / f"{room}.py"]


def rooms_imported(path: Path) -> set[str]:
    """The parts of the package that a module imports anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} if node.module != "tickmon" else {f"tickmon.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("tickmon.")} - {"__version__"}


@pytest.mark.parametrize("room", ROOMS)
def test_room_imports_only_from_below(room: str) -> None:
    for path in modules_of(room):
        above = {other for other in rooms_imported(path) - {room} if ROOMS.get(other, 99) >= ROOMS[room]}
        assert not above, f"{path.relative_to(PACKAGE)} imports {above}"


def test_compiled_module_is_imported_in_one_place() -> None:
    importers = [path.name for path in PACKAGE.rglob("*.py") if "_native" in path.read_text()]
    assert importers == ["native.py"]


@pytest.mark.parametrize(
    "module",
    [
        "windows",
        "doctor.command",
        "machine.facts",
        "machine.busy",
        "machine.choose",
        "machine.interrupts",
        "analysis",
        "analysis.total",
        "analysis.trend",
        "analysis.compare",
        "compare.command",
        "loading.read",
        "show",
        "replay",
        "recording",
        "report",
        "streams",
        "validate.findings",
        "validate.injections",
        "validate.traced",
    ],
)
def test_core_loads_neither_textual_nor_the_compiled_module(module: str) -> None:
    code = f"import sys, tickmon.{module}\nprint({{'textual', '{NATIVE}'}} & set(sys.modules))"
    assert interpreted(code).stdout == "set()\n"


@pytest.mark.parametrize("module", ["sample", "sampling.collector"])
def test_measuring_without_a_screen_never_loads_textual(module: str) -> None:
    code = f"import sys, tickmon.{module}\nprint('textual' in sys.modules)"
    assert interpreted(code).stdout == "False\n"
