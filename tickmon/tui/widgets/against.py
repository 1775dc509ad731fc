"""The line of before and after: what is pinned, what is compared with it, and what that comes to."""

from __future__ import annotations

from collections.abc import Sequence

from tickmon.analysis.change import Change
from tickmon.analysis.compare import WINDOWS_FEW
from tickmon.analysis.stretches import KERNEL_TICK
from tickmon.tui.pinning import Against, Pin
from tickmon.tui.rows import Piece, Row, fit, row, spread_apart, width_of
from tickmon.tui.view import View
from tickmon.tui.words import clock_text

_NAMES = {
    "tick_median_ns": "tick",
    "tick_p99_ns": "tick 99th",
    "sample_median_ns": "sample",
    "overhead_share": "overhead",
    "interruptions_per_s": "interruptions",
    "worst_ns": "worst",
}
_OF_A_SOURCE = {"source_per_s": "/s", "source_share": " of CPU", "train_median_ns": ", median"}
_UNPIN = (Piece(" p", "key", "app.pin"), Piece(" unpins ", "label", "app.pin"))


def draw_against(view: View, width: int, _height: int) -> list[Row]:
    """One row."""
    against = view.against
    if against is None:
        return []
    pinned = row((f" PINNED {_pin_words(against.pin)} ", "paused"), " ")
    if view.reading is None:
        return [spread_apart(pinned, _UNPIN, width)]
    return [
        spread_apart(
            (*pinned, *_outcome(against, width - width_of(pinned) - width_of(_UNPIN))), _UNPIN, width
        )
    ]


def _pin_words(pin: Pin) -> str:
    return f"{pin.file or clock_text(pin.ended_at)}, {pin.span_s:.0f} s"


def _outcome(against: Against, room: int) -> Row:
    if against.unlike:
        return fit(row(("not comparable: ", "bad"), " · ".join(against.unlike)), room)
    if against.comparison is None:
        return row((f"too few windows yet: {len(against.after)} of {WINDOWS_FEW}", "label"))
    changes = against.comparison.changes
    better, worse = names_of(changes)
    said: Row = ()
    if better:
        said = row(("better: ", "good"), better)
    if worse:
        said = (*said, *row("; " if said else "", ("worse: ", "bad"), worse))
    if not said:
        known = any(change.verdict == "same" for change in changes)
        words = "no more change than chance makes" if known else "cannot be told yet: it drifts"
        said = row((words, "label"))
    span = row((f"now {against.span_s:.0f} s: ", "label"))
    return fit((*span, *said), room)


def names_of(changes: Sequence[Change]) -> tuple[str, str]:
    """What became better and what worse, each once; a source that became both says in what."""
    better, worse = (
        [change for change in changes if change.verdict == verdict and change.of != KERNEL_TICK]
        for verdict in ("better", "worse")
    )
    both = {change.of for change in better} & {change.of for change in worse} - {None}

    def name(change: Change) -> str:
        of = change.of or ""
        return _NAMES.get(change.name) or (of + _OF_A_SOURCE.get(change.name, "") if of in both else of)

    return ", ".join(dict.fromkeys(map(name, better))), ", ".join(dict.fromkeys(map(name, worse)))
