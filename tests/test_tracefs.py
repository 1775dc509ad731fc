"""What tracefs and kallsyms say of a kernel's trace points, in made-up trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.trees import plant
from tickmon.machine.symbols import Symbols
from tickmon.machine.tracefs import Place, mounted, read_format, read_strings
from tickmon.sampling.tracepoints import Naming, find_points
from tickmon.windows import KernelEvent

COMMON = """\
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

"""

HANDLER = """\
	field:int irq;	offset:8;	size:4;	signed:1;
	field:__data_loc char[] name;	offset:12;	size:4;	signed:0;

print fmt: "irq=%d name=%s", REC->irq, __get_str(name)
"""
SOFTIRQ = """\
	field:unsigned int vec;	offset:8;	size:4;	signed:0;

print fmt: "[action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" }, { 9, "RCU" })
"""
EXPIRY = """\
	field:void * hrtimer;	offset:8;	size:8;	signed:0;
	field:s64 now;	offset:16;	size:8;	signed:1;
	field:void * function;	offset:24;	size:8;	signed:0;

print fmt: "hrtimer=%p function=%ps", REC->hrtimer, REC->function
"""
SWITCH = """\
	field:char prev_comm[16];	offset:8;	size:16;	signed:0;
	field:char next_comm[16];	offset:40;	size:16;	signed:0;
	field:pid_t next_pid;	offset:56;	size:4;	signed:1;

