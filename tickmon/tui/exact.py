"""What is sent of a frame: the spans that changed, and nothing beside them."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.segment import Segment
from textual._compositor import ChopsUpdate
from textual.strip import Strip


class ExactUpdate(ChopsUpdate):
    """A partial update. Textual's own sends each row from its beginning to the end of every span."""

    def __init__(self, update: ChopsUpdate) -> None:
        super().__init__(update.chops, update.spans, update.chop_ends)

    def render_segments(self, console: Console) -> str:
        """Moves to each span and writes its part of the row."""
        segments: list[Segment] = []
        for y, first, end in self.spans:
            for chop_end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(first, x), min(end, chop_end)
                if strip is not None and left < right:
                    segments.append(Segment(f"\x1b[{y + 1};{left + 1}H"))
                    segments += _part(strip, left - x, right - x)
        # One strip for all: making one takes longer than cutting it.
        return Strip(segments).render(console)


def _part(strip: Strip, left: int, right: int) -> Iterator[Segment]:
    """What stands in the columns from ``left`` to before ``right``."""
    at = 0
    for segment in strip:
        end = at + segment.cell_length
        if left < end:
            if right < end:
                segment, _ = segment.split_cells(right - at)
            if at < left:
                _, segment = segment.split_cells(left - at)
            yield segment
        if right <= end:
            return
        at = end
