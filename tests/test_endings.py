"""What is said of a sampler that ended."""

from __future__ import annotations

import errno

import pytest

from tickmon.sampling.endings import end_message


def said(end: str, *, stage: str = "none", error: int = 0) -> str | None:
    return end_message(end, stage=stage, error=error, cpu=7, priority=5)


@pytest.mark.parametrize("end", ["none", "told", "complete"])
def test_nothing_is_said_of_a_sampler_that_did_what_it_should(end: str) -> None:
    assert said(end) is None


@pytest.mark.parametrize(
    ("end", "stage", "error", "words"),
    [
        ("failed", "pin", errno.EINVAL, "not usable here: offline, or outside this cpuset"),
        ("failed", "pin", errno.EPERM, "cannot pin the sampler to CPU 7: Operation not permitted"),
        ("failed", "priority", errno.EPERM, "priority 5 is not permitted for CPU 7"),
        ("failed", "counter", errno.EIO, "the counter of CPU 7 cannot be used"),
        ("failed", "region", 127, "could not begin (exit code 127)"),
        ("killed", "none", 9, "was ended by SIGKILL"),
        ("killed", "none", 45, "was ended by signal 45"),
        ("moved", "none", 0, "the kernel took the sampler off CPU 7"),
        ("lease", "none", 0, "nobody had read it for too long"),
        ("orphan", "none", 0, "found nobody to work for"),
    ],
)
def test_every_other_end_is_one_line_that_names_the_cpu(end: str, stage: str, error: int, words: str) -> None:
    message = said(end, stage=stage, error=error)
    assert message is not None
    assert words in message
    assert "CPU 7" in message
    assert "\n" not in message
