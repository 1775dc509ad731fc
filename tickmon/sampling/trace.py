"""The kernel's own trace of one CPU, when it may be read, in the words of windows."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tickmon.errors import TickmonError
from tickmon.machine.rights import Rights, read_rights
from tickmon.machine.symbols import Symbols
from tickmon.machine.tracefs import mounted
from tickmon.sampling.native import check, ffi, lib
from tickmon.sampling.tracepoints import REMOTE_SHOOTDOWN, TICK_FUNCTIONS, Naming, TracePoint, find_points
from tickmon.text import harmless
from tickmon.windows import KernelEvent, ReadingWarning

RECORD = np.dtype(
    [("raw_ns", "i8"), ("value", "u8"), ("tid", "i4"), ("task", "i4"), ("point", "i4"), ("text", "S32")],
    align=True,
)
"""struct tm_traced."""

_TEXT_WORDS = RECORD["text"].itemsize // 8

RAW_EVENT = np.dtype([("raw_ns", "i8"), ("event", "u1"), ("name", "i4")])
"""An event as in ``tickmon.windows.TRACED``, but by the kernel's clock."""

_ROOM = 16384

_MANY = 10_000
"""So much is remembered at most: tasks may call themselves anything."""


class TraceError(TickmonError):
    """The kernel's trace cannot be had."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TraceBatch:
    """What the kernel has written down since the last time."""

    events: NDArray[np.void] = field(repr=False)
    """In the order of the log, dtype RAW_EVENT, times in ns of CLOCK_MONOTONIC_RAW."""
    names: tuple[str, ...]
    """What ``name`` points into, each once."""
    lost: tuple[tuple[int, int], ...]
    """When a record told that others were dropped, and how many."""
    events_known: frozenset[KernelEvent]


class Decoder:
    """Makes events of records. What it has seen once it knows."""

    def __init__(self, points: Sequence[TracePoint], symbols: Symbols, *, opened: Sequence[bool]) -> None:
        """``points`` as records count them, and whether each was ``opened``."""
        self._points = points
        self._symbols = symbols
        self._ticks = symbols.addresses(TICK_FUNCTIONS)
        known = frozenset[KernelEvent]().union(
            *(point.events for point, told in zip(points, opened, strict=True) if told)
        )
        if self._ticks and KernelEvent.TIMER in known:
            known |= {KernelEvent.TICK}
        self.events_known = known
        """What can be told."""
        self._known: dict[bytes, tuple[int, str | None]] = {}
        self._irqs: dict[int, str] = {}
        self._faults = [i for i, point in enumerate(points) if point.naming is Naming.FAULT]
        self._switches = [i for i, point in enumerate(points) if point.naming is Naming.TASK]
        self._task = 0

    def decode(self, records: NDArray[np.void], *, sampler: int) -> TraceBatch:
        """The events among ``records``, dtype RECORD, for the sampler with that process id."""
        lost = records[records["point"] == lib.TM_TRACE_LOST]
        own = records["task"][(records["tid"] == sampler) & (records["task"] != 0)]
        # In a container the kernel calls the sampler by another number than this process does.
        self._task = int(own[0]) if len(own) else self._task or sampler
        if len(self._known) > _MANY:
            self._known.clear()
        others = np.isin(records["point"], self._faults) & (records["tid"] != sampler)
        records = records[(records["point"] >= 0) & ~others]
        keys = np.zeros((len(records), 2 + _TEXT_WORDS), np.uint64)
        keys[:, 0], keys[:, 1] = records["point"], records["value"]
        keys[:, 2:] = np.ascontiguousarray(records["text"]).view(np.uint64).reshape(-1, _TEXT_WORDS)
        # Of other tasks only the name counts: their numbers are too many.
        switches = np.isin(records["point"], self._switches)
        keys[switches, 1] *= keys[switches, 1] == self._task
        first, back = _unique_rows(keys)
        meanings = np.zeros((len(first), 2), np.int32)
        names: dict[str, int] = {}
        # In the order of time: an interrupt's name is told at its entry only.
        for place in np.argsort(first):
            event, name = self._meaning(keys[first[place]].tobytes(), records[first[place]])
            meanings[place] = event, names.setdefault(name, len(names)) if name else -1
        events = np.zeros(len(records), RAW_EVENT)
        events["raw_ns"] = records["raw_ns"]
        events["event"], events["name"] = meanings[back].T
        return TraceBatch(
            events=events[events["event"] > 0],
            names=tuple(names),
            lost=tuple(zip(lost["raw_ns"].tolist(), lost["value"].tolist(), strict=True)),
            events_known=self.events_known,
        )

    def _meaning(self, key: bytes, record: np.void) -> tuple[int, str | None]:
        """Event (0: none) and name of all records with this key."""
        if key not in self._known:
            value, text = int(record["value"]), record["text"].split(b"\0")[0].decode("utf-8", "replace")
            self._known[key] = self._read(self._points[record["point"]], value, harmless(text))
        return self._known[key]

    def _read(self, point: TracePoint, value: int, text: str) -> tuple[int, str | None]:
        match point.naming:
            case Naming.FIXED:
                return point.event, point.name
            case Naming.SYMBOL if value in self._ticks:
                return KernelEvent.TICK, None
            case Naming.SYMBOL:
                return point.event, harmless(self._symbols.named([value]).get(value, ""))
            case Naming.WORD:
                return point.event, harmless(point.words.get(value, f"{value:#x}"))
            case Naming.IRQ:
                # At its exit a device interrupt is known by its number.
                if text and value not in self._irqs:
                    self._irqs[value] = text
                    self._known.clear()
                name = text or self._irqs.get(value, "")
                event = point.event_of(name)
                timer = event is not point.event
                return event, None if timer else f"{value} {name}".rstrip()
            case Naming.TASK if value == self._task:
                return KernelEvent.RESUME, None
            case Naming.TASK:
                return point.event, text
            case Naming.FLUSH:
                return (point.event if value == REMOTE_SHOOTDOWN else 0), None
            case Naming.FAULT:
                return point.event, None


def _unique_rows(keys: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where each different row comes first, and for every row which of those it is.

    A sum with odd random weights is a number of its own for nearly every row, and far faster to sort.
    """
    weights = np.random.default_rng(1).integers(1 << 62, size=keys.shape[1], dtype=np.uint64) | np.uint64(1)
    _sums, first, back = np.unique(keys @ weights, return_index=True, return_inverse=True)
    if not np.array_equal(keys, keys[first[back]]):
        _rows, first, back = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return first, back.reshape(-1)


