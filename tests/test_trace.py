"""The kernel's trace: records decoded by hand, and, as root, the real one of a CPU."""

from __future__ import annotations

import errno
import os
import queue
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import interpreted
from tests.trees import plant
from tickmon.analysis import merge
from tickmon.machine.affinity import keep_away
from tickmon.machine.cpus import read_cpus
from tickmon.machine.facts import read_machine
from tickmon.machine.rights import Rights
from tickmon.machine.symbols import Symbols
from tickmon.machine.tracefs import Place
from tickmon.sampling import trace as trace_module
from tickmon.sampling.collector import Collector
from tickmon.sampling.native import ffi, lib
from tickmon.sampling.trace import RECORD, Decoder, TraceBatch, TraceError, refusal, tracing
from tickmon.sampling.tracepoints import Naming, TracePoint
from tickmon.windows import Ended, Event, KernelEvent, Settings, Window

SAMPLER = 900
SOMEWHERE = Place(at=8, bytes=8)

POINTS = (
    TracePoint(path="fault", id=0, event=KernelEvent.PAGE_FAULT, naming=Naming.FAULT),
    TracePoint(path="expiry", id=1, event=KernelEvent.TIMER, naming=Naming.SYMBOL, value=SOMEWHERE),
    TracePoint(path="entry", id=2, event=KernelEvent.IRQ_ENTRY, naming=Naming.IRQ, name="arch_timer"),
    TracePoint(path="exit", id=3, event=KernelEvent.IRQ_EXIT, naming=Naming.IRQ, name="arch_timer"),
    TracePoint(path="switch", id=4, event=KernelEvent.SWITCH, naming=Naming.TASK),
    TracePoint(path="soft", id=5, event=KernelEvent.SOFTIRQ_ENTRY, naming=Naming.WORD, words={9: "RCU"}),
    TracePoint(path="flush", id=6, event=KernelEvent.TLB_FLUSH, naming=Naming.FLUSH),
    TracePoint(path="call", id=7, event=KernelEvent.VECTOR_ENTRY, name="call_function"),
)
FAULT, EXPIRY, ENTRY, EXIT, SWITCH, SOFT, FLUSH, CALL = range(8)

TICK_AT, WAKEUP_AT = 0xFFFFFFFF81000000, 0xFFFFFFFF81000010


@pytest.fixture
def decoder(tmp_path: Path) -> Decoder:
    text = f"{TICK_AT:016x} t tick_sched_timer\n{WAKEUP_AT:016x} t hrtimer_wakeup\n"
    return Decoder(POINTS, Symbols(plant(tmp_path, {"kallsyms": text}) / "kallsyms"), opened=[True] * 8)


def records(*rows: tuple[int, int, bytes]) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """``(point, value, text)`` of the sampler's thread, a ns apart."""
    made = np.zeros(len(rows), RECORD)
    for number, (point, value, text) in enumerate(rows):
        made[number] = (number, value, SAMPLER, SAMPLER, point, text)
    return made


def said(batch: TraceBatch) -> list[tuple[KernelEvent, str | None]]:
    return [
        (KernelEvent(event), batch.names[name] if name >= 0 else None)
        for _at, event, name in batch.events.tolist()
    ]


def decoded(decoder: Decoder, *rows: tuple[int, int, bytes]) -> Sequence[tuple[KernelEvent, str | None]]:
    return said(decoder.decode(records(*rows), sampler=SAMPLER))


def test_record_is_laid_out_as_c_has_it() -> None:
    assert RECORD.itemsize == ffi.sizeof("struct tm_traced")
    offsets = {name: RECORD.fields[name][1] for name in RECORD.names or () if RECORD.fields}
    native = {name: field.offset for name, field in ffi.typeof("struct tm_traced").fields}
    assert offsets == native


