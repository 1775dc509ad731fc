"""Medians and percentiles of a few values, against numpy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickmon.analysis.ranks import jitter, median

some = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=60)


@given(values=some)
def test_the_median_is_the_middle_one_or_the_mean_of_the_two_in_the_middle(values: list[float]) -> None:
    assert median(np.array(values)) == np.median(values)


@given(values=some)
def test_jitter_is_the_distance_of_the_5th_and_95th_percentiles(values: list[float]) -> None:
    low, high = np.percentile(values, [5, 95])
    assert jitter(np.array(values)) == pytest.approx(high - low, rel=1e-9, abs=1e-5)
