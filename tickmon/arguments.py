"""The command line's grammar: what may be asked for, and the help that explains it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

from tickmon import __version__, options
from tickmon.errors import UsageError
from tickmon.limits import parse_limit, parse_window_limit

_T = TypeVar("_T")

_DESCRIPTION = """\
Shows what the timer tick and every other interruption take from a program
that only wants to run on one CPU, and whether that reading can be believed.

A process of its own reads the CPU's cycle counter without pause. When two
reads lie further apart than the threshold, something else ran there: that is
an interruption, and what it took beyond an undisturbed read is overhead."""

_BLIND = """\
what it cannot see:
  Only time taken away. Not the slower code afterwards (cold caches and TLB),
  and not exits from idle: the CPU is kept busy while it is measured. In a
  virtual machine the figures include the work of its host."""

_CONSENT = """\
A measured CPU is spun on. A CPU that --cpu does not name is taken only when
it was seen to be idle; --cpu is consent."""

_MAIN_END = f"""\
examples:
  tickmon                        the live screen, on an idle CPU
  tickmon --cpu 3                ... on CPU 3
  tickmon sample --duration 60   a minute without a screen, then a summary
  tickmon doctor --cpu 3         what helps or hurts the measurement there
  tickmon show FILE              what such a run recorded with --output
  tickmon COMMAND --help         all options of one command

{_BLIND}

exit codes:
  0 fine, 1 could not measure, 2 wrong usage, 3 not valid (validate),
  128+n ended by signal n"""

_WATCH_END = f"""\
{_CONSENT}

examples:
  tickmon                        an idle CPU
  tickmon --cpu 2,4-6            CPU 2 first; the keys lead to the others
  tickmon --window 5s --hz 1000  longer windows, on a kernel that hides its HZ

{_BLIND}"""

_LIMITS = """\
limits:
  NAME OP VALUE, in quotes, since the shell takes > and < for itself; OP is
  one of > >= < <= == !=. What it says must not come true. NAME:
  max_ns, p999_ns, p99_ns, median_ns, tick.median_ns, tick.p99_ns, tick.max_ns
         a value takes ns (also without a unit), us, ms, s; ..._cycles, none
  overhead_share, tick.overhead_share
         from 0 to 1, or with %
  ticks_per_s, interruptions_per_s, interruptions, lost
  check  with == or !=: ok, missing, extra, stopped, unknown
  and every other number of a window in the JSON output, by its name there."""

_SAMPLE_END = f"""\
{_CONSENT}

Ctrl-C, SIGTERM and timeout(1) end it early: what was measured is printed.

formats:
  text   a summary to paste into a mail (a terminal also gets a line a window)
  json   one object: header, segments, windows, summary
  jsonl  the same, an object a line, as it comes
  csv    a row a window; with --events a row an interruption
  seed   of --method loop: every sample less the smallest, rounded down to
         10 cycles, as the program of 2004 printed it

examples:
  tickmon sample --cpu 3 --duration 60
  tickmon sample --cpu 2-3 --output before.jsonl.gz --events
  tickmon sample --format csv --window 10s --duration 1h > overhead.csv
  tickmon sample --format json | jq .summary.tick.median_cycles
  tickmon sample --method loop --format seed | sort -g | uniq -c
  tickmon sample --fail-if 'max_ns>50us' --fail-if 'overhead_share>0.1%'
  tickmon sample --duration 1d --stop-if 'max_ns>1ms' --output hunt.jsonl.gz

{_LIMITS}

{_BLIND}

exit codes:
  0 fine, 1 could not measure or judge a limit, 2 wrong usage, 3 a limit was
  crossed, 128+n ended by signal n"""


_DOCTOR = """\
Says for one CPU what was seen, why it matters for the measurement, what to
change, and where the kernel's documentation says so. It only reads, runs none
of the commands that it names, spins on no CPU, and reads nothing that would
interrupt the CPU in question."""

_DOCTOR_END = """\
levels:
  hurts    the figures are wrong or mean something else while this is so
  better   a change would make the CPU quieter or the reading fuller
  unknown  could not be told here; root or another place may see more
  note     worth knowing; ok: as it should be

examples:
  tickmon doctor --cpu 3
  tickmon doctor --format json | jq '.findings[] | select(.level == "bad")'

