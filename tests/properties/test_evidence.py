"""The evidence is what one row after the other is predicted with, whatever the model."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln
from tiers import tries

from candide import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, PoissonNB, diagnostics
from candide.kernels.layouts import Floats
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

from .models import BERNOULLI, CATEGORICAL, GAUSSIAN, MULTINOMIAL, POISSON, SEEN, TEXTS, Kind, by_name
from .strategies import Rows, numbers, parts, rows

NORMAL, INVERSE = Normal(0.5, 2.0, 3.0), NormalInverseGamma(0.5, 0.7, 1.5, 2.0)


def resolved(name: str, make: Any, like: Kind, **settings: Any) -> Kind:
    """A kind with fixed settings."""
    return Kind(name, partial(make, **settings), measures=like.measures, columnwise=like.columnwise)


# Values that are not known yet must have a share from the start: five codes, or room for one unseen.
BELIEVERS = [
    resolved("bernoulli", BernoulliNB, BERNOULLI, alpha=0.7),
    resolved("bernoulli-prior", BernoulliNB, BERNOULLI, parameter_prior=Beta(0.4, 2.0)),
    resolved("multinomial", MultinomialNB, MULTINOMIAL, alpha=0.7),
    resolved("multinomial-prior", MultinomialNB, MULTINOMIAL, parameter_prior=Dirichlet(0.3)),
    resolved("poisson", PoissonNB, POISSON, alpha=0.7, beta=1.3),
    resolved("poisson-prior", PoissonNB, POISSON, parameter_prior=Gamma(2.0, 0.1)),
    resolved("categorical", CategoricalNB, CATEGORICAL, alpha=0.7, min_categories=5),
    resolved("categorical-smooth", CategoricalNB, CATEGORICAL, alpha=0.7, min_categories=5, unseen="smooth"),
    resolved("categorical-prior", CategoricalNB, CATEGORICAL, parameter_prior=Dirichlet([0.2, 1, 2, 0.5, 0.5]),
            min_categories=5),
    resolved("gaussian", GaussianNB, GAUSSIAN, parameter_prior=INVERSE),
    resolved("gaussian-known", GaussianNB, GAUSSIAN, parameter_prior=NORMAL),
    resolved("gaussian-shared", GaussianNB, GAUSSIAN, parameter_prior=INVERSE, variance="shared"),
]  # fmt: skip
believers = pytest.mark.parametrize("kind", BELIEVERS, ids=by_name)


def own_log_predictive(model: Any, x: Floats, label: Any) -> float:
    """log p(x | class) of one row under its class, without factorials."""
    terms = model.predict_joint_log_proba(x[None])[0] - model.class_log_prior_
    factorials = np.nansum(gammaln(x + 1)) if isinstance(model, PoissonNB) else 0.0
    return float(terms[model.classes_.tolist().index(label)] + factorials)


@believers
@given(data=st.data())
def test_evidence_is_what_rows_were_predicted_with(kind: Kind, data: Any) -> None:
    """From a model that has seen nothing, each row predicted before it is learned."""
    table = data.draw(rows(kind))
    even = {"priors" if kind.measures else "class_prior": "uniform"}
    model = kind.make(estimate="predictive", **even)
    model.partial_fit(table.X, table.y, classes=np.unique(table.y)).discount(0.0)
    total = 0.0
    for x, label in zip(table.X, table.y, strict=True):
        total += own_log_predictive(model, x, label)
        model.partial_fit(x[None], [label])
    assert diagnostics.log_marginal_likelihood(kind.fit(table.X, table.y)) == pytest.approx(total, rel=1e-9, abs=1e-9)


@believers
@given(data=st.data())
def test_evidence_does_not_depend_on_how_it_was_learned(kind: Kind, data: Any) -> None:
    """Weights are copies, parts are added, and the estimate does not matter."""
    table = data.draw(rows(kind))
    table = table.take(np.flatnonzero(np.isin(table.y, table.y[table.weight > 0])))
    whole = diagnostics.log_marginal_likelihood(kind.make(estimate="map").fit(table.X, table.y, table.weight))
    copies = np.repeat(np.arange(len(table.y)), table.weight.astype(int))
    assert diagnostics.log_marginal_likelihood(kind.fit(table.X[copies], table.y[copies])) == pytest.approx(
        whole, rel=1e-9, abs=1e-9
    )
    first, *others = (kind.fit(part.X, part.y, part.weight) for part in data.draw(parts(table)))
    for other in others:
        first.merge(other)
    assert diagnostics.log_marginal_likelihood(first) == pytest.approx(whole, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", [kind for kind in BELIEVERS if kind.columnwise], ids=by_name)
@given(data=st.data())
def test_evidence_adds_up_over_columns(kind: Kind, data: Any) -> None:
    table = data.draw(rows(kind))
    model = kind.fit(table.X, table.y)
    alone = [diagnostics.log_marginal_likelihood(kind.fit(table.X[:, [j]], table.y)) for j in range(table.X.shape[1])]
    np.testing.assert_allclose(diagnostics.log_marginal_likelihood(model, per_column=True), alone, rtol=1e-9, atol=1e-9)
    assert diagnostics.log_marginal_likelihood(model) == pytest.approx(sum(alone), rel=1e-9, abs=1e-9)


@given(table=rows(MULTINOMIAL, n_columns=3))
def test_evidence_of_a_word_is_that_of_it_against_all_others(table: Rows) -> None:
    model = MultinomialNB(alpha=0.7).fit(table.X, table.y)
    X = np.nan_to_num(table.X)
    for j, marginal_likelihood in enumerate(diagnostics.log_marginal_likelihood(model, per_column=True)):
        two = np.column_stack([X[:, j], X.sum(axis=1) - X[:, j]])
        against = MultinomialNB(alpha=[0.7, 1.4]).fit(two, table.y)
        assert marginal_likelihood == pytest.approx(diagnostics.log_marginal_likelihood(against), rel=1e-9, abs=1e-9)


# Pseudo-counts by evidence.

SMOOTHED = [BERNOULLI, CATEGORICAL, SEEN, TEXTS, POISSON, MULTINOMIAL]
LOG_ALPHA = np.linspace(-12, 6, 91)


@st.composite
def many_rows(draw: Any, kind: Kind) -> Rows:
    """Two to eighty copies of a few rows."""
    table = draw(rows(kind))
    again = numbers(draw, (draw(st.integers(2, 80)),), list(range(len(table.y)))).astype(int)
    return table.take(again)


@pytest.mark.parametrize("kind", SMOOTHED, ids=by_name)
@given(data=st.data())
def test_alpha_by_evidence_is_the_best(kind: Kind, data: Any) -> None:
    """No α of a fine grid explains the data better: per column, or for all columns where they compete."""
    table = data.draw(many_rows(kind))
    model = kind.fit(table.X, table.y, alpha="evidence")
    family, statistics = model.model_.classifier.bound_spec.family, model.model_.classifier.state.statistics
    name = "log_marginal_likelihood" if kind.columnwise else "total_log_marginal_likelihood"
    grid = [getattr(family.with_alpha(alpha), name)(statistics) for alpha in np.exp(LOG_ALPHA)]
    assert (diagnostics.log_marginal_likelihood(model, per_column=kind.columnwise) >= np.max(grid, axis=0) - 1e-5).all()


@pytest.mark.parametrize("kind", SMOOTHED, ids=by_name)
@tries(12)
@given(data=st.data())
def test_alpha_by_evidence_needs_no_rows(kind: Kind, data: Any) -> None:
    """Merged models choose what one fit chooses, though no row is kept."""
    table = data.draw(rows(kind))
    pieces = data.draw(parts(Rows(table.X, table.y, np.ones(len(table.y)))))
    whole, first, *others = (kind.fit(piece.X, piece.y, alpha="evidence") for piece in (table, *pieces))
    for other in others:
        first.merge(other)
    assert first.model_.classifier.state.sample is None
    np.testing.assert_allclose(kind.proba(first, table.X), kind.proba(whole, table.X), rtol=1e-9, atol=1e-12)
