"""as_linear: what has such a form, what has not and why, and what the form can do."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_iris
from tiers import every

from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
    diagnostics,
)
from candide.exceptions import NotFitted, ParameterError
from candide.stacking.calibration import log_softmax

TEXTS = ["win a prize now", "lunch at noon", "win win cash", "see you at lunch", "prize cash", "at noon then"]
LABELS = ["spam", "ham", "spam", "ham", "spam", "ham"]


def assert_exact(model: Any, X: Any, **how: Any) -> None:
    scores = diagnostics.as_linear(model, **how).scores(X)
    np.testing.assert_allclose(log_softmax(scores), model.predict_log_proba(X), rtol=1e-9, atol=1e-9)


@every("calibrate", ["temperature", "platt"])
@every("load", [load_iris, load_breast_cancer])
def test_one_temperature_and_biases_stay_linear(load: Any, calibrate: str) -> None:
    X, y = load(return_X_y=True)
    model = GaussianNB(variance="shared", calibrate=calibrate).fit(X, y)
    assert_exact(model, X)
    raw = diagnostics.as_linear(GaussianNB(variance="shared").fit(X, y))
    temperature = model.model_.classifier.fitted.calibration.describe()["temperature"]
    np.testing.assert_allclose(diagnostics.as_linear(model).weights, raw.weights / temperature)


@every("calibrate", [None, "temperature", "platt"])
def test_another_class_prior_moves_the_bias_alone(calibrate: str | None) -> None:
    X, y = load_iris(return_X_y=True)
    model = GaussianNB(variance="shared", calibrate=calibrate).fit(X, y)
    there = model.with_class_prior([0.7, 0.2, 0.1])
    assert_exact(there, X)
    np.testing.assert_array_equal(diagnostics.as_linear(there).weights, diagnostics.as_linear(model).weights)


def test_means_far_from_zero_keep_their_digits() -> None:
    X, y = load_iris(return_X_y=True)
    assert_exact(GaussianNB(variance="shared").fit(X + 1e5, y), X + 1e5)


@every("weighting", ["count", "binary", "log", "tfidf"])
@every("name", ["multinomial", "bernoulli", "complement"])
def test_texts_by_their_tokens(name: str, weighting: str) -> None:
    if (name, weighting) in (("bernoulli", "log"), ("bernoulli", "tfidf"), ("bernoulli", "count")):
        weighting = "binary"
    model = TextNB(name, weighting=weighting, alpha=0.5).fit(TEXTS, LABELS)
    assert_exact(model, [*TEXTS, "win lunch unheard words", "", "win win win win"])
    assert diagnostics.as_linear(model).inputs.tolist() == list(model.vocabulary_)


def test_buckets_have_numbers() -> None:
    form = diagnostics.as_linear(TextNB("multinomial", buckets=4).fit(TEXTS, LABELS))
    assert form.inputs[:2].tolist() == ["bucket 0", "bucket 1"]


@every(
    "model,why",
    [
        (GaussianNB(), "quadratic; choose variance='shared', or call as_linear"),
        (GaussianNB(estimate="predictive"), "Student's t"),
        (MultinomialNB(estimate="predictive"), "count less"),
        (PoissonNB(estimate="predictive"), "negative binomial"),
        (GaussianNB(variance="shared", calibrate="isotonic"), "calibrate='isotonic' transforms"),
        (GaussianNB(variance="shared", calibrate="beta"), "calibrate='beta' transforms"),
        (NaiveBayes(), "its scores are stacked views"),
        (NaiveBayes(stacking=None), "each column by its own family"),
    ],
)
def test_models_without_one_say_why(model: Any, why: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ParameterError, match=why):
        diagnostics.as_linear(model.fit(X, y))


@pytest.mark.parametrize("name", ["auto", "polya"])
def test_texts_that_bend(name: str) -> None:
    with pytest.raises(ParameterError, match="no linear form"):
        diagnostics.as_linear(TextNB(name).fit(TEXTS, LABELS))


def test_a_temperature_that_grows_with_the_length_is_refused() -> None:
    rng = np.random.default_rng(0)
    shares, labels = np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3]]), rng.integers(0, 2, 400)
    # Long rows repeat themselves: they need a higher temperature.
    rows = [rng.multinomial(4, shares[c]) * (1 if i % 2 else 30) for i, c in enumerate(labels)]
    model = MultinomialNB(calibrate="temperature").fit(rows, labels)
    assert model.model_.classifier.fitted.calibration.growth > 0
    with pytest.raises(ParameterError, match="increases with the length"):
        diagnostics.as_linear(model)


def test_columns_without_variance_are_refused() -> None:
    with pytest.raises(ParameterError, match="zero variance"):
        diagnostics.as_linear(GaussianNB(variance="shared", var_smoothing=0).fit([[1.0], [1.0], [2.0]], [0, 0, 1]))


def test_class_variances_are_linear_in_squares() -> None:
    X, y = load_iris(return_X_y=True)
    form = diagnostics.as_linear(GaussianNB().fit(X, y), squares=True)
    assert form.inputs.tolist() == ["x0", "x1", "x2", "x3", "x0²", "x1²", "x2²", "x3²"]
    assert form.columns.tolist() == ["x0", "x1", "x2", "x3"] * 2
    assert_exact(GaussianNB().fit(X, y), X, squares=True)


def test_values_of_categories_are_inputs() -> None:
    rows = [["calm", 0], ["storm", 1], [None, 1], ["calm", 3]]
    model = CategoricalNB(unseen="smooth").fit(rows, ["a", "b", "b", "a"])
    form = diagnostics.as_linear(model)
    assert form.inputs[:3].tolist() == ["x0=calm", "x0=storm", "x0=(unseen)"]
    assert form.values is not None
    assert form.values.tolist() == ["calm", "storm", "(unseen)", 0, 1, 2, 3, "(unseen)"]
    assert form.design([["hail", 1], [None, 0]]).toarray().tolist() == [
        [0, 0, 1, 0, 1, 0, 0, 0],
        [0] * 3 + [1] + [0] * 4,
    ]


def test_a_zero_is_an_infinite_weight_and_still_a_limit() -> None:
    model = MultinomialNB(alpha=0).fit([[2, 1, 0], [0, 1, 4]], ["a", "b"])
    form = diagnostics.as_linear(model)
    np.testing.assert_array_equal(np.isneginf(form.weights), [[False, False, True], [True, False, False]])
    assert_exact(model, [[1, 0, 0], [1, 1, 0], [1, 0, 1], [2, 0, 1]])
    weights, _ = form.between("b", "a")
    assert weights[[0, 2]].tolist() == [-np.inf, np.inf]


def test_many_classes_and_columns_stay_sparse_inside() -> None:
    rng = np.random.default_rng(0)
    X, y = csr_array(rng.random((400, 3000)) < 0.002, dtype=np.float64), np.arange(400) % 200
    for model in (MultinomialNB(), BernoulliNB(), ComplementNB(), PoissonNB()):
        form = diagnostics.as_linear(model.fit(X, y))
        assert form.weights.shape == (200, 3000)
        assert_exact(model, X[:20])
        by_hand = X[:20] @ form.weights.T + form.bias
        np.testing.assert_allclose(log_softmax(by_hand), model.predict_log_proba(X[:20]), rtol=1e-9, atol=1e-9)
        assert repr(form) == "200 classes, 3000 inputs; see table() for their weights"


def test_given_parameters() -> None:
    model = BernoulliNB.from_parameters([[0.8], [0.4]], classes=["a", "b"], feature_names=["on"])
    form = diagnostics.as_linear(model)
    weights, bias = form.between()
    assert weights[0] == pytest.approx(np.log(0.4 / 0.6) - np.log(0.8 / 0.2))
    assert bias == pytest.approx(np.log(0.6 / 0.2))
    assert form.inputs.tolist() == ["on"]


def test_a_class_without_prior_is_impossible() -> None:
    model = MultinomialNB(class_prior=[0.0, 1.0]).fit([[1, 0], [0, 1]], ["a", "b"])
    assert np.isneginf(diagnostics.as_linear(model).bias[0])
    assert_exact(model, [[1, 0]])


def test_the_form_outlives_the_model() -> None:
    model = MultinomialNB().fit([[2, 1, 0], [0, 1, 4]], ["a", "b"])
    form, before = diagnostics.as_linear(model), model.predict_log_proba([[1, 1, 1]])
    model.partial_fit([[9, 9, 9]], ["c"]).fit([[1, 2]], ["d"])
    np.testing.assert_allclose(log_softmax(form.scores([[1, 1, 1]])), before)
    again = pickle.loads(pickle.dumps(form))
    np.testing.assert_array_equal(again.scores([[1, 1, 1]]), form.scores([[1, 1, 1]]))
    with pytest.raises(AttributeError):
        form.classes = np.array(["x"])


def test_what_a_reader_does_to_the_form_does_not_reach_the_model() -> None:
    model = MultinomialNB().fit(pd.DataFrame({"p": [2, 0], "q": [1, 4]}), ["a", "b"])
    form = diagnostics.as_linear(model)
    form.classes[:], form.inputs[:], form.weights[:] = "x", "y", 0.0
    assert model.classes_.tolist() == ["a", "b"]
    assert model.feature_names_in_.tolist() == ["p", "q"]
    assert form.weights.any()


def test_table_and_text() -> None:
    form = diagnostics.as_linear(MultinomialNB().fit([[2, 1], [0, 4]], ["a", "b"]))
    assert form.table()["input"].tolist() == ["(bias)", "x0", "x1"] * 2
    assert form.table()["class"].tolist() == ["a"] * 3 + ["b"] * 3
    np.testing.assert_array_equal(form.table()["weight"].reshape(2, 3)[:, 1:], form.weights)
    assert repr(form).splitlines()[:2] == ["2 classes, 2 inputs", "                a          b"]
    wide = diagnostics.as_linear(MultinomialNB().fit(np.eye(20), ["a", "b"] * 10))
    assert repr(wide).endswith("… 4 more inputs")


def test_two_classes_must_be_named_among_three() -> None:
    X, y = load_iris(return_X_y=True)
    form = diagnostics.as_linear(GaussianNB(variance="shared").fit(X, y))
    with pytest.raises(ParameterError, match="two different classes"):
        form.log_odds(X)
    with pytest.raises(
        ParameterError, match=r"of is 0 and against is 7; expected two different classes of \[0, 1, 2\]"
    ):
        form.between(0, 7)


def test_before_fit() -> None:
    with pytest.raises(NotFitted, match="not fitted"):
        diagnostics.as_linear(BernoulliNB())