exit codes:
  0 whatever was found, 1 could not be read, 2 wrong usage"""

_SHOW_END = f"""\
formats:
  text   the summary, as tickmon sample prints it
  json, jsonl, csv, seed
         as of tickmon sample; seed, and --events, of what was recorded with
         --events

examples:
  tickmon show before.jsonl.gz
  tickmon show trade7-cpu3-20260921T141319Z.jsonl.gz --format csv --events
  tickmon show before.jsonl.gz --window 17
  ssh trade7 cat before.jsonl.gz | tickmon show -
  tickmon show before.jsonl.gz --fail-if 'tick.p99_ns>5us'

{_LIMITS}

exit codes:
  0 fine, 1 could not read or judge a limit, 2 wrong usage, 3 a limit was
  crossed"""


_VALIDATE_END = f"""\
{_CONSENT}

It holds the reading against the kernel's own trace (where this user may read
it), against what the kernel counts, against disturbances whose time is known
(a second process on the same CPU), and against itself; and it says whether the
loop method's baseline holds. Each check passes, fails or could not be judged.

examples:
  tickmon validate               an idle CPU, {options.VALIDATE_S:g} s
  tickmon validate --cpu 3 --duration 2m
  tickmon validate --format json | jq .verdict

exit codes:
  0 valid, 3 not valid, 1 could not be judged, 2 wrong usage, 128+n ended by
  signal n"""


def parse(argv: Sequence[str]) -> options.Options:
    """What ``argv`` asks for. UsageError when it makes no sense, SystemExit after --help and --version."""
    arguments, rest = _parser().parse_known_args(_with_command(argv))
    if rest:
        raise UsageError(f"unknown: {' '.join(rest)} (see tickmon {arguments.command} --help)")
    if arguments.command == "sample":
        return _sample_options(arguments)
    if arguments.command == "doctor":
        return options.DoctorOptions(cpus=arguments.cpu, format=arguments.format)
    if arguments.command == "show":
        return _show_options(arguments)
    if arguments.command == "validate":
        return _validate_options(arguments)
    return options.WatchOptions(measure=_measure_options(arguments), screen=_screen_options(arguments))


def _with_command(argv: Sequence[str]) -> list[str]:
    """``tickmon`` alone, or with options only, is ``tickmon watch``."""
    if not argv or (argv[0].startswith("-") and argv[0] not in ("-h", "--help", "--version")):
        return ["watch", *argv]
    return list(argv)


class _Parser(argparse.ArgumentParser):
    """One line for wrong usage, printed where all errors are."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="tickmon",
        description=_DESCRIPTION,
        epilog=_MAIN_END,
        formatter_class=layout,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tickmon {__version__}")
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)
    _add_watch(
        commands.add_parser(
            "watch",
            help="the live screen (also without COMMAND)",
            description="Shows one CPU live. The keys are in the footer; ? explains them all.",
            epilog=_WATCH_END,
            formatter_class=layout,
            allow_abbrev=False,
        )
    )
    _add_sample(
        commands.add_parser(
            "sample",
            help="the same measurement without a screen: for scripts, pipes, CI",
            description="Measures for a while and prints the reading.",
            epilog=_SAMPLE_END,
            formatter_class=layout,
            allow_abbrev=False,
        )
    )
    _add_doctor(
        commands.add_parser(
            "doctor",
            help="what of this machine helps or hurts the measurement, and what to change",
            description=_DOCTOR,
            epilog=_DOCTOR_END,
            formatter_class=layout,
            allow_abbrev=False,
        )
    )
    _add_show(
        commands.add_parser(
            "show",
            help="a recording or snapshot as text, or in another format",
            description="Prints what a file holds, on any machine and without any rights.",
            epilog=_SHOW_END,
            formatter_class=layout,
            allow_abbrev=False,
        )
    )
    _add_validate(
        commands.add_parser(
            "validate",
            help="measures how far the reading can be trusted",
            description="Checks the reading of one CPU against everything that knows better.",
            epilog=_VALIDATE_END,
            formatter_class=layout,
            allow_abbrev=False,
        )
    )
    return parser


