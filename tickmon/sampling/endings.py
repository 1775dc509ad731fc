"""What ended a sampler, in one line for the user: what, on which CPU, and what to do."""

from __future__ import annotations

import errno
import os
import signal

REINSTALL = "install tickmon again on this machine"

START_ADVICE = {
    errno.ENOENT: f" (it is missing: {REINSTALL})",
    errno.EACCES: " (its file must have the run bit, on a file system that is not mounted noexec)",
    errno.EAGAIN: " (no more processes may be started here: ulimit -u, or the pids limit of this cgroup)",
    errno.EMFILE: " (no more files may be opened here: ulimit -n)",
    errno.ENOEXEC: f" (it was built for another machine: {REINSTALL})",
}
"""By the errno with which the executable could not be started."""


def end_message(end: str, *, stage: str, error: int, cpu: int, priority: int) -> str | None:
    """Why the sampler ended, where that is a failure; None when it ended as it was meant to.

    ``end`` is as in ``tickmon.sampling.sampler.Status``, or ``none``. For ``failed``, ``stage`` is
    ``region``, ``pin``, ``priority`` or ``counter`` and ``error`` its errno (``region``: the exit code);
    for ``killed``, ``error`` is the signal's number.
    """
    match end:
        case "failed":
            return _failure(stage, error=error, cpu=cpu, priority=priority)
        case "killed":
            return f"the sampler on CPU {cpu} was ended by {_signal_name(error)}; start it again"
        case "moved":
            return (
                f"the kernel took the sampler off CPU {cpu}, which is offline or outside the cpuset now;"
                " choose another with --cpu"
            )
        case "lease":
            return (
                f"the sampler on CPU {cpu} ended by itself: nobody had read it for too long; start it again"
            )
        case "orphan":
            return f"the sampler on CPU {cpu} found nobody to work for and ended"
    return None


def _failure(stage: str, *, error: int, cpu: int, priority: int) -> str:
    reason = os.strerror(error)
    match stage:
        case "pin" if error == errno.EINVAL:
            return f"CPU {cpu} is not usable here: offline, or outside this cpuset; choose another with --cpu"
        case "pin":
            return f"cannot pin the sampler to CPU {cpu}: {reason}; choose another with --cpu"
        case "priority":
            return (
                f"SCHED_FIFO priority {priority} is not permitted for CPU {cpu}: {reason}; it needs root or"
                " `ulimit -r`, and a cgroup with real-time time: else go without --priority"
            )
        case "counter":
            return f"the counter of CPU {cpu} cannot be used: {reason}; nothing can be measured here"
    return f"the sampler for CPU {cpu} could not begin (exit code {error}); {REINSTALL}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # The real-time signals between the first and the last have no name.
        return f"signal {number}"
