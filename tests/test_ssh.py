"""Over SSH for real: an sshd on loopback with a key of its own, and tmux; both end with their test."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import children, spare_cpu
from tests.pseudo_terminal import PseudoTerminal
from tickmon.machine.cpus import read_cpus

SCRIPT = str(Path(sys.executable).with_name("tickmon"))
GONE_WITHIN_S = 10.0
AT_MOST_S = 120
"""The server ends by itself, should this test not live to end it."""


def program(name: str) -> str:
    """Where it is; skips where it is not, but not where tests must be whole."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if found is None:
        assert "CI" not in os.environ, f"{name} is missing (openssh-server, openssh-client, tmux)"
        pytest.skip(f"{name} is not installed")
    return found


@pytest.fixture
def ssh(tmp_path: Path) -> Iterator[list[str]]:
    """A command that logs in here, up to what is to be run there."""
    sshd, client = program("sshd"), program("ssh")
    for key in ("host", "user"):
        subprocess.run(
            [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / key], check=True
        )
    shutil.copy(tmp_path / "user.pub", tmp_path / "authorized")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    if os.getuid() == 0:
        # sshd gives up root for a while there, and Debian makes the place at boot only.
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    options = {
        "Port": port,
        "ListenAddress": "127.0.0.1",
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "authorized",
        "PasswordAuthentication": "no",
        "KbdInteractiveAuthentication": "no",
        "PermitRootLogin": "prohibit-password",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
        "PrintMotd": "no",
        "PrintLastLog": "no",
    }
    config = tmp_path / "sshd_config"
    config.write_text("".join(f"{name} {value}\n" for name, value in options.items()))
    log = tmp_path / "sshd.log"
    server = subprocess.Popen(
        ["timeout", "--foreground", str(AT_MOST_S), sshd, "-D", "-e", "-f", config],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log.open("w"),
    )
    try:
        reached = False
        while not reached and server.poll() is None:
            with socket.socket() as probe:
                reached = probe.connect_ex(("127.0.0.1", port)) == 0
            select.select([], [], [], 0.02)
        assert reached, log.read_text()
        quiet = ("BatchMode=yes", "StrictHostKeyChecking=no", f"UserKnownHostsFile={tmp_path / 'known'}")
        yield [
            client, "-F", "none", "-tt", "-i", str(tmp_path / "user"), "-p", str(port),
            *(part for option in quiet for part in ("-o", option)), "127.0.0.1",
        ]  # fmt: skip
    finally:
        server.terminate()
        server.wait()


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[list[str]]:
    """A tmux server of this test's own."""
    command = [program("tmux"), "-u", "-S", str(tmp_path / "tmux"), "-f", "/dev/null"]
    yield command
    subprocess.run([*command, "kill-server"], check=False, capture_output=True)


def log_in(ssh: list[str], command: str, **how: object) -> PseudoTerminal:
    return PseudoTerminal([*ssh, command], **how)  # type: ignore[arg-type]


def has_a_reading(shown: str) -> bool:
    """Live, and a whole window is on the screen."""
    title = shown.splitlines()[0]
    counted = re.search(r"\d+ due, \d+ seen", shown)
    return counted is not None and "LIVE" in title and " of 1 s" not in title


def screens(folder: Path) -> list[int]:
    """The screens that run in a directory."""
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            if comm.read_text() == "tickmon\n" and Path(os.readlink(comm.parent / "cwd")) == folder:
                found.append(int(comm.parent.name))
        except OSError:
            continue
    return found


def watched(folder: Path) -> list[int]:
    """Descriptors of the one screen there and of its sampler."""
    (screen,) = screens(folder)
    pids = (screen, *children(screen))
    assert len(pids) == 2
    return [os.pidfd_open(pid) for pid in pids]


def have_ended(descriptors: list[int]) -> bool:
    ended = [bool(select.select([one], [], [], GONE_WITHIN_S)[0]) for one in descriptors]
    for one in descriptors:
        os.close(one)
    return all(ended)


def test_a_cut_connection_leaves_neither_screen_nor_sampler(ssh: list[str], tmp_path: Path) -> None:
    with log_in(ssh, f"cd {tmp_path} && exec {SCRIPT} --cpu {spare_cpu()}") as terminal:
        terminal.wait_for(has_a_reading)
        there = watched(tmp_path)
        os.kill(terminal.process.pid, signal.SIGKILL)
        assert have_ended(there)


def test_a_session_over_ssh_and_tmux_outlives_a_cut_connection(
    ssh: list[str], tmux: list[str], tmp_path: Path
) -> None:
    cpu = spare_cpu()
    others = sorted(read_cpus().usable - {cpu})
    tmux_words = " ".join(tmux)
    start = f"cd {tmp_path} && {tmux_words} new-session -s watch '{SCRIPT} --cpu {cpu},{others[-1]}'"
    with log_in(ssh, start) as terminal:
        terminal.wait_for(has_a_reading)
        terminal.send("\x1b[D")
        terminal.wait_for(lambda shown: f"CPU {others[-1]} " in shown and has_a_reading(shown))
        terminal.send("\x1b[C")
        terminal.wait_for(lambda shown: f"CPU {cpu} " in shown and has_a_reading(shown))
        terminal.send(" ")
        terminal.wait_for("PAUSED")
        terminal.send("s")
        terminal.wait_for(f"cpu{cpu}-")
        assert len(list(tmp_path.glob(f"*-cpu{cpu}-*.jsonl.gz"))) == 1
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.process.wait()
    there = watched(tmp_path)
    with log_in(ssh, f"{tmux_words} attach -t watch") as terminal:
        terminal.wait_for("PAUSED")
        terminal.send(" ")
        terminal.wait_for(has_a_reading)
        terminal.send("q")
        assert terminal.wait_for_exit() == 0
    assert have_ended(there)
