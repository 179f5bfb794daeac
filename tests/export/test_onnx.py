"""The six classifiers in onnxruntime."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties.models import KINDS, SMOOTHED, Kind, by_name, unsmoothed
from properties.strategies import rows
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import NotFittedError
from tiers import late, tries

from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from candide.exceptions import MissingPackage, ParameterError
from candide.priors import Beta, Gamma, Normal, NormalInverseGamma

from .running import answers, assert_same, session_of

pytestmark = pytest.mark.onnx
onnx = late("onnx")
X, Y = load_iris(return_X_y=True)
LABELS = np.array(["setosa", "versicolor", "virginica"])[Y]
COUNTS = np.round(X)
HOLES = np.where(np.arange(600).reshape(150, 4) % 7 == 0, np.nan, X)
MODELS = {
    "gaussian": GaussianNB(),
    "gaussian shared": GaussianNB(variance="shared", ddof=1),
    "gaussian student": GaussianNB(estimate="predictive"),
    "gaussian mode": GaussianNB(estimate="map"),
    "gaussian prior": GaussianNB(parameter_prior=NormalInverseGamma(0.0, 1.0, 2.0, 1.0)),
    "gaussian known variance": GaussianNB(parameter_prior=Normal(0.0, 10.0, 1.0), estimate="predictive"),
    "gaussian classes": GaussianNB(priors=[0.2, 0.3, 0.5]),
    "bernoulli": BernoulliNB(binarize=2.0),
    "bernoulli prior": BernoulliNB(binarize=3.0, parameter_prior=Beta(2.0, 3.0)),
    "multinomial": MultinomialNB(),
    "multinomial chosen": MultinomialNB(alpha="evidence", class_weight="balanced"),
    "multinomial predictive": MultinomialNB(estimate="predictive"),
    "complement": ComplementNB(),
    "complement norm": ComplementNB(norm=True, class_weight={"setosa": 3.0}),
    "poisson": PoissonNB(),
    "poisson predictive": PoissonNB(estimate="predictive", parameter_prior=Gamma(2.0, 0.5)),
    "categorical": CategoricalNB(),
    "categorical seen": CategoricalNB(categories="seen", unseen="smooth"),
    "categorical more": CategoricalNB(min_categories=12, fit_prior=False),
}
every_model = pytest.mark.parametrize("name", list(MODELS))


def fitted(name: str, X: Any, y: Any, **parameters: Any) -> Any:
    """A fresh model, on whole numbers if it counts."""
    model = clone(MODELS[name]).set_params(**parameters)
    return model.fit(X if name.startswith("gaussian") else np.round(X), y)


@every_model
def test_rows_with_and_without_holes(name: str) -> None:
    for table in (X, HOLES):
        model = fitted(name, table, LABELS)
        assert_same(model, np.round(HOLES))
        onnx.checker.check_model(model.to_onnx(), full_check=True)


@pytest.mark.parametrize("method", ["temperature", "platt", "beta", "isotonic"])
@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "multinomial", "complement", "poisson", "categorical"])
def test_calibrations(name: str, method: str) -> None:
    model = fitted(name, X, LABELS, calibrate=method)
    assert_same(model, COUNTS)
    assert_same(model.with_class_prior([0.6, 0.3, 0.1]), COUNTS)
    some = Y < 2
    assert_same(fitted(name, X[some], LABELS[some], calibrate=method), COUNTS)


def test_a_calibration_that_shortens_large_differences() -> None:
    digits, y = (part[:600] for part in load_digits(return_X_y=True))
    model = GaussianNB(calibrate="platt").fit(digits, y)
    assert model.model_.classifier.fitted.calibration.bend > 0
    assert_same(model, digits)


def test_a_calibration_after_impossible_classes() -> None:
    model = MultinomialNB(alpha=0, calibrate="beta").fit(np.eye(4)[np.r_[Y, 3]], np.r_[Y, 0])
    assert_same(model, np.eye(4))


@pytest.mark.parametrize("kind", KINDS, ids=by_name)
@tries(15)
@given(data=st.data())
def test_any_rows(kind: Kind, data: Any) -> None:
    table, asked = data.draw(rows(kind)), data.draw(rows(kind))
    model = kind.fit(table.X, table.y, table.weight)
    assert_same(model, kind.encode(np.resize(asked.X, (len(asked.X), table.X.shape[1]))))


@pytest.mark.parametrize("estimate", ["mle", "map", "mean", "predictive"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.density], ids=by_name)
@tries(8)
@given(data=st.data())
def test_every_estimate(kind: Kind, estimate: str, data: Any) -> None:
    if kind.measures and estimate != "mle":
        kind = replace(kind, make=partial(GaussianNB))
    table = data.draw(rows(kind))
    model = kind.fit(table.X, table.y, table.weight, estimate=estimate)
    assert_same(model, kind.encode(table.X))


@pytest.mark.parametrize("kind", [*SMOOTHED, KINDS[0]], ids=by_name)
@tries(15)
@given(data=st.data())
def test_probabilities_of_zero(kind: Kind, data: Any) -> None:
    """Rows that every class calls impossible get the limit that the model gives them."""
    table, asked = data.draw(rows(kind)), data.draw(rows(kind))
    model = kind.fit(table.X, table.y, table.weight, **unsmoothed(kind))
    assert_same(model, kind.encode(np.resize(asked.X, (len(asked.X), table.X.shape[1]))))


@every_model
def test_many_classes_and_one(name: str) -> None:
    many = np.arange(150) % 30
    parameters = {"priors": None} if name.startswith("gaussian") else {"class_weight": None}
    assert_same(fitted(name, X, many, **parameters), COUNTS)
    assert_same(fitted(name, X, np.zeros(150), **parameters), COUNTS)


@pytest.mark.parametrize(
    ("labels", "kind"), [([3, -1, 7], "i"), (["a", "é", "z"], "O"), ([0.0, 1.0, 2.0], "f"), ([False, True, True], "b")]
)
def test_labels(labels: list[Any], kind: str) -> None:
    model = GaussianNB().fit(X, np.array(labels)[Y])
    label, _ = answers(model, X)
    assert label.dtype.kind == kind
    np.testing.assert_array_equal(label, model.predict(X))


def test_a_class_that_cannot_be() -> None:
    assert_same(GaussianNB(priors=[0.0, 0.4, 0.6]).fit(X, Y), HOLES)
    assert_same(GaussianNB(calibrate="platt").fit(X, Y).with_class_prior([0.0, 0.4, 0.6]), HOLES)


def test_values_far_apart() -> None:
    """Means far from 0 cost no digits."""
    assert_same(GaussianNB().fit(X + 1e7, Y), HOLES + 1e7)


WORDS = np.array(["ash", "birch", "é", "elm"], dtype=object)[np.arange(60).reshape(20, 3) % 4]


@pytest.mark.parametrize("unseen", ["ignore", "smooth", "error"])
def test_categories_that_are_texts(unseen: str) -> None:
    words = WORDS.copy()
    words[::5, 0] = None
    model = CategoricalNB(unseen=unseen).fit(pd.DataFrame(words, columns=["a", "b", "c"]), np.arange(20) % 3)
    asked = pd.DataFrame(words, columns=["a", "b", "c"])
    if unseen != "error":
        asked.loc[3, "b"] = "oak"
    proto = model.to_onnx()
    assert [info.name for info in proto.graph.input] == ["a", "b", "c"]
    assert_same(model, asked)


def test_a_graph_knows_no_error() -> None:
    """What would stop the model says nothing there."""
    strict, lenient = (CategoricalNB(unseen=unseen).fit(WORDS, np.arange(20) % 2) for unseen in ("error", "ignore"))
    asked = {name: np.array([["oak"]], dtype=object) for name in ("x0", "x1", "x2")}
    _, probabilities = session_of(strict.to_onnx()).run(None, asked)
    np.testing.assert_allclose(probabilities, lenient.predict_proba([["oak"] * 3]))


def test_categories_that_are_large_or_odd_numbers() -> None:
    codes = np.array([[0, 10**7], [3, 5], [3, 10**7], [1, 2**40]])
    model = CategoricalNB().fit(codes, [0, 1, 0, 1])
    assert_same(model, np.array([[0, 10**7], [2, 7], [9, 2**41], [1, 2**40], [3, 6]]))
    with pytest.warns(UserWarning, match="not integers"):
        halves = CategoricalNB(categories="seen").fit(codes / 2, [0, 1, 0, 1])
    assert_same(halves, codes / 2)
    assert_same(halves, np.full((1, 2), -0.0))


def test_an_empty_text_is_a_category_if_it_was_learned() -> None:
    model = CategoricalNB().fit([[""], ["a"], ["a"]], ["x", "y", "y"])
    assert_same(model, np.array([[""], ["a"], ["b"]], dtype=object))


def test_the_file(tmp_path: Path) -> None:
    model = GaussianNB().fit(X, LABELS)
    proto = model.to_onnx(tmp_path / "iris.onnx")
    read = onnx.load(tmp_path / "iris.onnx")
    assert read == proto
    notes = {prop.key: prop.value for prop in read.metadata_props}
    assert json.loads(notes["classes"]) == ["setosa", "versicolor", "virginica"]
    session = session_of(read)
    assert [out.name for out in session.get_outputs()] == ["label", "probabilities"]
    assert [out.shape for out in session.get_outputs()] == [["n"], ["n", 3]]
    (label,) = session.run(["label"], {"X": np.zeros((0, 4))})
    assert label.shape == (0,)


def test_what_has_no_graph_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFittedError):
        MultinomialNB().to_onnx()
    with pytest.raises(ParameterError, match="contains 1 among other values"):
        CategoricalNB().fit([[1], ["one"], ["two"]], [0, 1, 1]).to_onnx()
    with pytest.raises(ParameterError, match="beyond 2"):
        CategoricalNB().fit(np.array([[2**53], [2**53 + 1], [0]]), [0, 1, 1]).to_onnx()
    with pytest.raises(ParameterError, match="fit with numbers or strings as labels"):
        GaussianNB().fit(X, np.array(["2020-01-01", "2020-01-02", "2020-01-03"], dtype="datetime64[D]")[Y]).to_onnx()
    with pytest.raises(ParameterError, match="a column is named 'label'"):
        CategoricalNB().fit(pd.DataFrame({"label": [0, 1]}), [0, 1]).to_onnx()
    monkeypatch.setattr("candide.export.onnx.tensor._MOST_BYTES", 10)
    with pytest.raises(ParameterError, match="2 GB"):
        GaussianNB().fit(X, Y).to_onnx()
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(MissingPackage, match=r"candide\[onnx\]"):
        GaussianNB().fit(X, Y).to_onnx()
