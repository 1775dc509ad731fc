"""Made-up root folders: what a machine that is not here would show in /proc and /sys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def plant(root: Path, files: Mapping[str, str]) -> Path:
    """Writes ``files`` (path below ``root`` → text) and returns ``root``."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def cpu_files(**lists: str) -> dict[str, str]:
    """``/sys/devices/system/cpu/NAME`` for each of ``online="0-3"`` and so on."""
    return {f"sys/devices/system/cpu/{name}": f"{text}\n" for name, text in lists.items()}


def siblings(*cores: str) -> dict[str, str]:
    """The topology of cores, each a pair like ``0,4``."""
    return {
        f"sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list": f"{core}\n"
        for core in cores
        for cpu in core.split(",")
    }


def mounts(*lines: str) -> dict[str, str]:
    """``/proc/self/mountinfo`` with ``ROOT POINT TYPE OPTIONS`` for each line."""
    text = ""
    for number, line in enumerate(lines):
        root, point, kind, options = line.split()
        text += (
            f"{number} 1 0:{number} {root} {point} rw,relatime shared:{number} - {kind} {kind} {options}\n"
        )
    return {"proc/self/mountinfo": text}


def thread(
    pid: int,
    *,
    tid: int | None = None,
    name: str = "worker",
    state: str = "S",
    cpu: int = 0,
    threads: int = 1,
    run_ns: int | None = None,
    flags: int = 0,
) -> dict[str, str]:
    """One thread; without ``tid`` the process itself."""
    folder = f"proc/{pid}" if tid is None else f"proc/{pid}/task/{tid}"
    fields = ["0"] * 50
    fields[0], fields[6], fields[17], fields[36] = state, str(flags), str(threads), str(cpu)
    files = {f"{folder}/stat": f"{tid or pid} ({name}) {' '.join(fields)}\n"}
    if run_ns is not None:
        files[f"{folder}/schedstat"] = f"{run_ns} 0 1\n"
    return files