print fmt: "next_comm=%s next_pid=%d", REC->next_comm, REC->next_pid
"""
VECTOR = '	field:int vector;	offset:8;	size:4;	signed:1;\n\nprint fmt: "vector=%d", REC->vector\n'
IPI = (
    '	field:const char * reason;	offset:8;	size:8;	signed:0;\n\nprint fmt: "(%s)", REC->reason\n'
)


def formats(**bodies: str) -> dict[str, str]:
    """The format files of ``group__event="fields"``."""
    return {
        f"events/{name.replace('__', '/')}/format": f"name: {name}\nID: {number}\n{COMMON}{body}"
        for number, (name, body) in enumerate(bodies.items(), 100)
    }


X86 = formats(
    irq_vectors__local_timer_entry=VECTOR,
    irq_vectors__local_timer_exit=VECTOR,
    irq_vectors__call_function_entry=VECTOR,
    irq_vectors__call_function_exit=VECTOR,
    irq_vectors__vector_alloc="	field:int vector;	offset:8;	size:4;	signed:1;\n",
    timer__hrtimer_expire_entry=EXPIRY,
    irq__irq_handler_entry=HANDLER,
    irq__softirq_entry=SOFTIRQ,
    sched__sched_switch=SWITCH,
)
ARM64 = formats(
    ipi__ipi_entry=IPI,
    ipi__ipi_exit=IPI,
    irq__irq_handler_entry=HANDLER,
    irq__irq_handler_exit="	field:int irq;	offset:8;	size:4;	signed:1;\n",
) | {"printk_formats": '0xffff800080001000 : "Rescheduling interrupts"\n0xffff800080002000 : "Odd \\n one"\n'}


def test_fields_are_found_where_the_kernel_puts_them(tmp_path: Path) -> None:
    tracefs = plant(tmp_path, X86)
    switch = read_format(tracefs, "sched/sched_switch")
    assert switch is not None
    assert switch.id == 108
    assert switch.places["next_comm"] == Place(at=40, bytes=16)
    assert switch.places["next_pid"] == Place(at=56, bytes=4)
    handler = read_format(tracefs, "irq/irq_handler_entry")
    assert handler is not None
    assert handler.places["name"] == Place(at=12, bytes=4, far=True)
    softirq = read_format(tracefs, "irq/softirq_entry")
    assert softirq is not None
    assert softirq.symbols == {0: "HI", 1: "TIMER", 9: "RCU"}


@pytest.mark.parametrize("text", ["", "ID: many\n", "\0\0\0", "name: x\nformat:\n"])
def test_a_format_that_is_not_understood_is_none(text: str, tmp_path: Path) -> None:
    plant(tmp_path, {"events/sched/sched_switch/format": text})
    assert read_format(tmp_path, "sched/sched_switch") is None
    assert read_format(tmp_path, "sched/missing") is None


def test_points_of_x86_are_its_vectors_and_what_every_kernel_has(tmp_path: Path) -> None:
    points = {point.path: point for point in find_points(plant(tmp_path, X86))}
    assert points["irq_vectors/local_timer_entry"].event is KernelEvent.TIMER_ENTRY
    assert points["irq_vectors/local_timer_exit"].event is KernelEvent.TIMER_EXIT
    call = points["irq_vectors/call_function_exit"]
    assert (call.event, call.name) == (KernelEvent.VECTOR_EXIT, "call_function")
    assert points["timer/hrtimer_expire_entry"].value == Place(at=24, bytes=8)
    assert points["irq/irq_handler_entry"].events == {KernelEvent.IRQ_ENTRY}
    assert points["sched/sched_switch"].events == {KernelEvent.SWITCH, KernelEvent.RESUME}
    assert points["page-faults"].naming is Naming.FAULT
    assert not {"irq_vectors/vector_alloc", "irq/softirq_exit", "tlb/tlb_flush"} & points.keys()


def test_points_of_arm64_are_its_ipis_and_a_timer_that_is_a_device(tmp_path: Path) -> None:
    points = {point.path: point for point in find_points(plant(tmp_path, ARM64))}
    ipi = points["ipi/ipi_entry"]
    assert ipi.event is KernelEvent.VECTOR_ENTRY
    assert ipi.words[0xFFFF800080001000] == "reschedule"
    handler = points["irq/irq_handler_entry"]
    assert handler.events == {KernelEvent.IRQ_ENTRY, KernelEvent.TIMER_ENTRY}
    assert handler.event_of("arch_timer") is KernelEvent.TIMER_ENTRY
    assert handler.event_of("eth0") is KernelEvent.IRQ_ENTRY


def test_a_point_without_the_field_that_is_wanted_is_not_asked_for(tmp_path: Path) -> None:
    changed = formats(sched__sched_switch=SWITCH.replace("next_pid", "next_task"))
    assert [point.path for point in find_points(plant(tmp_path, changed))] == ["page-faults"]


def test_the_kernels_texts_are_found_by_address(tmp_path: Path) -> None:
    assert read_strings(plant(tmp_path, ARM64))[0xFFFF800080001000] == "Rescheduling interrupts"
    assert read_strings(tmp_path / "nowhere") == {}


def test_tracefs_is_looked_for_where_it_may_be_mounted(tmp_path: Path) -> None:
    assert mounted(tmp_path) is None
    (tmp_path / "sys/kernel/tracing").mkdir(parents=True)
    assert mounted(tmp_path) is None
    (tmp_path / "sys/kernel/debug/tracing/events/sched").mkdir(parents=True)
    assert mounted(tmp_path) == tmp_path / "sys/kernel/debug/tracing"


def test_functions_are_known_by_address_and_the_other_way_round(tmp_path: Path) -> None:
    file = plant(
        tmp_path,
        {
            "kallsyms": "ffffffff81000000 t tick_nohz_handler\n"
            "ffffffff81000010 T hrtimer_wakeup\nffffffff81000020 D tick_nohz_data\n"
            "ffffffffc0000000 t poll_disk\t[diskmod]\n"
        },
    )
    symbols = Symbols(file / "kallsyms")
    assert symbols.addresses(["tick_sched_timer", "tick_nohz_handler"]) == {0xFFFFFFFF81000000}
    wanted = (0xFFFFFFFF81000010, 0xFFFFFFFFC0000000, 0xFFFFFFFF81000020, 0x77, 0)
    assert symbols.named(wanted) == {0xFFFFFFFF81000010: "hrtimer_wakeup", 0xFFFFFFFFC0000000: "poll_disk"}
    (file / "kallsyms").unlink()
    assert symbols.named(wanted[:1]) == {0xFFFFFFFF81000010: "hrtimer_wakeup"}


def test_addresses_out_of_sight_are_no_addresses(tmp_path: Path) -> None:
    file = plant(tmp_path, {"kallsyms": "0000000000000000 t tick_nohz_handler\n"})
    assert Symbols(file / "kallsyms").addresses(["tick_nohz_handler"]) == frozenset()
    assert Symbols(tmp_path / "none").addresses(["tick_nohz_handler"]) == frozenset()
