"""What is sent of a frame: the spans that changed, and nothing beside them."""

from __future__ import annotations

from rich.console import Console
from rich.control import Control
from textual._compositor import ChopsUpdate


class ExactUpdate(ChopsUpdate):
    """A partial update. Textual's own sends each row from its beginning to the end of every span."""

    def __init__(self, update: ChopsUpdate) -> None:
        super().__init__(update.chops, update.spans, update.chop_ends)

    def render_segments(self, console: Console) -> str:
        """Moves to each span and writes its part of the row."""
        parts = []
        for y, first, end in self.spans:
            for chop_end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                left, right = max(first, x), min(end, chop_end)
                if strip is not None and left < right:
                    parts.append(Control.move_to(left, y).segment.text)
                    parts.append(strip.crop(left - x, right - x).render(console))
        return "".join(parts)
