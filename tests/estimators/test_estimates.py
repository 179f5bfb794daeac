"""Estimates against SciPy's distributions and the textbook's formulas, and settings that contradict each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tiers import every

import candide
from candide import diagnostics
from candide.exceptions import ParameterError
from candide.kernels.layouts import Floats
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

RANDOM = np.random.default_rng(5)
COUNTS = RANDOM.poisson([[0.5, 2.0, 4.0]], (30, 3)).astype(float)
X = RANDOM.normal([[0.0, 10.0]], [[1.0, 3.0]], (30, 2))
y = np.arange(30) % 3
ALPHA = np.array([0.3, 1.0, 2.0])


def own_terms(model: Any, rows: Floats) -> Floats:
    """log p(x | class), but for what all classes share."""
    return np.asarray(model.predict_joint_log_proba(rows) - model.class_log_prior_)


def by_class(summary: Any, values: Floats) -> Floats:
    return np.array([summary(values[y == c], axis=0) for c in range(3)])


# Predictive distributions.


def test_words_are_predicted_by_polya() -> None:
    model = candide.MultinomialNB(alpha=ALPHA, estimate="predictive").fit(COUNTS, y)
    after = by_class(np.sum, COUNTS) + ALPHA
    assert not own_terms(model, np.zeros((1, 3))).any()
    rows = np.vstack([COUNTS, [[0, 0, 200]]])
    expected = stats.dirichlet_multinomial.logpmf(
        rows[:, None].astype(int), after, rows.sum(axis=1)[:, None].astype(int)
    )
    coefficient = stats.multinomial.logpmf(rows, rows.sum(axis=1), np.full(3, 1 / 3)) + rows.sum(axis=1) * np.log(3)
    np.testing.assert_allclose(own_terms(model, rows) + coefficient[:, None], expected, rtol=1e-10, atol=1e-10)


def test_counts_are_predicted_by_the_negative_binomial() -> None:
    model = candide.PoissonNB(alpha=ALPHA, beta=0.7, estimate="predictive").fit(COUNTS, y)
    rate = 10 + 0.7
    after = by_class(np.sum, COUNTS) + ALPHA
    rows = np.vstack([COUNTS, [[0, 0, 0], [0, 0, 200]]])
    expected = stats.nbinom.logpmf(rows[:, None], after, rate / (rate + 1)).sum(axis=2)
    np.testing.assert_allclose(own_terms(model, rows), expected, rtol=1e-10)
    np.testing.assert_allclose(model.rate_, after / rate, rtol=1e-12)


PRIOR = NormalInverseGamma([1.0, 8.0], 0.5, [1.5, 2.0], [1.0, 6.0])


def after_prior() -> tuple[Floats, Floats, Floats, Floats]:
    """Location, strength, shape and scale of the posterior, each class and column by itself."""
    mean, scatter = by_class(np.mean, X), by_class(np.var, X) * 10
    strength = 0.5 + 10.0
    location = (0.5 * np.asarray(PRIOR.location) + 10 * mean) / strength
    scale = PRIOR.scale + scatter / 2 + 0.5 * 10 * (mean - PRIOR.location) ** 2 / (2 * strength)
    return location, np.full((3, 2), strength), np.broadcast_to(PRIOR.shape + 5.0, (3, 2)), scale


def test_measurements_are_predicted_by_student() -> None:
    location, strength, shape, scale = after_prior()
    model = candide.GaussianNB(parameter_prior=PRIOR, estimate="predictive").fit(X, y)
    spread = np.sqrt(scale * (strength + 1) / (shape * strength))
    rows = np.vstack([X, [[0.0, -500.0]]])
    expected = stats.t.logpdf(rows[:, None], 2 * shape, location, spread).sum(axis=2)
    np.testing.assert_allclose(own_terms(model, rows), expected, rtol=1e-10)


@pytest.mark.parametrize(("estimate", "extra"), [("mean", -1.0), ("map", 1.5)])
def test_means_and_modes_of_normals(estimate: str, extra: float) -> None:
    location, _, shape, scale = after_prior()
    model = candide.GaussianNB(parameter_prior=PRIOR, estimate=estimate).fit(X, y)
    np.testing.assert_allclose(model.theta_, location, rtol=1e-12)
    np.testing.assert_allclose(model.var_, scale / (shape + extra), rtol=1e-12)


@every("estimate,spread", [("mean", 0.0), ("map", 0.0), ("predictive", 1.0)])
def test_known_variance(estimate: str, spread: float) -> None:
    prior = Normal([0.0, 9.0], [2.0, 1.0], [4.0, 5.0])
    model = candide.GaussianNB(parameter_prior=prior, estimate=estimate).fit(X, y)
    variance = 1 / (1 / np.array([2.0, 1.0]) + 10 / np.array([4.0, 5.0]))
    location = variance * (np.array([0.0, 9.0]) / [2.0, 1.0] + 10 * by_class(np.mean, X) / [4.0, 5.0])
    np.testing.assert_allclose(model.theta_, location, rtol=1e-12)
    np.testing.assert_allclose(model.var_, np.tile([4.0, 5.0] + spread * variance, (3, 1)), rtol=1e-12)


@every("estimate", ["mean", "map", "predictive"])
def test_the_empirical_prior_is_weak(estimate: str) -> None:
    """Half a row at the overall mean, two rows of the overall variance."""
    given = NormalInverseGamma(X.mean(axis=0), 0.5, 1.0, X.var(axis=0) / 2)
    ours, theirs = (candide.GaussianNB(estimate=estimate, parameter_prior=p).fit(X, y) for p in (None, given))
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=1e-9, atol=1e-12)


# Modes on the border.


def test_modes_of_words_on_the_border() -> None:
    """A word below 0 has no share; in a class without words the largest pseudo-count has the whole, equals share."""
    rows, labels = [[2, 1, 0], [0, 0, 0]], [0, 1]
    shares = [
        candide.MultinomialNB(alpha=alpha, estimate="map").fit(rows, labels).parameters()["probability"].reshape(2, 3)
        for alpha in (0.5, [0.2, 0.9, 0.5])
    ]
    np.testing.assert_allclose(shares[0], [[0.75, 0.25, 0], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_allclose(shares[1], [[1.2 / 2.1, 0.9 / 2.1, 0], [0, 1, 0]])


def test_modes_of_values_on_the_border() -> None:
    rows = [["red"], ["red"], ["blue"], [None]]
    model = candide.CategoricalNB(alpha=0.5, estimate="map").fit(rows, ["a", "a", "b", "c"])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_[0]), [[0, 1], [1, 0], [0.5, 0.5]])


def test_modes_of_switches_on_the_border() -> None:
    prior = Beta([0.2, 0.5, 0.9], 0.5)
    model = candide.BernoulliNB(parameter_prior=prior, estimate="map").fit([[1, 1, 1], [np.nan] * 3], [0, 1])
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), [[1, 1, 1], [0, 0.5, 1]])


def test_modes_of_rates_on_the_border() -> None:
    model = candide.PoissonNB(alpha=0.5, beta=1, estimate="map").fit([[3, 0], [0, 1]], [0, 1])
    np.testing.assert_allclose(model.rate_, [[2.5 / 2, 0], [0, 0.25]])


# Variances.


@every("ddof", [0, 1, 1.5])
def test_degrees_of_freedom(ddof: float) -> None:
    model = candide.GaussianNB(ddof=ddof, var_smoothing=0).fit(X, y)
    np.testing.assert_allclose(model.var_, by_class(np.var, X) * 10 / (10 - ddof), rtol=1e-12)
    shared = candide.GaussianNB(ddof=ddof, var_smoothing=0, variance="shared").fit(X, y)
    pooled = by_class(np.var, X).sum(axis=0) * 10 / (30 - 3 * ddof)
    np.testing.assert_allclose(shared.var_, np.tile(pooled, (3, 1)), rtol=1e-12)


@pytest.mark.parametrize(("estimate", "extra"), [("mean", -1.0), ("map", 2.5)])
def test_one_variance_has_one_prior(estimate: str, extra: float) -> None:
    """Shape and scale of the prior count once for all classes; the mode is that of variance and means together."""
    model = candide.GaussianNB(parameter_prior=PRIOR, estimate=estimate, variance="shared").fit(X, y)
    scale = PRIOR.scale + (after_prior()[3] - PRIOR.scale).sum(axis=0)
    np.testing.assert_allclose(model.var_, np.tile(scale / (PRIOR.shape + 15 + extra), (3, 1)), rtol=1e-12)


SHARED = [{}, {"ddof": 1}, {"estimate": "mean"}, {"estimate": "map"}, {"parameter_prior": PRIOR}]


@every("settings", SHARED)
def test_one_variance_makes_log_odds_linear(settings: dict[str, Any]) -> None:
    model = candide.GaussianNB(variance="shared", **settings).fit(X, y)
    line = np.linspace(-20, 30, 101)[:, None] * [1.0, -0.5] + [0.3, 4.0]
    odds = np.diff(own_terms(model, line), axis=1)
    np.testing.assert_allclose(np.diff(odds, n=2, axis=0), 0, atol=1e-9)
    slope = np.diff(model.theta_ / model.var_, axis=0)
    offset = np.diff(-(model.theta_**2) / (2 * model.var_), axis=0).sum(axis=1)
    np.testing.assert_allclose(odds, line @ slope.T + offset, rtol=1e-9, atol=1e-9)
    own_variances = candide.GaussianNB(**settings).fit(X, y)
    assert np.abs(np.diff(own_terms(own_variances, line), n=2, axis=0)).max() > 1e-3


ODD = [
    ([[1.0], [2.0], [4.0]], ["a", "b", "b"]),  # one row of a class
    ([[3.0], [3.0], [4.0], [6.0]], ["a", "a", "b", "b"]),  # no variance in a class
    ([[3.0], [3.0], [3.0]], ["a", "b", "b"]),  # none at all
    ([[1.0], [2.0]], ["a", "b"]),  # one row of each
    ([[np.nan], [2.0], [3.0]], ["a", "b", "b"]),  # nothing observed in a class
    ([[np.nan], [np.nan]], ["a", "b"]),  # nothing observed at all
]
BARE = [
    {"var_smoothing": 0, "ddof": 1},
    {"estimate": "mle", "ddof": 3},
    {"var_smoothing": 0},
    {"estimate": "mean"},
    {"estimate": "map"},
    {"estimate": "predictive"},
]


@every("cells,labels", ODD)
@every("settings", BARE)
@every("variance", ["class", "shared"])
def test_too_few_rows_for_a_variance(cells: Any, labels: Any, settings: dict[str, Any], variance: str) -> None:
    model = candide.GaussianNB(variance=variance, **settings).fit(cells, labels)
    probability = model.predict_proba([*cells, [3.0], [2.5], [-1e8], [np.nan]])
    assert np.isfinite(probability).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1)


def test_one_row_has_the_variance_of_the_column() -> None:
    model = candide.GaussianNB(ddof=1, var_smoothing=0).fit([[1.0], [2.0], [4.0]], ["a", "b", "b"])
    np.testing.assert_allclose(model.var_, [[np.var([1, 2, 4])], [2.0]])


def test_without_variance_the_point_decides() -> None:
    """All of "a" lies in 3: there it is certain, elsewhere impossible."""
    model = candide.GaussianNB(var_smoothing=0).fit([[3.0], [3.0], [2.0], [6.0]], ["a", "a", "b", "b"])
    assert model.predict_proba([[3.0], [3.1]]).tolist() == [[1, 0], [0, 1]]


@every("name", ["BernoulliNB", "CategoricalNB", "ComplementNB", "MultinomialNB", "PoissonNB"])
def test_maximum_likelihood_believes_nothing(name: str) -> None:
    assert getattr(candide, name)(estimate="mle").fit(COUNTS, y).prior_ is None
    assert getattr(candide, name)(alpha=0.5).fit(COUNTS, y).prior_ is not None


def test_the_prior_of_measurements_is_shown() -> None:
    assert candide.GaussianNB().fit(X, y).prior_ is None
    given = Normal(0.0, 2.0, 3.0)
    assert candide.GaussianNB(parameter_prior=given).fit(X, y).prior_ == given
    taken = candide.GaussianNB(estimate="map").fit(X, y).prior_
    np.testing.assert_allclose(taken.location, X.mean(axis=0))
    np.testing.assert_allclose(taken.scale, X.var(axis=0) / 2)
    np.testing.assert_array_equal([taken.strength, taken.shape], [[0.5, 0.5], [1.0, 1.0]])


@pytest.mark.parametrize("columns", [None, ["day", "night", "dusk"]])
def test_columns_have_their_printed_names_and_positions(columns: list[str] | None) -> None:
    priors = [Gamma(1, 2), Gamma(3, 4), Gamma(5, 6)]
    frame = COUNTS if columns is None else pd.DataFrame(COUNTS, columns=columns)
    names = list(dict.fromkeys(candide.PoissonNB().fit(frame, y).parameters()["column"].tolist()))
    meant = candide.PoissonNB(parameter_prior=priors).fit(frame, y).prior_
    for keys in (names, [0, 1, 2], [names[0], 1, names[2]]):
        given = dict(reversed(list(zip(keys, priors, strict=True))))
        assert candide.PoissonNB(parameter_prior=given).fit(frame, y).prior_ == meant


def test_a_prior_that_is_alike_for_all_classes_may_be_written_out() -> None:
    once = candide.GaussianNB(parameter_prior=NormalInverseGamma(scale=[1.0, 2.0]), variance="shared").fit(X, y)
    rows = NormalInverseGamma(scale=np.tile([1.0, 2.0], (3, 1)))
    thrice = candide.GaussianNB(parameter_prior=rows, variance="shared").fit(X, y)
    np.testing.assert_array_equal(once.var_, thrice.var_)


def test_the_evidence_of_normals_asks_for_their_prior() -> None:
    with pytest.raises(ParameterError, match="estimate='mean', 'map' or 'predictive', or pass") as caught:
        diagnostics.log_marginal_likelihood(candide.GaussianNB().fit(X, y))
    assert "alpha" not in str(caught.value)


# Contradictions.

NIG = NormalInverseGamma()
COUNTED = {"BernoulliNB": Beta(), "MultinomialNB": Dirichlet(), "ComplementNB": Dirichlet(),
           "CategoricalNB": Dirichlet(), "PoissonNB": Gamma()}  # fmt: skip
BY_CLASS = np.array([[1.0, 1.0], [2.0, 1.0]])
CONTRADICTIONS = [
    *((name, {"alpha": 1.0, "estimate": "mle"}, "alpha cannot be combined with estimate='mle'") for name in COUNTED),
    *((name, {"alpha": "loo", "estimate": "mle"}, "alpha cannot be combined with estimate='mle'") for name in COUNTED),
    *((n, {"parameter_prior": p, "estimate": "mle"}, "parameter_prior cannot be combined") for n, p in COUNTED.items()),
    *((n, {"parameter_prior": p, "alpha": 1.0}, "alpha and parameter_prior are both") for n, p in COUNTED.items()),
    *((n, {"parameter_prior": p, "alpha": "loo"}, "alpha and parameter_prior are both") for n, p in COUNTED.items()),
    *((n, {"alpha": 0, "estimate": "predictive"}, "expected pseudo-counts above 0") for n in COUNTED),
    *((n, {"parameter_prior": NIG}, "parameter_prior is NormalInverseGamma") for n in COUNTED),
    *((n, {"estimate": "median"}, "estimate is 'median'; expected None, 'mean'") for n in (*COUNTED, "GaussianNB")),
    ("PoissonNB", {"beta": 1.0, "estimate": "mle"}, "beta cannot be combined with estimate='mle'"),
    ("PoissonNB", {"beta": 2.0, "parameter_prior": Gamma()}, "beta and parameter_prior are both given"),
    ("PoissonNB", {"beta": 0.0, "estimate": "predictive"}, "is improper; expected pseudo-counts above 0"),
    ("ComplementNB", {"estimate": "predictive"}, "complement scores are not a density; use MultinomialNB"),
    ("ComplementNB", {"alpha": "evidence"}, "complement scores are not a density; use MultinomialNB, or alpha='loo'"),
    ("GaussianNB", {"parameter_prior": NIG, "estimate": "mle"}, "maximum likelihood has no prior; omit one"),
    ("GaussianNB", {"ddof": 1, "estimate": "map"}, "ddof cannot be combined with estimate='map'"),
    ("GaussianNB", {"ddof": 1, "parameter_prior": NIG}, "ddof cannot be combined with a parameter_prior, which"),
    ("GaussianNB", {"estimate": np.array(["map", "mean"])}, "expected None, 'mean'"),
    ("GaussianNB", {"variance": np.array(["class"])}, "expected one of class, shared"),
    *(
        ("GaussianNB", {"parameter_prior": prior, "variance": "shared"}, "variance is 'shared', but " + part)
        for prior, part in (
            (NormalInverseGamma(scale=BY_CLASS), "scale of the parameter_prior differs by class"),
            (NormalInverseGamma(shape=BY_CLASS), "shape of the parameter_prior differs by class"),
            (Normal(noise=BY_CLASS), "noise of the parameter_prior differs by class"),
        )
    ),
    ("GaussianNB", {"var_smoothing": 1e-9, "estimate": "mean"}, "var_smoothing cannot be combined with estimate"),
    ("GaussianNB", {"parameter_prior": Beta()}, "expected a candide.priors.NormalInverseGamma or Normal"),
    ("GaussianNB", {"parameter_prior": NormalInverseGamma(strength=0)}, "strength, shape and scale above 0"),
    ("GaussianNB", {"variance": "pooled"}, "variance is 'pooled'; expected one of class, shared"),
    ("MultinomialNB", {"parameter_prior": [Dirichlet()]}, "has 1 priors for 2 columns"),
    ("MultinomialNB", {"parameter_prior": {0: Dirichlet(), 5: Dirichlet()}}, "a prior for the unknown column 5"),
    ("BernoulliNB", {"parameter_prior": {"x0": Beta(), 0: Beta()}}, "two priors for column 0"),
    ("BernoulliNB", {"parameter_prior": {"x1": Beta()}}, "no prior for column 'x0'"),
    ("MultinomialNB", {"parameter_prior": Dirichlet([1, 1, 1])}, "shape (3,) for 2 columns"),
]


@every("name,settings,said", CONTRADICTIONS)
def test_contradictions(name: str, settings: dict[str, Any], said: str) -> None:
    model = getattr(candide, name)(**settings)
    with pytest.raises(ParameterError) as caught:
        model.fit([[0.0, 1.0], [1.0, 2.0]], [0, 1])
    assert said in str(caught.value)
    assert not hasattr(model, "classes_")
