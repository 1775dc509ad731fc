"""Input that nobody would write, by what it makes the code do: ``python -m tests.fuzz TARGET [SECONDS]``.

TARGET is ``recording``, ``cpulist``, ``interrupts`` or ``limit``. It needs atheris, of the dependency group
``fuzz``. What is found lies in the current directory, and is to be kept as a test. ``spoilt`` makes input
without it, and without looking at what that does.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType

from tests.readings import three_windows
from tests.recordings import written
from tickmon.errors import TickmonError, UsageError
from tickmon.limits import parse_limit
from tickmon.loading.read import read
from tickmon.machine.cpulist import cpu_list_text, parse_cpu_list
from tickmon.machine.interrupts import parse_rows

LONGEST_BYTES = 65_536


def recording(data: bytes, path: Path) -> None:
    """A file is read, or refused in one line that no terminal obeys."""
    path.write_bytes(data)
    try:
        for _ in read(path):
            pass
    except TickmonError as error:
        if "\n" in str(error):
            raise AssertionError from error


def cpulist(data: bytes, _path: Path) -> None:
    """A list means CPUs, which come back from its short form; else it is wrong usage."""
    try:
        cpus = parse_cpu_list(data.decode(errors="replace"), highest=2048)
    except UsageError:
        return
    assert set(parse_cpu_list(cpu_list_text(cpus))) == set(cpus)


def interrupts(data: bytes, _path: Path) -> None:
    """Whatever the kernel prints has rows, or none."""
    text = data.decode(errors="replace")
    for cpu in (0, 1):
        assert all(row.count >= 0 for row in parse_rows(text, cpu).values())


def limit(data: bytes, _path: Path) -> None:
    """An expression is a limit that can be compared, or wrong usage."""
    try:
        found = parse_limit(data.decode(errors="replace"))
    except UsageError:
        return
    assert found.crossed_by(found.value) == (found.operator in (">=", "<=", "=="))


TARGETS: dict[str, Callable[[bytes, Path], None]] = {
    "recording": recording,
    "cpulist": cpulist,
    "interrupts": interrupts,
    "limit": limit,
}


def seeds(name: str) -> list[bytes]:
    """What a target should begin with."""
    if name == "recording":
        windows = three_windows()[:1]
        whole = written(windows, events=True).encode()
        lines = whole.splitlines(keepends=True)
        return [
            whole,
            written(windows, form="json").encode(),
            b"".join(lines[:2]),
            b"".join(lines[:4]),
            lines[0],
            b"".join(lines[2:]),
        ]
    return {
        "cpulist": [b"0-4", b"0-31:2/4,N", b"all:1/2", b"(null)", b"1 2,3"],
        "interrupts": [b"   CPU0 CPU1\n 24:  1 2 IO-APIC 5-edge a, b\nLOC: 3 4 Local timer\n\nERR: 0\n"],
        "limit": [b"max_ns>50us", b"check!=ok", b"overhead_share >= 0.1 %", b"tick.p99_ns<1e3"],
    }[name]


def spoilt(data: list[bytes], count: int, seed: int) -> Iterator[bytes]:
    """``count`` inputs made of ``data``: bytes changed, left out, doubled, or taken from another; the same
    ``seed`` makes the same ones."""
    chance = random.Random(seed)
    for _ in range(count):
        made = bytearray(chance.choice(data))
        for _ in range(chance.randint(1, 8)):
            start = chance.randint(0, len(made))
            end = min(len(made), start + chance.choice((0, 1, 2, 8, 64)))
            other = chance.choice(data)
            at = chance.randint(0, len(other))
            made[start:end] = chance.choice(
                (b"", made[start:end] * 2, other[at : at + 16], chance.randbytes(1), chance.choice(_PIECES))
            )
        yield bytes(made)


_PIECES = (
    b"null",
    b"-1",
    b"1e999",
    b"9" * 30,
    b"[]",
    b"{}",
    b'"',
    b"\n",
    b"\n\n",
    b"\0",
    b"\xff",
    b"\x1b[2J",
)
"""What readers stumble over."""


def _functions() -> list[FunctionType]:
    """Those of the readers, and of what they call."""
    watched = ("tickmon.loading", "tickmon.limits", "tickmon.machine", "json")
    return [
        found
        for found in gc.get_objects()
        if isinstance(found, FunctionType) and found.__module__ and found.__module__.startswith(watched)
    ]


def main(name: str, seconds: float) -> None:
    """Runs until the time is over, or something is found: then the exit code is not 0."""
    import atheris

    target = TARGETS[name]
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        corpus.mkdir()
        for number, seed in enumerate(seeds(name)):
            (corpus / str(number)).write_bytes(seed)
        path = Path(folder) / "a.jsonl"
        options = [
            f"-max_total_time={seconds:g}",
            f"-max_len={LONGEST_BYTES}",
            "-rss_limit_mb=1000",
            "-timeout=20",
        ]
        # An editable install has a loader of its own, which hides imports from atheris.
        for function in _functions():
            atheris.instrument_func(function)
        atheris.Setup([name, *options, str(corpus)], lambda data: target(data, path))
        atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 60.0)
