"""The C tests, built and run with every check that the compilers have; each program names its own tests."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

CSRC = Path(__file__).parent.parent / "csrc"
TESTS = Path(__file__).parent / "c"

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
ADDRESS = {
    # Or gcc takes the last array of a struct for one without end.
    "gcc": ["-fsanitize=address,undefined", "-fsanitize=bounds-strict", "-fno-sanitize-recover=all"],
    "clang": ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
}
THREAD = ["-fsanitize=thread"]
ARM64 = ("aarch64-linux-gnu-gcc", "qemu-aarch64")

SCRIPTED = ["ring_test", "spin_test", "loop_test", "switches_test", "trace_test", "threads_test"]
SOURCES = sorted(path.name for path in CSRC.glob("*.c"))
SAMPLER = ["main.c", "spin.c", "loop.c"]


def need(*programs: str) -> None:
    """A machine without these can't run the test; the one that judges must have them."""
    for program in programs:
        if shutil.which(program) is None:
            if os.environ.get("CI") == "true":
                pytest.fail(f"{program} is not installed")
            pytest.skip(f"{program} is not installed")


def build(compiler: str, sources: Sequence[Path], target: Path, *flags: str, csrc: Path = CSRC) -> Path:
    """Compiles with all warnings as errors; the compiler's own words are the failure."""
    command = [compiler, "-std=gnu11", "-g", "-O1", *WARNINGS, f"-I{csrc}", *flags, "-pthread"]
    done = subprocess.run([*command, *sources, "-o", target], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return target


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("compiler", ["gcc", "clang", "aarch64-linux-gnu-gcc"])
def test_source_has_no_warnings(compiler: str, source: str, tmp_path: Path) -> None:
    need(compiler)
    build(compiler, [CSRC / source], tmp_path / "object", "-c", "-O2")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("program", SCRIPTED)
def test_address_and_undefined_behaviour_sanitizers_find_nothing(
    program: str, compiler: str, tmp_path: Path
) -> None:
    need(compiler)
    done = run(build(compiler, [TESTS / f"{program}.c"], tmp_path / program, *ADDRESS[compiler]))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("program", SCRIPTED)
def test_arm64_passes_too(program: str, tmp_path: Path) -> None:
    need(*ARM64)
    done = run("qemu-aarch64", build(ARM64[0], [TESTS / f"{program}.c"], tmp_path / program, "-static"))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_thread_sanitizer_finds_nothing(compiler: str, tmp_path: Path) -> None:
    need(compiler)
    done = run(build(compiler, [TESTS / "threads_test.c"], tmp_path / "threads_test", *THREAD))
    assert done.returncode == 0, done.stderr


@dataclass(frozen=True, slots=True)
class Order:
    """One place where csrc asks for an order."""

    file: str
    at: int
    line: str

    def __str__(self) -> str:
        return f"{self.file}: {self.line}"


def orders() -> list[Order]:
    """All that a race would follow from.

    The mark's is not among them: it orders two atomics, the mark and the ring's head, and two atomics never
    race.
    """
    found = []
    for file in ("ring.h", "bank.h"):
        text = (CSRC / file).read_text()
        for match in re.finditer("memory_order_(release|acquire)", text):
            start = text.rindex("\n", 0, match.start())
            line = text[start : text.index("\n", match.end())].strip()
            if "marks.cycles" not in line:
                found.append(Order(file, match.start(), line))
    return found


@pytest.mark.parametrize("order", orders(), ids=str)
def test_thread_sanitizer_sees_a_missing_order(order: Order, tmp_path: Path) -> None:
    need("gcc")
    csrc = tmp_path / "csrc"
    shutil.copytree(CSRC, csrc)
    text = (csrc / order.file).read_text()
    broken = re.sub("memory_order_(release|acquire)", "memory_order_relaxed", text[order.at :], count=1)
    (csrc / order.file).write_text(text[: order.at] + broken)
    program = build("gcc", [TESTS / "threads_test.c"], tmp_path / "threads_test", *THREAD, csrc=csrc)

    # The race is there every time, but some of the time its first half is too long ago to be remembered.
    options = "halt_on_error=1:history_size=7:symbolize=0"
    assert any("data race" in run(program, TSAN_OPTIONS=options).stderr for _ in range(5))


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_real_sampler_is_clean_under_address_and_undefined_behaviour_sanitizers(
    compiler: str, tmp_path: Path
) -> None:
    need(compiler)
    report = f'-DREPORT_PATH="{tmp_path}/report"'
    sources = [*(CSRC / name for name in SAMPLER), TESTS / "report_path.c"]
    sampler = build(compiler, sources, tmp_path / "tickmon-sampler", *ADDRESS[compiler], report)
    sources = [TESTS / "live_test.c", CSRC / "switches.c", CSRC / "clocks.c"]
    library = build(compiler, sources, tmp_path / "live_test", *ADDRESS[compiler])

    done = run(library, sampler)

    reports = "".join(path.read_text() for path in tmp_path.glob("report*"))
    assert done.returncode == 0, done.stderr + reports
    assert not reports
