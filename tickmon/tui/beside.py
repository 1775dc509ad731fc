"""Work that takes a while, in a thread beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from tickmon.threads import begin

_T = TypeVar("_T")


async def beside(work: Callable[[], _T]) -> _T:
    """What ``work`` returns or raises; TickmonError when no thread may be started for it.

    Each has a thread of its own: asyncio's pool would carry out later what was refused, and needs one more
    thread to end.
    """
    future: Future[_T] = Future()

    def run() -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

    begin(run, name="beside")
    return await asyncio.wrap_future(future)
