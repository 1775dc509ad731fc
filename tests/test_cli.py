"""The command line: what it accepts, what it refuses and how, and what it loads."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import pytest

from tests.command import finished, interpreted, spare_cpu
from tickmon import __version__
from tickmon.cli import main
from tickmon.commandline import parse
from tickmon.errors import OUT_OF_MEMORY, UsageError, unmapped_text
from tickmon.machine.cpus import read_cpus
from tickmon.options import SampleOptions, ScreenOptions, WatchOptions
from tickmon.settings import settings_for


def watch_options(*argv: str) -> WatchOptions:
    asked = parse(argv)
    assert isinstance(asked, WatchOptions)
    return asked


def sample_options(*argv: str) -> SampleOptions:
    asked = parse(["sample", *argv])
    assert isinstance(asked, SampleOptions)
    return asked


# -- what is accepted -------------------------------------------------------------------------------


def test_no_command_is_watch() -> None:
    assert watch_options() == watch_options("watch")
    assert watch_options("--cpu", "3", "--window", "2s") == watch_options(
        "watch", "--cpu", "3", "--window", "2s"
    )


def test_defaults_are_those_of_the_contract() -> None:
    asked = sample_options()
    assert (asked.duration_s, asked.samples, asked.format, asked.output) == (10.0, None, "text", None)
    measure = asked.measure
    assert (measure.window_s, measure.method, measure.loop_size) == (1.0, "gap", 6800)
    assert (measure.cpus, measure.threshold_ns, measure.kernel_hz, measure.tsc_hz) == (None,) * 4
    assert measure.priority == 0
    assert not measure.trace


@pytest.mark.parametrize(("word", "traced"), [("auto", False), ("off", False), ("on", True)])
def test_kernel_is_traced_only_when_asked_to(word: str, traced: bool) -> None:
    for asked in (sample_options("--trace", word), watch_options("--trace", word)):
        assert asked.measure.trace is traced
        assert settings_for(asked.measure, 3).trace is traced


def test_screen_takes_the_mouse_and_marks_its_frames_unless_told_not_to() -> None:
    assert watch_options().screen == ScreenOptions(ascii=False, mouse=True, sync=True, theme=None)
    plain = watch_options("--ascii", "--no-mouse", "--no-sync", "--theme", "safe").screen
    assert plain == ScreenOptions(ascii=True, mouse=False, sync=False, theme="safe")


def test_loop_method_takes_one_pass_of_samples_unless_a_duration_is_given() -> None:
    assert sample_options("--method", "loop").samples == 11_000
    assert sample_options("--method", "loop").duration_s is None
    assert sample_options("--method", "loop", "--samples", "50").samples == 50
    timed = sample_options("--method", "loop", "--duration", "5")
    assert (timed.samples, timed.duration_s) == (None, 5.0)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("90s", 90), ("20m", 1200), ("2h", 7200), ("1d", 86_400), ("1.5", 1.5)]
)
def test_durations_take_units(text: str, seconds: float) -> None:
    assert sample_options("--duration", text).duration_s == seconds


def test_threshold_and_frequencies_take_decimals() -> None:
    measure = sample_options("--threshold-ns", "250.5", "--hz", "1000", "--tsc-hz", "2.1e9").measure
    assert (measure.threshold_ns, measure.kernel_hz, measure.tsc_hz) == (250.5, 1000.0, 2.1e9)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.json", "json"),
        ("a.jsonl", "jsonl"),
        ("a.csv", "csv"),
        ("a.jsonl.gz", "jsonl"),
        ("a.csv.gz", "csv"),
        ("a.txt", "text"),
        ("a", "text"),
        ("json", "text"),
    ],
)
def test_name_of_the_output_decides_the_format(name: str, form: str) -> None:
    assert sample_options("--output", name).format == form


def test_format_may_repeat_what_the_name_says_and_decides_where_it_says_nothing() -> None:
    assert sample_options("--output", "a.json.gz", "--format", "json").format == "json"
    assert sample_options("--output", "a.dat", "--format", "csv").format == "csv"


def test_settings_of_both_methods_may_be_given_to_the_screen_which_switches_between_them() -> None:
    measure = watch_options("--loop-size", "100", "--threshold-ns", "500").measure
    assert (measure.loop_size, measure.threshold_ns) == (100, 500.0)


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ("frobnicate", "invalid choice: 'frobnicate'"),
        ("--frobnicate", "unknown: --frobnicate"),
        ("watch --duration 5", "unknown: --duration 5 .see tickmon watch --help"),
        ("sample extra", "unknown: extra"),
        ("sample --dur 5", "unknown: --dur 5"),
        ("sample --cpu", "--cpu: expected one argument"),
        *(
            (f"sample --{option}={value}", f"--{option}: '{value}' is no duration")
            for option in ("window", "duration")
            for value in ("0", "-1", "nan", "inf", "1e9", "5weeks", "0s", "")
        ),
        ("sample --window 0.01", "'0.01' is not within 0.1s and 1h: a shorter one holds too few ticks"),
        ("sample --window 2h", "'2h' is not within 0.1s and 1h: .* a longer one fills the memory"),
        ("sample --duration 21d", "'21d' is not within 0.1s and 20d: later the counter"),
        ("sample --duration 99999999999999d", "is not within"),
        *(
            (f"sample --threshold-ns={value}", f"--threshold-ns: '{value}' is no number from 1 to")
            for value in ("0", "-5", "nan", "inf", "ten", "2e9")
        ),
        ("sample --duration=١", "is no duration"),
        ("sample --hz=١٢٠", "is no number from 10 to 10,000"),
        ("sample --tsc-hz 5", "'5' is no number from 1,000,000 to 100,000,000,000"),
        ("sample --output=", "--output: it names no file"),
        ("sample --force", "--force goes with --output"),
        ("watch --cpu 4095", "4095"),
        ("sample --hz 0", "--hz: '0' is no number from 10 to 10,000"),
        ("sample --tsc-hz nan", "--tsc-hz: 'nan' is no number"),
        *(
            (f"sample --priority={value}", f"--priority: '{value}' is no whole number from 1 to 10")
            for value in ("0", "11", "-1", "1.5", "x", "٣")
        ),
        ("sample --method loop --loop-size 0", "--loop-size: '0' is no whole number"),
        ("sample --method loop --loop-size 99999999999999999999999", "--loop-size: '9+' is no whole number"),
        ("sample --method loop --samples 0", "--samples: '0' is no whole number"),
        ("sample --method spin", "--method: invalid choice: 'spin'"),
        ("sample --format xml", "--format: invalid choice: 'xml'"),
        ("sample --samples 5", "--samples goes with --method loop"),
        ("sample --loop-size 5", "--loop-size goes with --method loop"),
        ("sample --method loop --threshold-ns 5", "--threshold-ns goes with --method gap"),
        ("sample --format seed", "--format seed goes with --method loop"),
        ("sample --events", "--events goes with json, jsonl or csv, not with text"),
        ("sample --method loop --format seed --events", "not with seed"),
        ("sample --output a.csv --format json", "--format json contradicts the name a.csv"),
        ("sample --output a.json.gz --format seed --method loop", "contradicts the name a.json.gz"),
        ("sample --cpu 1,x", "'1,x' is no CPU list"),
        ("sample --cpu 3-1", "'3-1' is no CPU list"),
        ("sample --cpu ,", "--cpu names no CPU: usable are "),
        ("sample --cpu 65000", "65000"),
        ("sample --cpu all", "must stay free for tickmon itself"),
    ],
)
def test_wrong_usage_is_one_clear_line_and_exit_code_2(
    argv: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "all" in argv:
        spare_cpu()
    affinity = os.sched_getaffinity(0)
    assert main(argv.split(" ")) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"tickmon: [^\n]+\n", err)
    assert re.search(words, err)
    assert os.sched_getaffinity(0) == affinity


def test_where_no_thread_may_be_started_that_is_one_clear_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    affinity = os.sched_getaffinity(0)
    try:
        assert main(["sample", "--cpu", str(spare_cpu()), "--duration", "1"]) == 1
    finally:
        os.sched_setaffinity(0, affinity)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"tickmon: no more threads may be started [^\n]+\n", err)


def test_offline_and_foreign_cpus_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    cpus = read_cpus()
    unusable = sorted(cpus.possible - cpus.usable)
    if not unusable:
        pytest.skip("every possible CPU is usable here")
    assert main(["sample", "--cpu", str(unusable[0])]) == 2
    assert f"CPU {unusable[0]} " in capsys.readouterr().err


@pytest.mark.parametrize("command", [[], ["watch"], ["--cpu", "0"]])
def test_screen_without_a_terminal_is_refused_and_sample_is_named(command: list[str]) -> None:
    done = finished(*command)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(
        r"tickmon: the live screen needs a terminal, [^\n]*tickmon sample[^\n]*\n", done.stderr
    )


def test_contradiction_is_an_error_of_usage() -> None:
    with pytest.raises(UsageError):
        parse(["sample", "--format", "seed", "--output", "x.jsonl", "--method", "loop"])


# -- outputs that cannot be written -----------------------------------------------------------------


def failed(*arguments: str, **how: object) -> str:
    """What the command said when it failed; it must be one line, and the exit code 1."""
    done = finished("sample", "--cpu", str(spare_cpu()), "--duration", "0.1", *arguments, **how)
    assert done.returncode == 1
    assert re.fullmatch(r"tickmon: [^\n]+\n", done.stderr)
    return done.stderr


def test_existing_output_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("precious")
    assert f"{path} exists already" in failed("--output", str(path))
    assert path.read_text() == "precious"


def test_missing_folder_of_the_output_is_named(tmp_path: Path) -> None:
    assert f"there is no folder {tmp_path}/none" in failed("--output", f"{tmp_path}/none/a.json")


def test_directory_is_no_output(tmp_path: Path) -> None:
    assert "Is a directory" in failed("--output", str(tmp_path), "--force")


def test_full_disk_is_an_error() -> None:
    assert "cannot write /dev/full: No space left" in failed("--output", "/dev/full")


def test_full_standard_output_is_an_error() -> None:
    for form in ("text", "json", "jsonl", "csv"):
        with open("/dev/full", "w") as full:
            assert "cannot write to standard output: No space left" in failed("--format", form, stdout=full)


def test_closed_standard_output_is_an_error_before_anything_is_measured() -> None:
    # Longer than the test may take.
    words = failed("--duration", "1h", preexec_fn=lambda: os.close(1), stdout=None)
    assert "standard output is closed" in words


def test_help_to_a_full_disk_is_an_error() -> None:
    with open("/dev/full", "w") as full:
        done = finished("sample", "--help", stdout=full)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "cannot write to standard output" in done.stderr


def test_nobody_hears_an_error_when_standard_error_is_closed() -> None:
    done = finished("sample", "--window", "0", preexec_fn=lambda: os.close(2), stderr=None)
    assert (done.returncode, done.stdout) == (2, "")


# -- help, version, and what is loaded --------------------------------------------------------------


def test_version_is_printed() -> None:
    done = finished("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"tickmon {__version__}\n", "")


@pytest.mark.parametrize("command", [[], ["watch"], ["sample"]])
def test_help_shows_examples_and_what_cannot_be_seen(command: list[str]) -> None:
    done = finished(*command, "--help", env=os.environ | {"COLUMNS": "80"})
    assert (done.returncode, done.stderr) == (0, "")
    assert "examples:\n  tickmon" in done.stdout
    assert "Only time taken away" in done.stdout
    assert "exits from idle" in done.stdout
    assert "the work of its host" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def loaded(*argv: str) -> list[str]:
    """Which of the slow or forbidden modules a command loads."""
    done = interpreted(
        "import sys\n"
        "from tickmon.cli import main\n"
        f"code = main({list(argv)!r})\n"
        "names = ('numpy', 'textual', '_cffi_backend', 'tickmon.sampling._native')\n"
        "print(code, *(name for name in names if name in sys.modules), file=sys.stderr)\n"
    )
    code, *names = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    return names


@pytest.mark.parametrize("argv", [("--help",), ("sample", "--help"), ("watch", "--help"), ("--version",)])
def test_help_loads_nothing_slow(argv: tuple[str, ...]) -> None:
    assert loaded(*argv) == []


def test_sample_never_loads_textual() -> None:
    names = loaded("sample", "--cpu", str(spare_cpu()), "--duration", "0.1", "--format", "csv")
    assert "textual" not in names
    assert "numpy" in names


@pytest.mark.parametrize(
    "module", ["windows", "analysis", "machine", "recording", "report", "streams", "formats.table"]
)
def test_core_loads_neither_screen_nor_sampler(module: str) -> None:
    done = interpreted(
        f"import sys, tickmon.{module}\n"
        "forbidden = ('textual', '_cffi', 'tickmon.sampling._')\n"
        "print(*(name for name in sys.modules if name.startswith(forbidden)))"
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "", "")


def test_process_has_left_the_measured_cpu_before_numpy_is_loaded() -> None:
    cpu = spare_cpu()
    done = interpreted(
        "import json, os, sys\n"
        "class Spy:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'numpy':\n"
        "            state = [sorted(os.sched_getaffinity(0)), os.environ.get('OPENBLAS_NUM_THREADS')]\n"
        "            print(json.dumps(state), file=sys.stderr)\n"
        "sys.meta_path.insert(0, Spy())\n"
        "from tickmon.cli import main\n"
        f"main(['sample', '--cpu', '{cpu}', '--duration', '0.1'])\n"
    )
    affinity, threads = json.loads(done.stderr.splitlines()[0])
    assert cpu not in affinity
    assert threads == "1"


@pytest.mark.parametrize("flags", [0, os.ST_NOEXEC | os.ST_NOSUID])
def test_library_on_a_noexec_mount_is_not_called_a_lack_of_memory(
    flags: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = os.statvfs_result((4096, 4096, 0, 0, 0, 0, 0, 0, flags, 255))
    monkeypatch.setattr(os, "statvfs", lambda path: mount)
    text = unmapped_text("/opt/tickmon/_native.so")
    assert ("/opt/tickmon/_native.so" in text and "noexec" in text) is bool(flags)
    assert (text == OUT_OF_MEMORY) is not bool(flags)
    assert unmapped_text(None) == OUT_OF_MEMORY
