"""How far the counter is trusted, and how fast it runs."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees import plant
from tickmon.machine.clock import (
    ClockSource,
    Discipline,
    counter_rate,
    fit_counter,
    read_clock_source,
    read_discipline,
    steering_ppm,
)
from tickmon.machine.cpuinfo import CpuInfo, read_cpuinfo
from tickmon.windows import ClockReading

STEADY = CpuInfo(model="a CPU", flags=frozenset({"tsc", "constant_tsc", "nonstop_tsc"}))
ARM = CpuInfo(model=None, flags=frozenset())
HELD = Discipline(synchronised=True, ppm=-12.5)
FREE = Discipline(synchronised=False, ppm=-12.5)


def clocksource(root: Path, current: str, available: str | None = None) -> Path:
    folder = "sys/devices/system/clocksource/clocksource0"
    files = {f"{folder}/current_clocksource": f"{current}\n"}
    files[f"{folder}/available_clocksource"] = f"{available or current} \n"
    return plant(root, files)


def source(name: str | None = "tsc", *, is_counter: bool = True) -> ClockSource:
    return ClockSource(name=name, is_counter=is_counter, synchronised=True, warnings=())


def reading(
    at_s: float, *, hz: float = 2.1e9, off_cycles: int = 0, uncertain_cycles: int = 50
) -> ClockReading:
    ns = round(at_s * 1e9)
    return ClockReading(
        cycles=10**15 + round(ns * hz / 1e9) + off_cycles,
        uncertain_cycles=uncertain_cycles,
        monotonic_ns=ns,
        monotonic_raw_ns=ns,
        realtime_ns=ns,
    )


@pytest.mark.parametrize(
    ("current", "available", "is_counter", "synchronised", "codes"),
    [
        ("tsc", "tsc kvm-clock", True, True, []),
        ("kvm-clock", "kvm-clock tsc acpi_pm", True, True, []),
        ("kvm-clock", "kvm-clock acpi_pm", True, False, []),
        ("hyperv_clocksource_tsc_page", None, True, True, []),
        ("hpet", "hpet acpi_pm", False, False, ["counter_untrusted"]),
        ("acpi_pm", None, False, False, ["counter_untrusted"]),
        ("refined-jiffies", None, False, False, ["counter_untrusted"]),
        ("hpet", "tsc hpet acpi_pm", False, True, []),
    ],
)
def test_kernel_says_whether_it_trusts_the_counter(
    tmp_path: Path, current: str, available: str, is_counter: bool, synchronised: bool, codes: list[str]
) -> None:
    found = read_clock_source(STEADY, clocksource(tmp_path, current, available))
    assert found.name == current
    assert found.is_counter is is_counter
    assert found.synchronised is synchronised
    assert [warning.code for warning in found.warnings] == codes


def test_counter_of_arm64_needs_no_flags(tmp_path: Path) -> None:
    found = read_clock_source(ARM, clocksource(tmp_path, "arch_sys_counter"))
    assert found.synchronised
    assert found.warnings == ()


def test_tsc_that_may_change_its_speed_is_warned_of(tmp_path: Path) -> None:
    info = CpuInfo(model=None, flags=frozenset({"tsc", "fpu"}))
    (warning,) = read_clock_source(info, clocksource(tmp_path, "tsc")).warnings
    assert warning.code == "counter_unsteady"
    assert "constant_tsc and no nonstop_tsc" in warning.message


def test_without_a_clocksource_nothing_vouches(tmp_path: Path) -> None:
    found = read_clock_source(STEADY, tmp_path)
    assert found.name is None
    assert not found.synchronised
    assert [warning.code for warning in found.warnings] == ["counter_unvouched"]


@settings(deadline=None)
@given(
    st.floats(1e6, 6e9),
    st.floats(0.001, 1e4),
    st.integers(-50, 50),
    st.integers(-50, 50),
)
def test_fit_is_within_its_own_uncertainty(hz: float, apart_s: float, off0: int, off1: int) -> None:
    fit = fit_counter((reading(1, hz=hz, off_cycles=off0), reading(1 + apart_s, hz=hz, off_cycles=off1)))
    if fit is None:
        # A slow counter and a short time: read backwards, it tells nothing.
        assert hz * apart_s <= 200
        return
    found_hz, error_ppm = fit
    # Readings are rounded to whole cycles on top of being off.
    assert abs(found_hz / hz - 1) * 1e6 <= error_ppm * (1 + 1e-6) + 2e6 / (hz * apart_s)


def test_fit_uses_the_readings_that_know_best() -> None:
    vague = reading(0, off_cycles=90_000, uncertain_cycles=100_000)
    exact = [reading(1), reading(2), reading(11)]
    fit = fit_counter([vague, *exact])
    assert fit is not None
    hz, error_ppm = fit
    assert hz == pytest.approx(2.1e9, rel=1e-9)
    assert error_ppm == pytest.approx(100 / 2.1e10 * 1e6 + 1e-4, rel=1e-3)


def test_frequency_is_never_cut_to_whole_megahertz() -> None:
    fit = fit_counter([reading(0, hz=62_500_000), reading(100, hz=62_500_000)])
    assert fit is not None
    assert fit[0] == pytest.approx(62_500_000, abs=0.1)


@pytest.mark.parametrize("readings", [[], [reading(1)], [reading(1), reading(1)], [reading(2), reading(1)]])
def test_without_time_between_readings_there_is_no_fit(readings: list[ClockReading]) -> None:
    assert fit_counter(readings) is None
    assert counter_rate(readings, source(), HELD) is None


APART = (reading(0), reading(10))


def test_counter_that_is_the_clocksource_cannot_be_checked_by_it() -> None:
    for discipline in (None, FREE):
        rate = counter_rate(APART, source(), discipline, stated_hz=2e9)
        assert rate is not None
        assert rate.hz == pytest.approx(2.1e9)
        assert rate.error_ppm is None
        assert rate.source == "kernel, unverified"


def test_clock_held_to_an_outside_one_tells_how_far_the_kernels_figure_is_off() -> None:
    rate = counter_rate(APART, source(), HELD)
    assert rate is not None
    assert rate.error_ppm == pytest.approx(12.5, abs=0.01)
    assert rate.source.startswith("kernel, held against")


def test_another_clocksource_measures_the_counter() -> None:
    rate = counter_rate(APART, source("hpet", is_counter=False), HELD)
    assert rate is not None
    assert rate.source == "measured against hpet"
    assert rate.error_ppm == pytest.approx(100 / 2.1e10 * 1e6, rel=0.1)


def test_unknown_clocksource_vouches_for_nothing() -> None:
    rate = counter_rate(APART, source(None, is_counter=False), None)
    assert rate is not None
    assert (rate.source, rate.error_ppm) == ("kernel, unverified", None)


def test_word_of_the_hardware_stands_in_where_nothing_was_read() -> None:
    rate = counter_rate((), source(), HELD, stated_hz=62_500_000.0)
    assert rate is not None
    assert (rate.hz, rate.error_ppm, rate.source) == (62_500_000.0, None, "stated by the hardware")


def test_word_of_the_user_is_final() -> None:
    rate = counter_rate(APART, source(), HELD, stated_hz=1e9, option_hz=332_490_000.0)
    assert rate is not None
    assert (rate.hz, rate.error_ppm, rate.source) == (332_490_000.0, None, "option --tsc-hz")


def test_steering_adds_frequency_and_tick() -> None:
    nominal_us = 1_000_000 // os.sysconf("SC_CLK_TCK")
    assert steering_ppm(0, nominal_us) == 0
    assert steering_ppm(-500 << 16, nominal_us) == -500
    assert steering_ppm(1 << 15, nominal_us + 1) == pytest.approx(0.5 + 1e6 / nominal_us)


def test_real_clock_is_steered_within_what_the_kernel_allows() -> None:
    discipline = read_discipline()
    assert discipline is None or abs(discipline.ppm) <= 100_500


def test_real_clock_source_is_named() -> None:
    found = read_clock_source(read_cpuinfo())
    assert found.name is None or found.name.isprintable()
    assert time.get_clock_info("monotonic").monotonic


def test_cpuinfo_of_arm64_names_the_part(tmp_path: Path) -> None:
    text = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\nprocessor\t: 1\n"
    assert read_cpuinfo(plant(tmp_path, {"proc/cpuinfo": text})).model == "arm64 implementer 0x41 part 0xd0c"


@pytest.mark.parametrize("text", ["", "\n\n", ":\n", "flags\t\t:\nmodel name :\n", "model name"])
def test_cpuinfo_that_says_nothing_is_nothing(tmp_path: Path, text: str) -> None:
    assert read_cpuinfo(plant(tmp_path, {"proc/cpuinfo": text})) == CpuInfo(model=None, flags=frozenset())