def test_tick_is_told_from_other_timers_by_its_function(decoder: Decoder) -> None:
    assert decoded(decoder, (EXPIRY, TICK_AT, b""), (EXPIRY, WAKEUP_AT, b""), (EXPIRY, 5, b"")) == [
        (KernelEvent.TICK, None),
        (KernelEvent.TIMER, "hrtimer_wakeup"),
        (KernelEvent.TIMER, None),
    ]
    assert KernelEvent.TICK in decoder.events_known


def test_without_symbols_no_expiry_is_called_a_tick(tmp_path: Path) -> None:
    blind = Decoder(POINTS, Symbols(tmp_path / "none"), opened=[True] * 8)
    assert decoded(blind, (EXPIRY, TICK_AT, b"")) == [(KernelEvent.TIMER, None)]
    assert KernelEvent.TICK not in blind.events_known


def test_what_was_not_opened_is_not_known(tmp_path: Path) -> None:
    opened = [place not in (SWITCH, FLUSH) for place in range(8)]
    known = Decoder(POINTS, Symbols(tmp_path / "none"), opened=opened).events_known
    assert not known & {KernelEvent.SWITCH, KernelEvent.RESUME, KernelEvent.TLB_FLUSH}
    assert KernelEvent.IRQ_ENTRY in known


def test_interrupt_has_its_name_at_its_exit_too(decoder: Decoder) -> None:
    assert decoded(
        decoder,
        (EXIT, 36, b""),
        (ENTRY, 36, b"disk"),
        (ENTRY, 2, b"arch_timer"),
        (EXIT, 2, b""),
    ) == [
        (KernelEvent.IRQ_EXIT, "36"),
        (KernelEvent.IRQ_ENTRY, "36 disk"),
        (KernelEvent.TIMER_ENTRY, None),
        (KernelEvent.TIMER_EXIT, None),
    ]
    assert decoded(decoder, (EXIT, 36, b"")) == [(KernelEvent.IRQ_EXIT, "36 disk")]


def test_switch_names_the_task_that_runs_next_unless_it_is_the_sampler(decoder: Decoder) -> None:
    assert decoded(decoder, (SWITCH, 77, b"sh\0junk"), (SWITCH, SAMPLER, b"tickmon-sampler")) == [
        (KernelEvent.SWITCH, "sh"),
        (KernelEvent.RESUME, None),
    ]
    # Somebody else's sampler is another task.
    assert decoded(decoder, (SWITCH, 78, b"tickmon-sampler")) == [(KernelEvent.SWITCH, "tickmon-sampler")]


def test_sampler_is_known_in_a_container_where_the_kernel_calls_it_otherwise(decoder: Decoder) -> None:
    rows = records((CALL, 0, b""), (SWITCH, 4711, b"x"), (SWITCH, SAMPLER, b"other"))
    rows["task"] = 4711
    assert [event for event, _name in said(decoder.decode(rows, sampler=SAMPLER))] == [
        KernelEvent.VECTOR_ENTRY,
        KernelEvent.RESUME,
        KernelEvent.SWITCH,
    ]


def test_only_the_samplers_faults_and_the_flushes_for_others_count(decoder: Decoder) -> None:
    rows = records((FAULT, 0, b""), (FAULT, 0, b""), (FLUSH, 1, b""), (FLUSH, 0, b""))
    rows["tid"][1] = 5
    rows["task"][:2] = 0
    assert said(decoder.decode(rows, sampler=SAMPLER)) == [
        (KernelEvent.PAGE_FAULT, None),
        (KernelEvent.TLB_FLUSH, None),
    ]


def test_names_are_data_and_never_obeyed_by_a_terminal(decoder: Decoder) -> None:
    assert decoded(
        decoder, (SWITCH, 7, b"\x1b[2J\xff[red]"), (ENTRY, 5, b"a\nb"), (SOFT, 9, b""), (SOFT, 10, b"")
    ) == [
        (KernelEvent.SWITCH, "?[2J\ufffd[red]"),
        (KernelEvent.IRQ_ENTRY, "5 a b"),
        (KernelEvent.SOFTIRQ_ENTRY, "RCU"),
        (KernelEvent.SOFTIRQ_ENTRY, "0xa"),
    ]


