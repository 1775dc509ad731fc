"""/proc/interrupts in all the shapes that it has."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trees import plant
from tickmon.machine.interrupts import Row, changes, parse_rows, read_rows
from tickmon.windows import RowChange

X86 = """\
           CPU0       CPU1       CPU3
  0:         33          1          2  IR-IO-APIC    2-edge      timer
 16:          0          7          0  IR-IO-APIC   16-fasteoi   uhci_hcd:usb3, ehci_hcd:usb1
 29:          5          6 4294967295  PCI-MSIX-0000:00:02.0   1-edge      nvme0q1

NMI:          1          2          3   Non-maskable interrupts
LOC:       1000       2000       3000   Local timer interrupts
ERR:          7
MIS:          0
PIN:          0          0          0   Posted-interrupt notification event
"""

ARM64 = """\
           CPU0       CPU1
 11:       4001       4002     GICv3  27 Level     arch_timer
 14:          0          3  4a000000.gpio  12 Edge      volume, up
 15:          0          0      MSI   0 Edge    -fasteoi
IPI0:         9         10       Rescheduling interrupts
Err:          0
"""


def test_rows_are_cut_by_the_columns_of_the_cpus_online() -> None:
    rows = parse_rows(X86, 3)
    assert rows["LOC"] == Row("Local timer interrupts", 3000, "LOC")
    assert rows["0"] == Row("timer", 2)
    assert rows["29"] == Row("nvme0q1", 4294967295)
    assert list(rows) == ["0", "16", "29", "NMI", "LOC", "PIN"]


def test_name_may_hold_commas_and_spaces() -> None:
    assert parse_rows(X86, 1)["16"] == Row("uhci_hcd:usb3, ehci_hcd:usb1", 7)
    assert parse_rows(ARM64, 1)["14"] == Row("volume, up", 3)


def test_chip_whose_name_starts_with_a_digit_is_no_count() -> None:
    text = "           CPU0\n 14:          3  4a000000.gpio  12 Edge      button\n"
    assert parse_rows(text, 0) == {"14": Row("button", 3)}


def test_blank_lines_end_nothing() -> None:
    apart = X86.replace("\n", "\n\n").replace("NMI:", "   \t\nNMI:")
    assert parse_rows(apart, 3) == parse_rows(X86, 3)


def test_row_without_a_device_keeps_what_it_says() -> None:
    assert parse_rows(ARM64, 0)["15"] == Row("MSI 0 Edge -fasteoi", 0)


XEN = """\
           CPU0       CPU1
 48:        500          0  xen-percpu    -virq      timer0
 49:          0          7  xen-percpu    -ipi       resched1
 55:          0        600  xen-percpu    -virq      timer1
