"""Which figures of two readings are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from tickmon.analysis.change import BLOCKS, Change, Figure, Sides, span_s, unjudged
from tickmon.analysis.series import mean_values, rate_values, tick_p99_values, worst_values
from tickmon.analysis.stretches import Cost, Stretch, added

SOURCES_MOST = 10
"""So many sources are compared, the costliest: each more makes every finding less certain."""


def figures_of(sides: Sides, *, loop: bool) -> list[Figure]:
    """All that can be compared, the most important first."""

    def step_ns(stretch: Stretch, block_s: float) -> float:
        return stretch.step_ns

    def step_share(stretch: Stretch, block_s: float) -> float:
        return stretch.step_ns / block_s / 1e9

    def one_a_block(stretch: Stretch, block_s: float) -> float:
        # A thing that happens at the border of two blocks is in one of them.
        return 1 / block_s / BLOCKS

    figures = []
    ticks = [[stretch.tick.n if stretch.tick else 0 for stretch in side] for side in sides]
    if any(map(sum, ticks)):
        figures += [
            Figure(
                name="tick_median_ns",
                values=lambda series: mean_values(series, lambda stretch: stretch.tick),
                finest=step_ns,
            ),
            _tick_p99(sides, ticks),
        ]
    figures.append(
        Figure(
            name="overhead_share",
            values=lambda series: rate_values(series, lambda stretch: stretch.overhead_ns / 1e9),
            finest=step_share,
        )
    )
    if loop:
        figures.append(
            Figure(
                name="sample_median_ns",
                values=lambda series: mean_values(
                    series, lambda stretch: Cost(n=1, overhead_ns=0, median_ns=stretch.median_ns)
                ),
                finest=step_ns,
            )
        )
    else:
        figures.append(
            Figure(
                name="interruptions_per_s",
                values=lambda series: rate_values(series, lambda stretch: stretch.interruptions),
                finest=one_a_block,
            )
        )
    figures.append(Figure(name="worst_ns", values=worst_values, finest=step_ns))
    names = _source_names(sides)[:SOURCES_MOST]
    trains = {name for side in sides for stretch in side for name in stretch.trains_hz}
    for name in names:
        if name in trains:
            figures.append(
                Figure(
                    name="train_median_ns",
                    of=name,
                    values=lambda series, name=name: mean_values(  # type: ignore[misc]
                        series, lambda stretch: stretch.sources.get(name)
                    ),
                    finest=step_ns,
                )
            )
        figures += [
            Figure(
                name="source_per_s",
                of=name,
                values=lambda series, name=name: rate_values(  # type: ignore[misc]
                    series, lambda stretch: _of(stretch, name).n
                ),
                finest=one_a_block,
            ),
            Figure(
                name="source_share",
                of=name,
                values=lambda series, name=name: rate_values(  # type: ignore[misc]
                    series, lambda stretch: _of(stretch, name).overhead_ns / 1e9
                ),
                finest=step_share,
            ),
        ]
    return figures


_NOTHING = Cost(n=0, overhead_ns=0.0, median_ns=None)


def _of(stretch: Stretch, name: str) -> Cost:
    return stretch.sources.get(name, _NOTHING)


_TICKS_A_BLOCK = 1_100
"""So many have ten beyond their 99th percentile, and some to spare for ticks that are not counted."""


def _tick_p99(sides: Sides, ticks: Sequence[Sequence[int]]) -> Figure:
    # From the bins on both sides where one side has no more: their middle is not a length that occurred.
    exact = all(
        stretch.tick_gaps_cycles is not None
        for side in sides
        for stretch in side
        if stretch.tick is not None and stretch.tick.n
    )
    rates_hz = [sum(counts) / span_s(side) for side, counts in zip(sides, ticks, strict=True)]
    slowest_hz = min((rate_hz for rate_hz in rates_hz if rate_hz), default=1.0)
    return Figure(
        name="tick_p99_ns",
        values=lambda series: tick_p99_values(series, exact=exact),
        finest=lambda stretch, block_s: stretch.step_ns,
        block_s=_TICKS_A_BLOCK / slowest_hz,
    )


def left_out(sides: Sides) -> list[Change]:
    """What the sources come to that are not among ``figures_of`` those sides, the costliest first."""
    names = _source_names(sides)[SOURCES_MOST:]
    totals = [_totals(side) for side in sides]

    def rate(place: int, name: str, amount: Callable[[Cost], float]) -> float | None:
        if not any(stretch.length_s for stretch in sides[place]):
            return None
        return amount(totals[place].get(name, _NOTHING)) / span_s(sides[place])

    figures: tuple[tuple[str, Callable[[Cost], float]], ...] = (
        ("source_per_s", lambda cost: cost.n),
        ("source_share", lambda cost: cost.overhead_ns / 1e9),
    )
    return [
        unjudged(
            name=figure,
            of=name,
            before=rate(0, name, amount),
            after=rate(1, name, amount),
            reason="left out",
        )
        for name in names
        for figure, amount in figures
    ]


def _source_names(sides: Sides) -> list[str]:
    """Of both sides, the costliest first."""
    shares: Counter[str] = Counter()
    for side in sides:
        for name, cost in _totals(side).items():
            shares[name] += cost.overhead_ns / span_s(side)  # type: ignore[assignment]
    return [name for name, _ in shares.most_common()]


def _totals(side: Sequence[Stretch]) -> dict[str, Cost]:
    totals: dict[str, Cost] = {}
    for stretch in side:
        for name, cost in stretch.sources.items():
            totals[name] = added(totals.get(name), cost)
    return totals
