"""The prior of the classes: fitted, smoothed, believed, given, changed after training, adapted to new rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from tiers import every

import candide
from candide.exceptions import ParameterError
from candide.kernels.layouts import Floats
from candide.priors import Dirichlet

RANDOM = np.random.default_rng(21)
NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "PoissonNB"]
X = RANDOM.poisson([[0.5, 2.0, 4.0]], (60, 3))
y = np.array(["ant", "bee", "cat"])[RANDOM.choice(3, 60, p=[0.6, 0.3, 0.1])]
ROWS = np.unique(y, return_counts=True)[1].astype(float)
OTHER = np.array([0.2, 0.5, 0.3])
METHODS = ["temperature", "platt", "beta", "isotonic"]


def made(name: str, class_prior: Any = None, **settings: Any) -> Any:
    """A model with a class prior, under the name that its parameter has."""
    parameter = "priors" if name == "GaussianNB" else "class_prior"
    return getattr(candide, name)(**{parameter: class_prior}, **settings)


def shifted(log_probability: Floats, change: Floats) -> Floats:
    out = log_probability + change
    return np.asarray(out - logsumexp(out, axis=1, keepdims=True))


@every("name", NAMES)
@every(
    "given,expected",
    [
        (None, ROWS / 60),
        ("smoothed", (ROWS + 1) / 63),
        ("uniform", np.full(3, 1 / 3)),
        (Dirichlet(0.5), (ROWS + 0.5) / 61.5),
        (Dirichlet([1, 2, 7]), np.add(ROWS, [1, 2, 7]) / 70),
        (OTHER, OTHER),
        (OTHER.tolist(), OTHER),
        ({"cat": 0.3, "ant": 0.2, "bee": 0.5}, OTHER),
    ],
)
def test_ways_to_say_it(name: str, given: Any, expected: Floats) -> None:
    model = made(name, given).fit(X, y)
    np.testing.assert_allclose(model.class_prior_, expected, rtol=1e-12)
    np.testing.assert_allclose(np.exp(model.class_log_prior_), expected, rtol=1e-12)
    reference = made(name, "uniform").fit(X, y).predict_log_proba(X)
    np.testing.assert_allclose(model.predict_log_proba(X), shifted(reference, np.log(expected)), rtol=1e-9, atol=1e-12)


@every("name", NAMES)
@every("given", [None, "smoothed", Dirichlet(0.5), Dirichlet([1, 2, 7])])
def test_balanced_is_uniform(name: str, given: Any) -> None:
    model = made(name, given, class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.class_prior_, np.full(3, 1 / 3), rtol=1e-12)


@pytest.mark.parametrize("given", ["smoothed", Dirichlet(2.0)], ids=str)
def test_a_prior_that_is_fitted_and_not_fitted(given: Any) -> None:
    with pytest.raises(ParameterError, match=r"fit_prior is False, .* estimates it from the rows; omit one"):
        made("BernoulliNB", given, fit_prior=False).fit(X, y)
    assert made("BernoulliNB", "uniform", fit_prior=False).fit(X, y).class_prior_.tolist() == [1 / 3] * 3


def test_a_prior_by_label_follows_the_classes() -> None:
    model = made("BernoulliNB", {"ant": 0.2, "bee": 0.8})
    with pytest.raises(
        ParameterError, match=r"has the keys \['ant', 'bee'\]; expected the classes 'ant', 'bee', 'cat'"
    ):
        model.fit(X, y)
    model.fit(X[y != "cat"], y[y != "cat"])
    assert model.class_prior_.tolist() == [0.2, 0.8]


def test_smoothing_gives_declared_classes_a_share() -> None:
    model = made("PoissonNB", "smoothed").partial_fit(X, y, classes=["ant", "bee", "cat", "dog"])
    np.testing.assert_allclose(model.class_prior_, [*(ROWS + 1) / 64, 1 / 64])


def test_class_weights_multiply_a_smoothed_prior() -> None:
    model = made("PoissonNB", "smoothed", class_weight={"cat": 5}).fit(X, y)
    expected = (ROWS + 1) * [1, 1, 5]
    np.testing.assert_allclose(model.class_prior_, expected / expected.sum())


@every(
    "given,said",
    [
        ("even", "the class prior is 'even'; expected None"),
        ([0.5, 0.5], "Number of priors must match number of classes"),
        ([0.5, 0.5, 0.5], "sum of the priors should be 1"),
        ([1.5, -0.25, -0.25], "non-negative"),
        ({"ant": 1.0}, "expected the classes 'ant', 'bee', 'cat'"),
        ({"ant": 0.5, "bee": 0.5, "cat": -0.1}, "prior of 'cat' is -0.1; expected a non-negative number"),
        ({"ant": 0.5, "bee": 0.5, "cat": 0.5}, "sum of the priors should be 1"),
        (Dirichlet([1, 1]), "2 pseudo-counts for 3 classes"),
    ],
)
def test_refused(given: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        made("PoissonNB", given).fit(X, y)


# Changed after training.


@every("name", NAMES)
@every("other", [OTHER, "uniform", {"ant": 0.2, "cat": 0.3, "bee": 0.5}])
def test_changed_is_refitted(name: str, other: Any) -> None:
    given = OTHER if isinstance(other, dict) else other
    model = made(name, class_weight={"ant": 7}).fit(X, y)
    before = model.predict_proba(X)
    changed, refitted = model.with_class_prior(other), made(name, given).fit(X, y)
    np.testing.assert_array_equal(changed.predict_proba(X), refitted.predict_proba(X))
    np.testing.assert_array_equal(changed.class_prior_, refitted.class_prior_)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    again = changed.with_class_prior("uniform").with_class_prior(given)
    np.testing.assert_array_equal(again.predict_proba(X), changed.predict_proba(X))


@every("name", [*NAMES, "ComplementNB"])
@every("method", METHODS)
def test_changed_after_calibration(name: str, method: str) -> None:
    """A calibration was fitted with the shares of training, so the change comes after it."""
    model = getattr(candide, name)(calibrate=method).fit(X, y)
    changed = model.with_class_prior(OTHER)
    expected = shifted(model.predict_log_proba(X), np.log(OTHER) - np.log(ROWS / 60))
    np.testing.assert_allclose(changed.predict_log_proba(X), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(changed.class_prior_, OTHER)
    np.testing.assert_array_equal(changed.refit().predict_proba(X), changed.predict_proba(X))
    back = changed.with_class_prior(ROWS / 60)
    np.testing.assert_allclose(back.predict_proba(X), model.predict_proba(X), rtol=1e-9, atol=1e-12)


def test_classes_that_are_ruled_out() -> None:
    for calibrate in (None, "temperature"):
        changed = made("PoissonNB", calibrate=calibrate).fit(X, y).with_class_prior([0.5, 0.5, 0.0])
        assert (changed.predict_proba(X)[:, 2] == 0).all()
        np.testing.assert_allclose(changed.predict_proba(X).sum(axis=1), 1)


@every("calibrate", [None, "temperature", "platt"])
def test_a_changed_model_learns_on(calibrate: str | None) -> None:
    changed = made("PoissonNB", calibrate=calibrate).fit(X[::2], y[::2]).with_class_prior(OTHER)
    changed.partial_fit(X[1::2], y[1::2])
    whole = made("PoissonNB", calibrate=calibrate).fit(X, y).with_class_prior(OTHER)
    np.testing.assert_allclose(changed.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(changed.class_prior_, OTHER)


@pytest.mark.filterwarnings("ignore:.*cannot be refitted, because this model keeps no training rows")
@pytest.mark.parametrize("calibrate", [None, "temperature"])
def test_a_changed_model_meets_no_new_class(calibrate: str | None) -> None:
    changed = made("PoissonNB", calibrate=calibrate).fit(X, y).with_class_prior(OTHER)
    before = changed.predict_proba(X)
    unknown_value = made("PoissonNB").fit(X, np.char.add(y, "s"))
    for learn in (lambda: changed.partial_fit(X[:1], ["dog"]), lambda: changed.merge(unknown_value)):
        with pytest.raises(ParameterError, match="Number of priors must match number of classes"):
            learn()
    np.testing.assert_array_equal(changed.predict_proba(X), before)


@pytest.mark.parametrize("calibrate", [None, "temperature"])
@every(
    "other, said",
    [
        ("smoothed", "class_prior is 'smoothed'; expected"),
        ("even", "class_prior is 'even'; expected"),
        ([0.5, 0.5], "Number of priors must match number of classes"),
        ([0.5, 0.5, 0.5], "sum of the priors should be 1"),
        ([1.5, -0.25, -0.25], "non-negative"),
        ({"ant": 0.5, "bee": 0.5}, r"has the keys \['ant', 'bee'\]; expected the classes \['ant', 'bee', 'cat'\]"),
        (None, "class_prior is None; expected"),
    ],
)
def test_changes_refused(calibrate: Any, other: Any, said: str) -> None:
    model = made("PoissonNB", calibrate=calibrate).fit(X, y)
    with pytest.raises(ParameterError, match=said):
        model.with_class_prior(other)


def test_complement_scores_have_no_prior_to_change() -> None:
    model = candide.ComplementNB().fit(X, y)
    for change in (lambda: model.with_class_prior(OTHER), lambda: model.adapt_class_prior(X)):
        with pytest.raises(ParameterError, match=r"scores of ComplementNB do not include a class prior.*calibrate="):
            change()


# Adapted to rows without labels.

MEANS = np.array([[0.0, 0.0], [1.5, 0.0], [0.0, 2.0]])


def drawn(n: int, prior: Floats) -> tuple[Floats, Floats]:
    labels = RANDOM.choice(3, n, p=prior)
    return RANDOM.normal(MEANS[labels]), labels


@pytest.mark.parametrize("calibrate", [None, "platt"])
def test_adapting_recovers_other_shares(calibrate: str | None) -> None:
    train, there = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.2, 0.7])
    model = candide.GaussianNB(calibrate=calibrate).fit(*drawn(3000, train))
    rows, labels = drawn(6000, there)
    adapted = model.adapt_class_prior(rows)
    np.testing.assert_allclose(adapted.class_prior_, there, atol=0.04)
    assert (adapted.predict(rows) == labels).mean() > (model.predict(rows) == labels).mean() + 0.02
    np.testing.assert_allclose(adapted.predict_proba(rows).mean(axis=0), adapted.class_prior_, atol=1e-5)


def test_adapting_to_rows_like_those_of_training_changes_little() -> None:
    train = np.array([0.5, 0.3, 0.2])
    model = candide.GaussianNB().fit(*drawn(3000, train))
    np.testing.assert_allclose(model.adapt_class_prior(drawn(3000, train)[0]).class_prior_, train, atol=0.05)
