"""Where open files, memory, the kernel's files or the right to write are scarce: a result, or one line."""

from __future__ import annotations

import gzip
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.command import COMMAND, WAIT_S, spare_cpu
from tests.pseudo_terminal import PseudoTerminal
from tests.readings import three_windows
from tests.recordings import file_of, windows_in, written
from tests.test_formats_schema import hold
from tickmon.errors import NO_MORE_FILES

Ended = subprocess.CompletedProcess[str]

_RUN = "import sys, resource; from tickmon.cli import main; "
_FILES = _RUN + "most = int(sys.argv[1]); resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)); "
_MEMORY = (
    _RUN
    + "most = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize() + int(sys.argv[1]); "
    + "resource.setrlimit(resource.RLIMIT_AS, (most, most)); "
)
_MAIN = "sys.exit(main(sys.argv[2:]))"


def ended(argv: Sequence[str]) -> Ended:
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=WAIT_S, check=False
    )


def limited(limit: str, most: int, arguments: Sequence[str]) -> Ended:
    """The command when it may have only so many open files, or so many bytes more than Python took."""
    return ended([sys.executable, "-c", limit + _MAIN, str(most), *arguments])


def commands(folder: Path) -> list[list[str]]:
    """One of each that needs no terminal."""
    file = str(file_of(folder, written(three_windows(), events=True), "a.jsonl.gz"))
    made = str(folder / "made.jsonl.gz")
    cpu = str(spare_cpu())
    sample = ["sample", "--cpu", cpu, "--duration", "0.2", "--window", "0.1", "--events"]
    return [
        ["show", file],
        ["compare", file, file],
        [*sample, "--output", made, "--force"],
    ]


def hold_to_one_line(result: Ended, *, allowed: str = "tickmon: ") -> None:
    """It came to its end, or says in one line why not; it never asks to be reported."""
    said = result.stderr.splitlines()
    assert result.returncode in (0, 1), said
    if result.returncode == 1:
        assert len(said) == 1, said
        assert said[0].startswith(("tickmon: ", allowed))
        assert "please report" not in said[0]
        assert result.stdout == ""


@pytest.mark.parametrize("most", [3, 4, 5, 8])
def test_however_few_files_may_be_open_it_ends_with_a_result_or_one_line(tmp_path: Path, most: int) -> None:
    for arguments in commands(tmp_path):
        result = limited(_FILES, most, arguments)
        hold_to_one_line(result)
        if most == 3:
            # Each of them is taken from the start.
            assert result.stderr == f"tickmon: {NO_MORE_FILES}\n"
        if most == 8:
            assert result.returncode == 0


@pytest.mark.parametrize("megabytes", [0, 60, 90, 98, 250])
def test_however_little_memory_there_is_it_ends_with_a_result_or_one_line(
    tmp_path: Path, megabytes: int
) -> None:
    for arguments in commands(tmp_path):
        result = limited(_MEMORY, megabytes << 20, arguments)
        if result.stderr.startswith("Fatal Python error: ") and "MemoryErrors" in result.stderr:
            # The interpreter gives up where not even an error can be made; no program can say anything then.
            continue
        # numpy's own library has words of its own for it.
        hold_to_one_line(result, allowed="OpenBLAS error: ")
        if megabytes == 0:
            assert "out of memory" in result.stderr
        if megabytes == 250:
            assert result.returncode == 0


# -- in a mount namespace of its own --------------------------------------------------------------------

_HIDDEN = "mount -t tmpfs none /sys; mount --bind /dev/null /proc/interrupts; "


def elsewhere(script: str, argv: Sequence[str]) -> list[str]:
    """``argv`` after ``script`` has mounted something that nobody else sees."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount anything")
    apart = ["unshare", "--mount", "--propagation", "private", "sh", "-ec"]
    tried = ended([*apart, script])
    if tried.returncode:
        pytest.skip(f"nothing can be mounted here: {tried.stderr.strip()}")
    return [*apart, f'{script} exec "$@"', "sh", *argv]


def test_without_sys_and_without_rows_of_interrupts_it_measures_and_reads(tmp_path: Path) -> None:
    for arguments in commands(tmp_path):
        result = ended(elsewhere(_HIDDEN, [*COMMAND, *arguments]))
        assert (result.returncode, result.stderr) == (0, ""), arguments
    windows = windows_in(tmp_path / "made.jsonl.gz")
    assert [analysis.window.interrupts for analysis in windows] == [(), ()]
    assert all(analysis.check.kernel is None for analysis in windows)
    with gzip.open(tmp_path / "made.jsonl.gz", "rt", encoding="utf-8") as lines:
        hold(lines.read())


def test_without_sys_the_doctor_and_the_live_screen_come_up(tmp_path: Path) -> None:
    cpu = str(spare_cpu())
    result = ended(elsewhere(_HIDDEN, [*COMMAND, "doctor", "--cpu", cpu]))
    assert (result.returncode, result.stderr) == (0, "")
    with PseudoTerminal(elsewhere(_HIDDEN, [*COMMAND, "--cpu", cpu]), cwd=tmp_path) as terminal:
        terminal.wait_for("elapsed ticks")
        terminal.send("q")
        assert terminal.wait_for_exit() == 0


def read_only(folder: Path, argv: Sequence[str]) -> list[str]:
    """``argv`` for which ``folder`` lies on a file system that cannot be written to."""
    name = shlex.quote(str(folder))
    return elsewhere(f"mount --bind {name} {name}; mount -o remount,bind,ro {name}; cd {name};", argv)


def test_recording_on_a_read_only_file_system_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    sample = ["sample", "--cpu", str(spare_cpu()), "--duration", "0.2", "--output", str(path)]
    result = ended(read_only(tmp_path, [*COMMAND, *sample]))
    hold_to_one_line(result)
    assert f"cannot write {path}: Read-only file system" in result.stderr
    assert not path.exists()


def test_what_lies_on_a_read_only_file_system_can_be_read(tmp_path: Path) -> None:
    for arguments in commands(tmp_path)[:2]:
        result = ended(read_only(tmp_path, [*COMMAND, *arguments]))
        assert (result.returncode, result.stderr) == (0, "")


def test_replay_of_a_read_only_file_system_says_where_a_snapshot_went_instead(tmp_path: Path) -> None:
    folder, state = tmp_path / "fixed", tmp_path / "state"
    folder.mkdir()
    file = str(file_of(folder, written(three_windows(), events=True)))
    env = {**os.environ, "XDG_STATE_HOME": str(state)}
    argv = read_only(folder, [*COMMAND, "replay", file])
    with PseudoTerminal(argv, cwd=folder, env=env) as terminal:
        terminal.wait_for("REPLAY of")
        terminal.send("s")
        terminal.wait_for("saved")
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
    assert list((state / "tickmon").glob("*.jsonl.gz"))
    assert [path.name for path in folder.iterdir()] == [Path(file).name]
