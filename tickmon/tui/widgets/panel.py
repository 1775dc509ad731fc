"""A part of the screen: rows of inked text, of which only what changed is sent to the terminal."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Region
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tickmon.tui.rows import Ink, Piece, Row, changed_spans, fit, width_of
from tickmon.tui.themes import ink_style
from tickmon.tui.view import View

Draw = Callable[[View, int, int], list[Row]]
"""Draws a part of the screen into so many columns and rows."""

Pick = Callable[[View, int, int], str]
"""What a click on a column of a part of so many columns does: an action of the app, or nothing."""


class Panel(Widget):
    """Shows what its drawing function makes of a view."""

    view: reactive[View | None] = reactive(None, repaint=False, init=False)
    """What is shown; None as long as there is nothing."""

    def __init__(self, draw: Draw, *, id: str, pick: Pick | None = None) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._pick = pick
        self._drawn: list[Row] = []
        """As they came from the drawing function."""
        self._rows: list[Row] = []
        """The same, fitted into the columns."""
        self._width = 0
        self._strips: dict[int, Strip] = {}
        """The rows as they were sent, until they change."""
        self._styles: dict[tuple[Ink, str], Style] = {}

    def watch_view(self) -> None:
        """Draws it."""
        self._draw_again()

    def on_resize(self) -> None:
        """Draws it in the new size."""
        self._draw_again()

    async def on_click(self, event: Click) -> None:
        """Does what stands at that column."""
        if self._pick is not None and self.view is not None:
            action = self._pick(self.view, event.x, self.size.width)
            if action:
                await self.run_action(f"app.{action}")

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of ``crop``.

        Textual would ask each part in each frame for its border, padding, opacity and all. A part has none of
        these (see app.tcss), so a row stays as it is until its text or the theme changes.
        """
        if not self._rows or self.hover_style or crop.column_span != (0, self._width):
            # What a click would do shows under the mouse.
            return super().render_lines(crop)
        return [self._strips.get(y) or self._strip(y) for y in crop.line_range]

    def _strip(self, y: int) -> Strip:
        strip = self.render_line(y)
        _, background = self.background_colors
        for filter_ in self.get_line_filters():
            strip = strip.apply_filter(filter_, background)
        self._strips[y] = strip
        return strip

    def render_line(self, y: int) -> Strip:
        """The row at ``y``, inked."""
        pieces = self._rows[y] if y < len(self._rows) else ()
        room = Piece(" " * (self._width - width_of(pieces)))
        # One segment for each look, since each is sent with its colours.
        looks = groupby((*pieces, room), key=lambda piece: piece[1:])
        texts = (("".join(piece.text for piece in alike), look) for look, alike in looks)
        return Strip([Segment(text, self._style(*look)) for text, look in texts if text])

    def notify_style_update(self) -> None:
        """Other colours count from now on."""
        self._styles.clear()
        self._strips.clear()
        super().notify_style_update()

    def _draw_again(self) -> None:
        width, height = self.size
        if self.view is None or not width or not height:
            return
        drawn = self._draw(self.view, width, height)[:height]
        drawn += [()] * (height - len(drawn))
        old, self._drawn = self._drawn, drawn
        if len(old) != height or width != self._width:
            self._width = width
            self._rows = [fit(row, width) for row in drawn]
            self._strips.clear()
            self.refresh()
            return
        regions = []
        for y, (before, now) in enumerate(zip(old, drawn, strict=True)):
            if before == now:
                continue
            shown, self._rows[y] = self._rows[y], fit(now, width)
            self._strips.pop(y, None)
            regions += [
                Region(first, y, end - first, 1) for first, end in changed_spans(shown, self._rows[y])
            ]
        if regions:
            self.refresh(*regions)

    def _style(self, ink: Ink, action: str) -> Style:
        style = self._styles.get((ink, action))
        if style is None:
            style = self.rich_style + ink_style(ink, self.app.theme, colourless=self.app.no_color)
            if action:
                style += Style(meta={"@click": action})
            self._styles[ink, action] = style
        return style
