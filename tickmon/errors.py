"""Errors that a user can cause or mend; each is one line that says what, where and what to do."""

from __future__ import annotations

import errno
import os

OUT_OF_MEMORY = "out of memory: more is needed here than this process may have (ulimit -v, or its cgroup)"
NO_MORE_THREADS = (
    "no more threads may be started here (ulimit -u or -v, or the pids limit of this cgroup): raise it"
)
NO_MORE_FILES = "no more files may be opened here (ulimit -n): raise it"


class TickmonError(Exception):
    """Something could not be measured, read or written."""

    exit_code = 1


class UsageError(TickmonError):
    """The command line asks for something that makes no sense."""

    exit_code = 2


def lack_text(error: BaseException) -> str | None:
    """What the machine did not give, in one line for the user, where ``error`` comes of that; else None."""
    if isinstance(error, MemoryError):
        return OUT_OF_MEMORY
    # What Python says of a thread that the kernel refuses, wherever one was to start.
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return NO_MORE_THREADS
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return NO_MORE_FILES
    # How the loader says that there is no room for a library, or that it may not run where it lies.
    if isinstance(error, ImportError) and "failed to map segment" in str(error):
        return unmapped_text(error.path)
    return None


def unmapped_text(library: str | None) -> str:
    """Why a library could not be mapped, and what to do, in one line for the user."""
    try:
        forbidden = library is not None and os.statvfs(library).f_flag & os.ST_NOEXEC
    except OSError:
        forbidden = False
    if not forbidden:
        return OUT_OF_MEMORY
    return f"{library} lies on a file system that is mounted noexec: install tickmon on another"
