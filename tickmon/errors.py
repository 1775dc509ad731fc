"""Errors that a user can cause or mend; each is one line that says what, where and what to do."""


class TickmonError(Exception):
    """Something could not be measured, read or written."""

    exit_code = 1


class UsageError(TickmonError):
    """The command line asks for something that makes no sense."""

    exit_code = 2
