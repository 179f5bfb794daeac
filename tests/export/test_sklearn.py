"""Models as scikit-learn's, and scikit-learn's as ours: the same numbers, and the same after further rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from properties.compare import assert_alike
from sklearn import naive_bayes as theirs
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from tiers import every

import candide
from candide.exceptions import InputError, ParameterError
from candide.priors import Beta, Dirichlet

X, Y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[Y]
CODES = np.round(X).astype(np.int64)
SAME = {"rtol": 1e-12, "atol": 1e-12}

KINDS = {
    "gaussian": ("GaussianNB", {}, X),
    "gaussian smoothed": ("GaussianNB", {"var_smoothing": 0.1}, X),
    "gaussian prior": ("GaussianNB", {"priors": [0.2, 0.3, 0.5]}, X),
    "bernoulli": ("BernoulliNB", {"binarize": 2.0}, X),
    "bernoulli none": ("BernoulliNB", {"binarize": None, "alpha": 0.3}, (X > 2).astype(float)),
    "multinomial": ("MultinomialNB", {}, X),
    "multinomial uniform": ("MultinomialNB", {"fit_prior": False, "alpha": 0.1}, X),
    "multinomial prior": ("MultinomialNB", {"class_prior": [0.2, 0.3, 0.5]}, X),
    "multinomial alphas": ("MultinomialNB", {"alpha": np.array([0.5, 1.0, 2.0, 3.0])}, X),
    "complement": ("ComplementNB", {}, X),
    "complement norm": ("ComplementNB", {"norm": True, "alpha": 2.0}, X),
    "categorical": ("CategoricalNB", {}, CODES),
    "categorical sizes": ("CategoricalNB", {"min_categories": 12, "alpha": 0.5}, CODES),
    "categorical sizes by column": ("CategoricalNB", {"min_categories": [9, 10, 11, 12], "fit_prior": False}, CODES),
}
every_kind = pytest.mark.parametrize("name", list(KINDS))


def both(name: str, rows: Any = slice(None), y: Any = LABELS, **fit: Any) -> tuple[Any, Any, Any]:
    """Ours, theirs, and the rows they learned."""
    kind, settings, cells = KINDS[name]
    ours = getattr(candide, kind)(**settings).fit(cells[rows], y[rows], **fit)
    return ours, getattr(theirs, kind)(**settings).fit(cells[rows], y[rows], **fit), cells


def assert_same_answers(one: Any, other: Any, cells: Any) -> None:
    np.testing.assert_array_equal(one.predict(cells), other.predict(cells))
    np.testing.assert_allclose(one.predict_proba(cells), other.predict_proba(cells), **SAME)
    np.testing.assert_allclose(one.predict_joint_log_proba(cells), other.predict_joint_log_proba(cells), rtol=1e-10)


@every_kind
@pytest.mark.parametrize("y", [LABELS, Y], ids=["texts", "numbers"])
def test_to_sklearn_answers_as_ours_and_has_what_theirs_has(name: str, y: Any) -> None:
    ours, reference, cells = both(name, y=y)
    made = ours.to_sklearn()
    assert type(made) is type(reference)
    assert_same_answers(made, ours, cells)
    assert set(vars(made)) == set(vars(reference))
    for attribute, value in vars(reference).items():
        if isinstance(value, list) and np.ndim(value[0]) == 2:
            for mine, other in zip(getattr(made, attribute), value, strict=True):
                np.testing.assert_allclose(mine, other, **SAME)
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f":
            np.testing.assert_allclose(getattr(made, attribute), value, rtol=1e-10, atol=1e-12, err_msg=attribute)
        elif value is None or np.ndim(value) or isinstance(value, bool):
            np.testing.assert_array_equal(getattr(made, attribute), value)
        else:
            assert getattr(made, attribute) == pytest.approx(value, rel=1e-12)


@every_kind
def test_there_and_back(name: str) -> None:
    ours, _, cells = both(name)
    again = candide.from_sklearn(ours.to_sklearn())
    assert type(again) is type(ours)
    assert_alike(again.model_.classifier.state.statistics, ours.model_.classifier.state.statistics, scale=1e-3)
    assert again.get_params().keys() == ours.get_params().keys()
    for parameter, value in ours.get_params().items():
        np.testing.assert_array_equal(again.get_params()[parameter], value, err_msg=parameter)
    np.testing.assert_allclose(again.predict_log_proba(cells), ours.predict_log_proba(cells), **SAME)


@every_kind
def test_from_sklearn_answers_as_theirs(name: str) -> None:
    _, fitted, cells = both(name)
    assert_same_answers(candide.from_sklearn(fitted), fitted, cells)


@every_kind
def test_from_sklearn_goes_on_as_if_it_had_learned_the_rows(name: str) -> None:
    first, second = np.arange(0, 150, 2), np.arange(1, 150, 2)
    whole, _, cells = both(name)
    _, fitted, _ = both(name, first)
    grown = candide.from_sklearn(fitted).partial_fit(cells[second], LABELS[second])
    np.testing.assert_allclose(grown.predict_log_proba(cells), whole.predict_log_proba(cells), rtol=1e-9, atol=1e-9)
    grown.forget(cells[first], LABELS[first])
    alone, _, _ = both(name, second)
    np.testing.assert_allclose(grown.predict_log_proba(cells), alone.predict_log_proba(cells), rtol=1e-9, atol=1e-9)
    merged = candide.merge([candide.from_sklearn(fitted), alone])
    np.testing.assert_allclose(merged.predict_log_proba(cells), whole.predict_log_proba(cells), rtol=1e-9, atol=1e-9)


@every_kind
def test_to_sklearn_goes_on_there(name: str) -> None:
    first, second = np.arange(0, 150, 2), np.arange(1, 150, 2)
    ours, _, cells = both(name, first)
    grown = ours.to_sklearn().partial_fit(cells[second], LABELS[second])
    whole, _, _ = both(name)
    # Their floor is that of the latest rows.
    digits = {"rtol": 1e-2, "atol": 1e-2} if name == "gaussian smoothed" else {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(grown.predict_proba(cells), whole.predict_proba(cells), **digits)


weights = arrays(np.float64, 30, elements=st.floats(0.25, 4.0))


@given(
    cells=arrays(np.float64, (30, 3), elements=st.integers(0, 4)),
    y=arrays(np.int64, 30, elements=st.integers(0, 2)),
    weight=st.none() | weights,
)
@pytest.mark.parametrize("kind", ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB"])
def test_any_rows(kind: str, cells: Any, y: Any, weight: Any) -> None:
    settings = {"var_smoothing": 0.5} if kind == "GaussianNB" else {}
    cells[0] = 0.0
    cells[1] = 4.0
    fitted = getattr(theirs, kind)(**settings).fit(cells, y, sample_weight=weight)
    ours = candide.from_sklearn(fitted)
    np.testing.assert_allclose(ours.predict_proba(cells), fitted.predict_proba(cells), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        ours.to_sklearn().predict_proba(cells), fitted.predict_proba(cells), rtol=1e-9, atol=1e-12
    )


def test_a_floor_that_is_not_that_of_all_rows() -> None:
    """scikit-learn's is that of the latest chunk, and knows no weights."""
    fitted = theirs.GaussianNB(var_smoothing=0.3).partial_fit(X[:100], LABELS[:100], classes=np.unique(LABELS))
    fitted.partial_fit(X[100:], LABELS[100:])
    ours = candide.from_sklearn(fitted)
    np.testing.assert_allclose(ours.predict_proba(X), fitted.predict_proba(X), rtol=1e-9)
    assert ours.var_smoothing != 0.3
    assert ours.epsilon_ == pytest.approx(fitted.epsilon_)


