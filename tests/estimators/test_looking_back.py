"""Models that look at training rows again (calibrated, evaluated) live like all others: they add, forget, travel."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import fields
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import accuracy_score, confusion_matrix, log_loss
from tiers import every

import candide
from candide.exceptions import InputError, ParameterError
from candide.kernels.layouts import Floats
from candide.model.evaluation import Evaluation
from candide.priors import Beta, Dirichlet, Gamma, NormalInverseGamma

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
METHODS = ["temperature", "platt", "beta", "isotonic"]
RANDOM = np.random.default_rng(4)
y = RANDOM.choice(3, 240, p=[0.5, 0.3, 0.2])
X = RANDOM.poisson(np.array([[1.0, 2.0, 4.0, 2.0], [2.0, 2.0, 3.0, 2.0], [2.0, 3.0, 4.0, 1.0]])[y]).astype(float)
NEW = RANDOM.poisson([[1.5, 2.5, 3.5, 2.0]], (50, 4)).astype(float)
half = np.arange(240) % 2 == 0


def made(name: str, **settings: Any) -> Any:
    return getattr(candide, name)(**settings)


def assert_same(name: str, a: Any, b: Any) -> None:
    """Bit for bit where counts are added; means and variances round."""
    ours, theirs = a.predict_proba(NEW), b.predict_proba(NEW)
    if name == "GaussianNB":
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-8)
    else:
        np.testing.assert_array_equal(ours, theirs)


# Learned in parts.


@pytest.mark.parametrize("name", NAMES)
@every("calibrate", METHODS)
def test_in_parts_or_at_once(name: str, calibrate: str) -> None:
    """Calibrated anew, a model made in parts, merged or having forgotten is the one that saw the rows at once."""
    whole = made(name, calibrate=calibrate).fit(X, y)
    first, second = (made(name, calibrate=calibrate).fit(X[rows], y[rows]) for rows in (half, ~half))
    assert_same(name, candide.merge([first, second]).refit(), whole)
    assert_same(name, deepcopy(first).partial_fit(X[~half], y[~half]).refit(), whole)
    assert_same(name, deepcopy(whole).forget(X[~half], y[~half]).refit(), first)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB"])
def test_chosen_pseudo_counts_in_parts_or_at_once(name: str) -> None:
    whole = made(name, alpha="loo", calibrate="platt").fit(X, y)
    merged = made(name, alpha="loo", calibrate="platt").fit(X[half], y[half])
    merged.merge(made(name, alpha="loo", calibrate="platt").fit(X[~half], y[~half]))
    assert_same(name, merged.refit(), whole)
    assert merged.prior_ == whole.prior_


def test_fitted_again_when_a_tenth_was_learned() -> None:
    model = made("PoissonNB", calibrate="platt").fit(X[:200], y[:200])
    early = model.model_.classifier.fitted.calibration
    assert model.staleness_ == 0
    model.partial_fit(X[200:210], y[200:210])
    assert model.model_.classifier.fitted.calibration is early
    assert model.staleness_ == pytest.approx(0.05)
    model.partial_fit(X[210:], y[210:])
    assert model.model_.classifier.fitted.calibration is not early
    assert model.staleness_ == 0
    assert_same("PoissonNB", model, made("PoissonNB", calibrate="platt").fit(X, y))


def test_without_rows_the_calibration_grows_old() -> None:
    settings = {"calibrate": "platt", "subsample": 0, "compute_loo": True}
    model = made("PoissonNB", **settings).fit(X[:120], y[:120])
    kept = made("PoissonNB", calibrate="platt", compute_loo=True).fit(X[:120], y[:120])
    assert model.model_.classifier.state.sample is None
    assert_same("PoissonNB", model, kept)
    assert model.loo_.as_dict() == kept.loo_.as_dict()
    early = model.model_.classifier.fitted.calibration
    with pytest.warns(UserWarning, match=r"100% of the rows .* calibrate='platt' .* no training rows; .*subsample="):
        model.partial_fit(X[120:], y[120:])
    model.partial_fit(X[:1], y[:1]).forget(X[:1], y[:1])  # told once
    assert model.model_.classifier.state.sample is None
    assert model.model_.classifier.fitted.calibration is early
    assert not hasattr(model, "loo_")  # that of fewer rows is not this model's
    assert model.staleness_ == pytest.approx(1.0, abs=0.03)
    assert np.isfinite(model.predict_proba(NEW)).all()
    with pytest.raises(ParameterError, match=r"refit needs training rows.*subsample=100_000"):
        model.refit().predict(NEW)


def test_plain_models_keep_no_rows() -> None:
    for name in NAMES:
        model = made(name).fit(X, y)
        assert model.model_.classifier.state.sample is None
        assert model.staleness_ == 0
        assert made(name, subsample=100_000).fit(X, y).model_.classifier.state.sample is not None


# Measured.


@every("name", NAMES)
def test_measures_are_those_of_rows_left_out(name: str) -> None:
    report = made(name, compute_loo=True).fit(X, y).loo_
    log_probability = made(name).fit(X, y).leave_one_out(X, y, class_prior="fixed")
    assert report.n_rows == 240
    assert report.log_loss == pytest.approx(log_loss(y, np.exp(log_probability)))
    assert report.accuracy == pytest.approx(accuracy_score(y, log_probability.argmax(axis=1)))
    np.testing.assert_allclose(report.confusion, confusion_matrix(y, log_probability.argmax(axis=1)), atol=1e-9)
    assert report.optimistic is not None
    assert report.optimistic.log_loss == pytest.approx(report.log_loss)


def test_what_a_report_holds() -> None:
    report = made("PoissonNB", compute_loo=True, calibrate="isotonic").fit(X, y).loo_
    assert set(report.as_dict()) == {field.name for field in fields(Evaluation)}
    assert report.per_class["class"].tolist() == [0, 1, 2]
    assert report.optimistic is not None
    # Calibrated on the very rows, it looks better than it is.
    assert report.log_loss > report.optimistic.log_loss


def test_measured_only_if_asked() -> None:
    with pytest.raises(AttributeError, match=r"loo_ needs training rows.*construct it with compute_loo=True"):
        _ = made("PoissonNB").fit(X, y).loo_
    assert not hasattr(made("PoissonNB").fit(X, y), "loo_")


# Copied, saved, shared.

PRIORS = {"GaussianNB": NormalInverseGamma(1.0), "BernoulliNB": Beta(0.5, 2), "PoissonNB": Gamma([1, 2, 3, 4])}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"estimate": "mle"},
    {"estimate": "map"},
    {"calibrate": "beta", "compute_loo": True},
    {"calibrate": "temperature", "subsample": 0},
    {"alpha": "loo"},
    {"alpha": "evidence"},
    {"parameter_prior": None, "estimate": "mean"},
]


def suits(name: str, settings: dict[str, Any]) -> bool:
    alpha = settings.get("alpha")
    return not (name == "GaussianNB" and alpha) and not (name == "ComplementNB" and alpha == "evidence")


def with_prior(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    given = {"parameter_prior": PRIORS.get(name, Dirichlet(0.7))} if "parameter_prior" in settings else {}
    return {**settings, **given}


COPIED = [(name, with_prior(name, settings)) for name in NAMES for settings in SETTINGS if suits(name, settings)]


@every("name,settings", COPIED)
def test_saved_and_copied(name: str, settings: dict[str, Any]) -> None:
    """Fitted or not; a clone has the parameters, given or by default, and nothing learned."""
    model = made(name, **settings)
    blank = pickle.loads(pickle.dumps(model))
    expected = model.fit(X, y).predict_proba(NEW)
    for twin in (blank.fit(X, y), clone(model).fit(X, y), pickle.loads(pickle.dumps(model)), deepcopy(model)):
        np.testing.assert_array_equal(twin.predict_proba(NEW), expected)
        assert repr(twin.get_params()) == repr(model.get_params())
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[:5], y[:5])
    np.testing.assert_array_equal(again.predict_proba(NEW), model.partial_fit(X[:5], y[:5]).predict_proba(NEW))


@every("name", NAMES)
@every("settings", [{"calibrate": "isotonic"}, {"calibrate": "platt", "subsample": 100_000}])
def test_threads_share_a_fresh_model(name: str, settings: dict[str, Any]) -> None:
    """The calibration is made when first needed, perhaps by several at once: all see the same."""
    model, expected = made(name, **settings).fit(X, y), made(name, **settings).fit(X, y).predict_proba(NEW)
    together = Barrier(8)

    def asked(_: int) -> Floats:
        together.wait()
        return np.asarray(model.predict_proba(NEW))

    with ThreadPoolExecutor(8) as pool:
        for answer in pool.map(asked, range(8)):
            np.testing.assert_array_equal(answer, expected)


# What was chosen stays true to the model it was chosen for.


def test_a_sliding_window_is_fitted_again() -> None:
    """The weight stays the same, the rows do not."""
    model = made("GaussianNB", calibrate="temperature").fit(X[:100], y[:100])
    early = model.model_.classifier.fitted.calibration
    for i in range(0, 100, 5):
        model.partial_fit(X[100 + i : 105 + i], y[100 + i : 105 + i]).forget(X[i : i + 5], y[i : i + 5])
        model.predict(NEW)
    assert model.model_.classifier.fitted.calibration is not early
    assert model.staleness_ <= 0.1


def test_discounts_count_what_is_new() -> None:
    model = made("GaussianNB", calibrate="temperature", subsample=0).fit(X[:100], y[:100])
    with pytest.warns(UserWarning, match="keeps no training rows"):
        model.discount(0.5).partial_fit(X[100:150], y[100:150])
    for _ in range(3):
        model.discount(0.5).partial_fit(X[100:150], y[100:150])
    assert model.staleness_ > 1


def test_other_settings_are_fitted_anew() -> None:
    model = made("GaussianNB", calibrate="temperature").fit(X, y)
    model.predict(NEW)
    model.set_params(calibrate="isotonic").partial_fit(X[:1], y[:1])
    whole = made("GaussianNB", calibrate="isotonic").fit(np.vstack([X, X[:1]]), np.append(y, y[0]))
    assert_same("GaussianNB", model, whole)
    model.set_params(calibrate="beta").refit()
    assert set(model.calibration_) == set(made("GaussianNB", calibrate="beta").fit(X, y).calibration_)


def test_classes_that_change_places() -> None:
    """As many classes as before, but others: biases do not slip from one to the next."""
    names = np.array(["a", "b", "d"])[y]
    model = made("GaussianNB", calibrate="platt").fit(X, names)
    model.predict(NEW)
    gone = names == "b"
    model.forget(X[gone], names[gone]).partial_fit(X[gone], np.full(gone.sum(), "z"))
    whole = made("GaussianNB", calibrate="platt").fit(X, np.where(gone, "z", names))
    assert_same("GaussianNB", model, whole)


@pytest.mark.parametrize("method", ["temperature", "platt"])
def test_a_new_class_without_rows_to_fit_again(method: str) -> None:
    model = made("GaussianNB", calibrate=method, subsample=0).fit(X, y)
    before = model.predict_proba(NEW)
    model.partial_fit(X[:1], [99])
    after = model.predict_proba(NEW)[:, :-1]
    assert np.corrcoef(before[:, 0], after[:, 0])[0, 1] > 0.9


@pytest.mark.parametrize("method", ["beta", "isotonic"])
def test_a_new_class_that_needs_a_curve_is_refused(method: str) -> None:
    model = made("GaussianNB", calibrate=method, subsample=0).fit(X, y)
    before = model.predict_proba(NEW)
    with pytest.raises(InputError, match=r"cannot be refitted for .* keeps no training rows; .* subsample=100_000"):
        model.partial_fit(X[:1], [99])
    np.testing.assert_array_equal(model.predict_proba(NEW), before)


def test_merging_does_not_depend_on_order_or_on_looking() -> None:
    one, other = (made("GaussianNB", calibrate="platt").fit(X[rows], y[rows]) for rows in (half, ~half))
    one.predict(NEW)
    forward, backward = deepcopy(one).merge(other), deepcopy(other).merge(one)
    assert_same("GaussianNB", forward, backward)


def test_fit_ends_with_the_calibration() -> None:
    model = made("GaussianNB", calibrate="platt").fit(X, y)
    assert vars(model.model_.classifier)["current"] is not None


@every("method", ["temperature", "platt", "beta", "isotonic"])
def test_a_given_prior_survives_the_calibration(method: str) -> None:
    """It comes after it, as with ``with_class_prior``; a class of probability 0 stays at 0."""
    n_classes = len(np.unique(y))
    prior = np.linspace(1, 5, n_classes) / np.linspace(1, 5, n_classes).sum()
    given = made("GaussianNB", calibrate=method, priors=prior).fit(X, y)
    after = made("GaussianNB", calibrate=method).fit(X, y).with_class_prior(prior)
    np.testing.assert_allclose(given.predict_proba(NEW), after.predict_proba(NEW), rtol=1e-9)
    np.testing.assert_allclose(given.class_prior_, prior)
    never = np.r_[0.0, np.full(n_classes - 1, 1 / (n_classes - 1))]
    assert (made("GaussianNB", calibrate=method, priors=never).fit(X, y).predict_proba(NEW)[:, 0] == 0).all()


def test_the_choice_of_alpha_does_not_depend_on_looking() -> None:
    lazy = made("BernoulliNB", alpha="loo").fit(X, y)
    eager = deepcopy(lazy)
    eager.predict(NEW)
    prior = np.full(len(lazy.classes_), 1 / len(lazy.classes_))
    assert lazy.with_class_prior(prior).prior_ == eager.with_class_prior(prior).prior_


def test_a_calibration_alone_needs_few_rows() -> None:
    """Its few numbers are as good by them; who judges or chooses more keeps more."""
    rng = np.random.default_rng(0)
    rows, classes = rng.normal(size=(40_000, 20)), np.arange(40_000) % 2
    few, more = (
        candide.GaussianNB(calibrate="platt", compute_loo=evaluate).fit(rows, classes) for evaluate in (False, True)
    )
    sizes = [len(model.model_.classifier.state.sample.classes) for model in (few, more)]
    assert sizes == [15_000, 40_000]
    np.testing.assert_allclose(few.predict_proba(rows[:100]), more.predict_proba(rows[:100]), atol=0.02)
    wide = candide.GaussianNB(calibrate="platt").fit(rng.normal(size=(50, 4_000)), np.arange(50) % 2)
    assert wide.model_.classifier.bound_spec.budget == more.model_.classifier.bound_spec.budget
