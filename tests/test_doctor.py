"""What the doctor sees and says, on machines that are not here, and that it disturbs none."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import pytest

from tests.command import finished, interpreted
from tests.trees import cpu_files, mounts, plant, siblings, thread
from tickmon.doctor.command import json_text, plain_text
from tickmon.doctor.examine import conclude
from tickmon.doctor.facts import gather
from tickmon.doctor.findings import LEVELS, Diagnosis, Finding, diagnosis
from tickmon.errors import TickmonError
from tickmon.machine.busy import CpuUse, Occupant
from tickmon.machine.clock import Discipline

ME = 4321
SYNCHRONISED = Discipline(synchronised=True, ppm=1.0)
CLOCK = "sys/devices/system/clocksource/clocksource0"
KERNEL = "proc/sys/kernel"


def common(online: str = "0-3", cpu: int = 3, **changes: str) -> dict[str, str]:
    """A bare-metal x86 machine with nothing set, as root sees it; ``changes`` are for its CPU lists."""
    files = {
        **cpu_files(online=online, possible=online, **{"isolated": "", "nohz_full": "(null)"} | changes),
        "sys/devices/system/cpu/modalias": "cpu:type:x86,ven0000fam0006mod008F:feature:,0004,0068,0078\n",
        f"{CLOCK}/current_clocksource": "tsc\n",
        f"{CLOCK}/available_clocksource": "tsc hpet acpi_pm\n",
        "proc/cmdline": "quiet\n",
        "proc/self/status": "Cpus_allowed_list:\t0-3\nSeccomp:\t0\nCapEff:\t000001ffffffffff\n",
        "proc/self/limits": "Max locked memory  8388608  8388608  bytes\nMax realtime priority 0 0\n",
        "proc/self/cgroup": "0::/job\n",
        **mounts("/ /sys/fs/cgroup cgroup2 rw"),
        "sys/fs/cgroup/cgroup.controllers": "cpuset cpu\n",
        "proc/stat": f"cpu  1 1 1 1 1 1 1 1 0 0\ncpu{cpu} 5 0 7 900 20 0 0 0 0 0\nintr 1\n",
        "proc/interrupts": interrupt_table(cpu, 24, LOC=100),
        "proc/irq/default_smp_affinity": "7\n",
        "proc/irq/24/smp_affinity_list": "0-3\n",
        "proc/irq/24/effective_affinity_list": "0\n",
        f"{KERNEL}/perf_event_paranoid": "2\n",
        f"{KERNEL}/sched_rt_runtime_us": "950000\n",
        f"{KERNEL}/sched_rt_period_us": "1000000\n",
        "proc/sys/vm/stat_interval": "1\n",
        "proc/kallsyms": "ffffffff81000000 T _stext\nffffffff81000040 T f\n",
        "sys/devices/virtual/workqueue/cpumask": "f\n",
    }
    files |= {f"sys/devices/system/cpu/cpu{n}/topology/thread_siblings_list": f"{n}\n" for n in range(4)}
    return files


def interrupt_table(cpu: int, irq: int, irq_count: int = 0, **rows: int) -> str:
    lines = [f"  CPU{cpu}", f" {irq}: {irq_count}  IR-PCI-MSI   524288-edge   nvme0q1"]
    return "\n".join([*lines, *(f"{name}: {count}   interrupts" for name, count in rows.items()), ""])


def idle(cpus: Collection[int]) -> Mapping[int, CpuUse]:
    return {cpu: CpuUse(cpu=cpu, idle_share=1.0, occupants=()) for cpu in cpus}


def told(
    root: Path,
    *parts: Mapping[str, str],
    cpu: int = 3,
    look: Callable[[Collection[int]], Mapping[int, CpuUse]] = idle,
    discipline: Discipline | None = SYNCHRONISED,
) -> Diagnosis:
    """What the doctor says of ``cpu`` of a machine made of files."""
    for files in (common(cpu=cpu), *parts):
        plant(root, files)
    facts = gather(cpu, root=root, look_at=look, period_ns=lambda: 4_000_000, discipline=lambda: discipline)
    return conclude(facts)


def of(said: Diagnosis, code: str) -> Finding:
    found = [finding for finding in said.findings if finding.code == code]
    assert len(found) == 1, f"{code}: {[f.code for f in said.findings]}"
    return found[0]


# -- isolation ----------------------------------------------------------------------------------


def test_common_cpu_is_told_how_to_be_isolated(tmp_path: Path) -> None:
    finding = of(told(tmp_path), "isolation")
    assert finding.level == "warning"
    assert "isolcpus=domain,managed_irq,3" in (finding.change or "")


def test_isolated_and_nohz_full_cpu_is_fine_and_its_leftovers_could_be_better(tmp_path: Path) -> None:
    said = told(tmp_path, cpu_files(isolated="2-3", nohz_full="2-3"))
    for code in ("isolation", "nohz_full", "rcu_nocbs"):
        assert of(said, code).level == "ok"
    # On a CPU that was set apart these are not as its owner wants them.
    for code in ("workqueues", "stat_interval"):
        assert of(said, code).level == "warning"
    assert "mask of CPUs 0-1" in (of(said, "workqueues").change or "")


def test_null_list_of_an_old_kernel_is_no_nohz_full(tmp_path: Path) -> None:
    assert of(told(tmp_path), "nohz_full").level == "note"


def test_kernel_without_nohz_full_is_told_to_be_another_one(tmp_path: Path) -> None:
    release = {f"{KERNEL}/osrelease": "6.1\n", "boot/config-6.1": "# CONFIG_NO_HZ_FULL is not set\n"}
    assert "built with CONFIG_NO_HZ_FULL=y" in (of(told(tmp_path, release), "nohz_full").change or "")


def test_callbacks_that_the_command_line_sends_away_are_fine(tmp_path: Path) -> None:
    assert of(told(tmp_path, {"proc/cmdline": "rcu_nocbs=1-3\n"}), "rcu_nocbs").level == "ok"


def test_cpu_outside_the_watchdogs_mask_is_not_watched(tmp_path: Path) -> None:
    files = {f"{KERNEL}/{name}": "1\n" for name in ("soft_watchdog", "nmi_watchdog")}
    files |= {f"{KERNEL}/watchdog_cpumask": "0-2\n", f"{KERNEL}/watchdog_thresh": "10\n"}
    assert of(told(tmp_path, files), "watchdog").level == "ok"
    finding = of(told(tmp_path, {f"{KERNEL}/watchdog_cpumask": "0-3\n"}), "watchdog")
    assert finding.level == "note"
    assert finding.what == "the soft and NMI watchdogs watch CPU 3, every 4.00 s"


# -- interrupts ---------------------------------------------------------------------------------


def test_interrupt_that_is_sent_there_is_named_with_the_command_that_moves_it(tmp_path: Path) -> None:
    finding = of(told(tmp_path, {"proc/irq/24/effective_affinity_list": "3\n"}), "irqs")
    assert finding.what == "sent to CPU 3: 24 nvme0q1 (0 since boot)"
    assert finding.level == "note"
    assert (finding.change or "").startswith("echo 0-2 > /proc/irq/24/smp_affinity_list")


def test_interrupt_that_comes_while_one_looks_could_be_better(tmp_path: Path) -> None:
    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        plant(tmp_path, {"proc/interrupts": interrupt_table(3, 24, 17, LOC=150)})
        return idle(cpus)

    said = told(tmp_path, {"proc/irq/24/effective_affinity_list": "3\n"}, look=look)
    assert of(said, "irqs").level == "warning"
    assert "24 (nvme0q1) +17, LOC +50" in of(said, "interrupts").what


def test_interrupt_that_may_come_but_is_sent_elsewhere_is_none_of_this_cpus(tmp_path: Path) -> None:
    assert of(told(tmp_path), "irqs").level == "ok"


def test_without_the_kernels_choice_only_a_mask_of_one_cpu_is_certain(tmp_path: Path) -> None:
    said = told(tmp_path, {"proc/irq/24/effective_affinity_list": "\n"})
    assert of(said, "irqs").level == "ok"
    plant(tmp_path, {"proc/irq/24/smp_affinity_list": "3\n"})
    facts = gather(3, root=tmp_path, look_at=idle, period_ns=lambda: 4_000_000, discipline=lambda: None)
    assert of(conclude(facts), "irqs").level == "note"


# -- company ------------------------------------------------------------------------------------


def busy(
    name: str, *, cpu: int = 3, pid: int = 77, kernel: bool = False
) -> Callable[[Collection[int]], Mapping[int, CpuUse]]:
    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        occupants = (Occupant(name=name, pid=pid, share=0.9, kernel=kernel),)
        return {**idle(cpus), cpu: CpuUse(cpu=cpu, idle_share=0.1, occupants=occupants)}

    return look


def test_who_runs_there_hurts_and_is_named(tmp_path: Path) -> None:
    finding = of(told(tmp_path, look=busy("trader")), "tasks")
    assert finding.level == "bad"
    assert "runs trader (90.0 %)" in finding.what
    assert "taskset -acp 0-2 77" in (finding.change or "")


def test_another_tickmon_is_not_moved_from_what_it_measures(tmp_path: Path) -> None:
    finding = of(told(tmp_path, look=busy("tickmon-sampler")), "tasks")
    assert finding.level == "bad"
    assert "taskset" not in (finding.change or "")
    assert "end the other tickmon" in (finding.change or "")


def test_kernels_own_thread_is_no_reason_to_move_it(tmp_path: Path) -> None:
    finding = of(told(tmp_path, look=busy("kdamond.0", kernel=True)), "tasks")
    assert finding.level == "warning"
    assert finding.change is None
    # Anybody may call himself like one.
    assert of(told(tmp_path, look=busy("kworker/3:1")), "tasks").level == "bad"


def test_own_sampler_is_not_somebody_else(tmp_path: Path) -> None:
    sampler = thread(77, cpu=3) | {"proc/77/stat": f"77 (tickmon-sampler) R {ME} 1 1 {'0 ' * 40}\n"}
    plant(tmp_path, common())
    (tmp_path / "proc/self").rename(tmp_path / f"proc/{ME}")
    (tmp_path / "proc/self").symlink_to(str(ME))
    finding = of(told(tmp_path, sampler, look=busy("tickmon-sampler")), "tasks")
    assert finding.level == "ok"
    assert finding.what == "tickmon's sampler runs there alone"


def test_busy_sibling_hurts_and_an_idle_one_is_worth_knowing(tmp_path: Path) -> None:
    core = siblings("1,3")
    assert of(told(tmp_path, core), "smt").level == "note"
    finding = of(told(tmp_path, core, look=busy("ffmpeg", cpu=1)), "smt")
    assert finding.level == "bad"
    assert "CPU 1 runs ffmpeg" in finding.what
    assert "cpu1/online" in (finding.change or "")


def test_time_stolen_since_boot_and_just_now_is_told_in_a_guest(tmp_path: Path) -> None:
    guest = {
        "sys/devices/system/cpu/modalias": "cpu:type:x86,ven0000:feature:,0004,0068,0078,009F\n",
        "sys/class/dmi/id/sys_vendor": "QEMU\n",
        "proc/stat": "cpu3 0 0 0 950 0 0 0 50 0 0\n",
    }
    finding = of(told(tmp_path, guest), "virtualization")
    assert finding.level == "warning"
    assert "QEMU" in finding.what
    assert "5.00 % of CPU 3's time" in finding.what

    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        plant(tmp_path, {"proc/stat": "cpu3 0 0 0 950 0 0 0 58 0 0\n"})
        return idle(cpus)

    finding = of(told(tmp_path, guest, look=look), "virtualization")
    assert finding.level == "bad"
    assert "80 ms of it just now" in finding.what


def test_firmware_interrupts_are_unknown_and_never_0(tmp_path: Path) -> None:
    finding = of(told(tmp_path), "smi")
    assert finding.level == "unknown"
    assert "0" not in finding.what
    guest = {"sys/devices/system/cpu/modalias": "cpu:type:x86:feature:,0004,0068,0078,009F\n"}
    finding = of(told(tmp_path, guest), "smi")
    assert finding.level == "unknown"
    assert finding.change is None


# -- clocks -------------------------------------------------------------------------------------


def test_counter_that_the_kernel_gave_up_hurts_with_the_kernels_own_words(tmp_path: Path) -> None:
    files = {
        f"{CLOCK}/current_clocksource": "hpet\n",
        f"{CLOCK}/available_clocksource": "hpet acpi_pm\n",
        "dev/kmsg": "6,1,5,-;Linux version\n4,9,77,-;tsc: Marking TSC unstable due to clocksource watchdog\n",
    }
    said = told(tmp_path, files)
    assert of(said, "counter_untrusted").level == "bad"
    assert "Marking TSC unstable due to clocksource watchdog" in of(said, "clock_log").what


def test_log_that_may_not_be_read_is_unknown(tmp_path: Path) -> None:
    assert of(told(tmp_path), "clock_log").level == "unknown"


def test_text_of_the_kernels_log_is_harmless(tmp_path: Path) -> None:
    assert "\x1b" not in of(told(tmp_path, {"dev/kmsg": "6,1,1,-;tsc: \x1b[2J unstable\n"}), "clock_log").what


def test_clock_that_nothing_holds_is_worth_knowing(tmp_path: Path) -> None:
    said = told(tmp_path, discipline=Discipline(synchronised=False, ppm=0.0))
    assert of(said, "clock_sync").level == "note"
    assert of(told(tmp_path, discipline=None), "clock_sync").level == "unknown"


def test_skewed_tick_has_a_moment_of_its_own(tmp_path: Path) -> None:
    finding = of(told(tmp_path, {"proc/cmdline": "skew_tick=1\n"}), "skew_tick")
    assert finding.level == "ok"
    assert "expected 1.50 ms after" in finding.what


# -- limits and rights --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"sys/fs/cgroup/job/cpu.max": "50000 100000\n"}, "/sys/fs/cgroup/job/cpu.max"),
        (
            {
                **mounts("/ /sys/fs/cgroup/cpu cgroup rw,cpu", "/ /sys/fs/cgroup/unified cgroup2 rw"),
                "proc/self/cgroup": "2:cpu:/box\n0::/\n",
                "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "50000\n",
                "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "100000\n",
            },
            "/sys/fs/cgroup/cpu/box/cpu.cfs_quota_us",
        ),
    ],
)
def test_quota_below_one_cpu_hurts_on_both_versions(tmp_path: Path, files: dict[str, str], path: str) -> None:
    finding = of(told(tmp_path, files), "cfs_quota")
    assert finding.level == "bad"
    assert "50.0 ms in every 100 ms" in finding.what
    assert finding.where == (path,)
    assert path in (finding.change or "")


def test_quota_of_a_group_above_counts_too(tmp_path: Path) -> None:
    files = {"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "20000 100000\n"}
    assert (
        of(told(tmp_path, files | {"sys/fs/cgroup/a/b/cpu.max": "max 100000\n"}), "cfs_quota").level == "bad"
    )


def test_cgroups_name_is_no_command_for_shell_or_terminal(tmp_path: Path) -> None:
    name = "a;reboot\x1b[2J"
    files = {"proc/self/cgroup": f"0::/{name}\n", f"sys/fs/cgroup/{name}/cpu.max": "20000 100000\n"}
    said = told(tmp_path, files)
    assert "\x1b" not in plain_text(said, 80, coloured=False)
    assert "> '/sys/fs/cgroup/a;reboot?[2J/cpu.max'" in (of(said, "cfs_quota").change or "")


def test_without_a_limit_or_without_a_cgroup_nothing_is_claimed(tmp_path: Path) -> None:
    assert of(told(tmp_path, {"sys/fs/cgroup/job/cpu.max": "max 100000\n"}), "cfs_quota").level == "ok"
    assert of(told(tmp_path, {"proc/self/mountinfo": ""}), "cfs_quota").level == "unknown"


def test_group_without_real_time_is_told_as_such(tmp_path: Path) -> None:
    files = {
        **mounts("/ /sys/fs/cgroup/cpu cgroup rw,cpu"),
        "proc/self/cgroup": "2:cpu:/box\n",
        "sys/fs/cgroup/cpu/box/cpu.rt_runtime_us": "0\n",
    }
    said = told(tmp_path, files)
    assert "/sys/fs/cgroup/cpu/box/cpu.rt_runtime_us" in (of(said, "rt_group").change or "")
    assert "this cgroup grants it no time" in of(said, "priority").what


def user(capabilities: str = "0" * 16, *, seccomp: int = 0) -> dict[str, str]:
    status = f"Cpus_allowed_list:\t0-3\nSeccomp:\t{seccomp}\nCapEff:\t{capabilities}\n"
    return {"proc/self/status": status}


def test_ordinary_user_lacks_what_root_has(tmp_path: Path) -> None:
    assert of(told(tmp_path), "trace").level == "ok"
    hidden = {
        "proc/kallsyms": "0000000000000000 T _stext\n0000000000000000 T f\n",
        "proc/self/limits": "Max locked memory         65536   65536   bytes\nMax realtime priority 0 0\n",
    }
    said = told(tmp_path, user(), hidden)
    assert of(said, "memlock").level == "warning"
    assert of(said, "priority").level == "note"
    assert "CAP_PERFMON" in of(said, "trace").what
    assert "kallsyms" in of(said, "trace").what
    assert "tracefs" in of(said, "trace").what


def test_trace_points_that_a_user_may_look_up_are_not_lacking(tmp_path: Path) -> None:
    said = told(tmp_path, user(), {"sys/kernel/tracing/events/sched/enable": "0\n"})
    assert "tracefs" not in of(said, "trace").what
    assert "CAP_PERFMON" in of(said, "trace").what


@pytest.mark.parametrize(("paranoid", "level"), [("2", "ok"), ("3", "warning"), ("4", "warning")])
def test_switches_are_dated_up_to_paranoid_2(tmp_path: Path, paranoid: str, level: str) -> None:
    said = told(tmp_path, user(), {f"{KERNEL}/perf_event_paranoid": f"{paranoid}\n"})
    assert of(said, "switch_dating").level == level


def test_containers_filter_makes_dating_unknown(tmp_path: Path) -> None:
    assert of(told(tmp_path, user(seccomp=2)), "switch_dating").level == "unknown"


# -- other machines -----------------------------------------------------------------------------


def test_machine_of_1280_cpus_is_examined(tmp_path: Path) -> None:
    files = cpu_files(online="0-1279", possible="0-1279", isolated="640-1279", nohz_full="640-1279")
    masks = {
        "sys/devices/virtual/workqueue/cpumask": "ffffffff," * 39 + "ffffffff\n",
        "proc/irq/default_smp_affinity": "ffffffff," * 39 + "ffffffff\n",
    }
    said = told(tmp_path, files, masks, cpu=1279)
    assert of(said, "isolation").level == "ok"
    assert of(said, "irqaffinity").change == "boot with irqaffinity=0-639"


def test_arm64_machine_has_no_firmware_counter_and_its_own_timer_row(tmp_path: Path) -> None:
    files = {
        "sys/devices/system/cpu/modalias": "cpu:type:aarch64:feature:,0000,0001\n",
        f"{CLOCK}/current_clocksource": "arch_sys_counter\n",
        f"{CLOCK}/available_clocksource": "arch_sys_counter\n",
        "proc/interrupts": "  CPU3\n 11: 7 GICv3 27 Level arch_timer\nIPI0: 3 Rescheduling interrupts\n",
    }

    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        table = "  CPU3\n 11: 57 GICv3 27 Level arch_timer\nIPI0: 3 Rescheduling interrupts\n"
        plant(tmp_path, {"proc/interrupts": table})
        return idle(cpus)

    said = told(tmp_path, files, look=look)
    assert not [finding for finding in said.findings if finding.code == "smi"]
    assert of(said, "clocksource").level == "ok"
    assert "arch_timer) +50" in of(said, "interrupts").what


def test_cpu_is_not_called_offline_where_nothing_says_which_are(tmp_path: Path) -> None:
    status = "proc/self/status"
    plant(tmp_path, {status: "Cpus_allowed_list:\t0-3\n"})

    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        plant(tmp_path, {status: "Cpus_allowed_list:\t0-2\n"})
        return idle(cpus)

    assert gather(3, root=tmp_path, look_at=look, period_ns=lambda: None, discipline=lambda: None).cpu == 3


def test_cpu_that_goes_offline_meanwhile_is_an_error_of_one_line(tmp_path: Path) -> None:
    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        plant(tmp_path, cpu_files(online="0-2"))
        return idle(cpus)

    with pytest.raises(TickmonError, match="CPU 3 went offline"):
        told(tmp_path, look=look)


def test_where_nothing_can_be_read_nothing_is_claimed(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/self/status": "Cpus_allowed_list:\t0-3\n"})

    def look(cpus: Collection[int]) -> Mapping[int, CpuUse]:
        return {cpu: CpuUse(cpu=cpu, idle_share=None, occupants=()) for cpu in cpus}

    facts = gather(3, root=tmp_path, look_at=look, period_ns=lambda: None, discipline=lambda: None)
    said = conclude(facts)
    levels = {finding.code: finding.level for finding in said.findings}
    for code in (
        "tasks",
        "smt",
        "irqs",
        "interrupts",
        "virtualization",
        "smi",
        "cfs_quota",
        "rt_throttling",
        "counter_unvouched",
        "clock_log",
        "clock_sync",
        "hz",
        "rcu_nocbs",
        "workqueues",
        "stat_interval",
        "memlock",
        "priority",
        "switch_dating",
        "trace",
    ):
        assert levels[code] == "unknown", code


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make files that it cannot read afterwards")
def test_unreadable_files_are_unknown_to_an_ordinary_user(tmp_path: Path) -> None:
    plant(tmp_path, common())
    for name in ("proc/self/limits", "proc/irq", "proc/cmdline", "proc/interrupts"):
        (tmp_path / name).chmod(0)
    for folder in (tmp_path, *tmp_path.parents[:-2]):
        folder.chmod(0o755)
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            facts = gather(3, root=tmp_path, look_at=idle, period_ns=lambda: None, discipline=lambda: None)
            levels = {finding.code: finding.level for finding in conclude(facts).findings}
            expected = dict.fromkeys(("irqs", "rcu_nocbs", "interrupts"), "unknown")
            os._exit(0 if {code: levels[code] for code in expected} == expected else 1)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# -- what it must not do ------------------------------------------------------------------------

_INTERRUPTING = (
    "cpuinfo",
    "cur_freq",
    "/msr",
    "energy_performance_preference",
    "stat_refresh",
    "perf_event_open",
)


def test_nothing_that_interrupts_the_cpu_is_opened() -> None:
    code = """