def _add_shared(parser: argparse.ArgumentParser, cpu_help: str) -> None:
    group = parser.add_argument_group("measurement")
    group.add_argument("--cpu", metavar="LIST", help=cpu_help)
    group.add_argument(
        "--window",
        metavar="SECONDS",
        type=_checked(options.window_s),
        default=options.WINDOW_S,
        help="length of a window, as in 0.5, 90s or 20m (default 1)",
    )
    group.add_argument(
        "--method",
        choices=options.METHODS,
        default="gap",
        help="gap: read the counter without pause (default); loop: time a fixed loop, as in 2004",
    )
    group.add_argument(
        "--loop-size",
        metavar="N",
        type=_checked(options.whole_number(1, options.LOOP_SIZE_MAX)),
        help=f"iterations of the loop method's loop (default {options.LOOP_SIZE})",
    )
    _add_known(group)
    group.add_argument(
        "--priority",
        metavar="N",
        type=_checked(options.whole_number(1, options.PRIORITY_MAX)),
        default=0,
        help="measure as a SCHED_FIFO task of this priority, 1 to 10 (default: as an ordinary task)",
    )
    group.add_argument(
        "--trace",
        choices=options.TRACES,
        default="auto",
        help="on: have the kernel say what interrupts; needs root, makes every interruption longer, and "
        "interrupts all CPUs when it begins and ends (default: auto, which is off)",
    )


def _add_known(group: argparse._ArgumentGroup) -> None:
    """What overrides what would be found."""
    group.add_argument(
        "--threshold-ns",
        metavar="N",
        type=_checked(options.number(options.THRESHOLD_MIN_NS, options.THRESHOLD_MAX_NS)),
        help="a longer gap is an interruption (default: 200, more where a read of the counter takes long)",
    )
    group.add_argument(
        "--hz",
        metavar="N",
        type=_checked(options.number(10, 10_000)),
        help="the kernel's HZ, when it says none or a wrong one",
    )
    group.add_argument(
        "--tsc-hz",
        metavar="N",
        type=_checked(options.number(1e6, 1e11)),
        help="the counter's frequency, when what was found is wrong",
    )


def _add_watch(parser: argparse.ArgumentParser) -> None:
    _add_shared(
        parser,
        "CPUs that may be measured, as in 1 or 2,4-6; the first comes first "
        "(default: an idle one, isolated if there is one)",
    )
    _add_screen(parser)


def _add_screen(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("screen")
    group.add_argument("--ascii", action="store_true", help="draw with ASCII characters only")
    group.add_argument(
        "--theme",
        choices=options.THEMES,
        help="colours; safe tells nothing by red and green (default: what key T remembered, or dark)",
    )
    group.add_argument(
        "--no-mouse", dest="mouse", action="store_false", help="leave the mouse to the terminal: select, copy"
    )
    group.add_argument(
        "--no-sync",
        dest="sync",
        action="store_false",
        help="no synchronized output, for a terminal that flickers or slows down with it",
    )


def _add_doctor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cpu", metavar="N", help="the CPU to examine (default: the one that the live screen would choose)"
    )
    parser.add_argument(
        "--format", choices=options.DOCTOR_FORMATS, default="text", help="text (default) or json"
    )


def _add_sample(parser: argparse.ArgumentParser) -> None:
    _add_shared(
        parser,
        "CPUs to measure, as in 1 or 2,4-6, all at once; one CPU must stay free "
        "(default: an idle one, isolated if there is one)",
    )
    parser.add_argument(
        "--duration",
        metavar="SECONDS",
        type=_checked(options.duration_s),
        help="how long: 90, 90s, 20m, 2h, 1d (default 10; with --method loop until the samples are taken)",
    )
    parser.add_argument(
        "--samples",
        metavar="N",
        type=_checked(options.whole_number(1, options.SAMPLES_MAX)),
        help=f"samples of the loop method (default {options.SAMPLES})",
    )
    parser.add_argument("--format", choices=options.FORMATS, help="see below (default text)")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=_checked(options.output_path),
        help="write there, not to standard output; .json, .jsonl or .csv decides the format, .gz packs",
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.add_argument(
        "--events", action="store_true", help="every interruption, not only the summary and the worst"
    )
    _add_fail_if(parser)
    parser.add_argument(
        "--stop-if",
        metavar="LIMIT",
        type=_checked(parse_window_limit),
        action="append",
        default=[],
        help="end with 3 after the first window that crosses it, which is kept; may be given again",
    )


