"""Options of the commands that measure."""

from __future__ import annotations

import argparse

from tickmon import options
from tickmon.commandline.grammar import checked


def add_measurement(parser: argparse.ArgumentParser, cpu_help: str) -> None:
    """How to measure, and where: ``cpu_help`` says what ``--cpu`` takes."""
    group = parser.add_argument_group("measurement")
    group.add_argument("--cpu", metavar="LIST", help=cpu_help)
    group.add_argument(
        "--window",
        metavar="SECONDS",
        type=checked(options.window_s),
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
        type=checked(options.whole_number(1, options.LOOP_SIZE_MAX)),
        help=f"iterations of the loop method's loop (default {options.LOOP_SIZE})",
    )
    add_known(group)
    group.add_argument(
        "--priority",
        metavar="N",
        type=checked(options.whole_number(1, options.PRIORITY_MAX)),
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


def add_known(group: argparse._ArgumentGroup) -> None:
    """What overrides what would be found."""
    group.add_argument(
        "--threshold-ns",
        metavar="N",
        type=checked(options.number(options.THRESHOLD_MIN_NS, options.THRESHOLD_MAX_NS)),
        help="a longer gap is an interruption (default: 200, more where a read of the counter takes long)",
    )
    group.add_argument(
        "--hz",
        metavar="N",
        type=checked(options.number(10, 10_000)),
        help="the kernel's HZ, when it says none or a wrong one",
    )
    group.add_argument(
        "--tsc-hz",
        metavar="N",
        type=checked(options.number(1e6, 1e11)),
        help="the counter's frequency, when what was found is wrong",
    )


def measure_options(arguments: argparse.Namespace) -> options.MeasureOptions:
    """What ``add_measurement`` asked for."""
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
