"""A recording on its way into a file for hours: what goes wrong is said at once, and measuring goes on."""

from __future__ import annotations

from collections.abc import Callable

from tickmon.errors import TickmonError
from tickmon.recording import Writer
from tickmon.stdout import say
from tickmon.units import counted


class Keeping:
    """Takes the text of window after window; one that cannot be written is told and left out.

    A full disk may have room again, so the next window is tried again.
    """

    def __init__(self, writer: Writer, *, tell: Callable[[str], None] = say) -> None:
        """``tell`` takes each line on what goes wrong, and what goes right again."""
        self._writer = writer
        self._tell = tell
        self._begun = False
        self._missing = 0
        self._failing = False
        self._adrift: str | None = None

    def keep(self, text: str) -> bool:
        """Whether ``text``, of one window, was written. TickmonError when it is the first and was not."""
        try:
            self._writer.write(text)
        except TickmonError as error:
            if not self._begun:
                raise
            self._missing += 1
            if not self._failing:
                self._tell(f"{error}; measuring goes on, and so does the recording as soon as it can")
            self._failing = True
            return False
        if self._failing:
            self._tell(f"{self._writer.path} can be written again: {self.missing_text()}")
        self._begun, self._failing = True, False
        adrift = self._writer.adrift()
        if adrift is not None and adrift != self._adrift:
            self._tell(adrift)
        self._adrift = adrift
        return True

    @property
    def trouble(self) -> str:
        """What is wrong with the file by now, in two words; empty for nothing."""
        if self._failing:
            return "not written"
        return "file gone" if self._adrift is not None else ""

    def missing_text(self) -> str:
        """How many windows are not in the file."""
        return f"{counted(self._missing, 'window is', 'windows are')} missing in it"

    def end(self, text: str) -> None:
        """The last of the recording. TickmonError when the file does not hold all that was measured."""
        if text:
            self._writer.write(text)
        if self._missing:
            raise TickmonError(f"{self._writer.path} is not complete: {self.missing_text()}")
        if (adrift := self._writer.adrift()) is not None:
            raise TickmonError(adrift)
