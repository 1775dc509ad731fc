"""The summary that people read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.making import Life, make_segment, make_window, simulate
from tests.readings import (
    HEADER,
    loop_window,
    lossy_window,
    quiet_window,
    read,
    read_one,
    sum_up,
    three_windows,
)
from tickmon.analysis.readings import Analysis, Check
from tickmon.layout import WIDTH
from tickmon.report import check_text, live_text, reading_text
from tickmon.windows import ReadingWarning


def text_of(*analyses: Analysis) -> str:
    return reading_text(HEADER, sum_up(analyses), windows=len(analyses))


def line_of(text: str, label: str) -> str:
    """The line that begins with ``label``, and the lines that go on from it, as one."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith(label))
    more = [line.strip() for line in lines[first + 1 :]]
    end = next((i for i, line in enumerate(lines[first + 1 :]) if not line.startswith(" ")), len(more))
    return " ".join([lines[first].removeprefix(label).strip(), *more[:end]])


def test_summary_says_what_was_measured_where_and_how() -> None:
    text = text_of(*three_windows())
    assert text.startswith("tickmon ")
    assert "CPU 1 of trade7" in text
    assert line_of(text, "measured").endswith("UTC, 3.000 s in 3 windows")
    assert line_of(text, "kernel") == "6.18.0-rt, HZ 250 (made up)"
    assert line_of(text, "processor") == "Xeon 8480"
    assert "MHz (kernel, unverified), clocksource tsc" in line_of(text, "counter")
    assert "above 200 ns (400 cycles)" in line_of(text, "method")


def test_summary_says_at_which_priority_it_was_measured() -> None:
    segment = make_segment(priority=3)
    text = text_of(*read(simulate(segment=segment)))
    assert line_of(text, "method").endswith("; as a SCHED_FIFO task of priority 3")
    assert "SCHED_FIFO" not in text_of(*three_windows())


def test_summary_says_what_came_out() -> None:
    analyses = three_windows()
    text = text_of(*analyses)
    assert line_of(text, "baseline").startswith("20.0 ns (40 cycles), typical 25.0 ns")
    assert "of the CPU: " in line_of(text, "overhead")
    assert "99.9 %" not in line_of(text, "tick ")
    assert f"(n = {sum_up(analyses).analysis.tick.spread.n})" in line_of(text, "tick ")  # type: ignore[union-attr]
    assert line_of(text, "check").startswith("ok: 750 ticks were due at 250 Hz, 750 were seen.")


def test_time_asleep_was_not_measured() -> None:
    asleep = text_of(*read(simulate(Life(noise_hz=0, suspended=((1.5013e9, 3_600e9),)), ends_ns=(1e9, 2e9))))
    assert "UTC, 1.997 s in 2 windows" in line_of(asleep, "measured")
    assert "in 1.997 s, 499 interruptions" in line_of(asleep, "overhead")
    assert "  250  " in line_of(asleep, "kernel tick")
    assert line_of(asleep, "kernel tick").endswith("0.0998 %")


def test_summary_lists_every_source_and_every_train() -> None:
    analyses = three_windows()
    text = text_of(*analyses)
    summary = sum_up(analyses).analysis
    for source in summary.sources:
        assert any(line.startswith(source.name) for line in text.splitlines())
    assert any(line.startswith("the kernel's tick") for line in text.splitlines())
    assert "999.98" in text


def test_worst_comes_with_its_time_of_day_and_what_it_was() -> None:
    life = Life(gaps=((0.5e9 + 1_234_567, 3e6),))
    text = text_of(*read(simulate(life)))
    worst = line_of(text, "worst").split("UTC")[0]
    assert worst.startswith("3.00 ms at 14:13:20.50123")


def test_no_line_is_wider_than_a_mail() -> None:
    warning = ReadingWarning(code="x", message="the kernel does not trust the counter " * 8)
    window = replace(lossy_window().window, warnings=(warning,))
    for text in (text_of(*three_windows()), text_of(read_one(window)), text_of(loop_window())):
        assert max(map(len, text.splitlines())) <= WIDTH


def test_every_warning_is_there() -> None:
    warnings = tuple(ReadingWarning(code=f"w{i}", message=f"doubt number {i}") for i in range(4))
    text = text_of(read_one(make_window(warnings=warnings)))
    assert all(warning.message in text for warning in warnings)


