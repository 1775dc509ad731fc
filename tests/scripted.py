"""A machine that exists only here: what the screen shows of it can be known beforehand.

``python -m tests.scripted`` opens the live screen on it.
"""

from __future__ import annotations

import argparse
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from tests.making import Life, make_segment, make_tick, read_at, simulate, simulate_loop
from tickmon.analysis.readings import Analysis
from tickmon.doctor.findings import Diagnosis, Finding, Level, diagnosis
from tickmon.machine.busy import CpuUse, Occupant
from tickmon.machine.cpus import Cpus
from tickmon.sampling.survey import Looked, Sampling, Seen
from tickmon.stdout import drop_output
from tickmon.tui.board import Board, CpuRow
from tickmon.tui.feed import Feed
from tickmon.windows import Ended, Event, Method, ReadingWarning, RowChange, Segment, Settings, Window

LIFE = Life(
    tick_ns=11_000.0,
    delay_ns=600.0,
    noise_hz=330.0,
    noise_ns=700.0,
    host_hz=999.98,
    host_ns=5_200.0,
    wakeups_hz=2.0,
    gaps=[(0.9725e9, 0.4e6), (2.3725e9, 0.9e6), (4.3725e9, 1.9e6), (41.3725e9, 1.4e6)],
)
"""A virtual machine: the kernel's tick, the host's, some wake-ups, crumbs, and a few long ones."""
QUIET_LIFE = Life(tick_ns=1_900.0, delay_ns=200.0, noise_hz=0.0)
"""An isolated CPU on bare metal: nothing but the tick."""


def life_of(cpu: int, visit: int) -> Life:
    """What happens on one of many CPUs while it is visited: some are quiet, some have guests or long gaps."""
    seed = 1000 * visit + cpu
    if cpu % 8 == 5:
        return replace(QUIET_LIFE, seed=seed)
    gaps = [(0.05e9 + 1e6 * (seed % 97), 2e5 * (1 + cpu % 7))] if seed % 11 == 0 else []
    return replace(LIFE, seed=seed, noise_hz=30.0 * (1 + cpu % 13), host_ns=900.0 * (1 + cpu % 5), gaps=gaps)


