"""Evidence, Bayes factors, and pseudo-counts chosen from the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import betaln, logsumexp
from tiers import every

import candide
from candide import diagnostics
from candide.exceptions import NotADensity, ParameterError
from candide.kernels.layouts import Floats
from candide.model.smoothing import GRID
from candide.priors import Beta, Dirichlet, NormalInverseGamma

RANDOM = np.random.default_rng(11)
y = RANDOM.integers(0, 2, 2000)
# What tells something about the class, and noise.
COLUMNS: dict[str, tuple[Any, Any]] = {
    "BernoulliNB": (RANDOM.random(2000) < 0.4 + 0.2 * y, RANDOM.random(2000) < 0.5),
    "CategoricalNB": (RANDOM.binomial(4, 0.4 + 0.1 * y), RANDOM.integers(0, 5, 2000)),
    "PoissonNB": (RANDOM.poisson(2 + 0.7 * y), RANDOM.poisson(2, 2000)),
    "GaussianNB": (RANDOM.normal(0.4 * y), RANDOM.normal(size=2000)),
    "MultinomialNB": (RANDOM.poisson(2 + 0.7 * y), RANDOM.poisson(2, 2000)),
}
SETTINGS: dict[str, dict[str, Any]] = {"GaussianNB": {"estimate": "mean"}}


@every("name", COLUMNS)
def test_bayes_factors_tell_signal_from_noise(name: str) -> None:
    X = np.column_stack(COLUMNS[name]).astype(float)
    if name == "MultinomialNB":
        X = np.column_stack([X, RANDOM.poisson(20 - 0.7 * y)])
    model = getattr(candide, name)(**SETTINGS.get(name, {})).fit(X, y)
    table = diagnostics.bayes_factors(model)
    assert table["column"].tolist()[:2] == ["x0", "x1"]
    assert table["log_bayes_factor"][0] > 5
    assert table["log_bayes_factor"][1] < 0
    np.testing.assert_allclose(
        table["log_marginal_likelihood"], diagnostics.log_marginal_likelihood(model, per_column=True)
    )
    np.testing.assert_allclose(
        table["log_marginal_likelihood"] - table["log_marginal_likelihood_alone"], table["log_bayes_factor"]
    )


def test_a_bayes_factor_by_hand() -> None:
    """Four of five on in one class, one of five in the other; five of ten together."""
    X = np.repeat([[1], [0], [1], [0]], [4, 1, 1, 4], axis=0)
    factor = diagnostics.bayes_factors(candide.BernoulliNB().fit(X, np.repeat([0, 1], 5)))["log_bayes_factor"][0]
    assert factor == pytest.approx(2 * betaln(5, 2) - betaln(6, 6))


@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
def test_a_range_too_long_to_write_out_is_one_all_the_same(unseen: str) -> None:
    """5,000 codes, of which three were seen."""
    X, labels = np.array([[3], [4_999], [3], [7]]), np.array([0, 0, 1, 1])
    model = candide.CategoricalNB(alpha=0.3, unseen=unseen).fit(X, labels)
    counts = np.pad(model.category_count_[0], ((0, 0), (0, int(unseen == "smooth"))))
    assert diagnostics.log_marginal_likelihood(model) == pytest.approx(
        Dirichlet(0.3).log_marginal_likelihood(counts).sum(), rel=1e-12
    )
    low, high = Dirichlet(counts + 0.3).interval(0.9)
    table = diagnostics.intervals(model, 0.9)
    np.testing.assert_allclose(table["low"], low[:, [3, 7, 4_999]].ravel(), rtol=1e-9)
    np.testing.assert_allclose(table["high"], high[:, [3, 7, 4_999]].ravel(), rtol=1e-9)


def test_one_class_does_not_differ_from_itself() -> None:
    X = np.column_stack(COLUMNS["PoissonNB"])
    np.testing.assert_allclose(
        diagnostics.bayes_factors(candide.PoissonNB().fit(X, y * 0))["log_bayes_factor"], 0, atol=1e-8
    )


def test_shared_variance_has_a_smaller_price() -> None:
    """Where the classes have one variance, the model that says so explains the data better."""
    X = RANDOM.normal(np.outer(y, np.ones(5)), 2.0)
    prior = NormalInverseGamma(0, 0.1, 1, 1)
    apart, shared = (candide.GaussianNB(variance=v, parameter_prior=prior).fit(X, y) for v in ("class", "shared"))
    assert diagnostics.log_marginal_likelihood(shared) > diagnostics.log_marginal_likelihood(apart)


@every(
    "name,settings",
    [
        ("GaussianNB", {}),
        ("BernoulliNB", {"alpha": 0}),
        ("MultinomialNB", {"estimate": "mle"}),
        ("PoissonNB", {"beta": 0.0}),
        ("CategoricalNB", {"alpha": 0}),
    ],
)
def test_no_evidence_without_a_prior(name: str, settings: dict[str, Any]) -> None:
    model = getattr(candide, name)(**settings).fit([[1, 0], [0, 1]], [0, 1])
    for verb in (
        lambda: diagnostics.log_marginal_likelihood(model),
        lambda: diagnostics.bayes_factors(model),
        lambda: diagnostics.log_marginal_likelihood(model, per_column=True),
    ):
        with pytest.raises(
            ParameterError, match=r"needs a proper prior \(one that integrates to 1.*choose estimate='mean'"
        ):
            verb()


BY_CLASS = np.array([[1.0, 2.0], [3.0, 4.0]])


@every(
    "name,settings",
    [
        *((name, {"alpha": BY_CLASS}) for name in COLUMNS if name != "GaussianNB"),
        ("BernoulliNB", {"parameter_prior": Beta(BY_CLASS)}),
        ("GaussianNB", {"parameter_prior": NormalInverseGamma(BY_CLASS)}),
    ],
)
def test_priors_of_single_classes_have_no_bayes_factor(name: str, settings: dict[str, Any]) -> None:
    model = getattr(candide, name)(**settings).fit([[1, 0], [0, 1]], [0, 1])
    assert np.isfinite(diagnostics.log_marginal_likelihood(model))
    with pytest.raises(
        ParameterError, match=r"requires the same prior for all classes.*pass one prior for all classes"
    ):
        diagnostics.bayes_factors(model)


@every("verb", ["log_marginal_likelihood", "bayes_factors", "intervals", "log_odds", "impute", "typicality"])
def test_complement_scores_are_no_density(verb: str) -> None:
    model = candide.ComplementNB(subsample=100_000).fit([[1, 0], [0, 1]], [0, 1])
    arguments = ([[1, np.nan]],) if verb in ("log_odds", "impute", "typicality") else ()
    with pytest.raises(NotADensity):
        getattr(diagnostics, verb)(model, *arguments)


# Pseudo-counts chosen.

CHOOSERS = ["BernoulliNB", "CategoricalNB", "PoissonNB", "MultinomialNB"]
FEW, LABELS = RANDOM.integers(0, 4, (40, 3)), RANDOM.integers(0, 3, 40)
FEW[LABELS == 0, 0] = 0


def chosen(model: Any) -> Any:
    """The pseudo-count of a model."""
    return next(getattr(model.prior_, name) for name in ("a", "shape", "concentration") if hasattr(model.prior_, name))


def negative_evidence(name: str, X: Any, log_alpha: float) -> float:
    return -float(diagnostics.log_marginal_likelihood(getattr(candide, name)(alpha=np.exp(log_alpha)).fit(X, LABELS)))


@every("name", CHOOSERS)
def test_alpha_by_evidence_is_the_maximum(name: str) -> None:
    X = RANDOM.poisson(np.array([[0.5, 2, 3], [1, 2, 1], [2, 2, 2]])[LABELS])
    model = getattr(candide, name)(alpha="evidence").fit(X, LABELS)
    columns = [X] if name == "MultinomialNB" else [X[:, [j]] for j in range(3)]
    best = [
        minimize_scalar(lambda u, part=part: negative_evidence(name, part, u), bounds=(-12, 6), method="bounded").x
        for part in columns
    ]
    np.testing.assert_allclose(np.log(chosen(model)), best if len(best) > 1 else best[0], atol=2e-3)
    assert diagnostics.log_marginal_likelihood(model) > diagnostics.log_marginal_likelihood(
        getattr(candide, name)().fit(X, LABELS)
    )


def test_alpha_by_evidence_finds_the_higher_of_two_peaks() -> None:
    """An even class wants a large α, a one-sided class a small one."""
    on, off = [14, 5, 28], [7, 0, 28]
    X = np.repeat([1, 0] * 3, np.ravel([on, off], order="F"))[:, None]
    labels = np.repeat([0, 1, 2], np.add(on, off))
    marginal_likelihood = [
        diagnostics.log_marginal_likelihood(candide.BernoulliNB(alpha=a).fit(X, labels))
        for a in np.exp(np.linspace(-12, 6, 91))
    ]
    peaks = (np.diff(marginal_likelihood)[:-1] > 0) & (np.diff(marginal_likelihood)[1:] < 0)
    assert peaks.sum() + (marginal_likelihood[-1] > marginal_likelihood[-2]) == 2
    assert (
        diagnostics.log_marginal_likelihood(candide.BernoulliNB(alpha="evidence").fit(X, labels))
        > max(marginal_likelihood) - 1e-5
    )


def test_alpha_of_rates_is_as_large_as_the_counts() -> None:
    """A shape is in events: with thousands of them a row, the best prior has thousands too."""
    X = RANDOM.poisson(5000.0, (40, 2))
    for beta in (1.0, 10.0):
        model = candide.PoissonNB(alpha="evidence", beta=beta).fit(X, LABELS)
        np.testing.assert_allclose(model.prior_.shape / beta, 5000, rtol=0.02)


@every("name", CHOOSERS)
def test_alpha_by_evidence_is_1_where_all_are_alike(name: str) -> None:
    """A column that nobody observed; one row, of which rates alone can learn; a column of one value."""
    assert chosen(getattr(candide, name)(alpha="evidence").fit([[np.nan], [np.nan]], [0, 1])) == 1
    if name != "PoissonNB":
        assert chosen(getattr(candide, name)(alpha="evidence").fit([[1]], [0])) == 1
    assert chosen(candide.CategoricalNB(alpha="evidence").fit([["red"]] * 9, LABELS[:9])) == 1


def own_log_loss(name: str, alpha: float, X: Any) -> Floats:
    """Log posteriors of rows left out, by brute force over the grid."""
    model = getattr(candide, name)(alpha=alpha).fit(X, LABELS)
    return np.asarray(model.leave_one_out(X, LABELS, class_prior="fixed"))


def log_loss(log_probability: Floats) -> float:
    return -float(log_probability[np.arange(40), LABELS].sum())


def tempered_loss(scores: Floats) -> float:
    """The least log-loss that one temperature can reach."""

    def at(log_temperature: float) -> float:
        scaled = scores / np.exp(log_temperature)
        return log_loss(scaled - logsumexp(scaled, axis=1, keepdims=True))

    return float(minimize_scalar(at, bounds=(-5, 8), method="bounded").fun)


@every("name", ["BernoulliNB", "CategoricalNB", "PoissonNB"])
def test_alpha_by_leaving_one_out_per_column(name: str) -> None:
    """Each column by itself, the best of the grid."""
    losses = [[log_loss(own_log_loss(name, alpha, FEW[:, [j]])) for alpha in GRID] for j in range(3)]
    model = getattr(candide, name)(alpha="loo").fit(FEW, LABELS)
    np.testing.assert_array_equal(chosen(model), GRID[np.argmin(losses, axis=1)])


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
def test_alpha_by_leaving_one_out_for_all(name: str) -> None:
    """With the temperature that suits each α best."""
    losses = [tempered_loss(own_log_loss(name, alpha, FEW)) for alpha in GRID]
    assert chosen(getattr(candide, name)(alpha="loo").fit(FEW, LABELS)) == GRID[np.argmin(losses)]


def test_leaving_one_out_needs_rows() -> None:
    models = [candide.MultinomialNB(alpha="loo", subsample=0).fit(FEW, LABELS) for _ in range(2)]
    assert chosen(models[0]) in GRID
    assert models[0].model_.state.sample is None
    with pytest.warns(UserWarning, match=r"100% of the rows changed since alpha='loo' was fitted"):
        both = models[0].merge(models[1])
    with pytest.raises(ParameterError, match=r"refit needs training rows.* subsample=100_000"):
        both.refit()


@every("name", ["BernoulliNB", "CategoricalNB", "PoissonNB", "MultinomialNB"])
def test_rows_of_an_impossible_class_choose_nothing(name: str) -> None:
    """They are lost under every α, which must not hide what the others say."""
    prior = np.append(np.bincount(LABELS) / 40, 0.0)
    without = getattr(candide, name)(alpha="loo", class_prior=prior[:-1]).fit(FEW, LABELS)
    with_strangers = getattr(candide, name)(alpha="loo", class_prior=prior)
    with_strangers.fit(np.vstack([FEW, FEW[:7]]), np.append(LABELS, np.full(7, 9)))
    np.testing.assert_array_equal(chosen(with_strangers), chosen(without))


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB"])
def test_where_nothing_can_be_said_alpha_is_1(name: str) -> None:
    """One class, and two of which the only one with rows is impossible."""
    for classes, prior in ([0], [1.0]), ([0, 1], [0.0, 1.0]):
        model = getattr(candide, name)(alpha="loo", class_prior=prior)
        model.partial_fit([[1.0, 2.0], [3.0, 4.0]], [0, 0], classes=classes)
        np.testing.assert_array_equal(chosen(model), 1.0)
