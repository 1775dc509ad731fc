"""Whether a CPU is idle, told from a machine whose every microsecond is scripted."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees import mounts, plant, thread
from tickmon.machine.busy import CpuUse, Occupant, idle_share, look

JIFFY_NS = 10_000_000
ME = 4321


class Scene:
    """A /proc in which time passes only while somebody waits."""

    def __init__(self, root: Path, busy_shares: Mapping[int, float], *, each_ns: int = 70_000) -> None:
        self.root = root
        self.busy_shares = dict(busy_shares)
        self.now_ns = 1_000_000_000
        self.each_ns = each_ns
        self._running: dict[int, Callable[[], int]] = {}
        (root / f"proc/{ME}").mkdir(parents=True)
        (root / "proc/self").symlink_to(str(ME))
        self.draw()

    def pause(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9) + self.each_ns
        self.draw()

    def draw(self) -> None:
        lines = ["cpu  1 1 1 1 1 1 1 1 0 0"]
        for cpu, share in self.busy_shares.items():
            # Each CPU's count steps at a moment of its own.
            jiffies = int((self.now_ns * (1 - share) + cpu * 3_700_000) // JIFFY_NS)
            lines.append(f"cpu{cpu} 5 0 7 {jiffies} 20 0 0 0 0 0")
        plant(self.root, {"proc/stat": "\n".join([*lines, "intr 1 2 3", ""])})
        for pid, run_ns in self._running.items():
            plant(self.root, {f"proc/{pid}/schedstat": f"{run_ns()} 0 9\n"})

    def ran(self, pid: int, share: float) -> None:
        """From now on a thread runs for ``share`` of the time."""
        since_ns = self.now_ns
        self._running[pid] = lambda: round((self.now_ns - since_ns) * share)

    def look(self, *cpus: int) -> dict[int, CpuUse]:
        return look(cpus, root=self.root, pause=self.pause, now_ns=lambda: self.now_ns)


def poll_ends(share: float, phase_ns: int, each_ns: int) -> Iterator[tuple[int, int]]:
    """Readings of 14 ms at either end of 200 ms, one each ``each_ns``."""
    for begin_ns in (0, 186_000_000):
        for at_ns in range(begin_ns, begin_ns + 14_500_000, each_ns):
            yield at_ns, int((at_ns * share + phase_ns) // JIFFY_NS)


@settings(deadline=None)
@given(st.floats(0.9, 1.0), st.integers(0, JIFFY_NS - 1))
def test_idle_share_is_right_to_a_hundredth_though_a_jiffy_is_a_twentieth(
    share: float, phase_ns: int
) -> None:
    # A CPU that is less idle may not step within either end: then less is claimed, never more.
    found = idle_share(list(poll_ends(share, phase_ns, 1_100_000)))
    assert found is not None
    assert found <= share + 0.012
    assert found >= share - 0.012 or found <= share - 0.04


@settings(deadline=None)
@given(st.floats(0, 1), st.integers(0, JIFFY_NS - 1), st.integers(1_000_000, 40_000_000))
def test_slow_polling_never_makes_a_busy_cpu_idle(share: float, phase_ns: int, each_ns: int) -> None:
    found = idle_share(list(poll_ends(share, phase_ns, each_ns)))
    assert found is None or 0 <= found <= 1
    if share < 0.8:
        assert found is None or found < 0.99


@pytest.mark.parametrize("readings", [[], [(5, 1)], [(5, 1), (5, 9)]])
def test_no_time_between_readings_tells_nothing(readings: list[tuple[int, int]]) -> None:
    assert idle_share(readings) is None


def test_without_steps_only_what_is_certain_counts() -> None:
    assert idle_share([(0, 7), (200_000_000, 27)]) == pytest.approx(0.95)


def test_steps_between_the_closest_readings_count() -> None:
    # 97 % idle. Twice the reader itself was held up, for most of a step.
    moments_ms = (0, 1, 2, 14, 19, 20, 20.7, 21.5, 175, 176, 177, 178, 183, 184, 185.5, 186, 197, 198)
    readings = [(round(at_ms * 1e6), int(at_ms * 0.97 // 10)) for at_ms in moments_ms]
    assert idle_share(readings) == pytest.approx(0.97, abs=0.012)


def test_count_that_went_backwards_is_passed_over() -> None:
    readings = list(poll_ends(1.0, 0, 1_000_000))
    readings[5] = (readings[5][0], readings[5][1] - 1)
    assert idle_share(readings) == pytest.approx(1.0, abs=0.012)


def test_idle_cpus_are_told_from_slightly_busy_ones(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0, 1: 0.003, 2: 0.03, 3: 0.05, 4: 0.5, 9: 1.0})
    uses = scene.look(0, 1, 2, 3, 4, 9)
    assert [cpu for cpu, use in uses.items() if use.idle] == [0, 1]
    assert uses[3].idle_share == pytest.approx(0.95, abs=0.012)
    assert uses[9].idle_share == 0
    assert uses[0].text == "is idle"
    assert uses[9].text == "is 100 % busy"


def test_cpu_out_of_use_is_offline_and_not_called_busy(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0, 1: 0.0})
    plant(tmp_path, {"sys/devices/system/cpu/online": "0-1\n"})
    uses = scene.look(1, 2)
    assert (uses[1].text, uses[2].text) == ("is idle", "is offline")
    assert not uses[2].idle


def test_looking_takes_as_long_as_was_asked(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0}, each_ns=0)
    begin_ns = scene.now_ns
    look([0], look_s=0.5, root=tmp_path, pause=scene.pause, now_ns=lambda: scene.now_ns)
    assert scene.now_ns - begin_ns == pytest.approx(0.5e9, rel=0.01)


def test_running_thread_makes_its_cpu_busy_and_is_named(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0, 3: 1.0})
    plant(tmp_path, thread(7, name="dpdk) lcore-3", state="R", cpu=3, run_ns=0))
    plant(tmp_path, thread(8, name="sleeper", state="S", cpu=3, run_ns=0))
    scene.ran(7, 1.0)
    uses = scene.look(0, 3)
    assert [(occupant.name, occupant.pid) for occupant in uses[3].occupants] == [("dpdk) lcore-3", 7)]
    assert uses[3].text == "runs dpdk) lcore-3 (100 %)"
    assert uses[0].idle


def test_kernels_own_thread_is_told_by_its_flag_and_not_by_its_name(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {3: 1.0})
    for pid, flags in ((7, 0x0020_8040), (8, 0x0040_0100)):
        plant(tmp_path, thread(pid, name="kworker/3:1", state="R", cpu=3, run_ns=0, flags=flags))
    (use,) = scene.look(3).values()
    assert {occupant.pid: occupant.kernel for occupant in use.occupants} == {7: True, 8: False}


def test_thread_that_never_was_charged_still_runs(tmp_path: Path) -> None:
    # On a nohz_full CPU no tick charges a thread that never leaves it.
    scene = Scene(tmp_path, {3: 0.0})
    plant(tmp_path, thread(7, name="spin", state="R", cpu=3, run_ns=500))
    use = scene.look(3)[3]
    assert not use.idle
    assert use.text == "runs spin"


def test_thread_asleep_at_both_looks_is_found_by_what_it_ran(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {1: 0.0})
    plant(tmp_path, thread(7, name="control", cpu=1, run_ns=0))
    scene.ran(7, 0.05)
    (occupant,) = scene.look(1)[1].occupants
    assert occupant.name == "control"
    assert occupant.share == pytest.approx(0.05, abs=0.01)


def test_thread_that_hardly_ran_leaves_the_cpu_idle(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {1: 0.001})
    plant(tmp_path, thread(7, cpu=1, run_ns=0))
    scene.ran(7, 0.002)
    assert scene.look(1)[1].idle


def test_thread_that_got_the_cpu_meanwhile_runs_though_it_was_not_charged(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {3: 0.0})
    plant(tmp_path, thread(7, name="woken", cpu=3, run_ns=500))

    def pause(seconds: float) -> None:
        if seconds > 0.1:
            plant(tmp_path, thread(7, name="woken", state="R", cpu=3))
            plant(tmp_path, {"proc/7/schedstat": "500 0 2\n"})
        scene.pause(seconds)

    use = look([3], root=tmp_path, pause=pause, now_ns=lambda: scene.now_ns)[3]
    assert use.text == "runs woken"


def test_threads_without_an_account_are_seen_while_they_run(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0})
    plant(tmp_path, thread(7, name="quiet"))
    plant(tmp_path, thread(8, name="loud", state="R"))
    assert scene.look(0)[0].text == "runs loud"


def test_threads_of_one_process_are_looked_at_one_by_one(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0, 1: 1.0})
    plant(tmp_path, thread(7, name="main", cpu=0, threads=3))
    plant(tmp_path, thread(7, tid=7, name="main", cpu=0, threads=3))
    plant(tmp_path, thread(7, tid=8, name="poller", state="R", cpu=1, threads=3))
    plant(tmp_path, {"proc/7/task/9/status": "gone\n"})
    uses = scene.look(0, 1)
    assert uses[0].idle
    assert uses[1].text == "runs poller"


def test_thread_that_ends_meanwhile_was_there(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0})
    plant(tmp_path, thread(7, name="short", state="R", cpu=0))

    def pause(seconds: float) -> None:
        if seconds > 0.1:
            (tmp_path / "proc/7/stat").unlink()
        scene.pause(seconds)

    use = look([0], root=tmp_path, pause=pause, now_ns=lambda: scene.now_ns)[0]
    assert use.text == "runs short"


def test_own_threads_are_nobodys_loss(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.08})
    plant(tmp_path, thread(ME, name="tickmon", state="R", cpu=0, run_ns=0))
    scene.ran(ME, 0.08)
    use = scene.look(0)[0]
    assert use.occupants == ()
    assert use.idle


def test_own_threads_do_not_hide_others(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.14})
    plant(tmp_path, thread(ME, name="tickmon", state="R", cpu=0, run_ns=0))
    scene.ran(ME, 0.08)
    use = scene.look(0)[0]
    assert use.idle_share == pytest.approx(0.94, abs=0.012)
    assert not use.idle


def test_cpu_that_goes_offline_meanwhile_is_not_idle(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0, 1: 0.0})
    assert not scene.look(0, 1, 2)[2].idle
    assert scene.look(2)[2].text == "cannot be seen to be idle"


def test_stat_file_of_a_container_is_not_believed(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 0.0})
    plant(tmp_path, mounts("/ /proc proc rw", "/proc/stat /proc/stat fuse.lxcfs rw"))
    use = scene.look(0)[0]
    assert use.idle_share is None
    assert not use.idle


@pytest.mark.parametrize("text", ["", "cpu", "cpu0\n", "cpu0 1 2 3\n", "cpu0 a b c d e\n", "\n\ncpu0 1\n"])
def test_garbled_stat_file_tells_nothing(tmp_path: Path, text: str) -> None:
    plant(tmp_path, {"proc/stat": text})
    assert look([0], look_s=0, root=tmp_path, pause=lambda _s: None)[0].idle_share is None


def test_names_of_threads_cannot_write_on_the_screen(tmp_path: Path) -> None:
    scene = Scene(tmp_path, {0: 1.0})
    plant(tmp_path, thread(7, name="\x1b[2J\n" + "x" * 100, state="R", cpu=0))
    text = scene.look(0)[0].text
    assert text.isprintable()
    assert len(text) < 40


def test_only_the_greatest_occupants_are_named() -> None:
    occupants = tuple(Occupant(name=f"t{n}", pid=n, share=0.2) for n in range(5))
    use = CpuUse(cpu=1, idle_share=0.0, occupants=occupants)
    assert use.text == "runs t0 (20.0 %), t1 (20.0 %), t2 (20.0 %)"


def test_spinning_process_is_seen_on_this_very_machine() -> None:
    cpu = max(os.sched_getaffinity(0))
    code = f"import os\nos.sched_setaffinity(0, [{cpu}])\nprint(flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as spinner:
        try:
            assert spinner.stdout is not None
            spinner.stdout.readline()
            use = look([cpu])[cpu]
        finally:
            spinner.kill()
    assert spinner.pid in {occupant.pid for occupant in use.occupants}
    assert not use.idle
