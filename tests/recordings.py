"""Recordings as text and as files, for what reads them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from tests.readings import HEADER, sum_up
from tickmon.analysis.readings import Analysis
from tickmon.analysis.total import Summary
from tickmon.formats.lines import Header
from tickmon.loading.read import Item, read
from tickmon.streams import End, Outcome, stream_of

Line = dict[str, Any]


def written(
    analyses: Sequence[Analysis],
    *,
    form: str = "jsonl",
    events: bool = False,
    header: Header = HEADER,
    summary: Summary | None = None,
    orderly: bool = True,
    note: str | None = None,
) -> str:
    """What ``tickmon sample`` writes of these windows of one CPU."""
    stream = stream_of(form, header, events=events)
    outcome = Outcome(summary=summary or sum_up(analyses), windows=len(analyses))
    end = End(at=header.started_at, outcomes=[outcome], note=note, orderly=orderly)
    return "".join([*map(stream.window, analyses), stream.end(end)])


def file_of(folder: Path, content: str | bytes, name: str = "a.jsonl") -> Path:
    """A file with this content, packed if its name says so."""
    data = content.encode() if isinstance(content, str) else content
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def changed(text: str, kind: str, change: Callable[[Line], object]) -> str:
    """``text`` with its first line of a kind changed."""
    lines = [json.loads(line) for line in text.splitlines()]
    change(next(line for line in lines if line["line"] == kind))
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


def of_kind(items: Iterable[Item], kind: type) -> list[Any]:
    """Those of ``items`` that are ``kind``."""
    return [item for item in items if isinstance(item, kind)]


def windows_in(path: Path, *, events: bool = True) -> list[Analysis]:
    """The windows of a file."""
    return of_kind(read(path, events=events), Analysis)
