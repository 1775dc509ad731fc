"""Has a function of the program that a test starts fail once a file is there.

Python imports this by itself from PYTHONPATH. ``FAIL_IN`` is ``package.module:Class.function``,
``FAIL_THREAD`` how the name of the thread begins in which it fails, ``FAIL_WHEN`` the file, ``FAIL_WITH`` the
exception.
"""

from __future__ import annotations

import builtins
import os
import sys
import threading
from collections.abc import Sequence
from functools import wraps
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_MODULE, _, _NAME = os.environ.get("FAIL_IN", "").partition(":")


class _Breaking(MetaPathFinder):
    """Breaks the function when its module is loaded, which is found as without this."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _MODULE:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        spec = next(found for finder in others if (found := finder.find_spec(name, path, target)))
        loader: Any = spec.loader
        load = loader.exec_module

        def load_and_break(module: ModuleType) -> None:
            load(module)
            _break_in(module)

        loader.exec_module = load_and_break
        return spec


def _break_in(module: ModuleType) -> None:
    *places, name = _NAME.split(".")
    holder: Any = module
    for place in places:
        holder = getattr(holder, place)
    whole = getattr(holder, name)

    @wraps(whole)
    def breaking(*arguments: Any, **options: Any) -> Any:
        here = threading.current_thread().name.startswith(os.environ["FAIL_THREAD"])
        if here and os.path.exists(os.environ["FAIL_WHEN"]):
            raise getattr(builtins, os.environ["FAIL_WITH"])("broken on purpose")
        return whole(*arguments, **options)

    setattr(holder, name, breaking)


if _MODULE:
    sys.meta_path.insert(0, _Breaking())
