"""A part of the screen: rows of inked text, of which only what changed is made and sent again."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import attrgetter

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from tickmon.tui.rows import Ink, Piece, Row, changed_spans, fit, width_of
from tickmon.tui.themes import ink_style
from tickmon.tui.view import View

Draw = Callable[[View, int, int], list[Row]]
"""Draws a part of the screen into so many columns and rows."""

Pick = Callable[[View, int, int], str]
"""What a click on a column of a part of so many columns does: an action of the app, or nothing."""

_look = attrgetter("ink", "action")


class Panel(Widget):
    """Shows what its drawing function makes of a view.

    No style sheet may give it a border, padding, opacity or anything else that is drawn over or round its
    rows: it hands them to the screen as they are.
    """

    def __init__(self, draw: Draw, *, id: str, pick: Pick | None = None) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._pick = pick
        self._view: View | None = None
        self._rows: list[Row] = []
        self._width = 0
        self._strips: dict[int, Strip] = {}
        """The rows as they are sent, as far as they were asked for."""
        self._styles: dict[tuple[Ink, str], Style] = {}

    def show(self, view: View) -> None:
        """Shows ``view`` from now on."""
        self._view = view
        self._draw_again()

    def on_resize(self) -> None:
        """Draws it in the new size."""
        self._draw_again()

    async def on_click(self, event: Click) -> None:
        """Does what stands at that column."""
        if self._pick is not None and self._view is not None:
            action = self._pick(self._view, event.x, self.size.width)
            if action:
                await self.run_action(f"app.{action}")

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows in ``crop``. Textual's own way there would make each that changed three times over."""
        # That way knows how to mark what is under the mouse, and how to fill a size not yet drawn for.
        if self.hover_style.link_id or self.outer_size.width != self._width:
            return super().render_lines(crop)
        strips = [self.render_line(y) for y in crop.line_range]
        # A strip gives itself when nothing of it is cut off.
        left, right = crop.column_span
        return [strip.crop(left, right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """The row at ``y``, inked; the same strip while the row stays the same: Textual keeps much in it."""
        strip = self._strips.get(y)
        if strip is None:
            pieces = self._rows[y] if y < len(self._rows) else ()
            room = Piece(" " * (self._width - width_of(pieces)))
            # One segment for each look, since each is sent with its colours.
            looks = groupby((*pieces, room), key=_look)
            texts = (("".join([piece.text for piece in alike]), look) for look, alike in looks)
            segments = [Segment(text, self._style(*look)) for text, look in texts if text]
            strip = self._strips[y] = Strip(segments).adjust_cell_length(
                self._width, self._style("plain", "")
            )
        return strip

    def notify_style_update(self) -> None:
        """Other colours count from now on."""
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    def _draw_again(self) -> None:
        width, height = self.size
        if self._view is None or not width or not height:
            return
        drawn = self._draw(self._view, width, height)[:height]
        drawn += [()] * (height - len(drawn))
        old = self._rows
        if len(old) != height or width != self._width:
            self._rows, self._width = [fit(row, width) for row in drawn], width
            self._strips.clear()
            self.refresh()
            return
        # What stands there already needs no look at its width.
        self._rows = [
            before if now == before else fit(now, width) for before, now in zip(old, drawn, strict=True)
        ]
        regions = []
        for y, (before, now) in enumerate(zip(old, self._rows, strict=True)):
            if before is not now:
                self._strips.pop(y, None)
                regions += [Region(first, y, end - first, 1) for first, end in changed_spans(before, now)]
        if regions:
            self.refresh(*regions)

    def _style(self, ink: Ink, action: str) -> Style:
        style = self._styles.get((ink, action))
        if style is None:
            style = self.rich_style + ink_style(ink, self.app.theme, colourless=self.app.no_color)
            if action:
                style += Style(meta={"@click": action})
            # A filter looks at nothing but the style, and does nothing more the second time.
            segments = [Segment(" ", style)]
            for line_filter in self.get_line_filters():
                segments = line_filter.apply(segments, self.background_colors[1])
            style = self._styles[ink, action] = segments[0].style or Style.null()
        return style
