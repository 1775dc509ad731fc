"""The injector: a second small process that disturbs a CPU in a known way, and says when it did."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tickmon.sampling.native import SamplerError
from tickmon.sampling.sampler import EXECUTABLE

INJECTOR = EXECUTABLE.with_name("tickmon-injector")

PLANNED = np.dtype([("sleep_ns", np.uint64), ("spin_cycles", np.uint64)])
"""One injection to come: after so long a sleep spin so long. At most MOST of them."""

INJECTED = np.dtype(
    [
        ("spin_cycles", np.int64),
        ("first_cycles", np.int64),
        ("last_cycles", np.int64),
        ("lost_cycles", np.int64),
        ("switches", np.int64),
    ]
)
"""One that was done: what was asked, the injector's first and last counter read (absolute), what it lost of
the time between to others, and how often the kernel gave its CPU to another task meanwhile."""

MOST = 1 << 16

_STOP_S = 2.0


class Injector:
    """A process on ``cpu`` that waits for its plan. Ends with the thread that started it.

    With ``priority`` it is a SCHED_FIFO task. It does not go on for longer than ``limit_s``.
    """

    def __init__(
        self,
        *,
        cpu: int,
        threshold_cycles: int,
        limit_s: float,
        priority: int = 0,
        executable: Path = INJECTOR,
    ) -> None:
        """Starts it and waits until it is ready: SamplerError, with the kernel's reason, when it is not."""
        arguments = (cpu, priority, threshold_cycles, max(1, round(limit_s)), os.getpid())
        try:
            # In a session of its own: Ctrl-C is for the command, which ends it.
            self._process = subprocess.Popen(
                [executable, *map(str, arguments)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                env={},
            )
        except OSError as error:
            raise SamplerError(f"cannot start the injector {executable}: {error.strerror}") from None
        assert self._process.stdout is not None
        said = self._process.stdout.read(4)
        error_number = int.from_bytes(said, "little") if len(said) == 4 else -1
        if error_number != 0:
            self.stop()
            reason = os.strerror(error_number) if error_number > 0 else "it did not begin"
            raise SamplerError(f"the injector cannot run on CPU {cpu}: {reason}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def begin(self, plan: NDArray[np.void]) -> None:
        """Hands over ``plan`` (dtype PLANNED), which begins at once."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(plan.tobytes())
            self._process.stdin.close()
        except OSError as error:
            raise SamplerError(f"the injector has ended: {error.strerror}") from None

    def results(self) -> NDArray[np.void]:
        """What it did (dtype INJECTED), once it has done it: waits for that. Empty when it was killed."""
        assert self._process.stdout is not None
        text = self._process.stdout.read()
        return np.frombuffer(text[: len(text) // INJECTED.itemsize * INJECTED.itemsize], INJECTED)

    def stop(self) -> None:
        """Ends it, whatever it does, and waits until it is gone. May be called twice."""
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait(_STOP_S)
