"""Log-odds, and their standard deviation against draws from the posterior."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.sparse import csr_array
from tiers import every

import candide
from candide import diagnostics
from candide.exceptions import ParameterError
from candide.kernels.layouts import Floats
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

RANDOM = np.random.default_rng(8)
N = 40_000
COUNTS = RANDOM.poisson([[0.5, 2.0, 4.0]], (24, 3)).astype(float)
MEASURES = RANDOM.normal([[0.0, 10.0]], [[1.0, 3.0]], (24, 2))
y = np.arange(24) % 3 % 2
INVERSE = NormalInverseGamma([1.0, 8.0], 0.5, [1.5, 2.0], [1.0, 6.0])


def log_shares(parts: Floats, X: Floats) -> Floats:
    """log θ of each row's value in one column, ``(draws, rows, classes)``."""
    return np.moveaxis(np.log(parts)[:, :, X.astype(int)], 1, 2)


def bernoulli(after: Beta, X: Floats) -> Floats:
    on = after.sample(N, 0)[:, None]
    return np.where(np.isnan(X)[:, None], 0.0, np.log(np.where(X[:, None] > 0, on, 1 - on))).sum(axis=3)


def multinomial(after: Dirichlet, X: Floats) -> Floats:
    return np.einsum("ncj,ij->nic", np.log(after.sample(N, 0)), np.nan_to_num(X))


def poisson(after: Gamma, X: Floats) -> Floats:
    rate = after.sample(N, 0)[:, None]
    return np.nansum(X[:, None] * np.log(rate) - rate, axis=3)


def categorical(after: tuple[Dirichlet, ...], X: Floats) -> Floats:
    columns = (log_shares(one.sample(N, j), X[:, j]) for j, one in enumerate(after))
    return np.sum(list(columns), axis=0)


def gaussian(after: Any, X: Floats) -> Floats:
    if isinstance(after, Normal):
        mean, variance = after.sample(N, 0)[:, None], after.noise
    else:
        drawn = after.sample(N, 0)
        mean, variance = drawn.mean[:, None], drawn.variance[:, None]
    return np.nansum(stats.norm.logpdf(X[:, None], mean, np.sqrt(variance)), axis=3)


def one_variance(after: NormalInverseGamma, X: Floats) -> Floats:
    """The variance is drawn once for all classes."""
    rng = np.random.default_rng(0)
    variance = after.scale[0] / rng.gamma(after.shape[0], size=(N, 1, X.shape[1]))
    mean = rng.normal(after.location, np.sqrt(variance / after.strength))
    return np.nansum(stats.norm.logpdf(X[:, None], mean[:, None], np.sqrt(variance)[:, None]), axis=3)


def posterior_of(model: Any) -> Any:
    if not isinstance(model, candide.CategoricalNB):
        return model.model_.classifier.family.posterior(model.model_.classifier.state.statistics)
    alpha, spare = 0.5 if model.estimate == "mle" else model.alpha, int(model.unseen == "smooth")
    return tuple(Dirichlet(np.pad(count, ((0, 0), (0, spare))) + alpha) for count in model.category_count_)


CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("BernoulliNB", {"alpha": 0.7}, bernoulli),
    ("BernoulliNB", {"estimate": "mle"}, bernoulli),
    ("BernoulliNB", {"parameter_prior": Beta(2.0, 0.8)}, bernoulli),
    ("MultinomialNB", {"alpha": 0.7}, multinomial),
    ("MultinomialNB", {"estimate": "predictive"}, multinomial),
    ("PoissonNB", {"alpha": 0.7, "beta": 2.0}, poisson),
    ("PoissonNB", {"estimate": "mle"}, poisson),
    ("CategoricalNB", {"alpha": 0.7}, categorical),
    ("CategoricalNB", {"alpha": 0.7, "unseen": "smooth"}, categorical),
    ("CategoricalNB", {"estimate": "mle"}, categorical),
    ("GaussianNB", {}, gaussian),
    ("GaussianNB", {"estimate": "map"}, gaussian),
    ("GaussianNB", {"parameter_prior": INVERSE}, gaussian),
    ("GaussianNB", {"parameter_prior": Normal([0.0, 9.0], 2.0, [4.0, 5.0])}, gaussian),
    ("GaussianNB", {"variance": "shared"}, one_variance),
    ("GaussianNB", {"parameter_prior": INVERSE, "variance": "shared"}, one_variance),
]


