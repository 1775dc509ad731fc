"""The message that carries the feed's news to the app."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message

from tickmon.tui.reader import News
from tickmon.tui.view import Reading
from tickmon.windows import OpenGap


@dataclass
class Told(Message):
    """The feed's news, from another thread."""

    turn: int
    news: News

    def can_replace(self, message: Message) -> bool:
        """Whether a newer ``message`` right behind this one makes it out of date."""
        if not isinstance(message, Told):
            return False
        if isinstance(self.news, OpenGap):
            return isinstance(message.news, OpenGap | Reading)
        return isinstance(self.news, Reading) and isinstance(message.news, Reading)
