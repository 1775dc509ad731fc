"""Numbers from windows, pure numpy: ``analyse(window, clocks)`` and what goes on from there."""

from tickmon.analysis.analyse import analyse
from tickmon.analysis.clocks import Clocks
from tickmon.analysis.merge import merge

__all__ = ["Clocks", "analyse", "merge"]
