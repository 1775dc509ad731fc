"""Going round the CPUs, and all of them at once: on scripted sources, so that each step can be seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

import pytest

from tests.making import make_window
from tests.scripted import ScriptedSource, look_idle, scripted_cpus
from tickmon.machine.busy import CpuUse
from tickmon.machine.cpus import Cpus
from tickmon.sampling.everywhere import sample_everywhere, spare_core, window_s_for
from tickmon.sampling.scan import VISIT_S, next_in_turn, scan
from tickmon.sampling.survey import Failed, Looked, Means, Sampling, Seen, Survey, SurveyEvent
from tickmon.windows import Ended, Event, OpenGap, Settings, WindowSource

PATIENCE_S = 20


APART = scripted_cpus(4, siblings={})
"""Each CPU is a core."""


class PromptSource(ScriptedSource):
    """Hands on what its CPU has in store as soon as it is started."""

    def __init__(self, settings: Settings, of: Trip) -> None:
        super().__init__(settings, reason="scan")
        self._of = of

    def start(self, on_event: Callable[[Event], None]) -> None:
        super().start(on_event)
        self._of.running.add(self.settings.cpu)
        self._of.most_running = max(self._of.most_running, len(self._of.running))
        events = self._of.instead.get(self.settings.cpu) or [make_window(segment=self.segment)] * 2
        threading.Thread(target=self._hand_on, args=(events,)).start()

    def stop(self) -> None:
        super().stop()
        self._of.running.discard(self.settings.cpu)


@dataclass
class Trip:
    """A survey of a scripted machine, and what it told."""

    cpus: Cpus = field(default_factory=lambda: scripted_cpus(4))
    consented: frozenset[int] = frozenset()
    traded: set[int] = field(default_factory=set)
    offline: set[int] = field(default_factory=set)
    instead: dict[int, list[Event]] = field(default_factory=dict)
    told: list[SurveyEvent] = field(default_factory=list)
    opened: list[Settings] = field(default_factory=list)
    moved: list[frozenset[int]] = field(default_factory=list)
    running: set[int] = field(default_factory=set)
    most_running: int = 0
    looked_while: list[frozenset[int]] = field(default_factory=list)

    def run(self, walk: Callable[..., None], until: Callable[[Trip], bool]) -> Trip:
        """Goes until something was told that ``until`` waits for."""
        enough = threading.Event()

        def tell(event: SurveyEvent) -> None:
            self.told.append(event)
            if until(self):
                enough.set()

        means = Means(
            settings=Settings(cpu=0),
            cpus=self.cpus,
            consented=self.consented,
            open_source=self._open,
            keep_away=self._keep_away,
            look=self._look,
        )
        survey = Survey(partial(walk, means, tell), refused=pytest.fail)
        survey.start()
        came = enough.wait(PATIENCE_S)
        survey.stop()
        assert came, self.told
        return self

    @property
    def visited(self) -> list[int]:
        return [event.cpu for event in self.told if isinstance(event, Seen)]

    def _open(self, settings: Settings) -> WindowSource:
        self.opened.append(settings)
        return PromptSource(settings, self)

    def _keep_away(self, cpus: Collection[int]) -> str | None:
        self.moved.append(frozenset(cpus))
        return "too near" if 3 in cpus else None

    def _look(self, cpus: Collection[int]) -> Mapping[int, CpuUse]:
        assert not self.running & set(cpus), "a CPU is looked at while our own sampler is on it"
        self.looked_while.append(frozenset(self.running))
        return look_idle(cpus, self.traded, self.offline)


def seen(count: int) -> Callable[[Trip], bool]:
    return lambda trip: len(trip.visited) >= count


# -- one after another --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("after", "fit", "turn"),
    [
        (None, {3, 5}, 3),
        (3, {3, 5}, 5),
        (5, {3, 5}, 3),
        (5, {5}, 5),
        (4, {5}, 5),
        (9, {8, 3}, 3),
        (3, set(), None),
    ],
)
def test_the_next_in_turn_is_the_next_that_is_fit(after: int | None, fit: set[int], turn: int | None) -> None:
    assert next_in_turn((3, 4, 5, 8), after, fit) == turn


def test_a_scan_goes_round_with_one_sampler_at_a_time() -> None:
    trip = Trip().run(scan, seen(9))
    assert trip.visited[:9] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert trip.most_running == 1
    assert {settings.window_s for settings in trip.opened} == {VISIT_S}
    assert not trip.running


def test_the_threads_of_the_screen_leave_each_cpu_before_it_is_sampled() -> None:
    trip = Trip().run(scan, seen(4))
    assert trip.moved[:4] == [{0}, {1}, {2}, {3}]


def test_where_the_screen_cannot_leave_the_window_says_so() -> None:
    trip = Trip().run(scan, seen(4))
    warned = {
        event.cpu: [warning.code for warning in event.window.warnings]
        for event in trip.told
        if isinstance(event, Seen)
    }
    assert warned == {0: [], 1: [], 2: [], 3: ["near"]}


def test_a_scan_leaves_busy_cpus_out_and_tells_what_runs_there() -> None:
    trip = Trip(cpus=APART, traded={1, 2}).run(scan, seen(4))
    assert trip.visited[:4] == [0, 3, 0, 3]
    looks = [event.uses for event in trip.told if isinstance(event, Looked)]
    assert looks[0][1].text == "runs trader (98.0 %)"


def test_an_idle_cpu_beside_a_busy_one_of_its_core_is_left_out_unless_it_is_named() -> None:
    assert Trip(traded={2}).run(scan, seen(3)).visited[:3] == [1, 3, 1]
    # Also what is known only from before its own visit: a named one that is busy keeps its sibling out.
    assert Trip(traded={2}, consented=frozenset({2})).run(scan, seen(4)).visited[:4] == [1, 2, 3, 1]
    assert Trip(traded={2}, consented=frozenset({0})).run(scan, seen(3)).visited[:3] == [0, 1, 3]
    assert Trip(offline={2}).run(scan, seen(3)).visited[:3] == [0, 1, 3]


def test_all_at_once_each_window_says_that_a_sampler_runs_on_its_sibling() -> None:
    trip = Trip(cpus=scripted_cpus(8)).run(sample_everywhere, lambda trip: {1, 3, 5, 7} <= set(trip.visited))
    words = {
        event.cpu: [warning.message for warning in event.window.warnings if warning.code == "sibling"]
        for event in trip.told
        if isinstance(event, Seen)
    }
    assert words[1] == ["a sampler runs on its sibling CPU 5 too"]


def test_a_named_cpu_is_visited_though_it_is_busy_but_not_while_it_is_offline() -> None:
    trip = Trip(cpus=APART, traded={1}, offline={0, 2}, consented=frozenset({1, 2})).run(scan, seen(3))
    assert trip.visited[:3] == [1, 3, 1]


def test_a_cpu_that_gets_work_meanwhile_is_passed_over() -> None:
    def until(trip: Trip) -> bool:
        trip.traded |= {2} if trip.visited else set()
        return len(trip.visited) >= 4

    assert Trip(cpus=APART).run(scan, until).visited[:4] == [0, 1, 3, 0]


def test_the_only_idle_cpu_is_looked_at_again_before_each_visit() -> None:
    trip = Trip(cpus=APART, traded={0, 1, 2}).run(scan, seen(3))
    assert trip.visited[:3] == [3, 3, 3]
    assert trip.looked_while[:4] == [frozenset(), {3}, frozenset(), {3}]


def test_a_scan_waits_where_nothing_is_idle() -> None:
    def until(trip: Trip) -> bool:
        if sum(isinstance(event, Looked) for event in trip.told) == 2:
            trip.traded.clear()
        return bool(trip.visited)

    trip = Trip(traded={0, 1, 2, 3}).run(scan, until)
    assert trip.visited[0] == 0


def test_a_visit_that_fails_is_told_and_the_next_cpu_has_its_turn() -> None:
    trip = Trip(instead={1: [Ended(error="the sampler was killed")]}).run(scan, seen(3))
    assert trip.visited[:3] == [0, 2, 3]
    assert Failed(cpu=1, why="the sampler was killed") in trip.told


def test_a_stopped_scan_leaves_no_sampler_in_the_middle_of_a_visit() -> None:
    instead: dict[int, list[Event]] = {0: [OpenGap(since=datetime.now(UTC), gap_s=0.3)]}
    silent = Trip(instead=instead).run(scan, lambda trip: Sampling(cpus=frozenset({0})) in trip.told)
    assert not silent.running
    assert silent.visited == []


# -- all at once --------------------------------------------------------------------------------


def test_all_at_once_leaves_the_lowest_core_to_the_screen() -> None:
    trip = Trip().run(sample_everywhere, lambda trip: set(trip.visited) == {1, 3})
    assert trip.most_running == 2
    assert Sampling(cpus=frozenset({1, 3}), spared=frozenset({0, 2})) in trip.told
    assert trip.moved == [{1, 3}]
    assert not trip.running


def test_all_at_once_leaves_what_is_busy_alone_and_then_needs_to_spare_none() -> None:
    trip = Trip(traded={0, 2}).run(sample_everywhere, lambda trip: set(trip.visited) == {1, 3})
    assert Sampling(cpus=frozenset({1, 3})) in trip.told


def test_a_sampler_that_ends_is_told_and_the_others_go_on() -> None:
    def until(trip: Trip) -> bool:
        return Sampling(cpus=frozenset({3}), spared=frozenset({0, 2})) in trip.told and 3 in trip.visited

    trip = Trip(instead={1: [Ended(error="CPU 1 went offline")]}).run(sample_everywhere, until)
    assert Failed(cpu=1, why="CPU 1 went offline") in trip.told


@pytest.mark.parametrize(
    ("fit", "changes", "spared"),
    [
        ({0, 1, 2, 3}, {}, {0, 2}),
        ({1, 2, 3}, {}, set()),
        ({0, 2, 3}, {"usable": frozenset({0, 2, 3})}, {0, 2}),
        ({0, 2}, {"usable": frozenset({0, 2})}, {0}),
        ({3}, {"usable": frozenset({3})}, {3}),
        ({0, 1, 3}, {"siblings": {}, "quiet": {0, 2}}, {1}),
        (set(), {}, set()),
    ],
)
def test_what_is_spared(fit: set[int], changes: dict[str, object], spared: set[int]) -> None:
    quiet = changes.pop("quiet", {3})
    cpus = scripted_cpus(4, isolated=frozenset(quiet), nohz_full=frozenset(), **changes)  # type: ignore[call-overload]
    assert spare_core(cpus, frozenset(fit)) == spared


def test_windows_grow_with_the_number_of_cpus() -> None:
    assert [window_s_for(count) for count in (0, 1, 20, 21, 1023)] == [1, 1, 1, 2, 52]
