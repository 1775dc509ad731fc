"""The members of an object of a line, each held against what it may be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from tickmon.formats.members import NUMBER_MOST
from tickmon.text import harmless

TEXT_LIMIT = 1000
"""Characters of a text that are kept; no message of tickmon is longer."""

NAME_LIMIT = 200
"""Characters of a name that are kept."""

CPU_MOST = 1 << 20
PARTS_MOST = 1000
"""So many sources, trains or rows a window may have."""

HZ_LEAST, HZ_MOST = 1e-3, 1e12
BASES = ("kernel", "option", "measured")

_DIGITS_MAX = 20
"""Of a 64-bit number."""


class BadMemberError(ValueError):
    """Something in a line is not what it should be; says which member, and what it is."""


class Members:
    """An object inside a line: asked for its members by name, it gives what they must be or says no.

    A member that is missing is null. What nobody asks for may be anything.
    """

    __slots__ = ("_values", "_where")

    def __init__(self, values: object, where: str = "") -> None:
        """BadMemberError when ``values`` are no object. ``where`` goes in front of names in messages."""
        if type(values) is not dict:
            raise BadMemberError(f"{where or 'what it holds'} is {_shown(values)}, not an object")
        self._values: dict[str, object] = values
        self._where = f"{where}." if where else ""

    def has(self, name: str) -> bool:
        """Whether it is there and not null."""
        return self._values.get(name) is not None

    def whole_or_none(self, name: str, *, least: int = 0, most: int = NUMBER_MOST) -> int | None:
        """A whole number between the limits."""
        value = self._values.get(name)
        if value is None:
            return None
        if type(value) is not int or not least <= value <= most:
            raise self._bad(name, f"a whole number from {least} to {most}")
        return value

    def whole(self, name: str, *, least: int = 0, most: int = NUMBER_MOST) -> int:
        """One that must be there."""
        value = self.whole_or_none(name, least=least, most=most)
        if value is None:
            raise self._bad(name, "a whole number")
        return value

    def number_or_none(
        self, name: str, *, least: float = -float(NUMBER_MOST), most: float = float(NUMBER_MOST)
    ) -> float | None:
        """Any number between the limits; what was whole stays whole, so that it is written alike again."""
        value = self._values.get(name)
        if value is None:
            return None
        if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]
            raise self._bad(name, f"a number from {least:g} to {most:g}")
        return value  # type: ignore[return-value]

    def number(
        self, name: str, *, least: float = -float(NUMBER_MOST), most: float = float(NUMBER_MOST)
    ) -> float:
        """One that must be there."""
        value = self.number_or_none(name, least=least, most=most)
        if value is None:
            raise self._bad(name, "a number")
        return value

    def text_or_none(self, name: str, limit: int = TEXT_LIMIT) -> str | None:
        """Text, made harmless and cut."""
        value = self._values.get(name)
        if value is None:
            return None
        if type(value) is not str:
            raise self._bad(name, "text")
        return harmless_text(value, limit)

    def text(self, name: str, limit: int = TEXT_LIMIT) -> str:
        """One that must be there."""
        value = self.text_or_none(name, limit)
        if value is None:
            raise self._bad(name, "text")
        return value

    def texts(self, name: str, limit: int = TEXT_LIMIT) -> tuple[str, ...]:
        """A list of them."""
        values = self._list(name)
        if not all(type(value) is str for value in values):
            raise self._bad(name, "a list of texts")
        return tuple(harmless_text(value, limit) for value in values)  # type: ignore[arg-type]

    def word(self, name: str, words: tuple[str, ...]) -> str:
        """One of ``words``."""
        value = self._values.get(name)
        if value not in words:
            raise self._bad(name, f"one of {', '.join(words)}")
        return str(value)

    def truth_or_none(self, name: str) -> bool | None:
        """True or false."""
        value = self._values.get(name)
        if value is not None and type(value) is not bool:
            raise self._bad(name, "true or false")
        return value

    def counter(self, name: str) -> int:
        """An absolute counter value or time, as decimal text."""
        value = self._values.get(name)
        if type(value) is not str or not (value.isascii() and value.isdigit() and len(value) <= _DIGITS_MAX):
            raise self._bad(name, "a whole number as text")
        return int(value)

    def when_or_none(self, name: str) -> datetime | None:
        """A time of day, in UTC."""
        value = self._values.get(name)
        if value is None:
            return None
        try:
            at = datetime.fromisoformat(value)  # type: ignore[arg-type]
            return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            raise self._bad(name, "a time such as 2026-09-21T14:13:19.987654Z") from None

    def when(self, name: str) -> datetime:
        """One that must be there."""
        value = self.when_or_none(name)
        if value is None:
            raise self._bad(name, "a time")
        return value

    def part_or_none(self, name: str) -> Members | None:
        """An object inside this one."""
        value = self._values.get(name)
        return None if value is None else Members(value, f"{self._where}{name}")

    def part(self, name: str) -> Members:
        """One that must be there."""
        return Members(self._values.get(name), f"{self._where}{name}")

    def parts(self, name: str, most: int = 100_000) -> Iterator[Members]:
        """A list of objects; null is an empty one."""
        where = f"{self._where}{name}[]"
        return (Members(value, where) for value in self.values(name, most))

    def values(self, name: str, most: int) -> list[object]:
        """A list of anything; null is an empty one."""
        values = self._list(name)
        if len(values) > most:
            raise self._bad(name, f"a list of at most {most:,}")
        return values

    def whole_numbers(self, name: str, *, least: int = 0, most: int = NUMBER_MOST) -> NDArray[np.int64]:
        """A list of whole numbers between the limits, shape ``(n,)``."""
        # Types first: an array of numbers and one long text would have room for that text everywhere.
        values = self.whole_list(name)
        if not values:
            return np.zeros(0, np.int64)
        try:
            numbers = np.array(values, np.int64)
        except OverflowError:
            numbers = None
        if numbers is not None and numbers.min() >= least and numbers.max() <= most:
            return numbers
        raise self._bad(name, f"a list of whole numbers from {least} to {most}")

    def whole_list(self, name: str) -> list[int]:
        """A list of whole numbers of any size."""
        values = self._list(name)
        if values and set(map(type, values)) != {int}:
            raise self._bad(name, "a list of whole numbers")
        return values  # type: ignore[return-value]

    def _list(self, name: str) -> list[object]:
        values = self._values.get(name)
        if values is None:
            return []
        if type(values) is not list:
            raise self._bad(name, "a list")
        return values

    def _bad(self, name: str, wanted: str) -> BadMemberError:
        if name not in self._values:
            return BadMemberError(f"has no {self._where}{name}")
        return BadMemberError(f"says {self._where}{name} is {_shown(self._values[name])}, not {wanted}")


def harmless_text(text: str, limit: int) -> str:
    """``text`` on one line that no terminal obeys; what is far too long is cut before it is looked at."""
    return harmless(text[: 2 * limit], limit)


def _shown(value: object) -> str:
    """A value as it may stand in a message."""
    match value:
        case None:
            return "null"
        case dict():
            return "an object"
        case list():
            return f"a list of {len(value)}"
        case str():
            return f'"{harmless_text(value, 40)}"'
        case float() if not math.isfinite(value):
            return "no number"
        case int() if abs(value) > 10**30:
            return "a number beyond all bounds"
    return str(value)
