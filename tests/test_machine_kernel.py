"""The kernel's tick, its host, and text from outside."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.test_machine_choose import make_cpus
from tests.trees import plant
from tickmon.machine.cpuinfo import CpuInfo, read_cpuinfo
from tickmon.machine.host import read_host
from tickmon.machine.kernel import coarse_ns, kernel_tick
from tickmon.text import harmless
from tickmon.units import tick_period_ns
from tickmon.windows import KernelTick

CPUS = make_cpus("0-3", possible="0-7", nohz_full="2-3")
GUEST = CpuInfo(model="a CPU", flags=frozenset({"fpu", "hypervisor"}))
METAL = CpuInfo(model="a CPU", flags=frozenset({"fpu"}))
ARM = CpuInfo(model=None, flags=frozenset())


def tick_of(
    root: Path, cpu: int = 0, *, period_ns: int | None = 4_000_000, option_hz: float | None = None
) -> KernelTick:
    tick, _ = kernel_tick(cpu, CPUS, period_ns=period_ns, option_hz=option_hz, root=root)
    assert tick is not None
    return tick


def config(hz: str) -> dict[str, str]:
    return {
        "proc/sys/kernel/osrelease": "6.1.0-18-amd64\n",
        "boot/config-6.1.0-18-amd64": f"CONFIG_HZ_250=y\nCONFIG_HZ={hz}\n# CONFIG_HZ=7 is not set\n",
    }


@pytest.mark.parametrize(
    ("period_ns", "hz"),
    [
        (10_000_000, 100),
        (4_000_000, 250),
        (3_333_333, 300),
        (1_000_000, 1000),
        (976_563, 1024),
        (4_000_250, 249.98),
    ],
)
def test_hz_is_what_the_kernel_was_built_with(tmp_path: Path, period_ns: int, hz: float) -> None:
    tick = tick_of(tmp_path, period_ns=period_ns)
    assert tick.hz == pytest.approx(hz, abs=0.01)
    assert tick.period_ns == period_ns
    assert tick.basis == "kernel"


@given(st.integers(24, 1200))
def test_every_hz_survives_the_kernels_rounding(hz: int) -> None:
    tick, _ = kernel_tick(0, CPUS, period_ns=tick_period_ns(hz), root=Path("/nonexistent"))
    assert tick is not None
    assert tick.hz == hz


def test_half_nanoseconds_are_rounded_up_as_the_kernel_does() -> None:
    assert tick_period_ns(300) == 3_333_333
    assert tick_period_ns(1024) == 976_563


def test_hz_is_checked_against_the_configuration(tmp_path: Path) -> None:
    tick, warnings = kernel_tick(0, CPUS, period_ns=4_000_000, root=plant(tmp_path, config("250")))
    assert tick is not None
    assert "as its configuration says" in tick.source
    assert warnings == ()


def test_contradiction_is_told_and_the_clock_believed(tmp_path: Path) -> None:
    tick, (warning,) = kernel_tick(0, CPUS, period_ns=4_000_000, root=plant(tmp_path, config("1000")))
    assert tick is not None
    assert tick.hz == 250
    assert "1000" in tick.source
    assert warning.code == "hz_contradiction"


def test_configuration_of_another_release_is_not_taken(tmp_path: Path) -> None:
    plant(tmp_path, config("1000") | {"proc/sys/kernel/osrelease": "6.2.0\n"})
    assert tick_of(tmp_path).source == "the kernel's coarse clock"


def test_packed_configuration_is_read(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(b"CONFIG_HZ=300\n"))
    assert tick_of(tmp_path, period_ns=None).hz == 300
    (tmp_path / "proc/config.gz").write_bytes(gzip.compress(b"CONFIG_HZ=300\n")[:-9])
    assert kernel_tick(0, CPUS, period_ns=None, root=tmp_path) == (None, ())


@pytest.mark.parametrize("period_ns", [None, 0, 1, 10**9])
def test_sandbox_that_imitates_a_kernel_has_no_known_hz(tmp_path: Path, period_ns: int | None) -> None:
    assert kernel_tick(0, CPUS, period_ns=period_ns, root=tmp_path) == (None, ())
    plant(tmp_path, config("250"))
    assert tick_of(tmp_path, period_ns=period_ns).source == "the kernel's configuration"


def test_word_of_the_user_is_final(tmp_path: Path) -> None:
    tick = tick_of(plant(tmp_path, config("250")), option_hz=300)
    assert (tick.hz, tick.period_ns, tick.basis) == (300, 3_333_333, "option")
    assert "--hz" in tick.source


def test_tick_is_due_on_the_dot_or_skewed_by_its_share_of_half_a_period(tmp_path: Path) -> None:
    assert tick_of(tmp_path, cpu=0).phases_ns == (0,)
    assert tick_of(tmp_path, cpu=3).phases_ns == (0, 750_000)
    # The kernel divides first: 1,666,666 / 8 is cut to 208,333.
    assert tick_of(tmp_path, cpu=7, period_ns=3_333_333).phases_ns == (0, 7 * 208_333)


@pytest.mark.parametrize(
    ("cmdline", "skewed"),
    [
        ("quiet skew_tick=1", True),
        ("skew_tick=1 skew_tick=0", False),
        ("xskew_tick=1", False),
        ("skew_tick=", False),
    ],
)
def test_skew_comes_first_where_it_was_asked_for(tmp_path: Path, cmdline: str, skewed: bool) -> None:
    plant(tmp_path, {"proc/cmdline": f"{cmdline}\n"})
    assert tick_of(tmp_path, cpu=3).phases_ns == ((750_000, 0) if skewed else (0, 750_000))


@pytest.mark.parametrize(
    ("seconds", "ns", "phase_ns"), [(0, 0, 0), (5, 1_000, 1_000), (-1, 999_999_000, 3_999_000)]
)
def test_time_namespace_shifts_every_phase(tmp_path: Path, seconds: int, ns: int, phase_ns: int) -> None:
    text = f"monotonic  {seconds:10d} {ns:9d}\nboottime            7         7\n"
    plant(tmp_path, {"proc/self/timens_offsets": text})
    assert tick_of(tmp_path, cpu=1).phases_ns == (phase_ns, (phase_ns + 250_000) % 4_000_000)


def test_only_on_nohz_full_cpus_the_tick_may_stop(tmp_path: Path) -> None:
    assert [tick_of(tmp_path, cpu=cpu).may_stop for cpu in range(4)] == [False, False, True, True]


def test_real_kernel_ticks_between_24_and_1200_times_a_second() -> None:
    period_ns = coarse_ns()
    assert period_ns is not None
    tick, _ = kernel_tick(0, CPUS, period_ns=period_ns)
    assert tick is None or 24 <= tick.hz <= 1200


def test_host_is_named_from_the_kernel(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/sys/kernel/hostname": "box\n", "proc/sys/kernel/osrelease": "6.1.0\n"})
    host = read_host(METAL, tmp_path)
    assert (host.name, host.kernel, host.cpu_model) == ("box", "6.1.0", "a CPU")
    assert (host.virtualization, host.guest) == (None, False)


DMI = "sys/class/dmi/id"


@pytest.mark.parametrize(
    ("info", "files", "virtualization", "guest"),
    [
        (GUEST, {}, "hypervisor", True),
        (GUEST, {f"{DMI}/sys_vendor": "QEMU\n"}, "QEMU", True),
        (GUEST, {f"{DMI}/product_name": "VMware Virtual Platform\n"}, "VMware", True),
        (
            GUEST,
            {f"{DMI}/sys_vendor": "Microsoft Corporation\n", f"{DMI}/product_name": "Virtual Machine\n"},
            "Hyper-V",
            True,
        ),
        (METAL, {f"{DMI}/sys_vendor": "Amazon EC2\n"}, None, False),
        (
            METAL,
            {f"{DMI}/sys_vendor": "Microsoft Corporation\n", f"{DMI}/product_name": "Surface\n"},
            None,
            False,
        ),
        (ARM, {f"{DMI}/sys_vendor": "Amazon EC2\n"}, "Amazon EC2", True),
        (ARM, {"sys/firmware/devicetree/base/hypervisor/compatible": "linux,kvm\0"}, "KVM", True),
        (ARM, {f"{DMI}/sys_vendor": "Raspberry Pi\n"}, None, False),
        (METAL, {"sys/hypervisor/type": "xen\n"}, "Xen", True),
        (METAL, {"run/systemd/container": "lxc\n"}, "lxc container", False),
        (METAL, {".dockerenv": ""}, "docker container", False),
        (GUEST, {"run/.containerenv": "", f"{DMI}/sys_vendor": "QEMU\n"}, "QEMU, podman container", True),
    ],
)
def test_guest_and_container_are_told_apart(
    tmp_path: Path, info: CpuInfo, files: dict[str, str], virtualization: str | None, guest: bool
) -> None:
    host = read_host(info, plant(tmp_path, files))
    assert (host.virtualization, host.guest) == (virtualization, guest)


def test_clock_of_a_hypervisor_names_it(tmp_path: Path) -> None:
    clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource"
    assert read_host(GUEST, plant(tmp_path, {clocks: "tsc kvm-clock \n"})).virtualization == "KVM"


def test_firmware_cannot_write_on_the_screen(tmp_path: Path) -> None:
    plant(tmp_path, {"proc/sys/kernel/hostname": "a\x1b]0;b\x07\n", "sys/hypervisor/type": "x" * 500})
    host = read_host(METAL, tmp_path)
    assert host.name == "a?]0;b?"
    assert len(host.virtualization or "") <= 64


def test_real_host_has_a_name_and_a_kernel() -> None:
    host = read_host(read_cpuinfo())
    assert host.name
    assert host.kernel


@settings(deadline=None)
@given(st.text(), st.integers(1, 80))
def test_text_from_outside_is_one_short_printable_line(text: str, limit: int) -> None:
    line = harmless(text, limit)
    assert line.isprintable()
    assert len(line) <= limit


@pytest.mark.parametrize(
    ("text", "line"),
    [(" a \n b\t", "a b"), ("\x1b[31mred\x1b[0m", "?[31mred?[0m"), ("é\u202ex", "é?x"), ("x" * 9, "xxx…")],
)
def test_what_is_harmless_stays_as_it_is(text: str, line: str) -> None:
    assert harmless(text, 4 if text.startswith("xx") else 40) == line
