"""Four ways from a posterior to a number, and where they meet, for every model with pseudo-counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide.kernels.layouts import Floats
from candide.priors import Beta, Dirichlet, Gamma

from .models import BERNOULLI, CATEGORICAL, COMPLEMENT, MULTINOMIAL, NORMED, POISSON, SEEN, TEXTS, Kind, by_name
from .strategies import Rows, rows

COUNTED = [BERNOULLI, MULTINOMIAL, COMPLEMENT, NORMED, CATEGORICAL, SEEN, TEXTS, POISSON]
PRIORS: dict[Kind, Any] = {BERNOULLI: lambda a: Beta(a, a), POISSON: lambda a: Gamma(a, 1.0)}
all_counted = pytest.mark.parametrize("kind", COUNTED, ids=by_name)


@st.composite
def pseudo_counts(draw: Any, table: Rows) -> float | Floats:
    """One number, one per column, or one per class and column."""
    n_classes, n_columns = len(np.unique(table.y)), table.X.shape[1]
    shape = draw(st.sampled_from([(), (n_columns,), (n_classes, n_columns)]))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    return rng.choice([0.0, 0.01, 0.3, 1.0, 2.5], shape)


def assert_same_answers(kind: Kind, a: Any, b: Any, X: Floats, rtol: float = 1e-12) -> None:
    """Equal parameters and equal probabilities."""
    for name, column in a.parameters().items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(column, b.parameters()[name], rtol=rtol, atol=rtol, err_msg=name)
    np.testing.assert_allclose(kind.proba(a, X), kind.proba(b, X), rtol=rtol, atol=10 * rtol)


@all_counted
@given(data=st.data())
def test_a_mean_is_a_mode_with_one_more(kind: Kind, data: Any) -> None:
    """Laplace's smoothing is the posterior mean under α = 1 and the mode under α = 2."""
    table = data.draw(rows(kind))
    alpha = data.draw(pseudo_counts(table))
    mean, mode = (
        kind.fit(table.X, table.y, alpha=alpha + extra, estimate=estimate)
        for extra, estimate in ((0, "mean"), (1, "map"))
    )
    assert_same_answers(kind, mean, mode, table.X)


@all_counted
@given(data=st.data())
def test_the_mode_under_a_flat_prior_is_the_maximum_of_the_likelihood(kind: Kind, data: Any) -> None:
    table = data.draw(rows(kind))
    flat = {"beta": 0.0} if kind is POISSON else {}
    mode = kind.fit(table.X, table.y, alpha=1.0, estimate="map", **flat)
    likeliest = kind.fit(table.X, table.y, estimate="mle")
    unsmoothed = kind.fit(table.X, table.y, alpha=0.0, **flat)
    assert_same_answers(kind, mode, likeliest, table.X, rtol=0)
    assert_same_answers(kind, unsmoothed, likeliest, table.X, rtol=0)


@all_counted
@given(data=st.data(), alpha=st.sampled_from([0.001, 0.5, 0.999]))
def test_modes_on_the_border_are_defined(kind: Kind, data: Any, alpha: float) -> None:
    table, asked = data.draw(rows(kind)), data.draw(rows(kind))
    model = kind.fit(table.X, table.y, alpha=alpha, estimate="map")
    probability = kind.proba(model, np.resize(asked.X, table.X.shape))
    np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
    assert not any(np.isnan(column).any() for column in model.parameters().values() if column.dtype.kind == "f")


@pytest.mark.parametrize("kind", [BERNOULLI, CATEGORICAL, SEEN, TEXTS], ids=by_name)
@given(data=st.data())
def test_of_one_draw_the_mean_is_the_prediction(kind: Kind, data: Any) -> None:
    """A cell that is drawn once sees nothing but the mean of its shares."""
    table = data.draw(rows(kind))
    mean, predictive = (kind.fit(table.X, table.y, alpha=0.7, estimate=name) for name in ("mean", "predictive"))
    assert_same_answers(kind, mean, predictive, table.X, rtol=0)


@all_counted
@given(data=st.data(), estimate=st.sampled_from(["mean", "map"]))
def test_alpha_is_short_for_a_prior(kind: Kind, data: Any, estimate: str) -> None:
    """The number, the prior, one prior per column, and a dict of them are one thing."""
    table, n_columns = data.draw(rows(kind, n_columns=2)), 2
    prior = PRIORS.get(kind, Dirichlet)(1.7)
    fit = partial(kind.fit, table.X, table.y, estimate=estimate)
    short = fit(alpha=1.7)
    for given_prior in (prior, [prior] * n_columns, {0: prior, 1: prior}):
        assert_same_answers(kind, short, fit(parameter_prior=given_prior), table.X)


@pytest.mark.parametrize("kind", [MULTINOMIAL, POISSON], ids=by_name)
@given(data=st.data())
def test_with_many_rows_all_estimates_agree(kind: Kind, data: Any) -> None:
    """The prior drowns."""
    table = data.draw(rows(kind, missing=False))
    X = table.X + 1
    names = ["mean", "map", "mle", "predictive"]
    models = [kind.make(estimate=name).fit(X, table.y, np.full(len(X), 1e6)) for name in names]
    for model in models:
        np.testing.assert_allclose(kind.proba(model, X), kind.proba(models[0], X), atol=1e-4)
