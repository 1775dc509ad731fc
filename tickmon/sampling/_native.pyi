"""The compiled module: cffi makes both names from csrc/api.h."""

from typing import Any

ffi: Any
lib: Any
