"""The compiled module: cffi makes both names from csrc/api.h."""

from typing import Any

__file__: str
ffi: Any
lib: Any