def _add_fail_if(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--fail-if",
        metavar="LIMIT",
        type=_checked(parse_limit),
        action="append",
        default=[],
        help="end with 3 when the whole run crosses it, as in 'max_ns>50us'; may be given again",
    )


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="a recording or snapshot; - is standard input"
    )
    parser.add_argument(
        "--window",
        metavar="N",
        type=_checked(options.whole_number(0, 2**53)),
        help="only the window of this number (default: the whole run)",
    )
    parser.add_argument("--format", choices=options.FORMATS, default="text", help="see below (default text)")
    parser.add_argument(
        "--events", action="store_true", help="every interruption, not only the summary and the worst"
    )
    _add_fail_if(parser)


def _add_validate(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("measurement")
    cpu_help = "the CPU to validate; another must stay free (default: an idle one, isolated if there is one)"
    group.add_argument("--cpu", metavar="N", help=cpu_help)
    _add_known(group)
    parser.add_argument(
        "--duration",
        metavar="SECONDS",
        type=_checked(options.validate_s),
        default=options.VALIDATE_S,
        help=f"how long in all, 5s to 10m (default {options.VALIDATE_S:g})",
    )
    parser.add_argument("--format", choices=options.VALIDATE_FORMATS, default="text", help="(default text)")


def _checked(parse: Callable[[str], _T]) -> Callable[[str], _T]:
    def convert(text: str) -> _T:
        try:
            return parse(text)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def _measure_options(arguments: argparse.Namespace) -> options.MeasureOptions:
    return options.MeasureOptions(
        cpus=arguments.cpu,
        window_s=arguments.window,
        method=arguments.method,
        loop_size=arguments.loop_size or options.LOOP_SIZE,
        threshold_ns=arguments.threshold_ns,
        kernel_hz=arguments.hz,
        tsc_hz=arguments.tsc_hz,
        priority=arguments.priority,
        trace=arguments.trace == "on",
    )


def _screen_options(arguments: argparse.Namespace) -> options.ScreenOptions:
    return options.ScreenOptions(
        ascii=arguments.ascii, mouse=arguments.mouse, sync=arguments.sync, theme=arguments.theme
    )


def _validate_options(arguments: argparse.Namespace) -> options.ValidateOptions:
    measure = options.MeasureOptions(
        cpus=arguments.cpu,
        window_s=options.WINDOW_S,
        method="gap",
        loop_size=options.LOOP_SIZE,
        threshold_ns=arguments.threshold_ns,
        kernel_hz=arguments.hz,
        tsc_hz=arguments.tsc_hz,
        priority=0,
        trace=False,
    )
    return options.ValidateOptions(measure=measure, duration_s=arguments.duration, format=arguments.format)


def _sample_options(arguments: argparse.Namespace) -> options.SampleOptions:
    """UsageError for options that contradict each other."""
    loop = arguments.method == "loop"
    for given, name in ((arguments.samples, "--samples"), (arguments.loop_size, "--loop-size")):
        if given is not None and not loop:
            raise UsageError(f"{name} goes with --method loop")
    if arguments.threshold_ns is not None and loop:
        raise UsageError("--threshold-ns goes with --method gap: the loop method has no threshold")
    if arguments.force and arguments.output is None:
        raise UsageError("--force goes with --output")
    form = options.format_for(arguments.format, arguments.output)
    if form == "seed" and not loop:
        raise UsageError("--format seed goes with --method loop")
    _check_events(form, arguments.events)
    samples, duration_s = arguments.samples, arguments.duration
    if duration_s is None:
        if loop:
            samples = samples or options.SAMPLES
        else:
            duration_s = options.DURATION_S
    return options.SampleOptions(
        measure=_measure_options(arguments),
        duration_s=duration_s,
        samples=samples,
        format=form,
        output=arguments.output,
        force=arguments.force,
        events=arguments.events,
        fail_if=tuple(arguments.fail_if),
        stop_if=tuple(arguments.stop_if),
    )


def _show_options(arguments: argparse.Namespace) -> options.ShowOptions:
    _check_events(arguments.format, arguments.events)
    return options.ShowOptions(
        file=arguments.file,
        window=arguments.window,
        format=arguments.format,
        events=arguments.events,
        fail_if=tuple(arguments.fail_if),
    )


def _check_events(form: str, events: bool) -> None:
    if events and form not in ("json", "jsonl", "csv"):
        raise UsageError(f"--events goes with json, jsonl or csv, not with {form}")
