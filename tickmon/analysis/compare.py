"""Two readings side by side: what changed, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tickmon.analysis.change import BLOCKS, Change
from tickmon.analysis.difference import holm
from tickmon.analysis.figures import figures_of, left_out
from tickmon.analysis.readings import Analysis
from tickmon.analysis.stretches import Stretch, can_be_cut, parts_of, stretch_of, with_same_names
from tickmon.windows import Method

ERROR_RATE = 0.05
"""So often, and not more, something is called changed where nothing has, over all figures together."""

WINDOWS_FEW = 8
"""A reading of fewer windows is cut into parts where its interruptions are known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What two readings of one CPU, taken alike, say of each other."""

    changes: tuple[Change, ...]
    left_out: tuple[Change, ...]
    """Figures of sources that are not compared, since so many cost more."""
    verdict: str
    """``better``, ``worse``, ``mixed``, ``same`` or ``unknown``."""
    span_s: tuple[float, float]
    """How much time each reading holds."""


def change_between(before: Sequence[Analysis], after: Sequence[Analysis]) -> Comparison:
    """How the windows ``after`` differ from those ``before``, both in the order of time and taken alike.

    ``ValueError`` when one of them is empty. Cheap enough for each new window of a screen.
    """
    cut = len(before) < WINDOWS_FEW or len(after) < WINDOWS_FEW
    loop = any(each[0].window.segment.method is Method.LOOP for each in (before, after) if each)
    return compare(*stretches_alike(before, after) if cut else (whole(before), whole(after)), loop=loop)


def whole(analyses: Sequence[Analysis]) -> list[Stretch]:
    """A stretch for each window."""
    return [stretch_of(analysis) for analysis in analyses]


def stretches_alike(
    before: Sequence[Analysis], after: Sequence[Analysis]
) -> tuple[list[Stretch], list[Stretch]]:
    """Stretches of about one length, short enough for BLOCKS of them where every interruption is known.

    None is shorter than the longest interruption, which would fill it more than once.
    """
    both = (before, after)
    if not all(map(len, both)) or not all(can_be_cut(analysis) for side in both for analysis in side):
        return whole(before), whole(after)
    longest_s = max(_longest_s(analysis) for side in both for analysis in side)
    part_s = max(min(sum(map(_length_s, side)) for side in both) / BLOCKS, longest_s)

    def cut(side: Sequence[Analysis]) -> list[Stretch]:
        return [
            stretch
            for analysis in side
            for stretch in parts_of(analysis, max(1, round(_length_s(analysis) / part_s)))
        ]

    return cut(before), cut(after)


def _length_s(analysis: Analysis) -> float:
    return analysis.window.length_cycles / analysis.tsc_hz


def _longest_s(analysis: Analysis) -> float:
    return int(analysis.window.details["gap_cycles"].max(initial=0)) / analysis.tsc_hz


def compare(before: Sequence[Stretch], after: Sequence[Stretch], *, loop: bool = False) -> Comparison:
    """The same for stretches; ``loop``: of the loop method, whose interruptions are samples.

    ValueError when there are none.
    """
    if not before or not after:
        raise ValueError("nothing to compare")
    sides = with_same_names(before, after)
    known: dict[tuple[int, int], NDArray[np.float64]] = {}
    found = [figure.found(sides, known) for figure in figures_of(sides, loop=loop)]
    tested = [index for index, (_, p) in enumerate(found) if p is not None]
    changes = [change for change, _ in found]
    for index, p in zip(tested, holm([found[index][1] or 0.0 for index in tested]), strict=True):
        changes[index] = _judged(changes[index], p)
    return Comparison(
        changes=tuple(changes),
        left_out=tuple(left_out(sides)),
        verdict=_verdict(changes),
        span_s=(sum(s.length_s for s in before), sum(s.length_s for s in after)),
    )


def _judged(change: Change, p: float) -> Change:
    verdict = "same"
    if p <= ERROR_RATE and change.before is not None and change.after is not None:
        verdict = "better" if change.after < change.before else "worse"
    return replace(change, p=p, verdict=verdict)


def _verdict(changes: Sequence[Change]) -> str:
    """What the share of the CPU says, which holds all costs; else what all that changed agree in."""
    (share,) = (change for change in changes if change.name == "overhead_share")
    if share.verdict in ("better", "worse"):
        return share.verdict
    ways = {change.verdict for change in changes}
    if {"better", "worse"} <= ways:
        return "mixed"
    # One that cannot be told does not make the others doubtful.
    return next((way for way in ("better", "worse") if way in ways), share.verdict)