@pytest.mark.parametrize(("name", "settings", "draw"), CASES, ids=lambda part: getattr(part, "__name__", str(part)))
def test_deviation_is_that_of_draws(name: str, settings: dict[str, Any], draw: Any) -> None:
    X = MEASURES if name == "GaussianNB" else COUNTS
    even = {"priors" if name == "GaussianNB" else "class_prior": "uniform"}
    model = getattr(candide, name)(**settings, **even).fit(X, y)
    asked = X[:5].copy()
    if name != "CategoricalNB":
        asked[0, 0] = np.nan
    scores = draw(posterior_of(model), asked)
    np.testing.assert_allclose(
        diagnostics.log_odds(model, asked).std, (scores[..., 1] - scores[..., 0]).std(axis=0), rtol=0.05
    )


FITTED_PRIORS = [(None, 0.0), ("smoothed", 1.0), (Dirichlet([3.0, 9.0]), [3.0, 9.0])]


@every("class_prior,pseudo", FITTED_PRIORS)
def test_deviation_of_the_class_prior(class_prior: Any, pseudo: Any) -> None:
    """A row without cells has the log-odds of the classes alone."""
    odds = diagnostics.log_odds(candide.BernoulliNB(class_prior=class_prior).fit(COUNTS, y), [[np.nan] * 3])
    counts = np.array([16.0, 8.0]) + pseudo
    shares = np.log(Dirichlet(counts).sample(N, 1))
    assert odds.value[0] == pytest.approx(np.log(counts[1] / counts[0]))
    assert odds.std[0] == pytest.approx((shares[:, 1] - shares[:, 0]).std(), rel=0.05)


GIVEN_PRIORS: list[dict[str, Any]] = [
    {"class_prior": [0.2, 0.8]},
    {"class_prior": "uniform"},
    {"class_weight": "balanced"},
]


@every("settings", GIVEN_PRIORS)
def test_a_given_class_prior_is_certain(settings: dict[str, Any]) -> None:
    odds = diagnostics.log_odds(candide.BernoulliNB(**settings).fit(COUNTS, y), [[np.nan] * 3])
    assert odds.std[0] == pytest.approx(0, abs=1e-6)


THREE = np.arange(24) % 3
LABELS = np.array(["a", "b", "c"])[THREE]


def test_pairs_of_classes() -> None:
    model = candide.PoissonNB().fit(COUNTS, LABELS)
    log_probability = model.predict_log_proba(COUNTS)
    a_against_c = diagnostics.log_odds(model, COUNTS, of="a", against="c")
    np.testing.assert_allclose(a_against_c.value, log_probability[:, 0] - log_probability[:, 2], rtol=1e-9, atol=1e-12)
    c_against_a = diagnostics.log_odds(model, COUNTS, of="c", against="a")
    np.testing.assert_allclose(c_against_a.value, -a_against_c.value)
    np.testing.assert_allclose(c_against_a.std, a_against_c.std)
    ranked = np.sort(log_probability, axis=1)
    np.testing.assert_allclose(
        diagnostics.log_odds(model, COUNTS).value, ranked[:, 2] - ranked[:, 1], rtol=1e-9, atol=1e-12
    )


def test_sparse_rows_have_the_same_log_odds() -> None:
    for name in ("GaussianNB", "BernoulliNB", "MultinomialNB", "PoissonNB"):
        model = getattr(candide, name)().fit(COUNTS, y)
        for ours, theirs in zip(
            diagnostics.log_odds(model, csr_array(COUNTS)), diagnostics.log_odds(model, COUNTS), strict=True
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_more_rows_make_log_odds_surer() -> None:
    few, many = (candide.GaussianNB().fit(np.tile(MEASURES, (k, 1)), np.tile(y, k)) for k in (1, 100))
    assert (diagnostics.log_odds(many, MEASURES).std < 0.2 * diagnostics.log_odds(few, MEASURES).std).all()


def test_one_row_does_not_tell_a_variance() -> None:
    """Infinite, not NaN; a prior makes it finite."""
    X, labels = [[1.0], [2.0], [4.0]], [0, 1, 1]
    assert diagnostics.log_odds(candide.GaussianNB().fit(X, labels), [[3.0]]).std[0] == np.inf
    for variance in ("class", "shared"):
        assert np.isfinite(
            diagnostics.log_odds(candide.GaussianNB(estimate="mean", variance=variance).fit(X, labels), X).std
        ).all()
    for settings in ({"var_smoothing": 0.0}, {"variance": "shared"}):
        constant = candide.GaussianNB(**settings).fit([[1.0], [1.0], [1.0]], labels)
        assert not np.isnan(diagnostics.log_odds(constant, [[1.0], [2.0]]).std).any()


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ParameterError, match="this model has only one; add another"):
        diagnostics.log_odds(candide.PoissonNB().fit(COUNTS, y * 0), COUNTS)
    with pytest.raises(ParameterError, match=r"'d' is not a class of this model; expected one of \['a', 'b', 'c'\]"):
        diagnostics.log_odds(candide.PoissonNB().fit(COUNTS, LABELS), COUNTS, of="d")
