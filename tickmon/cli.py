"""Exit codes and errors, which are printed nowhere else; picks what runs a command.

Nothing slow is imported here: what a command needs comes when it runs, and numpy only after this process
was moved off the CPUs to be measured.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Sequence

from tickmon.commandline import parse
from tickmon.errors import TickmonError, lack_text
from tickmon.options import (
    CompareOptions,
    DoctorOptions,
    ReplayOptions,
    SampleOptions,
    ShowOptions,
    ValidateOptions,
    WatchOptions,
)
from tickmon.stdout import drop_output, say, take_any_text, write_output

_SIGNALLED = 128


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    # OpenBLAS would start threads of its own, near the CPU that is measured.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    take_any_text()
    try:
        code = _run(sys.argv[1:] if argv is None else argv)
        # After a signal its number is the answer, also when the terminal went with it.
        if sys.stdout is not None and code == 0:
            write_output("")
    except TickmonError as error:
        code = error.exit_code
        say(str(error))
    except BrokenPipeError:
        code = _SIGNALLED + signal.SIGPIPE
    # Modules that a command needs are in files too.
    except (MemoryError, RuntimeError, ImportError, OSError) as error:
        lack = lack_text(error)
        if lack is None:
            raise
        code = TickmonError.exit_code
        say(lack)
    except KeyboardInterrupt:
        code = _SIGNALLED + signal.SIGINT
    drop_output()
    return code


def _run(argv: Sequence[str]) -> int:
    try:
        asked = parse(argv)
    except SystemExit:
        # --help and --version have been printed.
        return 0
    except OSError as error:
        if isinstance(error, BrokenPipeError) or lack_text(error):
            raise
        # Reading the words writes nothing but the help.
        raise TickmonError(f"cannot write to standard output: {error.strerror}") from None
    match asked:
        case SampleOptions():
            return _sample(asked)
        case DoctorOptions():
            return _doctor(asked)
        case ShowOptions():
            return _show(asked)
        case ReplayOptions():
            return _replay(asked)
        case CompareOptions():
            return _compare(asked)
        case ValidateOptions():
            return _validate(asked)
        case WatchOptions():
            return _watch(asked)


def _sample(asked: SampleOptions) -> int:
    from tickmon.ready import get_ready

    ready = get_ready(asked.measure, all_at_once=True)
    if ready.nearness:
        say(f"warning: {ready.nearness}")
    from tickmon.sample import sample

    return sample(asked, ready)


def _doctor(asked: DoctorOptions) -> int:
    from tickmon.doctor.command import doctor

    return doctor(asked)


def _show(asked: ShowOptions) -> int:
    from tickmon.show import show

    return show(asked)


def _replay(asked: ReplayOptions) -> int:
    from tickmon.tui.terminal import check_terminal

    check_terminal(f"'tickmon show {asked.file}' prints it")
    from tickmon.play import replay

    return replay(asked)


def _validate(asked: ValidateOptions) -> int:
    from tickmon.ready import get_ready

    ready = get_ready(asked.measure, all_at_once=True)
    if ready.nearness:
        say(f"warning: {ready.nearness}")
    from tickmon.validate.command import validate

    return validate(asked, ready)


def _compare(asked: CompareOptions) -> int:
    from tickmon.compare.command import compare_files

    return compare_files(asked)


def _watch(asked: WatchOptions) -> int:
    # A tenth of the start-up would go into looking for garbage where there is none; the screen lets it begin.
    gc.disable()
    from tickmon.ready import get_ready
    from tickmon.tui.terminal import check_terminal

    if asked.measure.cpus is None:
        # Before anybody looks round for an idle one.
        check_terminal()
    ready = get_ready(asked.measure, all_at_once=False)
    check_terminal()
    from tickmon.watch import watch

    return watch(asked, ready)