import sys
opened = []
sys.addaudithook(lambda event, args: opened.append(str(args[0])) if event in ("open", "os.listdir") else None)
from tickmon.machine.cpus import read_cpus
from tickmon.doctor.examine import examine
examine(max(read_cpus().online))
print(*{path for path in opened if path.startswith(("/proc", "/sys", "/dev"))}, sep="\\n")
"""
    outcome = interpreted(code)
    assert not outcome.stderr
    opened = outcome.stdout.split()
    # The hook hears what is opened at all.
    assert "/proc/interrupts" in opened
    assert not [path for path in opened if any(word in path for word in _INTERRUPTING)]


def test_preference_is_seen_to_be_there_without_being_read(tmp_path: Path) -> None:
    folder = tmp_path / "sys/devices/system/cpu/cpu3/cpufreq"
    folder.mkdir(parents=True)
    # Whoever opened this would wait for ever.
    os.mkfifo(folder / "energy_performance_preference")
    os.mkfifo(folder / "scaling_cur_freq")
    said = told(tmp_path, {"sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "powersave\n"})
    assert of(said, "energy_preference").level == "unknown"
    assert of(said, "governor").level == "note"


# -- what it writes -----------------------------------------------------------------------------


def finding(code: str, level: str, **more: object) -> Finding:
    given = {"what": f"{code} was seen", "where": ("/proc/x",), "why": "It matters."} | more
    return Finding(code=code, level=level, **given)  # type: ignore[arg-type]


SAID = diagnosis(
    3,
    [
        finding("a", "ok"),
        finding("b", "warning", change="echo 1 > /proc/" + "long-" * 30, doc="Documentation/x.rst"),
        finding("c", "bad"),
        finding("d", "unknown"),
        finding("e", "bad"),
    ],
)


def test_verdict_counts_and_the_gravest_come_first() -> None:
    assert SAID.verdict == "CPU 3: 2 things hurt the measurement, 1 could be better, 1 unknown"
    assert [finding.code for finding in SAID.findings] == ["c", "e", "b", "d", "a"]
    assert SAID.short == "3 warnings"


def test_nothing_to_mend_is_said_in_words() -> None:
    assert diagnosis(0, [finding("a", "ok")]).verdict == "CPU 0: nothing hurts the measurement"
    assert not diagnosis(0, [finding("a", "ok"), finding("b", "note")]).short


def test_text_keeps_to_its_width_and_commands_whole() -> None:
    lines = plain_text(SAID, 80, coloured=False).splitlines()
    assert lines[0] == SAID.verdict
    assert [line for line in lines if len(line) > 80] == [" " * 9 + "/proc/" + "long-" * 30]
    assert "\x1b" not in "".join(lines)


def test_text_is_coloured_only_when_asked_and_says_the_same() -> None:
    plain, coloured = (plain_text(SAID, 80, coloured=how) for how in (False, True))
    assert "\x1b[1;31mhurts" in coloured
    words = "".join(part.partition("m")[2] if n else part for n, part in enumerate(coloured.split("\x1b[")))
    assert [line.rstrip() for line in words.splitlines()] == plain.splitlines()


def test_json_holds_every_member_of_every_finding() -> None:
    line = json.loads(json_text(SAID))
    assert line["counts"] == {"bad": 2, "warning": 1, "unknown": 1, "note": 0, "ok": 1}
    assert set(line["findings"][0]) == {"code", "level", "what", "where", "why", "change", "doc"}
    assert line["findings"][0]["change"] is None


def test_command_examines_this_machine() -> None:
    outcome = finished("doctor", "--cpu", "0", "--format", "json")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    line = json.loads(outcome.stdout)
    assert line["cpu"] == 0
    assert {finding["level"] for finding in line["findings"]} <= set(LEVELS)
    assert all(
        finding["doc"] is None or finding["doc"].startswith("Documentation/") for finding in line["findings"]
    )


def test_several_cpus_and_unknown_ones_are_wrong_usage() -> None:
    for cpus in ("0-1", "9999"):
        outcome = finished("doctor", "--cpu", cpus)
        assert outcome.returncode == 2
        assert len(outcome.stderr.splitlines()) == 1
