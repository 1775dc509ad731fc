"""The injector: what it does, and that it ends with whoever started it."""

from __future__ import annotations

import errno
import os
import select
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.command import spare_cpu
from tests.conftest import PATIENCE_MS, parent_of
from tests.test_c import ADDRESS, ARM64, CSRC, TESTS, build, need
from tickmon.sampling.injector import INJECTOR, PLANNED, Injector
from tickmon.sampling.native import SamplerError

THRESHOLD_CYCLES = 500


def plan(*spins_cycles: int, sleep_ns: int = 100_000) -> NDArray[np.void]:
    return np.array([(sleep_ns, spin) for spin in spins_cycles], PLANNED)


def injected(executable: Path, *spins_cycles: int) -> NDArray[np.void]:
    with Injector(
        cpu=spare_cpu(), threshold_cycles=THRESHOLD_CYCLES, limit_s=20, executable=executable
    ) as injector:
        injector.begin(plan(*spins_cycles))
        return injector.results()


def check(done: NDArray[np.void], *spins_cycles: int) -> None:
    assert done["spin_cycles"].tolist() == list(spins_cycles)
    ran_cycles = done["last_cycles"] - done["first_cycles"] - done["lost_cycles"]
    assert (ran_cycles >= done["spin_cycles"]).all()
    # It goes no further than the read after the last that it needed.
    assert (ran_cycles <= done["spin_cycles"] + THRESHOLD_CYCLES).all()
    assert (done["first_cycles"][1:] > done["last_cycles"][:-1]).all()


def test_each_spin_takes_of_its_own_time_what_was_asked() -> None:
    check(injected(INJECTOR, 0, 10_000, 3_000_000, 0, 50_000), 0, 10_000, 3_000_000, 0, 50_000)


def test_injection_of_no_length_ends_at_its_first_read() -> None:
    done = injected(INJECTOR, 0)
    assert done["first_cycles"] == done["last_cycles"]


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_it_is_clean_under_address_and_undefined_behaviour_sanitizers(compiler: str, tmp_path: Path) -> None:
    need(compiler)
    report = f'-DREPORT_PATH="{tmp_path}/report"'
    sources = [CSRC / "inject.c", TESTS / "report_path.c"]
    executable = build(compiler, sources, tmp_path / "tickmon-injector", *ADDRESS[compiler], report)

    check(injected(executable, 0, 2_000_000, 0), 0, 2_000_000, 0)
    assert not list(tmp_path.glob("report*"))


def test_arm64_does_the_same(tmp_path: Path) -> None:
    need(*ARM64)
    program = build(ARM64[0], [CSRC / "inject.c"], tmp_path / "tickmon-injector", "-static")
    script = tmp_path / "run"
    script.write_text(f'#!/bin/sh\nexec {ARM64[1]} "{program}" "$@"\n')
    script.chmod(0o755)
    check(injected(script, 0, 2_000_000), 0, 2_000_000)


def test_plan_that_takes_longer_than_its_limit_is_left() -> None:
    with Injector(cpu=spare_cpu(), threshold_cycles=THRESHOLD_CYCLES, limit_s=1) as injector:
        injector.begin(plan(*[0] * 40, sleep_ns=100_000_000))
        assert 0 < len(injector.results()) < 40


def test_cpu_that_is_not_there_is_refused_with_the_kernels_reason() -> None:
    with pytest.raises(SamplerError, match="cannot run on CPU 4095: Invalid argument"):
        Injector(cpu=4095, threshold_cycles=THRESHOLD_CYCLES, limit_s=1)


def test_missing_executable_is_said(tmp_path: Path) -> None:
    with pytest.raises(SamplerError, match="No such file"):
        Injector(cpu=0, threshold_cycles=1, limit_s=1, executable=tmp_path / "gone")


def test_it_does_not_begin_for_a_parent_that_is_not_its_own() -> None:
    done = subprocess.run(
        [INJECTOR, str(spare_cpu()), "0", "500", "1", "1"], stdin=subprocess.DEVNULL, capture_output=True
    )
    assert int.from_bytes(done.stdout, "little") == errno.ESRCH
    assert done.returncode != 0


def test_it_ends_when_its_parent_is_killed() -> None:
    code = f"""
import sys
from tickmon.sampling.injector import PLANNED, Injector
import numpy as np
injector = Injector(cpu={spare_cpu()}, threshold_cycles=500, limit_s=60)
injector.begin(np.array([(60_000_000_000, 0)], PLANNED))
print(injector._process.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert parent_of(pid) == parent.pid
        end = os.pidfd_open(pid)
        parent.kill()
    poll = select.poll()
    poll.register(end, select.POLLIN)
    ended = poll.poll(PATIENCE_MS)
    os.close(end)
    assert ended
