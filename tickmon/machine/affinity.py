"""Keeping this process's own threads away from the CPUs that are measured."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from pathlib import Path

from tickmon.machine.cpus import Cpus, cpus_text

_ROUNDS = 8


def keep_away(
    sampled: Collection[int],
    cpus: Cpus,
    *,
    root: Path = Path("/"),
    set_affinity: Callable[[int, Collection[int]], None] = os.sched_setaffinity,
) -> str | None:
    """Moves every thread of this process off ``sampled`` and their SMT siblings.

    Returns what could not be avoided, in words for a warning, or None. May be called again whenever the
    sampled CPUs change: where the threads may run always follows from ``cpus``, not from their present
    masks. Threads started later inherit the mask of the one that starts them. CPU numbers of any size.
    """
    home, warning = choose_home(frozenset(sampled), cpus)
    moved: set[int] = set()
    # A thread that was not moved yet may have started another meanwhile, so look until none is new.
    for _ in range(_ROUNDS):
        threads = _own_threads(root) - moved
        if not threads:
            break
        for thread in threads:
            try:
                set_affinity(thread, home)
            except ProcessLookupError:
                continue  # It ended.
            except OSError as error:
                place = cpus_text(frozenset(sampled))
                return f"tickmon's own threads could not be moved off {place}: {error.strerror}"
        moved |= threads
    return warning


def choose_home(sampled: frozenset[int], cpus: Cpus) -> tuple[frozenset[int], str | None]:
    """Where this process's threads may run while ``sampled`` are measured, and what that does not avoid.

    Never empty. Where the user's own ``taskset`` put them, as long as that leaves anything; not on isolated
    or nohz_full CPUs, which somebody may need quiet, unless nothing else is left.
    """
    siblings = frozenset[int]().union(*(cpus.siblings.get(cpu, ()) for cpu in sampled))
    others = cpus.usable - sampled
    apart = others - siblings
    for home in (apart & cpus.allowed - cpus.quiet, apart - cpus.quiet):
        if home:
            return home, None
    if others - cpus.quiet:
        return others - cpus.quiet, f"tickmon itself shares a core with {cpus_text(sampled)}"
    if others:
        home = apart or others
        return home, f"tickmon itself runs on {cpus_text(home)}, which should be left alone: no other is left"
    return cpus.usable, f"tickmon itself runs on {cpus_text(cpus.usable)} too: there is no other to use"


def _own_threads(root: Path) -> set[int]:
    try:
        return {int(name) for name in os.listdir(root / "proc/self/task") if name.isdecimal()}
    except OSError:
        return {0}  # The calling thread.
