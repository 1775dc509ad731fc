"""What recording and reading back cost: ``python -m tests.bench.recording [MEGABYTES]``; 1024 is the promise.

A recording with every interruption at 20,000 a second, and ``tickmon show`` of long files beside plain
``json.loads`` of the same lines. Time is CPU time, so that the load of others counts little. Exit code 1 when
a figure is missed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.command import COMMAND
from tests.making import TSC_HZ, make_segment, make_window
from tests.readings import HEADER
from tickmon.analysis import Clocks, analyse
from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, add
from tickmon.keeping import Keeping
from tickmon.loading.read import read
from tickmon.recording import Writer
from tickmon.streams import End, JsonLines, Outcome
from tickmon.windows import INTERRUPTION, Window

RATE = 20_000
WINDOWS = 20

CORE_SHARE = 0.10
BYTES_AN_INTERRUPTION = 8.0
MEMORY_MB = 200.0
SPEED = 0.4

_JSON = "import json, sys\nfor line in open(sys.argv[1], 'rb'):\n    json.loads(line)"


def main(megabytes: int) -> int:
    """Prints every figure with its verdict; returns the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts = [*_recording(Path(folder)), *_showing(Path(folder), megabytes)]
    return 0 if all(verdicts) else 1


def _recording(folder: Path) -> Iterator[bool]:
    """Analysing and writing windows, as the thread does that takes them from the collector."""
    path = folder / "rate.jsonl.gz"
    made = list(windows())
    stream, clocks, total = JsonLines(HEADER, events=True), Clocks(), NO_TOTAL
    with Writer(path) as writer:
        keeping = Keeping(writer)
        begun_s = time.process_time()
        for window in made:
            analysis, clocks = analyse(window, clocks)
            total = add(total, analysis)
            keeping.keep(stream.window(analysis))
        spent_s = time.process_time() - begun_s
        outcome = Outcome(summary=total.summary(), windows=len(made))
        keeping.end(stream.end(End(at=HEADER.started_at, outcomes=[outcome], note=None, orderly=True)))
    back = [item for item in read(path) if isinstance(item, Analysis)]
    missing = sum(RATE - len(analysis.window.details) for analysis in back) + RATE * (len(made) - len(back))
    yield _verdict("interruptions missing in the file", missing, 0, "")
    yield _verdict(
        "analysing and writing 20,000 a second", spent_s / len(made) * 100, CORE_SHARE * 100, "% of a core"
    )
    yield _verdict(
        "packed file",
        path.stat().st_size / (RATE * len(made)),
        BYTES_AN_INTERRUPTION,
        "bytes an interruption",
    )


def windows(count: int = WINDOWS) -> Iterator[Window]:
    """Seconds with ``RATE`` interruptions at random, and ticks among them."""
    random = np.random.default_rng(1)
    segment = make_segment()
    length = round(TSC_HZ)
    for number in range(count):
        starts = np.sort(random.choice(length // 20_000 - 1, RATE, replace=False)) * 20_000
        details = np.zeros(RATE, INTERRUPTION)
        details["start_cycles"] = starts + random.integers(0, 9_000, RATE) + number * length
        details["gap_cycles"] = np.minimum(random.lognormal(7.0, 0.7, RATE), 10_000).astype(np.int64) + 401
        yield make_window(
            details,
            segment=segment,
            window=number + 1,
            start_cycles=number * length,
            end_cycles=(number + 1) * length,
        )


def _showing(folder: Path, megabytes: int) -> Iterator[bool]:
    made: list[Analysis] = []
    clocks = Clocks()
    for window in windows(5):
        analysis, clocks = analyse(window, clocks)
        made.append(analysis)
    for events in (True, False):
        for orderly in (True, False):
            path = folder / "long.jsonl"
            _write_long(path, made, megabytes << 20, events=events, orderly=orderly)
            name = f"{'every interruption' if events else 'summaries'}, {'ended' if orderly else 'killed'}"
            plain_s, _ = _run([sys.executable, "-c", _JSON, str(path)])
            shown_s, memory_mb = _run([*COMMAND, "show", str(path)])
            yield _verdict(f"show ({name}): memory", memory_mb, MEMORY_MB, "MB")
            print(f"  {path.stat().st_size >> 20} MiB: show {shown_s:.2f} s, json.loads {plain_s:.2f} s")
            yield _verdict(
                f"show ({name}): speed of json.loads", plain_s / shown_s, SPEED, "times", least=True
            )
            path.unlink()


def _write_long(path: Path, made: Sequence[Analysis], size: int, *, events: bool, orderly: bool) -> None:
    """The same windows again and again, as one run."""
    stream, total = JsonLines(HEADER, events=events), NO_TOTAL
    length = made[-1].window.end_cycles
    with path.open("w") as file:
        turn = 0
        while file.tell() < size:
            for analysis in made:
                window = analysis.window
                moved = replace(
                    window,
                    window=turn * len(made) + window.window,
                    start_cycles=window.start_cycles + turn * length,
                    end_cycles=window.end_cycles + turn * length,
                    clocks=window.clocks[:2],
                )
                shifted = replace(analysis, window=moved)
                if not turn:
                    total = add(total, shifted)
                file.write(stream.window(shifted))
            turn += 1
        outcome = Outcome(summary=total.summary(), windows=turn * len(made))
        if orderly:
            file.write(stream.end(End(at=HEADER.started_at, outcomes=[outcome], note=None, orderly=True)))


def _run(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and the most memory, MB."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6


def _verdict(what: str, value: float, limit: float, unit: str, *, least: bool = False) -> bool:
    met = value >= limit if least else value <= limit
    bound = "least" if least else "most"
    print(f"{'ok    ' if met else 'MISSED'} {what}: {value:.3g} {unit} (at {bound} {limit:g})")
    return met


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1024))
