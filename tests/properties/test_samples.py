"""What a model draws looks like what it says: frequencies and moments, within five standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .models import BERNOULLI, CATEGORICAL, GAUSSIAN, MULTINOMIAL, POISSON, SEEN, TEXTS, Kind, by_name, unsmoothed

N = 20_000
RNG_ROWS = np.random.default_rng(11)
X = RNG_ROWS.integers(0, 5, (60, 3)).astype(np.float64)
Y = np.array(["ant", "bee", "cat"])[RNG_ROWS.integers(0, 3, 60)]
Y[:25] = "ant"
smoothing = pytest.mark.parametrize("smooth", [True, False], ids=["smooth", "pure"])


def drawn(kind: Kind, smooth: bool, **options: Any) -> tuple[Any, Any, Any]:
    """A model, rows drawn from it, and their labels."""
    model = kind.fit(X, Y, **({} if smooth else unsmoothed(kind)))
    return model, *model.sample(N, random_state=7, **options)


def assert_mean(values: Any, mean: Any, variance: Any) -> None:
    """The mean of independent values lies within five standard errors of what it should be."""
    np.testing.assert_array_less(np.abs(values.mean(axis=0) - mean), 5 * np.sqrt(variance / len(values)) + 1e-12)


@pytest.mark.parametrize("kind", [GAUSSIAN, BERNOULLI, MULTINOMIAL, CATEGORICAL, SEEN, TEXTS, POISSON], ids=by_name)
def test_classes_are_drawn_by_their_prior(kind: Kind) -> None:
    """Shares of the labels; and a seed draws the same rows again."""
    model, rows, labels = drawn(kind, smooth=True)
    again = model.sample(N, random_state=7)
    assert (rows == again[0]).all()
    assert (labels == again[1]).all()
    for label, prior in zip(model.classes_, model.class_prior_, strict=True):
        assert_mean((labels == label).astype(float), prior, prior * (1 - prior))


@smoothing
def test_gaussian_draws_have_mean_and_variance(smooth: bool) -> None:
    """Both, class by class."""
    model, rows, labels = drawn(GAUSSIAN, smooth)
    for label, mean, variance in zip(model.classes_, model.theta_, model.var_, strict=True):
        own = rows[labels == label]
        assert_mean(own, mean, variance)
        assert_mean((own - mean) ** 2, variance, 2 * variance**2)


@smoothing
def test_bernoulli_draws_have_their_frequency(smooth: bool) -> None:
    """Of cells that are on."""
    model, rows, labels = drawn(BERNOULLI, smooth)
    for label, on in zip(model.classes_, np.exp(model.feature_log_prob_), strict=True):
        assert_mean(rows[labels == label], on, on * (1 - on))


@smoothing
@pytest.mark.parametrize("kind", [CATEGORICAL, TEXTS, SEEN], ids=by_name)
def test_categorical_draws_have_their_frequency(kind: Kind, smooth: bool) -> None:
    """Of every value of every column; a reserved cell is never drawn, and the others keep their proportion."""
    model, rows, labels = drawn(kind, smooth)
    for j, (values, log_share) in enumerate(zip(model.categories_, model.feature_log_prob_, strict=True)):
        for label, share in zip(model.classes_, np.exp(log_share), strict=True):
            share = share / share.sum()
            for value, p in zip(values, share, strict=True):
                assert_mean((rows[labels == label, j] == value).astype(float), p, p * (1 - p))


@smoothing
@pytest.mark.parametrize("length", [1, 12])
def test_multinomial_draws_have_their_shares(smooth: bool, length: int) -> None:
    """Rows of the length asked for, in which words have their shares."""
    model, rows, labels = drawn(MULTINOMIAL, smooth, length=length)
    assert (rows.sum(axis=1) == length).all()
    for label, share in zip(model.classes_, np.exp(model.feature_log_prob_), strict=True):
        assert_mean(rows[labels == label], length * share, length * share * (1 - share))


@smoothing
def test_poisson_draws_have_their_rate(smooth: bool) -> None:
    """As mean, and as variance."""
    model, rows, labels = drawn(POISSON, smooth)
    for label, rate in zip(model.classes_, model.rate_, strict=True):
        own = rows[labels == label]
        assert_mean(own, rate, rate)
        assert_mean((own - rate) ** 2, rate, rate + 2 * rate**2)