def scripted_cpus(count: int = 4, **changes: object) -> Cpus:
    """A machine of ``count`` CPUs, of which the second half are hyper-threads of the first."""
    everything = frozenset(range(count))
    half = count // 2
    siblings = {cpu: frozenset({(cpu + half) % count}) for cpu in range(count)} if count > 3 else {}
    common = Cpus(
        possible=everything,
        online=everything,
        usable=everything,
        allowed=everything,
        isolated=frozenset({count - 1}),
        nohz_full=frozenset({count - 1}),
        siblings=siblings,
        nodes={cpu: cpu % half * 2 // half for cpu in range(count)} if count > 8 else {},
    )
    return replace(common, **changes)  # type: ignore[arg-type]


TRADED = frozenset({2})
"""The CPUs that have a trader on them."""


def look_idle(
    cpus: Collection[int], traded: Collection[int] = TRADED, offline: Collection[int] = ()
) -> Mapping[int, CpuUse]:
    """Every CPU is idle, except those with a trader and those offline."""
    trader = (Occupant(name="trader", pid=4711, share=0.98),)
    return {
        cpu: CpuUse(cpu=cpu, idle_share=0.02, occupants=trader)
        if cpu in traded
        else CpuUse(cpu=cpu, idle_share=None if cpu in offline else 1.0, occupants=(), offline=cpu in offline)
        for cpu in cpus
    }


def examine_scripted(cpu: int) -> Diagnosis:
    """A virtual machine that somebody forgot to isolate, and that is watched."""
    what: tuple[tuple[str, Level, str, str, str | None], ...] = (
        (
            "cfs_quota",
            "bad",
            "this process's cgroup may run 50.0 ms in every 100 ms, with everything else that is in it",
            "A cgroup that has used up its share is stopped until the next period: holes of milliseconds.",
            "as root: echo max > /sys/fs/cgroup/job/cpu.max",
        ),
        (
            "isolation",
            "warning",
            f"CPU {cpu} is not isolated: the scheduler may move any task there",
            "A task that wakes there preempts the sampler, and its time is counted as overhead.",
            f"boot with isolcpus=domain,managed_irq,{cpu}",
        ),
        (
            "smi",
            "unknown",
            "how often firmware interrupts (SMI) is unknown: a guest cannot know",
            "An SMI stops every CPU unseen by the kernel, often for 100 µs and more.",
            None,
        ),
        (
            "watchdog",
            "note",
            f"the soft watchdog watches CPU {cpu}, every 4.00 s",
            "The soft watchdog wakes a thread of the highest priority on every CPU it watches.",
            "sysctl kernel.watchdog_cpumask=0",
        ),
        ("hz", "ok", "the kernel ticks 250 times a second", "Ticks are told by when they are due.", None),
        ("numa_balancing", "ok", "NUMA balancing is off", "It unmaps pages.", None),
    )
    return diagnosis(
        cpu,
        [
            Finding(
                code=code,
                level=level,
                what=seen,
                where=("/proc/self/cgroup",),
                why=why,
                change=change,
                doc="Documentation/admin-guide/cpu-isolation.rst",
            )
            for code, level, seen, why, change in what
        ],
    )


def scripted_segment(settings: Settings, *, segment: int = 1, reason: str = "start") -> Segment:
    """What a source with these settings says of itself."""
    loop = settings.method is Method.LOOP
    return make_segment(
        cpu=settings.cpu,
        segment=segment,
        method=settings.method,
        window_s=settings.window_s,
        guest=True,
        kernel_tick=make_tick(source="the kernel's coarse clock"),
        loop_size=settings.loop_size if loop else None,
        reason=reason,
    )


def scripted_windows(
    segment: Segment,
    count: int,
    *,
    life: Life = LIFE,
    first: int = 1,
    warnings: tuple[ReadingWarning, ...] = (),
) -> list[Window]:
    """``count`` windows, one after the other, numbered from ``first``."""
    ends_ns = [(number + 1) * segment.window_s * 1e9 for number in range(count)]
    if segment.method is Method.LOOP:
        made = _loop_windows(segment, count, life)
    else:
        made = list(simulate(life, ends_ns=ends_ns, segment=segment))
    fired = round(250 * segment.window_s) + 9
    timer = RowChange(row="LOC", name="Local timer interrupts", count=fired, timer="LOC")
    return [
        replace(window, window=first + index, warnings=warnings, interrupts=(timer,))
        for index, window in enumerate(made)
    ]


def scripted_rows(cpus: Cpus, visits: int = 5) -> Mapping[int, CpuRow]:
    """The rows of an overview that has gone round so often, with a busy CPU and one that went offline."""
    order = sorted(cpus.usable)
    board = Board(cpus)
    for visit in range(visits):
        for cpu in order:
            board.take(Looked(uses=look_idle([cpu], TRADED | {21}, {9})))
            settings = Settings(cpu=cpu, window_s=0.25)
            segment = scripted_segment(settings, segment=visit * len(order) + cpu + 1, reason="scan")
            (window,) = scripted_windows(segment, 1, life=life_of(cpu, visit))
            later = timedelta(seconds=0.3 * segment.segment)
            if cpu not in TRADED | {9, 21}:
                board.take(Seen(cpu=cpu, window=replace(window, started_at=window.started_at + later)))
    board.take(Sampling(cpus=frozenset({order[4]})))
    return board.rows


def early_look(segment: Segment, *, life: Life = LIFE) -> Window:
    """The first tenth of a second, as it is shown before the window is complete."""
    (window,) = simulate(life, ends_ns=(1e8,), segment=segment)
    return replace(window, provisional=True)


def _loop_windows(segment: Segment, count: int, life: Life) -> list[Window]:
    """11,000 samples each, as in 2004: mostly 11,800 cycles, now and then a fast one. They do not touch."""
    made = []
    for seed in range(count):
        rng = np.random.default_rng(seed)
        loops = np.rint(rng.normal(11_780, 60, 11_000)).astype(np.int64)
        fast = rng.integers(0, len(loops), 110)
        loops[fast] = rng.integers(6_022, 6_900, len(fast))
        window = simulate_loop(
            replace(life, seed=seed), loop_cycles=loops, samples=len(loops), segment=segment
        )
        made.append(_later(window, seed * round(0.08 * segment.tsc_hz)))
    return made


def _later(window: Window, by_cycles: int) -> Window:
    """The same things, ``by_cycles`` later (a multiple of the tick's period)."""
    details = window.details.copy()
    details["start_cycles"] += by_cycles
    start, end = window.start_cycles + by_cycles, window.end_cycles + by_cycles
    return replace(
        window,
        details=details,
        start_cycles=start,
        end_cycles=end,
        started_at=window.started_at + timedelta(seconds=by_cycles / window.segment.tsc_hz),
        clocks=(read_at(start, window.segment), read_at(end, window.segment)),
    )


class ScriptedSource:
    """Hands on what a test gives it, from a thread of its own as a live source does."""

    def __init__(
        self, settings: Settings, *, segment: int = 1, first_window: int = 1, reason: str = "start"
    ) -> None:
        self.settings = settings
        self.segment = scripted_segment(settings, segment=segment, reason=reason)
        self.first_window = first_window
        self.reason = reason
        self.started = False
        self.stopped = False
        self._on_event: Callable[[Event], None] | None = None

    def start(self, on_event: Callable[[Event], None]) -> None:
        self._on_event = on_event
        self.started = True

    def stop(self) -> None:
        self.stopped = True

    def give(self, *events: Event) -> None:
        """Hands on events, and returns when they have been taken."""
        thread = threading.Thread(target=self._hand_on, args=(events,))
        thread.start()
        thread.join()

    def _hand_on(self, events: Iterable[Event]) -> None:
        assert self._on_event is not None
        for event in events:
            self._on_event(event)


class PlayedSource(ScriptedSource):
    """Makes windows as time passes, for looking at the screen."""

    def start(self, on_event: Callable[[Event], None]) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._play, args=(on_event,), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _play(self, on_event: Callable[[Event], None]) -> None:
        window_s = self.settings.window_s
        if self.reason == "scan":
            self._play_for_overview(on_event, window_s)
            return
        on_event(as_of_now(early_look(self.segment), 0.1))
        # Making them takes a while, which must not delay the first picture.
        self._over.wait(window_s)
        for window in scripted_windows(self.segment, round(100 / window_s), first=self.first_window):
            on_event(as_of_now(window, window_s))
            if self._over.wait(window_s):
                return
        on_event(Ended(error=None))

    def _play_for_overview(self, on_event: Callable[[Event], None], window_s: float) -> None:
        life = life_of(self.settings.cpu, int(time.monotonic()))
        for window in scripted_windows(self.segment, round(20 / window_s) if window_s >= 1 else 1, life=life):
            if self._over.wait(window_s):
                return
            on_event(as_of_now(window, window_s))


def as_of_now(window: Window, length_s: float) -> Window:
    """``window`` as if it had ended just now."""
    return replace(window, started_at=datetime.now(UTC) - timedelta(seconds=length_s))


def pretend_to_save(window: Window, _analysis: Analysis) -> Path:
    """Where a snapshot would have gone."""
    return Path(f"trade7-cpu{window.segment.cpu}-20251130T151618Z.jsonl.gz")


def main() -> int:
    """The live screen on the scripted machine."""
    from tickmon.tui.terminal import check_terminal, speaks_utf8

    parser = argparse.ArgumentParser()
    parser.add_argument("--cpus", type=int, default=4)
    parser.add_argument("--cpu", type=int, help="the first one (default: the highest)")
    parser.add_argument("--ascii", action="store_true")
    options = parser.parse_args()
    check_terminal()
    cpu = options.cpus - 1 if options.cpu is None else options.cpu
    settings = Settings(cpu=cpu)
    feed = Feed(open_source=PlayedSource, keep_away=lambda cpus: None)
    feed.switch(settings, "start")

    from tickmon.tui.app import TickmonApp
    from tickmon.tui.run import run_screen

    app = TickmonApp(
        settings=settings,
        cpus=scripted_cpus(options.cpus),
        feed=feed,
        save_snapshot=pretend_to_save,
        look=look_idle,
        examine=examine_scripted,
        why=f"CPU {cpu} is measured: isolated, nohz_full and idle",
        ascii_only=options.ascii or not speaks_utf8(),
    )
    code = run_screen(app)
    drop_output()
    return code


if __name__ == "__main__":
    raise SystemExit(main())
