"""The border to C: the only importer of the compiled module."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tickmon.errors import TickmonError
from tickmon.sampling import _native

FILE = Path(_native.__file__)
"""The compiled module."""

ffi: Any = _native.ffi
lib: Any = _native.lib
"""What ``csrc/api.h`` declares."""


class SamplerError(TickmonError):
    """A CPU could not be sampled."""


def check(error: int, what: str) -> None:
    """The one place where C's negative errno becomes an exception."""
    if error < 0:
        raise SamplerError(f"{what}: {os.strerror(-error)}")