def test_tasks_of_any_number_of_names_are_forgotten_in_time(
    decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trace_module, "_MANY", 10)
    for start in range(0, 1000, 100):
        rows = [(SWITCH, number, b"task %d" % number) for number in range(start, start + 100)]
        assert decoded(decoder, *rows)[-1] == (KernelEvent.SWITCH, f"task {start + 99}")
    assert len(decoder._known) <= 10 + 100


def test_what_the_kernel_dropped_is_told_apart_from_events(decoder: Decoder) -> None:
    batch = decoder.decode(records((CALL, 0, b""), (lib.TM_TRACE_LOST, 500, b"")), sampler=SAMPLER)
    assert said(batch) == [(KernelEvent.VECTOR_ENTRY, "call_function")]
    assert batch.lost == ((1, 500),)


def test_nothing_at_all_is_a_batch_without_events(decoder: Decoder) -> None:
    assert said(decoder.decode(records(), sampler=SAMPLER)) == []


def need_trace() -> None:
    """Skips, with the reason, where the kernel's trace cannot be had."""
    with tracing(min(os.sched_getaffinity(0))) as (tracer, warnings):
        if tracer is None:
            pytest.skip(warnings[0].message)


def test_trace_leaves_neither_descriptor_nor_mount_behind() -> None:
    need_trace()
    before = sorted(os.listdir("/proc/self/fd")), Path("/proc/self/mountinfo").read_text()
    with tracing(min(os.sched_getaffinity(0))) as (tracer, _warnings):
        assert tracer is not None
        assert Path("/proc/self/mountinfo").read_text() == before[1]
    assert (sorted(os.listdir("/proc/self/fd")), Path("/proc/self/mountinfo").read_text()) == before


def test_trace_error_of_whoever_traces_is_theirs() -> None:
    need_trace()
    with pytest.raises(TraceError, match="mine"), tracing(min(os.sched_getaffinity(0))):
        raise TraceError("mine")


def test_log_that_runs_over_says_how_many_were_lost() -> None:
    need_trace()
    cpu = min(os.sched_getaffinity(0))
    with tracing(cpu) as (tracer, _warnings):
        assert tracer is not None
        # A pipe between two processes on that CPU is two switches a round; a record takes 100 bytes.
        code = (
            f"import os\nos.sched_setaffinity(0, [{cpu}])\nthere, back = os.pipe(), os.pipe()\n"
            "if os.fork() == 0:\n    os.close(there[1])\n"
            "    while os.read(there[0], 1): os.write(back[1], b'x')\n    os._exit(0)\n"
            "for _ in range(60_000):\n    os.write(there[1], b'x')\n    os.read(back[0], 1)\n"
            "os.close(there[1])\nos.wait()\n"
        )
        assert interpreted(code).returncode == 0
        # The kernel tells how many with the first record that finds room again.
        batches = [tracer.read(sampler=0) for _ in range(2)]
        assert sum(count for batch in batches for _at, count in batch.lost) > 1_000
        assert len(batches[0].events) > 10_000
        assert tracer.read(sampler=0).lost == ()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become an ordinary user")
