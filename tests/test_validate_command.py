"""``tickmon validate``: its options, its output, and one short run here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from tests.command import children, exists, finished, running, spare_cpu
from tests.readings import HEADER, quiet_window
from tests.test_validate import judged
from tickmon.commandline import parse
from tickmon.errors import TickmonError, UsageError
from tickmon.machine.facts import read_machine
from tickmon.options import ValidateOptions
from tickmon.sampling.sampler import EXECUTABLE
from tickmon.validate import run as validating
from tickmon.validate.findings import unjudged, verdict_of
from tickmon.validate.report import Conditions, validation_json, validation_text
from tickmon.validate.run import LEAST_NS, MOST_NS, plan_injections
from tickmon.windows import Ended, Event, Settings

OUTCOMES = {"pass", "fail", "could not be judged", "noted"}


def conditions() -> Conditions:
    return Conditions(
        started_at=datetime(2026, 9, 21, tzinfo=UTC),
        duration_s=24.0,
        host=HEADER.host,
        segment=quiet_window().window.segment,
        tsc_hz=2e9,
        injected_as="SCHED_FIFO",
    )


def test_text_fits_into_a_mail_and_ends_with_the_verdict() -> None:
    findings = [*judged().values(), unjudged("trace", "trace", "gaps and ticks", "it needs root")]
    text = validation_text(conditions(), findings, verdict_of(findings))
    assert all(len(line) <= 78 for line in text.splitlines())
    last = " ".join(text.rpartition("\n\n")[2].split())
    assert last == verdict_of(findings).sentence
    for finding in findings:
        assert finding.what in text


def test_json_holds_every_finding() -> None:
    findings = [*judged().values(), unjudged("trace", "trace", "gaps and ticks", "it needs root")]
    value = json.loads(validation_json(conditions(), findings, verdict_of(findings)))
    check_json(value)
    assert value["verdict"] == "valid"
    assert value["checks"][-1]["outcome"] == "could not be judged"
    assert value["checks"][-1]["value"] is None
    slope = next(check for check in value["checks"] if check["check"] == "slope")
    assert slope["interval"][0] <= slope["value"] <= slope["interval"][1]


class Windowless:
    """A source that comes to its end without a window."""

    def __init__(self, *_: object, **__: object) -> None: ...

    def start(self, on_event: Callable[[Event], None]) -> None:
        on_event(Ended(error=None))

    def stop(self) -> None: ...


def test_run_without_any_window_is_an_error_of_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validating, "Collector", Windowless)
    with pytest.raises(TickmonError, match="nothing could be measured on CPU 1"):
        validating.gather(Settings(cpu=1), read_machine(), duration_s=10.0, say=lambda _: None)


def check_json(value: dict[str, Any]) -> None:
    assert value["format"] == "tickmon-validation"
    assert value["version"] == 1
    assert value["verdict"] in ("valid", "not valid", "could not be judged")
    assert {check["outcome"] for check in value["checks"]} <= OUTCOMES
    assert {check["part"] for check in value["checks"]} == {
        "trace",
        "counters",
        "injected",
        "repeat",
        "loop",
    } or ({check["part"] for check in value["checks"]} == {"trace", "injected"})


def test_plan_has_injections_of_all_lengths_and_of_none() -> None:
    plan = plan_injections(30, most_ns=MOST_NS, tsc_hz=1e9, rng=np.random.default_rng(1))
    spins = plan["spin_cycles"][plan["spin_cycles"] > 0]
    assert 0.2 < np.mean(plan["spin_cycles"] == 0) < 0.4
    assert LEAST_NS <= spins.min() < 2 * LEAST_NS
    assert MOST_NS / 2 < spins.max() <= MOST_NS
    assert int(plan["sleep_ns"].sum() + plan["spin_cycles"].sum()) <= 30e9


def test_options_are_those_of_the_other_commands() -> None:
    asked = parse(["validate", "--cpu", "1", "--duration", "1m", "--hz", "250", "--format", "json"])
    assert isinstance(asked, ValidateOptions)
    assert (asked.measure.cpus, asked.duration_s, asked.measure.kernel_hz) == ("1", 60.0, 250.0)


@pytest.mark.parametrize("wrong", [["--duration", "1"], ["--duration", "1h"], ["--format", "csv"], ["extra"]])
def test_wrong_usage_is_refused(wrong: list[str]) -> None:
    with pytest.raises(UsageError):
        parse(["validate", *wrong])


def test_several_cpus_are_wrong_usage() -> None:
    spare_cpu()
    done = finished("validate", "--cpu", "0-1")
    assert done.returncode == 2
    assert not done.stdout


def test_closed_standard_output_is_said_before_anything_is_measured() -> None:
    done = finished("validate", "--cpu", str(spare_cpu()), preexec_fn=lambda: os.close(1), stdout=None)
    assert done.returncode == 1
    assert "standard output is closed" in done.stderr
    assert "Traceback" not in done.stderr


def test_short_run_judges_every_part_and_finds_nothing_wrong() -> None:
    """What others do on this machine may leave checks open; it must not make one fail."""
    done = finished("validate", "--cpu", str(spare_cpu()), "--duration", "6", "--format", "json")
    value = json.loads(done.stdout)
    check_json(value)
    assert [check for check in value["checks"] if check["outcome"] == "fail"] == []
    assert done.returncode == {"valid": 0, "could not be judged": 1}[value["verdict"]]
    found = next(check for check in value["checks"] if check["check"] == "found")
    assert found["n"] > 0
    assert not done.stderr or done.stderr.startswith("tickmon: warning:")


def test_ctrl_c_ends_it_and_both_its_processes() -> None:
    with running("validate", "--cpu", str(spare_cpu()), "--duration", "60") as process:
        while not (pids := children(process.pid)):
            pass
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=30)
    assert process.returncode == 128 + signal.SIGINT
    assert not out
    assert "Traceback" not in error
    assert not any(map(exists, pids))


def test_ordinary_user_is_told_what_the_trace_needs_and_has_the_rest() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become an ordinary user; as one, the short run above is this test")
    nobody: dict[str, Any] = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    try:
        works = (
            subprocess.run([sys.executable, "-c", "import tickmon.sampling.native"], **nobody).returncode == 0
        )
    except PermissionError:
        works = False
    if not (works and os.stat(EXECUTABLE).st_mode & 0o001):
        pytest.skip("this Python, or tickmon, lies where an ordinary user cannot read it")
    done = finished("validate", "--cpu", str(spare_cpu()), "--duration", "6", "--format", "json", **nobody)
    value = json.loads(done.stdout)
    check_json(value)
    (trace,) = [check for check in value["checks"] if check["part"] == "trace"]
    assert trace["outcome"] == "could not be judged"
    assert "root" in trace["reason"]
    assert done.returncode in (0, 1)
