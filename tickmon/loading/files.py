"""Lines of a file that may be packed, cut, joined or nothing of the kind, in bounded memory."""

from __future__ import annotations

import contextlib
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from tickmon.errors import TickmonError

STDIN = Path("-")

LINE_MAX_BYTES = 16 << 20
"""No line that was ever written is longer: a million samples of the loop method take 8 MB. In memory a line
that was made up for it takes 25 times its length."""

_CHUNK_BYTES = 256 << 10
_BLANK_MAX_BYTES = 1 << 20
"""So much nothing in one piece is no recording: packed, it could go on for ever."""
_GZIP = b"\x1f\x8b"
_GZIP_WBITS = 16 + zlib.MAX_WBITS
_BOM = b"\xef\xbb\xbf"


def name_of(path: Path) -> str:
    """What ``path`` is called in a message."""
    return "standard input" if path == STDIN else str(path)


def damaged(path: Path, number: int, what: str, remedy: str = "") -> TickmonError:
    """An error in a line of a file. What helps is ``remedy``, else to cut the file there."""
    if not remedy:
        remedy = "take a whole copy of the file"
        if number > 2:
            program = "zcat" if path.suffix == ".gz" else "cat"
            remedy += f", or what is before: {program} FILE | head -n {number - 1} > PART.jsonl"
    return TickmonError(f"cannot read {name_of(path)}: line {number} {what}; {remedy}")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """The file's bytes, or those of standard input for ``-``; TickmonError when it cannot be read."""
    if path == STDIN:
        if sys.stdin is None:
            raise TickmonError("standard input is closed: give the name of a file")
        yield sys.stdin.buffer
        return
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise _refusal(path, error) from None
    with file:
        yield file


def lines_of(path: Path, file: BinaryIO) -> Iterator[tuple[int, bytes, bool]]:
    """The number (from 1), bytes and wholeness of every line that is not blank.

    Only the last can lack its end. A packed file that stops in the middle, as one does while it is
    written, gives what it holds. TickmonError when a line is too long, or the packing is damaged.
    """
    rest: list[bytes] = []
    rest_bytes = blank_bytes = number = 0
    chunks = _chunks(path, file)
    while True:
        try:
            chunk = next(chunks, None)
        except zlib.error:
            raise damaged(path, number + 1, "cannot be unpacked") from None
        if chunk is None:
            break
        *whole, last = chunk.split(b"\n")
        for part in whole:
            number += 1
            line = b"".join((*rest, part)) if rest else part
            rest, rest_bytes = [], 0
            if line.strip():
                blank_bytes = 0
                yield number, line, True
            else:
                blank_bytes += len(line) + 1
        if last:
            rest.append(last)
            rest_bytes += len(last)
        if rest_bytes > LINE_MAX_BYTES or blank_bytes > _BLANK_MAX_BYTES:
            remedy = "" if number else "give a file that tickmon wrote"
            raise damaged(path, number + 1, f"is longer than {LINE_MAX_BYTES >> 20} MiB", remedy)
    line = b"".join(rest)
    if line.strip():
        yield number + 1, line, False


def _chunks(path: Path, file: BinaryIO) -> Iterator[bytes]:
    """Unpacked bytes, without the mark that some editors put in front."""
    first = _read(path, file)
    while 0 < len(first) < len(_BOM) and (more := _read(path, file)):
        first += more
    if first.startswith(_GZIP):
        yield from _without_mark(_unpacked(path, file, first))
        return
    yield from _without_mark(iter((first,)))
    while chunk := _read(path, file):
        yield chunk


def _without_mark(chunks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(chunks, b"")
    yield first.removeprefix(_BOM)
    yield from chunks


def _unpacked(path: Path, file: BinaryIO, data: bytes) -> Iterator[bytes]:
    """All members of a packed file, one after the other; a missing end is no error. Raises zlib.error."""
    unpack = zlib.decompressobj(_GZIP_WBITS)
    while True:
        if unpack.eof:
            # After the last member some programs fill up with zeros.
            data = unpack.unused_data.lstrip(b"\0") or data.lstrip(b"\0")
            while len(data) < 2 and (more := _read(path, file)):
                data = (data + more).lstrip(b"\0")
            if not data:
                return
            unpack = zlib.decompressobj(_GZIP_WBITS)
        before = unpack.copy()
        try:
            chunk = unpack.decompress(data, _CHUNK_BYTES)
        except zlib.error:
            yield from _until_damage(before, data)
            raise
        if chunk:
            yield chunk
        data = unpack.unconsumed_tail
        if not data and not unpack.eof and len(chunk) < _CHUNK_BYTES and not (data := _read(path, file)):
            return


def _until_damage(unpack: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """What can be had of ``data`` before what cannot be unpacked, a byte at a time."""
    with contextlib.suppress(zlib.error):
        for at in range(len(data)):
            yield unpack.decompress(data[at : at + 1])


def _read(path: Path, file: BinaryIO) -> bytes:
    try:
        # A pipe or a terminal gives what it has.
        return os.read(file.fileno(), _CHUNK_BYTES)
    except OSError as error:
        raise _refusal(path, error) from None


def _refusal(path: Path, error: OSError) -> TickmonError:
    return TickmonError(f"cannot read {name_of(path)}: {os.strerror(error.errno) if error.errno else error}")
