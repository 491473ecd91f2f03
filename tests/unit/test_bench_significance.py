"""Intervals are where they should be, and always the same."""

from math import sqrt

import numpy as np
import pytest

from making import about
from recollect.bench.significance import SAMPLES, Interval, resample, summarise


def test_what_never_varies_has_no_width() -> None:
    """All queries alike give the same mean in every sample."""
    summary = summarise({"one": np.full((7, 1), 0.25)})
    assert summary.sets["one"] == summary.mean == (Interval(0.25, 0.25, 0.25),)


def test_the_interval_of_a_share_is_that_of_the_binomial() -> None:
    """Of 400 queries 100 succeed: the share is .25 give or take 1.96 x sqrt(.25 x .75 / 400)."""
    table = np.repeat([[1.0], [0.0]], [100, 300], axis=0)
    (found,) = summarise({"one": table}).mean
    width = 1.96 * sqrt(0.25 * 0.75 / 400)
    assert found.mean == 0.25
    assert found.low == about(0.25 - width, 0.02)
    assert found.high == about(0.25 + width, 0.02)


def test_the_mean_over_sets_counts_each_set_alike() -> None:
    """A set of one query weighs as much as one of a thousand, and its width is halved with it."""
    tables = {"large": np.zeros((1000, 1)), "small": np.repeat([[1.0], [0.0]], 50, axis=0)}
    summary = summarise(tables)
    (small,), (mean,) = summary.sets["small"], summary.mean
    assert mean.mean == 0.25
    assert mean.high - mean.low == about((small.high - small.low) / 2)


def test_a_paired_difference_is_surer_than_the_means_it_is_of() -> None:
    """Where one arm is always a little better, the difference is certain although both means are not."""
    generator = np.random.default_rng(1)
    one = generator.random((60, 1))
    summary = summarise({"set": np.hstack([one, one + 0.01, np.full((60, 1), 0.01)])})
    a, b, difference = summary.mean
    assert a.high > b.low
    assert difference.above_zero


def test_columns_are_resampled_together() -> None:
    """Two equal columns have equal samples, so that a difference of columns is a paired one."""
    values = np.random.default_rng(2).random((30, 1))
    drawn = resample(np.hstack([values, values]), "set")
    assert drawn.shape == (SAMPLES, 2)
    assert (drawn[:, 0] == drawn[:, 1]).all()


def test_the_same_results_have_the_same_intervals() -> None:
    """And another set is drawn from otherwise."""
    table = np.random.default_rng(3).random((20, 2))
    assert summarise({"a": table}) == summarise({"a": table})
    assert (resample(table, "a") != resample(table, "b")).any()


def test_many_queries_are_drawn_in_steps_that_leave_no_trace() -> None:
    """A set too large to draw at once still has all its samples."""
    drawn = resample(np.arange(5000.0).reshape(-1, 1), "large")
    assert np.isfinite(drawn).all()
    assert drawn.mean() == about(2499.5, 0.01)


def test_nothing_to_draw_from_is_an_error() -> None:
    """A set without queries has no mean."""
    with pytest.raises(ValueError, match="no queries"):
        resample(np.empty((0, 1)), "empty")
    assert summarise({}).mean == ()


@pytest.mark.parametrize(
    ("interval", "above", "below"),
    [
        (Interval(0.1, 0.01, 0.2), True, False),
        (Interval(0.1, 0.0, 0.2), False, False),
        (Interval(0.0, 0.0, 0.0), False, False),
        (Interval(-0.1, -0.2, -0.01), False, True),
    ],
)
def test_an_interval_that_touches_zero_says_nothing(interval: Interval, *, above: bool, below: bool) -> None:
    """Only one wholly on one side is clear of it."""
    assert (interval.above_zero, interval.below_zero) == (above, below)
