"""The documented format: a schema that all output keeps to, a page that names every member, old files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests import contract
from tests.command import finished, spare_cpu
from tests.readings import loop_window, lossy_window, quiet_window, three_windows, unwatched_window
from tests.recordings import Line, of_kind, written
from tickmon.analysis.readings import Analysis
from tickmon.loading.read import read
from tickmon.loading.runs import runs

SCHEMA = json.loads(files("tickmon.formats").joinpath("schema.json").read_text(encoding="utf-8"))
PAGE = files("tickmon.formats").joinpath("FORMAT.md").read_text(encoding="utf-8")
GOLDEN = Path(__file__).parent / "golden"

VALIDATOR = Draft202012Validator(SCHEMA)


def hold(text: str) -> None:
    """AssertionError when a line of ``text`` is not as the schema says."""
    for line in text.splitlines():
        error = next(VALIDATOR.iter_errors(json.loads(line)), None)
        assert error is None, (error.json_path, error.message)


def test_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("events", [False, True])
@pytest.mark.parametrize(
    "make",
    [
        three_windows,
        *(lambda make=make: [make()] for make in (loop_window, lossy_window, quiet_window, unwatched_window)),
    ],
)
def test_what_is_written_keeps_to_the_schema(make: Callable[[], list[Analysis]], events: bool) -> None:
    hold(written(make(), events=events, note="ended by SIGINT"))


@pytest.mark.parametrize("method", ["gap", "loop"])
def test_what_a_real_run_writes_keeps_to_the_schema(tmp_path: Path, method: str) -> None:
    path = tmp_path / "a.jsonl"
    cpu = str(spare_cpu())
    arguments = ["--method", method, "--cpu", cpu, "--window", "0.2", "--events", "--output", str(path)]
    assert finished("sample", *arguments, "--duration", "0.6").returncode == 0
    hold(path.read_text())
    assert of_kind(read(path), Analysis)


@pytest.mark.parametrize(
    "change",
    [
        lambda window: window.pop("reads"),
        lambda window: window.update(reads=-1),
        lambda window: window.update(reads=2**53),
        lambda window: window.update(started_at="today"),
        lambda window: window["check"].update(verdict="fine"),
        lambda window: window["tick"].update(median_cycles="4"),
        lambda window: window["worst"].extend(window["worst"]),
    ],
)
def test_schema_refuses_what_is_not_the_format(change: Callable[[Line], object]) -> None:
    window = json.loads(written(three_windows()).splitlines()[2])
    hold(json.dumps(window))
    change(window)
    assert not VALIDATOR.is_valid(window)


def _members(of: object) -> Iterator[set[str]]:
    """The names of members of each object in a description of tests.contract."""
    match of:
        case contract.Maybe(of=inner) | contract.ListOf(of=inner) | contract.WithEvents(of=inner):
            yield from _members(inner)
        case Mapping():
            yield set(of)
            for inner in of.values():
                yield from _members(inner)


def test_schema_names_the_members_of_the_contract_and_no_others() -> None:
    described = [set(part["properties"]) - {"line"} for part in SCHEMA["$defs"].values()]
    window = {**contract.WINDOW, **contract.LOOP_WINDOW, "sample_cycles": contract.ListOf(int)}
    summary = {**contract.SUMMARY, **contract.LOOP_SUMMARY}
    kinds = (contract.HEADER, contract.SEGMENT, window, summary, contract.EVENTS, contract.NOTE)
    named = [names for kind in kinds for names in _members(kind)]
    assert {frozenset(names) for names in named} == {frozenset(names) for names in described}


def test_page_names_every_member() -> None:
    for kind, part in SCHEMA["$defs"].items():
        section = PAGE.split(f"\n## {kind}\n", 1)[1].split("\n## ", 1)[0]
        for name in part["properties"]:
            assert f"| `{name}` |" in section, (kind, name)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("v1-*.jsonl.gz")), ids=lambda path: path.name)
def test_files_of_version_1_are_read_for_ever(path: Path) -> None:
    windows = of_kind(read(path), Analysis)
    expected = {
        "v1-events": (3, 4670, 8.36, 750),
        "v1-first": (3, 4670, 8.36, 750),
        "v1-killed": (2, 3107, None, 500),
        "v1-lossy": (1, 5, None, 0),
        "v1-loop": (1, 7, None, 1),
        "v1-summaries": (3, 4670, 8.36, 750),
    }
    count, interruptions, median_us, seen = expected[path.name.split(".")[0]]
    (run,) = runs(path)
    (summed,) = run.summed
    analysis = summed.summary.analysis
    assert len(windows) == summed.windows == count
    assert analysis.window.interruptions == interruptions
    assert sum(window.window.interruptions for window in windows) == interruptions
    assert (analysis.check.seen or 0) == seen
    if median_us is not None:
        assert analysis.spread.median_cycles is not None
        assert analysis.spread.median_cycles / analysis.tsc_hz * 1e6 == pytest.approx(median_us, abs=0.005)
    assert finished("show", str(path)).returncode == 0


def test_object_of_version_1_is_read_for_ever() -> None:
    assert len(of_kind(read(GOLDEN / "v1-object.json.gz"), Analysis)) == 3
