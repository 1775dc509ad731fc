"""A sampler: a small process that does nothing but watch one CPU, and what it found."""

from __future__ import annotations

import errno
import os
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tickmon.sampling.endings import START_ADVICE, end_message
from tickmon.sampling.native import FILE as NATIVE_FILE
from tickmon.sampling.native import SamplerError
from tickmon.sampling.native import check as _check
from tickmon.sampling.native import ffi as _ffi
from tickmon.sampling.native import lib as _lib
from tickmon.windows import INTERRUPTION, Exclusion, Method

EXECUTABLE = NATIVE_FILE.with_name("tickmon-sampler")
"""Lies beside the compiled module in wheels and editable installs alike."""

_METHODS = {Method.GAP: _lib.TM_GAP, Method.LOOP: _lib.TM_LOOP}


def _words(enum: str, prefix: str) -> dict[int, str]:
    """The names of a C enum as words: TM_END_TOLD is "told"."""
    return {
        value: name.removeprefix(prefix).lower()
        for value, name in _ffi.typeof(f"enum {enum}").elements.items()
    }


_STATES = _words("tm_state", "TM_")
_ENDS = _words("tm_end", "TM_END_")
_STAGES = _words("tm_stage", "TM_STAGE_")
_EXCLUSIONS = _words("tm_exclusion_code", "TM_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a sampler is. The figures in cycles are 0 before it runs."""

    state: str
    """``starting``, ``running`` or ``ended``."""
    end: str | None
    """Why it ended: ``told``, ``lease``, ``moved``, ``complete``, ``failed``, ``killed``,
    ``orphan`` or ``jumped``: the counter went back, and the last window ends before that."""
    message: str | None
    """One line for the user when it ended and should not have."""
    pid: int
    locked: bool
    """Its pages are locked in memory."""
    start_cycles: int
    """The first read of the first window: an absolute counter value."""
    mark_cycles: int
    """The newest published read: every interruption that began before it can be drained."""
    threshold_cycles: int
    """In force; 0 for the loop method."""
    typical_cycles: int
    """What a read typically took in the first moments."""
    step_cycles: int
    """The smallest step that the counter was seen to make."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawWindow:
    """One stretch ``[start_cycles, end_cycles)`` in absolute counter values, as the sampler counted it.

    All is exact whether details were lost or not. Its details are the next ``interruptions - lost`` that
    ``drain`` gives; once the window was taken, they all can be drained.
    """

    start_cycles: int
    end_cycles: int
    reads: int
    """Counter reads after ``start_cycles`` up to and with ``end_cycles``; for the loop method samples."""
    interruptions: int
    """For the loop method every sample."""
    lost: int
    """Interruptions without detail: the ring was full."""
    gap_sum_cycles: int
    """Of the interruptions."""
    min_cycles: int | None
    """The smallest gap of all reads; None when nothing was read."""
    max_cycles: int | None
    """The largest gap of all reads; None when nothing was read."""
    exclusions: tuple[Exclusion, ...]
    """The first of them, their ``start_cycles`` absolute counter values."""
    exclusion_count: int
    """Of all, also those without detail."""
    counts: NDArray[np.int64] = field(repr=False)
    """Interruptions by the length of their gap, in the bins of ``tickmon.analysis.histogram``."""


class Sampler:
    """A process that watches ``cpu`` until it is stopped, or until the thread that started it ends.

    Belongs to one thread at a time. The GIL is free while C works.
    """

    def __init__(
        self,
        *,
        cpu: int,
        method: Method,
        threshold_cycles: int | None = None,
        threshold_floor_cycles: int,
        loop_size: int = 6800,
        samples: int | None = None,
        priority: int = 0,
        lease_cycles: int,
        executable: Path = EXECUTABLE,
    ) -> None:
        """Starts it and returns at once; SamplerError when it can't be started.

        What goes wrong after that is told by ``status``. A threshold of None is found by the sampler, and
        never below the floor. ``samples`` of None goes on without end. The lease is the running time
        after which a sampler whose ``status`` nobody asks for ends by itself.
        """
        self._cpu = cpu
        self._priority = priority
        settings = _ffi.new(
            "struct tm_settings *",
            {
                "cpu": cpu,
                "method": _METHODS[method],
                "priority": priority,
                "threshold_cycles": threshold_cycles or 0,
                "threshold_floor_cycles": threshold_floor_cycles,
                "loop_size": loop_size,
                "samples": samples or 0,
                "lease_cycles": lease_cycles,
            },
        )
        result = _ffi.new("struct tm_sampler **")
        error = _lib.tm_start(os.fsencode(executable), settings, result)
        _check(error, f"cannot start the sampler {executable}{START_ADVICE.get(-error, '')}")
        self._handle: Any = result[0]
        self._details = np.empty(4096, INTERRUPTION)
        self._switches = np.empty((4096, 3), np.int64)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Why it is to be stopped counts for more than how that goes.
        with nullcontext() if error is None else suppress(SamplerError):
            self.stop()

    @property
    def _sampler(self) -> Any:
        if self._handle is None:
            raise ValueError("the sampler was stopped")
        return self._handle

    def status(self) -> Status:
        """How it is; also renews its lease."""
        status = _ffi.new("struct tm_status *")
        _check(_lib.tm_status(self._sampler, status), "cannot ask the sampler")
        return Status(
            state=_STATES[status.state],
            end=None if status.end == _lib.TM_END_NONE else _ENDS[status.end],
            message=end_message(
                _ENDS[status.end],
                stage=_STAGES[status.stage],
                error=status.error,
                cpu=self._cpu,
                priority=self._priority,
            ),
            pid=status.pid,
            locked=bool(status.locked),
            start_cycles=status.start_cycles,
            mark_cycles=status.mark_cycles,
            threshold_cycles=status.threshold_cycles,
            typical_cycles=status.typical_cycles,
            step_cycles=status.step_cycles,
        )

    def drain(self) -> NDArray[np.void]:
        """Every interruption that is in the ring, oldest first: dtype INTERRUPTION, absolute starts.

        Read ``status`` before: then all that began before its ``mark_cycles`` is among those drained by now.
        """
        taken = _ffi.new("size_t *")
        filled = 0
        while True:
            room = _ffi.from_buffer("struct tm_interruption[]", self._details[filled:], require_writable=True)
            _check(_lib.tm_drain(self._sampler, room, len(room), taken), "cannot drain the ring")
            filled += taken[0]
            # What came in meanwhile waits for the next time: the sampler can be faster than this loop.
            if taken[0] < len(room) or filled >= _lib.TM_RING_SLOTS:
                return self._details[:filled].copy()
            self._details = np.resize(self._details, 4 * filled)

    def cut(self) -> bool:
        """Ends the current window at the next mark; False when it does not run yet or one is to be taken."""
        error = _lib.tm_cut(self._sampler)
        if -error in (errno.EAGAIN, errno.EALREADY):
            return False
        _check(error, "cannot cut the window")
        return True

    def take(self) -> RawWindow | None:
        """The window that was cut, or, once, the last one of an ended sampler; None: there is none."""
        window = _ffi.new("struct tm_window *")
        error = _lib.tm_take(self._sampler, window)
        if -error in (errno.EAGAIN, errno.ENODATA):
            return None
        _check(error, "cannot take the window")
        return _raw_window(window)

    def date_switches(self) -> bool:
        """Dates the sampler's context switches from now on; False where the kernel does not permit it."""
        return bool(_lib.tm_switches_open(self._sampler) == 0)

    def switches(self) -> tuple[NDArray[np.int64], int]:
        """The completed switches since the last call, and how many records of them were lost.

        Shape ``(n, 3)``: out and in again, in ns of CLOCK_MONOTONIC_RAW, and 1 where the process could not
        have run meanwhile, being stopped, 0 where another ran instead. ``date_switches`` must have
        succeeded.
        """
        room = self._switches
        pieces = [room[:0]]
        lost, taken = _ffi.new("uint64_t *"), _ffi.new("size_t *")
        lost_sum = 0
        while True:
            into = _ffi.from_buffer("struct tm_switch[]", room, require_writable=True)
            _check(_lib.tm_switches(self._sampler, into, len(room), lost, taken), "cannot read the switches")
            lost_sum += lost[0]
            pieces.append(room[: taken[0]].copy())
            if taken[0] < len(room):
                return np.concatenate(pieces), lost_sum

    def stop(self) -> None:
        """Ends the process and waits until it is gone. May be called twice.

        To have the last window, ``cut`` and ``take`` it before.
        """
        handle, self._handle = self._handle, None
        if handle is not None:
            _check(_lib.tm_stop(handle), f"the sampler on CPU {self._cpu} was killed but does not end")


def bin_of(cycles: int) -> int:
    """The histogram's bin of a gap, as the sampler counts it."""
    return int(_lib.tm_bin(cycles))


def _raw_window(window: Any) -> RawWindow:
    counts = np.frombuffer(_ffi.buffer(window.counts), np.uint64).astype(np.int64)
    detailed = min(window.exclusions, _lib.TM_EXCLUSIONS)
    return RawWindow(
        start_cycles=window.start_cycles,
        end_cycles=window.end_cycles,
        reads=window.reads,
        interruptions=window.interruptions,
        lost=window.lost,
        gap_sum_cycles=window.gap_sum_cycles,
        min_cycles=window.min_cycles if window.reads else None,
        max_cycles=window.max_cycles if window.reads else None,
        exclusions=tuple(
            Exclusion(code=_EXCLUSIONS[e.code], start_cycles=e.start_cycles, cycles=e.cycles)
            for e in window.exclusion[0:detailed]
        ),
        exclusion_count=window.exclusions,
        counts=counts,
    )
