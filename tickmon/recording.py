"""Files of readings: a writer that keeps whatever it was given, and snapshots of one window."""

from __future__ import annotations

import errno
import itertools
import os
import re
import stat
import zlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import NO_TOTAL, Summary, add
from tickmon.errors import TickmonError
from tickmon.formats import lines, members
from tickmon.report import reading_text

_T = TypeVar("_T")

_RECORDING = ".jsonl.gz"
_TEXT = ".txt"

_GZIP_WBITS = 16 + zlib.MAX_WBITS


class Writer:
    """Text into a file; a name that ends in ``.gz`` compresses it, as one stream.

    A run that cannot begin changes nothing: an existing file keeps its content until the first write, and
    a file that was made here and never written to is removed again.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        """Opens ``path``; TickmonError when it exists (unless ``force``) or cannot be written."""
        self.path = path
        self._gzip = zlib.compressobj(wbits=_GZIP_WBITS) if path.suffix == ".gz" else None
        self._empty = True
        self._broken = False
        self._end_bytes = 0
        try:
            self._descriptor, self._created = _open(path, force)
        except FileExistsError:
            raise TickmonError(
                f"{path} exists already: give another name, or --force to overwrite it"
            ) from None
        except OSError as error:
            raise _refusal(path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def write(self, text: str) -> None:
        """Adds ``text``, not empty: whoever reads the file now finds it.

        TickmonError when that fails (BrokenPipeError when it is a pipe without a reader). A file then holds
        what it held before, not half of ``text``, and the next ``write`` may succeed.
        """
        data = text.encode()
        before = self._gzip
        if self._gzip:
            self._gzip = self._gzip.copy()
            data = self._gzip.compress(data) + self._gzip.flush(zlib.Z_SYNC_FLUSH)
        try:
            self._put(data)
        except TickmonError:
            self._gzip = before
            raise

    @property
    def size_bytes(self) -> int:
        """How long the file is by now."""
        return self._end_bytes

    def adrift(self) -> str | None:
        """None while the file is found under its name; else one line that says where what is written goes."""
        own = os.fstat(self._descriptor)
        if not stat.S_ISREG(own.st_mode):
            return None
        try:
            if os.path.samestat(os.stat(self.path), own):
                return None
        except OSError:
            pass
        if own.st_nlink:
            return f"{self.path} was moved: the recording goes on in the file that it was"
        return (
            f"{self.path} was removed: what is recorded is lost at the end, unless you copy "
            f"/proc/{os.getpid()}/fd/{self._descriptor} before"
        )

    def close(self) -> None:
        """Ends the file. May be called twice."""
        if self._descriptor < 0:
            return
        try:
            if self._empty and self._created:
                self.path.unlink(missing_ok=True)
            elif self._gzip and not self._empty and not self._broken:
                self._put(self._gzip.flush(zlib.Z_FINISH))
        finally:
            os.close(self._descriptor)
            self._descriptor = -1

    def _put(self, data: bytes) -> None:
        try:
            if self._empty and stat.S_ISREG(os.fstat(self._descriptor).st_mode):
                os.ftruncate(self._descriptor, 0)
            self._empty = False
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            self._end_bytes += len(data)
        except BrokenPipeError:
            self._broken = True
            raise
        except OSError as error:
            self._take_back()
            raise _refusal(self.path, error) from None

    def _take_back(self) -> None:
        """Ends the file again where it ended before a write that failed; pipes have no such place."""
        try:
            os.ftruncate(self._descriptor, self._end_bytes)
            os.lseek(self._descriptor, self._end_bytes, os.SEEK_SET)
            self._empty = not self._end_bytes
        except OSError:
            self._broken = True


def save_snapshot(analysis: Analysis, header: lines.Header, directory: Path) -> Path:
    """One window with every interruption as a recording of its own, and beside it its text (``.txt``).

    They go into ``directory``, or into the state directory when they cannot be written there. Returns the
    recording's path; TickmonError when neither takes them. No half file stays behind.
    """
    return _first_to_take(directory, lambda folder: _save_into(folder, analysis, header), "no snapshot")


def open_recording(header: lines.Header, cpu: int, directory: Path) -> Writer:
    """A new file for a recording that begins on ``cpu`` as ``header`` says; folders as for snapshots."""

    def opened(folder: Path) -> Writer:
        return Writer(folder / (_free_stem(folder, header, cpu, header.started_at) + _RECORDING))

    return _first_to_take(directory, opened, "no recording")


def _first_to_take(directory: Path, make: Callable[[Path], _T], nothing: str) -> _T:
    """``make`` of the directory or, where that raises, of the state directory; TickmonError when both do."""
    reasons = []
    for folder in (directory, state_directory()):
        try:
            if folder != directory:
                folder.mkdir(parents=True, exist_ok=True)
            return make(folder)
        except OSError as error:
            reasons.append(str(_refusal(folder, error)))
        except TickmonError as error:
            reasons.append(str(error))
    raise TickmonError(f"{nothing}: " + "; ".join(reasons))


def state_directory() -> Path:
    """Where programs keep what they were not told to put elsewhere (XDG base directories)."""
    given = os.environ.get("XDG_STATE_HOME", "")
    # The specification: a relative path there is to be ignored.
    base = given if os.path.isabs(given) else os.path.expanduser("~/.local/state")
    return Path(base) / "tickmon"


def _save_into(folder: Path, analysis: Analysis, header: lines.Header) -> Path:
    summary = add(NO_TOTAL, analysis).summary()
    recording = "".join(map(lines.text_of, _snapshot_lines(analysis, summary, header)))
    text = reading_text(header, summary, windows=1)
    window = analysis.window
    stem = _free_stem(folder, header, window.segment.cpu, window.started_at)
    made: list[Path] = []
    try:
        for ending, content in ((_RECORDING, recording), (_TEXT, text)):
            with Writer(folder / (stem + ending)) as writer:
                made.append(writer.path)
                writer.write(content)
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    return made[0]


def _snapshot_lines(analysis: Analysis, summary: Summary, header: lines.Header) -> Iterator[members.Line]:
    yield lines.header_line(header)
    yield lines.segment_line(analysis.window.segment)
    yield lines.window_line(analysis, events=True)
    yield from lines.event_lines(analysis)
    yield lines.summary_line(summary, windows=1)


def _free_stem(folder: Path, header: lines.Header, cpu: int, at: datetime) -> str:
    """HOST-cpuN-YYYYmmddTHHMMSSZ, with ``-2`` and so on when there are such files already."""
    host = re.sub(r"[^A-Za-z0-9._-]", "_", header.host.name or "").lstrip(".-")[:64] or "host"
    stem = f"{host}-cpu{cpu}-{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    stems = itertools.chain([stem], (f"{stem}-{again}" for again in itertools.count(2)))
    return next(s for s in stems if not any(os.path.lexists(folder / (s + e)) for e in (_RECORDING, _TEXT)))


def _open(path: Path, force: bool) -> tuple[int, bool]:
    """What to write to, and whether the file was made here; devices and pipes hold nothing to lose."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), True
    except FileExistsError:
        if path.is_file() and not force:
            raise
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666), False


def _refusal(path: Path, error: OSError) -> TickmonError:
    if error.errno == errno.ENOENT and not path.parent.is_dir():
        return TickmonError(f"cannot write {path}: there is no folder {path.parent}")
    return TickmonError(f"cannot write {path}: {os.strerror(error.errno) if error.errno else error}")