def test_classes_without_rows() -> None:
    fitted = theirs.MultinomialNB().partial_fit([[1, 2]], ["b"], classes=["a", "b"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = candide.from_sklearn(fitted)
    assert ours.classes_.tolist() == ["a", "b"]
    assert ours.partial_fit([[3, 0]], ["a"]).class_count_.tolist() == [1, 1]


def test_names_of_columns_travel() -> None:
    frame = pd.DataFrame(X, columns=list("abcd"))
    ours = candide.GaussianNB().fit(frame, Y)
    assert ours.to_sklearn().feature_names_in_.tolist() == list("abcd")
    again = candide.from_sklearn(theirs.GaussianNB().fit(frame, Y))
    np.testing.assert_array_equal(again.predict(frame), ours.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame[["d", "c", "b", "a"]])


@every(
    "model,alpha",
    [
        (candide.MultinomialNB(alpha="evidence"), None),
        (candide.MultinomialNB(alpha=3.0, estimate="map"), 2.0),
        (candide.BernoulliNB(binarize=2.0, parameter_prior=Beta(2.0, 2.0)), 2.0),
        (candide.MultinomialNB(class_prior="smoothed"), 1.0),
        (candide.MultinomialNB(class_weight="balanced"), 1.0),
        (candide.MultinomialNB(class_prior={"setosa": 0.1, "versicolor": 0.1, "virginica": 0.8}), 1.0),
    ],
)
def test_what_can_be_said_in_their_words(model: Any, alpha: float | None) -> None:
    made = model.fit(X, LABELS).to_sklearn()
    assert alpha is None or made.alpha == alpha
    assert_same_answers(made, model, X)


@every_kind
def test_fractions_of_rows(name: str) -> None:
    weight = np.linspace(0.1, 2.0, 150)
    ours, _, cells = both(name, sample_weight=weight)
    assert_same_answers(ours.to_sklearn(), ours, cells)


def test_another_class_prior() -> None:
    model = candide.MultinomialNB().fit(X, LABELS).with_class_prior([0.1, 0.1, 0.8])
    assert_same_answers(model.to_sklearn(), model, X)


HOLES = np.where(np.arange(600).reshape(150, 4) % 7 == 0, np.nan, X)
TEXTS = np.array(["cook", "smith"] * 75)[:, None]


@every(
    "model,rows,found",
    [
        (candide.PoissonNB(), X, "no PoissonNB.*to_onnx"),
        (candide.NaiveBayes(stacking=None, calibrate=None), X, "no NaiveBayes"),
        (candide.GaussianNB(calibrate="platt"), X, "calibrate='platt'"),
        (candide.GaussianNB(variance="shared"), X, "variance='shared'"),
        (candide.GaussianNB(estimate="predictive"), X, "estimate"),
        (candide.GaussianNB(ddof=1), X, "ddof"),
        (candide.GaussianNB(var_smoothing=0), np.ones((150, 2)), "infinite densities"),
        (candide.GaussianNB(), HOLES, "missing cells"),
        (candide.BernoulliNB(), HOLES, "missing cells"),
        (candide.BernoulliNB(parameter_prior=Beta(1.0, 2.0)), X, "0 and 1"),
        (candide.BernoulliNB(alpha=[1.0, 1.0, 2.0, 1.0]), X, "by column"),
        (candide.MultinomialNB(alpha=0), np.eye(3)[Y], "zero probabilities"),
        (candide.MultinomialNB(alpha=np.ones((3, 4))), X, "by class"),
        (candide.MultinomialNB(estimate="predictive"), X, "predictive"),
        (candide.ComplementNB(class_weight="balanced"), X, "class_weight"),
        (candide.CategoricalNB(), TEXTS, "values such as 'cook'"),
        (candide.CategoricalNB(categories="seen"), CODES, "values such as 4"),
        (candide.CategoricalNB(unseen="smooth"), CODES, "unseen='smooth'"),
        (candide.CategoricalNB(alpha=[1.0, 1.0, 2.0, 1.0]), CODES, "pseudo-counts"),
        (
            candide.CategoricalNB(parameter_prior=[Dirichlet(2.0)] * 3 + [Dirichlet([1.0, 2, 3])]),
            CODES,
            "pseudo-counts",
        ),
    ],
)
def test_what_has_no_place_there_is_refused(model: Any, rows: Any, found: str) -> None:
    with pytest.raises(ParameterError, match=found):
        model.fit(rows, LABELS).to_sklearn()


def test_what_is_no_fitted_naive_bayes_is_refused() -> None:
    with pytest.raises(InputError, match="MultinomialNB or ComplementNB of sklearn"):
        candide.from_sklearn(candide.GaussianNB().fit(X, Y))
    with pytest.raises(InputError, match="from_sklearn got a builtins"):
        candide.from_sklearn(3)
    with pytest.raises(NotFittedError):
        candide.from_sklearn(theirs.GaussianNB())
    with pytest.raises(ParameterError, match="single alpha"):
        candide.from_sklearn(theirs.BernoulliNB(alpha=np.array([1.0, 2.0])).fit([[0, 1], [1, 0]], [0, 1]))