def test_ordinary_user_is_told_in_one_line_what_is_missing_and_measures_all_the_same() -> None:
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            with tracing(min(os.sched_getaffinity(0))) as (tracer, warnings):
                (warning,) = warnings
                words = ("not traced: ", "run tickmon as root", "CAP_PERFMON")
                as_said = all(word in warning.message for word in words) and "\n" not in warning.message
                os._exit(0 if tracer is None and warning.code == "not_traced" and as_said else 1)
        except BaseException as error:
            print(error, file=sys.stderr)
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (errno.EACCES, "seccomp"),
        (errno.EPERM, "seccomp"),
        (errno.ENOSYS, "cannot be had here"),
    ],
)
def test_refusal_says_what_would_help(error: int, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    need_trace()
    monkeypatch.setattr(trace_module, "lib", _Refusing(error))
    with tracing(min(os.sched_getaffinity(0))) as (tracer, (warning,)):
        assert tracer is None
        assert advice in warning.message


class _Refusing:
    """The library on a kernel that refuses trace points; page faults may be open to all."""

    def __init__(self, error: int, *, faults: bool = False) -> None:
        self._error = error
        self._faults = faults

    def __getattr__(self, name: str) -> object:
        return self._open if name == "tm_trace_open" else getattr(lib, name)

    def _open(self, cpu: int, points: Any, count: int, result: Any) -> int:
        if not self._faults:
            return -self._error
        for place in range(1, count):
            points[place].error = -self._error
        return int(lib.tm_trace_open(cpu, points, 1, result))


def test_page_faults_alone_are_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    need_trace()
    monkeypatch.setattr(trace_module, "lib", _Refusing(errno.EPERM, faults=True))
    before = sorted(os.listdir("/proc/self/fd"))
    with tracing(min(os.sched_getaffinity(0))) as (tracer, (warning,)):
        assert tracer is None
        assert "seccomp" in warning.message
    assert sorted(os.listdir("/proc/self/fd")) == before


def test_unreadable_symbols_are_told_and_the_rest_is_traced(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    need_trace()
    monkeypatch.setattr(trace_module, "Symbols", lambda: Symbols(tmp_path / "none"))
    with tracing(min(os.sched_getaffinity(0))) as (tracer, (warning,)):
        assert warning.code == "no_symbols"
        assert "CAP_SYSLOG" in warning.message
        assert tracer is not None
        assert KernelEvent.TICK not in tracer.events_known
        assert KernelEvent.TIMER in tracer.events_known


def test_what_the_kernel_did_lies_in_gaps_that_the_sampler_saw() -> None:
    need_trace()
    cpus = read_cpus()
    if len(cpus.usable) < 2:
        pytest.skip("one CPU alone cannot be sampled and collect from itself")
    before, cpu = os.sched_getaffinity(0), max(cpus.usable)
    keep_away((cpu,), cpus)
    events: queue.SimpleQueue[Event] = queue.SimpleQueue()
    source = Collector(Settings(cpu=cpu, trace=True), read_machine(), duration_s=2.0)
    source.start(events.put)
    try:
        windows = [event for event in iter(events.get, Ended(error=None)) if isinstance(event, Window)]
    finally:
        source.stop()
        os.sched_setaffinity(0, before)
    whole = merge([window for window in windows if not window.provisional])
    assert whole.trace is not None
    at = whole.trace.events["at_cycles"]
    starts = whole.details["start_cycles"]
    before_it = np.searchsorted(starts, at, side="right") - 1
    ends = starts + whole.details["gap_cycles"]
    inside = (before_it >= 0) & (at <= ends[before_it])
    assert whole.lost == 0
    assert whole.trace.lost == 0
    for kind in (KernelEvent.TICK, KernelEvent.TIMER_ENTRY, KernelEvent.TIMER_EXIT):
        lies = inside[whole.trace.events["event"] == kind]
        assert len(lies) > 10
        assert lies.mean() >= 0.999, kind.name
    assert inside.mean() >= 0.999


@pytest.mark.parametrize(
    ("capabilities", "remedy"),
    [
        (frozenset(), "run tickmon as root"),
        (frozenset({"perfmon"}), "seccomp"),
        (None, "run tickmon as root"),
    ],
)
def test_whoever_has_the_right_is_not_told_to_become_root(
    capabilities: frozenset[str] | None, remedy: str
) -> None:
    rights = Rights(
        capabilities=capabilities,
        filtered=None,
        memlock_bytes=None,
        priority_max=None,
        tracefs=None,
        addresses=None,
    )
    text = refusal(errno.EPERM, rights)
    assert remedy in text
    assert ("as root" in text) is not bool(capabilities)
