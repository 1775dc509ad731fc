"""Errors that a user can cause or mend; each is one line that says what, where and what to do."""

OUT_OF_MEMORY = "out of memory: more is needed here than this process may have (ulimit -v, or its cgroup)"


class TickmonError(Exception):
    """Something could not be measured, read or written."""

    exit_code = 1


class UsageError(TickmonError):
    """The command line asks for something that makes no sense."""

    exit_code = 2
