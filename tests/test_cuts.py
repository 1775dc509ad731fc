"""The grid on which a sampler's time is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickmon.sampling.cuts import Cuts


def run(cuts: Cuts, *, late_s: float = 0.0, most: int = 1000) -> list[tuple[float, bool]]:
    """Every cut until the last, each made ``late_s`` after it was due."""
    made = []
    for _ in range(most):
        cut = cuts.next()
        made.append((cut.due_s, cut.closes))
        cuts.taken(cut.due_s + late_s)
        if cut.last:
            break
    return made


def test_first_look_comes_before_the_first_window_ends() -> None:
    made = run(Cuts(window_s=1.0, start_s=100.0, end_s=103.0, looks=True))
    assert made == [(pytest.approx(100.1), False), (101.0, True), (102.0, True), (103.0, True)]


def test_long_window_is_looked_at_every_second_while_it_grows() -> None:
    made = run(Cuts(window_s=5.0, start_s=0.0, end_s=5.0, looks=True))
    assert [round(due, 3) for due, closes in made if not closes] == [0.1, 1.0, 2.0, 3.0, 4.0]
    assert made[-1] == (5.0, True)


def test_hour_is_looked_at_ever_more_rarely_since_every_look_is_at_the_whole_of_it() -> None:
    made = run(Cuts(window_s=3600.0, start_s=0.0, end_s=3600.0, looks=True))
    assert len(made) < 150
    looks = [due for due, closes in made if not closes]
    assert looks[-1] > 3600.0 - 0.06 * 3600.0


def test_nobody_looks_where_nobody_asked_to() -> None:
    made = run(Cuts(window_s=5.0, start_s=0.0, end_s=10.0, looks=False))
    assert made == [(5.0, True), (10.0, True)]


def test_small_delays_of_the_cuts_do_not_add_up() -> None:
    made = run(Cuts(window_s=0.5, start_s=0.0, end_s=50.0, looks=True), late_s=0.01)
    assert [due for due, closes in made if closes] == pytest.approx([0.5 * n for n in range(1, 101)])


def test_after_a_long_interruption_the_next_window_has_its_full_length() -> None:
    cuts = Cuts(window_s=1.0, start_s=0.0, end_s=None, looks=True)
    cuts.taken(0.1)
    cuts.taken(61.0)
    assert cuts.next().due_s == pytest.approx(62.0)


def test_rest_of_the_run_is_a_shorter_window_and_a_crumb_is_none() -> None:
    rest = run(Cuts(window_s=1.0, start_s=0.0, end_s=2.5, looks=True))
    assert [due for due, closes in rest if closes] == [1.0, 2.0, 2.5]
    crumb = run(Cuts(window_s=1.0, start_s=0.0, end_s=2.001, looks=True))
    assert [due for due, closes in crumb if closes] == [1.0, 2.001]


@given(
    window_s=st.floats(0.1, 60.0),
    length_s=st.floats(0.1, 300.0),
    late_s=st.floats(0.0, 0.02),
    looks=st.booleans(),
)
def test_cuts_ascend_and_end_with_the_run(
    window_s: float, length_s: float, late_s: float, looks: bool
) -> None:
    made = run(Cuts(window_s=window_s, start_s=0.0, end_s=length_s, looks=looks), late_s=late_s, most=10_000)
    dues = [due for due, _ in made]
    assert dues == sorted(dues)
    assert made[-1] == (length_s, True)
    closes = [due for due, closing in made if closing]
    assert len(closes) <= length_s / window_s + 2
