"""Long runs: whether memory stays where it was, and how fast files grow.

``python -m tests.bench.soak real --minutes 60`` records a real CPU, by ``tickmon sample`` and by
the screen with key R in a pseudo-terminal at once. ``python -m tests.bench.soak week [--window S]`` puts a
week of made-up windows, of ten seconds unless told, through what the screen does with each: analysis, trend,
history, recording.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from tests.command import spare_cpu
from tests.pseudo_terminal import PseudoTerminal
from tests.readings import HEADER
from tests.scripted import QUIET_LIFE, scripted_segment, scripted_windows
from tickmon.loading.runs import runs
from tickmon.recorder import Recorder
from tickmon.tui.reader import Fault, News, Reader
from tickmon.units import size_text
from tickmon.windows import Settings

_LOOKS = 40
"""So often memory and file are looked at."""


def memory_kb(pid: int) -> int:
    """What a process holds in memory now."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def tell(name: str, kept_kb: Sequence[int], path: Path, hours: float) -> None:
    """One line: memory in the first, the middle and the last fifth, and the file."""
    fifth = max(len(kept_kb) // 5, 1)
    parts = (kept_kb[:fifth], kept_kb[2 * fifth : 3 * fifth] or kept_kb, kept_kb[-fifth:])
    means = ", ".join(f"{sum(part) / len(part) / 1000:.1f}" for part in parts)
    size_bytes = path.stat().st_size
    (run,) = runs(path)
    windows = sum(summed.windows for summed in run.summed)
    print(
        f"{name:<8} memory {means} MB (first, middle, last fifth); file {size_text(size_bytes)}, "
        f"{size_bytes / max(windows, 1):,.0f} B a window, {size_text(round(size_bytes / hours))} an hour; "
        f"{windows:,} windows; {'whole' if run.ended else 'not ended'}",
        flush=True,
    )


def real(minutes: float) -> None:
    """Both front ends on one real CPU, which they share."""
    cpu = str(spare_cpu())
    tickmon = str(Path(sys.executable).with_name("tickmon"))
    hours = minutes / 60
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output = folder / "sample.jsonl.gz"
        duration = ("--duration", f"{minutes * 60:.0f}")
        sampling = subprocess.Popen([tickmon, "sample", "--cpu", cpu, *duration, "--output", str(output)])
        with PseudoTerminal([tickmon, "--cpu", cpu], cwd=folder) as terminal:
            terminal.wait_for("due,")
            terminal.send("R")
            terminal.wait_for("REC ")
            looks: dict[int, list[int]] = {sampling.pid: [], terminal.process.pid: []}
            while sampling.poll() is None:
                for pid, kept_kb in looks.items():
                    kept_kb.append(memory_kb(pid))
                terminal.read(minutes * 60 / _LOOKS)
            terminal.send("q")
            assert terminal.wait_for_exit() == 0
            assert sampling.returncode == 0
            (recorded,) = (path for path in folder.glob("*.gz") if path != output)
            tell("sample", looks[sampling.pid][:-1], output, hours)
            tell("screen", looks[terminal.process.pid], recorded, hours)


def week(window_s: float, length_s: float) -> None:
    """So much time in windows of ``window_s``, as fast as they go, a new segment after every hundred."""
    count = round(length_s / window_s)
    told = 0

    def listen(_turn: int, news: News) -> None:
        nonlocal told
        told += 1
        if isinstance(news, Fault):
            raise SystemExit(repr(news.error))

    segment = scripted_segment(Settings(cpu=3, window_s=window_s))
    made = scripted_windows(segment, 100, life=QUIET_LIFE)
    kept_kb: list[int] = []
    begun_s = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        reader = Reader(listen, Recorder(HEADER, Path(name)))
        reader.start()
        reader.record(0, 3)
        for number in range(count):
            turn, place = divmod(number, len(made))
            if place == 0:
                of_turn = replace(segment, segment=turn + 1)
            # None waits, as with a screen that keeps up: those that wait would be joined.
            reader.wait_idle(600)
            window = made[place]
            at = made[0].started_at + timedelta(seconds=number * window_s)
            reader.take(0, replace(window, segment=of_turn, window=number + 1, started_at=at))
            if number % max(count // _LOOKS, 1) == 0:
                kept_kb.append(memory_kb(os.getpid()))
        reader.wait_idle(600)
        taken_s = time.monotonic() - begun_s
        reader.close(60)
        (path,) = Path(name).iterdir()
        print(f"{count:,} windows in {taken_s:.0f} s, {taken_s / count * 1000:.2f} ms each; {told:,} told")
        tell("week", kept_kb, path, length_s / 3600)
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"peak {peak_kb / 1000:.1f} MB, with the reading of the file")


def main() -> None:
    """One of the two."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("real", "week"))
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--window", type=float, default=10.0, help="seconds")
    parser.add_argument("--days", type=float, default=7.0)
    options = parser.parse_args()
    chosen: dict[str, Callable[[], None]] = {
        "real": lambda: real(options.minutes),
        "week": lambda: week(options.window, options.days * 86_400),
    }
    chosen[options.what]()


if __name__ == "__main__":
    main()
