"""``tickmon sample``: its options and its help."""

from __future__ import annotations

import argparse

from tickmon import options
from tickmon.commandline.grammar import Commands, add_command, add_fail_if, check_events, checked
from tickmon.commandline.measurement import add_measurement, measure_options
from tickmon.commandline.texts import BLIND, CONSENT, LIMITS
from tickmon.errors import UsageError
from tickmon.limits import parse_window_limit

_SAMPLE_END = f"""\
{CONSENT}

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

{LIMITS}

{BLIND}

exit codes:
  0 fine, 1 could not measure or judge a limit, 2 wrong usage, 3 a limit was
  crossed, 128+n ended by signal n"""


def add(commands: Commands) -> None:
    """Adds the command."""
    parser = add_command(
        commands,
        "sample",
        _options,
        help="the same measurement without a screen: for scripts, pipes, CI",
        description="Measures for a while and prints the reading.",
        epilog=_SAMPLE_END,
    )
    add_measurement(
        parser,
        "CPUs to measure, as in 1 or 2,4-6, all at once; one CPU must stay free "
        "(default: an idle one, isolated if there is one)",
    )
    parser.add_argument(
        "--duration",
        metavar="SECONDS",
        type=checked(options.duration_s),
        help="how long: 90, 90s, 20m, 2h, 1d (default 10; with --method loop until the samples are taken)",
    )
    parser.add_argument(
        "--samples",
        metavar="N",
        type=checked(options.whole_number(1, options.SAMPLES_MAX)),
        help=f"samples of the loop method (default {options.SAMPLES})",
    )
    parser.add_argument("--format", choices=options.FORMATS, help="see below (default text)")
    parser.add_argument(
        "--output",
        metavar="FILE",
        type=checked(options.output_path),
        help="write there, not to standard output; .json, .jsonl or .csv decides the format, .gz packs",
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.add_argument(
        "--events", action="store_true", help="every interruption, not only the summary and the worst"
    )
    add_fail_if(parser)
    parser.add_argument(
        "--stop-if",
        metavar="LIMIT",
        type=checked(parse_window_limit),
        action="append",
        default=[],
        help="end with 3 after the first window that crosses it, which is kept; may be given again",
    )


def _options(arguments: argparse.Namespace) -> options.SampleOptions:
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
    check_events(form, arguments.events)
    samples, duration_s = arguments.samples, arguments.duration
    if duration_s is None:
        if loop:
            samples = samples or options.SAMPLES
        else:
            duration_s = options.DURATION_S
    return options.SampleOptions(
        measure=measure_options(arguments),
        duration_s=duration_s,
        samples=samples,
        format=form,
        output=arguments.output,
        force=arguments.force,
        events=arguments.events,
        fail_if=tuple(arguments.fail_if),
        stop_if=tuple(arguments.stop_if),
    )