class Tracer:
    """The kernel writes down what it does on ``cpu`` until this is closed. Belongs to one thread."""

    def __init__(self, cpu: int, points: Sequence[TracePoint], symbols: Symbols) -> None:
        """TraceError when nothing can be traced."""
        asked = ffi.new("struct tm_trace_point[]", [_wanted_of(point) for point in points])
        result = ffi.new("struct tm_trace **")
        error = lib.tm_trace_open(cpu, asked, len(points), result)
        if error < 0:
            raise TraceError(refusal(-error, read_rights()))
        self._handle: Any = result[0]
        refusals = [-native.error for native, point in zip(asked, points, strict=True) if point.id]
        if all(refusals):
            # Page faults alone can be had with fewer rights, and name next to nothing.
            self.close()
            raise TraceError(refusal(refusals[0], read_rights()))
        self._room = np.zeros(_ROOM, RECORD)
        self._decoder = Decoder(points, symbols, opened=[native.error == 0 for native in asked])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends it; once."""
        handle, self._handle = self._handle, None
        check(lib.tm_trace_close(handle), "cannot close the kernel's trace")

    @property
    def events_known(self) -> frozenset[KernelEvent]:
        """What can be told here."""
        return self._decoder.events_known

    def read(self, *, sampler: int) -> TraceBatch:
        """What was written down since the last time; ``sampler`` is the process that is not to be named."""
        taken = ffi.new("size_t *")
        pieces = []
        while True:
            into = ffi.from_buffer("struct tm_traced[]", self._room, require_writable=True)
            check(lib.tm_trace_read(self._handle, into, len(into), taken), "cannot read the kernel's trace")
            pieces.append(self._room[: taken[0]].copy())
            if taken[0] < len(into) - 1:
                return self._decoder.decode(np.concatenate(pieces), sampler=sampler)


@contextmanager
def tracing(
    cpu: int, *, root: Path = Path("/")
) -> Iterator[tuple[Tracer | None, tuple[ReadingWarning, ...]]]:
    """Has ``cpu`` traced as far as that is permitted; what is not is said in the warnings, one line each."""
    try:
        with _tracefs(root) as tracefs:
            points = find_points(tracefs)
        if not any(point.id for point in points):
            raise TraceError("the kernel describes no trace points that are known here (lockdown?)")
        opened = Tracer(cpu, points, Symbols())
    except TraceError as refused:
        yield None, (ReadingWarning(code="not_traced", message=f"not traced: {refused}"),)
        return
    with opened as tracer:
        yield tracer, _caveats(tracer)


@contextmanager
def _tracefs(root: Path) -> Iterator[Path]:
    """Where the trace points are described; nothing is mounted where anybody else could see it."""
    result = ffi.new("int *")
    error = lib.tm_tracefs_mount(result)
    if error == 0:
        try:
            yield Path(f"/proc/self/fd/{result[0]}")
        finally:
            os.close(result[0])
    elif place := mounted(root):
        yield place
    elif -error == errno.ENODEV:
        raise TraceError("this kernel was built without trace points (CONFIG_TRACEPOINTS)")
    else:
        raise TraceError(
            f"the kernel's trace points cannot be looked up ({os.strerror(-error)}): run tickmon as root"
            " (CAP_SYS_ADMIN and CAP_PERFMON), or mount tracefs where you can read it"
        )


def refusal(error: int, rights: Rights) -> str:
    """Why the kernel refused a perf event with that errno, and what to do, in one line for the user."""
    if error in (errno.EACCES, errno.EPERM):
        if (rights.capabilities or frozenset()) & {"perfmon", "sys_admin"}:
            return (
                f"perf events of a whole CPU are refused ({os.strerror(error)}) though this process has the"
                " right: allow perf_event_open in the container's seccomp profile or security module"
            )
        return (
            f"perf events of a whole CPU are not permitted ({os.strerror(error)}): run tickmon as root"
            " (CAP_PERFMON), or have kernel.perf_event_paranoid set to -1"
        )
    return f"perf events of the kernel's trace points cannot be had here: {os.strerror(error)}"


def _caveats(tracer: Tracer) -> tuple[ReadingWarning, ...]:
    if KernelEvent.TICK in tracer.events_known:
        return ()
    message = (
        "traced without the names of the kernel's functions (/proc/kallsyms shows none): ticks are told by"
        " when they are due; run tickmon as root (CAP_SYSLOG) to have them by name"
    )
    return (ReadingWarning(code="no_symbols", message=message),)


def _wanted_of(point: TracePoint) -> dict[str, int]:
    value, text = point.value, point.text
    return {
        "id": point.id,
        "value_at": value.at if value else 0,
        "value_bytes": value.bytes if value else 0,
        "text_at": text.at if text else 0,
        "text_bytes": text.bytes if text else 0,
        "text_far": bool(text and text.far),
    }