def test_lost_details_are_said() -> None:
    text = text_of(lossy_window())
    assert "5 interruptions" in line_of(text, "overhead")
    assert "2 of them without detail" in text
    assert "(from bins)" in line_of(text, "overhead")
    assert "(from bins)" not in text_of(*three_windows())


def test_nothing_is_said_of_what_does_not_exist() -> None:
    text = text_of(quiet_window())
    assert "nan" not in text.lower()
    assert "none" not in text.lower()
    assert "median –, worst –" in line_of(text, "overhead")
    assert not any(line.startswith(("tick ", "worst", "what ")) for line in text.splitlines())


def test_unknown_host_and_hz_are_called_unknown() -> None:
    host = replace(HEADER.host, name=None, kernel=None, cpu_model=None)
    header = replace(HEADER, host=host, clocksource=None)
    analysis = read_one(make_window(segment=make_segment(kernel_tick=None)))
    text = reading_text(header, sum_up([analysis]), windows=1)
    assert "CPU 1 of an unknown host" in text
    assert line_of(text, "kernel") == "unknown, HZ unknown"
    assert line_of(text, "processor") == "unknown"
    assert line_of(text, "counter").endswith("clocksource unknown")


def test_loop_method_says_its_samples_and_whether_its_baseline_holds() -> None:
    text = text_of(loop_window())
    assert line_of(text, "method") == "loop: 7 samples of 6,800 iterations"
    assert "This baseline " in line_of(text, "baseline")
    assert "7 samples" in line_of(text, "overhead")


def test_worst_without_detail_is_said_to_be_somewhere_in_its_window() -> None:
    worst = line_of(text_of(lossy_window()), "worst")
    assert worst.startswith("3.00 s in the window from 14:13:20.000000 UTC, detail lost")


def test_error_of_the_frequency_is_said_where_it_is_known() -> None:
    segment = make_segment(tsc_hz_error_ppm=1.25, tsc_hz_source="kernel, held against a synchronised clock")
    text = text_of(read_one(make_window(segment=segment)))
    assert "within 1.2 ppm" in line_of(text, "counter")


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("ok", "ok: 250 ticks were due at 250 Hz, 240 were seen."),
        ("missing", "missing: 250 ticks were due at 250 Hz, 240 were seen; the program ran undisturbed"),
        ("extra", "extra: 250 ticks were due at 250 Hz, 240 were seen, and something runs faster"),
        ("stopped", "stopped: 250 ticks were due at 250 Hz, 240 were seen; the kernel stops the tick"),
        ("unknown", "unknown: 250 ticks were due at 250 Hz, 240 were seen, which proves nothing"),
    ],
)
def test_check_is_said_in_words(verdict: str, words: str) -> None:
    check = Check(expected=250, seen=240, kernel=None, kernel_row=None, basis="kernel", verdict=verdict)
    assert check_text(check, 250.0).startswith(words)


def test_what_runs_faster_speaks_against_the_users_rate_only() -> None:
    check = Check(expected=250, seen=250, kernel=None, kernel_row=None, basis="kernel", verdict="extra")
    assert check_text(check, 250.0).endswith("runs faster at the tick's own phase.")
    assert check_text(replace(check, basis="option"), 250.0).endswith("So HZ is not what --hz says.")


def test_check_against_the_ticks_themselves_says_what_it_proves() -> None:
    check = Check(
        expected=250, seen=250, kernel=None, kernel_row=None, basis="measured", verdict="ok", hz=250.0
    )
    assert "only that they come regularly" in check_text(check, None)
    nothing = replace(check, expected=None, seen=None, hz=None, verdict="unknown")
    assert check_text(nothing, 250.0) == "unknown: HZ is 250, but nothing here says when a tick is due."


def test_check_without_hz_or_sight_says_so() -> None:
    blind = Check(expected=None, seen=None, kernel=7, kernel_row="LOC", basis="kernel", verdict="unknown")
    assert check_text(blind, None) == (
        "unknown, since HZ is not known. The kernel counted 7 timer interrupts of every kind (LOC)."
    )
    unseen = replace(blind, expected=250, kernel=None)
    assert check_text(unseen, 250.0).endswith("how many came cannot be told.")


def test_live_line_is_one_short_line() -> None:
    for analysis in (*three_windows(), quiet_window(), loop_window(), lossy_window()):
        line = live_text(analysis)
        assert line.endswith("\n")
        assert line.count("\n") == 1
        assert len(line) <= 120
        assert "cpu 1" in line