LOC:          0          0   Local timer interrupts
"""


def test_timer_of_xen_is_known_by_its_name_and_every_cpu_has_its_own() -> None:
    rows = parse_rows(XEN, 1)
    assert rows["55"] == Row("timer1", 600, "timer0")
    assert rows["48"] == Row("timer0", 0, None)
    assert parse_rows(XEN, 0)["48"] == Row("timer0", 500, "timer0")


def test_timer_that_is_no_xens_has_no_cpu_in_its_name() -> None:
    text = "           CPU0\n 30:        500     GICv2  38 Level     timer0\n"
    assert parse_rows(text, 0)["30"].timer is None
    assert parse_rows(X86, 0)["0"].timer is None


def test_timer_of_arm64_is_known_by_its_name() -> None:
    assert parse_rows(ARM64, 1)["11"] == Row("arch_timer", 4002, "arch_timer")


def test_rows_of_no_cpu_are_left_out_also_on_a_machine_of_one() -> None:
    text = "           CPU0\nLOC:   5   Local timer interrupts\nERR:   3\nMIS:   0\nErr:   1\n"
    assert list(parse_rows(text, 0)) == ["LOC"]


@pytest.mark.parametrize("cpu", [2, 4, 30])
def test_cpu_without_a_column_has_no_rows(cpu: int) -> None:
    assert parse_rows(X86, cpu) == {}


def test_cut_off_line_is_left_out() -> None:
    assert "LOC" not in parse_rows(X86[: X86.index("3000") + 2], 3)
    assert "LOC" not in parse_rows(X86[: X86.index("3000") - 4], 3)
    assert "NMI" in parse_rows(X86[: X86.index("3000") + 2], 3)


def test_row_with_fewer_counts_than_columns_is_of_no_cpu() -> None:
    text = X86.replace("      2000", "          ")
    assert "LOC" not in parse_rows(text, 0)
    assert "NMI" in parse_rows(text, 0)


def test_big_machine_has_every_row_of_its_last_cpu() -> None:
    header = " " * 11 + "".join(f"CPU{cpu:<8d}" for cpu in range(1280)) + "\n"
    counts = "".join(f"{cpu:10d} " for cpu in range(1280))
    text = header + "".join(f"{row:4d}: {counts}  MSI {row}-edge      eth{row}\n" for row in range(1500))
    rows = parse_rows(text, 1279)
    assert len(rows) == 1500
    assert {row.count for row in rows.values()} == {1279}
    assert rows["1499"].name == "MSI 1499-edge eth1499"


def test_missing_file_has_no_rows(tmp_path: Path) -> None:
    assert read_rows(0, tmp_path) == {}
    assert read_rows(3, plant(tmp_path, {"proc/interrupts": X86}))["LOC"].count == 3000


@settings(deadline=None)
@given(
    st.text()
    | st.lists(
        st.sampled_from(["CPU0", "CPU1", "1:", "LOC:", " 12 ", " ", "\n", ":", "ERR:", "9" * 40, "x-edge"])
    ).map("".join),
    st.integers(0, 2),
)
def test_any_text_is_parsed_without_a_word(text: str, cpu: int) -> None:
    for label, row in parse_rows(text, cpu).items():
        assert label
        assert row.count >= 0
        assert row.name.isprintable()


def test_rows_that_stood_still_are_left_out() -> None:
    before = {"LOC": Row("timer", 10), "RES": Row("resched", 4)}
    after = {"LOC": Row("timer", 260), "RES": Row("resched", 4)}
    assert changes(before, after) == (RowChange(row="LOC", name="timer", count=250),)


def test_timer_row_that_stood_still_stays_with_nothing() -> None:
    (change,) = changes(parse_rows(X86, 0), parse_rows(X86, 0))
    assert change == RowChange(row="LOC", name="Local timer interrupts", count=0, timer="LOC")


def test_of_timer_rows_that_stood_still_only_the_one_in_use_stays() -> None:
    (change,) = changes(parse_rows(XEN, 1), parse_rows(XEN, 1))
    assert (change.row, change.timer) == ("55", "timer0")
    local, hyper_v = Row("Local timer interrupts", 70, "LOC"), Row("Hyper-V stimer0 interrupts", 900, "HVS")
    rows = {"LOC": local, "HVS": hyper_v}
    assert [change.row for change in changes(rows, rows)] == ["HVS"]


def test_row_that_appeared_counts_whole_and_one_that_vanished_not_at_all() -> None:
    assert changes({"7": Row("old", 90)}, {"8": Row("new", 3)}) == (RowChange(row="8", name="new", count=3),)


def test_row_that_another_device_took_over_began_from_0() -> None:
    (change,) = changes({"8": Row("old", 90)}, {"8": Row("new", 93)})
    assert change.count == 93


def test_row_that_was_set_back_began_from_0() -> None:
    (change,) = changes({"8": Row("nvme0", 1000)}, {"8": Row("nvme0", 3)})
    assert change.count == 3


def test_count_that_passed_32_bits_went_on() -> None:
    (change,) = changes({"LOC": Row("timer", 2**32 - 10)}, {"LOC": Row("timer", 15)})
    assert change.count == 25


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 10**6))
def test_change_is_right_wherever_the_count_stands(start: int, moved: int) -> None:
    found = changes({"LOC": Row("t", start)}, {"LOC": Row("t", (start + moved) % 2**32)})
    assert sum(change.count for change in found) == moved


def test_real_rows_only_grow() -> None:
    cpu = 0
    before, after = read_rows(cpu), read_rows(cpu)
    assert all(change.count < 10**6 for change in changes(before, after))
