"""An estimator over a family that is registered as CONTRIBUTING.md describes has everything that others have."""

from __future__ import annotations

import pickle
import sqlite3
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import candide
from candide import diagnostics, estimators, specs
from candide.exceptions import ForgetError
from candide.families import FAMILIES
from candide.storage import registry
from candide.storage.validation import model as validation

from . import geometric
from .geometric import Geometric, GeometricNB

RNG = np.random.default_rng(3)
Y = np.array(["often", "rarely", "never"])[np.arange(60) % 3]
CHANCE = {"often": 0.8, "rarely": 0.4, "never": 0.1}
X = RNG.geometric(np.array([CHANCE[label] for label in Y])[:, None], (60, 2)) - 1.0
X[::11, 0] = np.nan


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the entries that the page lists, as if the files were in ``src``."""
    # A line in FAMILIES, which has these effects when the registry of model files is imported.
    reference, family = f"{Geometric.__module__}:Geometric", registry.DECLARED["Family"]
    monkeypatch.setitem(FAMILIES, "geometric", "Geometric")
    monkeypatch.setitem(registry.COLUMN_FAMILIES, "geometric family", reference)
    monkeypatch.setitem(registry.CLASSES, "geometric family", reference)
    monkeypatch.setitem(registry.NAMES, reference, "geometric family")
    monkeypatch.setattr(family, "names", (*family.names, "geometric family"))
    # A line in SPECS for ``specs/geometric.py``, one in KINDS, and the public name.
    monkeypatch.setitem(sys.modules, "candide.specs.geometric", geometric)
    monkeypatch.setitem(specs.SPECS, "GeometricNB", "geometric")
    monkeypatch.setitem(validation.KINDS, "GeometricNB", "geometric family")
    monkeypatch.setattr(estimators, "GeometricNB", GeometricNB, raising=False)


def fitted(**parameters: Any) -> GeometricNB:
    return GeometricNB(**parameters).fit(X, Y)


def test_predicting() -> None:
    model = fitted()
    assert model.predict([[0, 0], [np.nan, 30]]).tolist() == ["often", "never"]
    assert model.score(X, Y) > 0.6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.n_parameters_ == 8
    assert model.parameters().n_rows == 6
    assert model.prior_ == geometric.Geometric().prior
    drawn, labels = model.sample(50, random_state=0)
    assert drawn.shape == (50, 2)
    assert set(labels) <= set(Y)


def test_leaving_out() -> None:
    model, some = fitted(compute_loo=True), [0, 1, 2, 11]
    found = model.leave_one_out(X[some], Y[some])
    for i, row in zip(some, found, strict=True):
        others = np.delete(np.arange(60), i)
        np.testing.assert_allclose(row, GeometricNB().fit(X[others], Y[others]).predict_log_proba(X[[i]])[0])
    assert 0.5 < model.loo_.accuracy <= 1
    assert fitted(calibrate="temperature").calibration_["temperature"] > 0


def test_explaining() -> None:
    for found in fitted().explain(X[:3]):
        assert found.contributions()["bits"].sum() == pytest.approx(found.log_odds())


def test_linear_form_and_sql() -> None:
    model, known = fitted(), X[~np.isnan(X).any(axis=1)]
    form = diagnostics.as_linear(model)
    scores = known @ form.weights.T + form.bias
    scores -= scores.max(axis=1, keepdims=True)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(known), expected, rtol=1e-9)
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE rows (x0 REAL, x1 REAL)")
        database.executemany("INSERT INTO rows VALUES (?, ?)", X.tolist())
        found = database.execute(model.to_sql("sqlite", keep=False, proba=False)).fetchall()
    assert [label for (label,) in found] == model.predict(X).tolist()


@pytest.mark.parametrize("sample", [False, True])
def test_files(tmp_path: Path, sample: bool) -> None:
    model = fitted(alpha=0.5, subsample=100_000, calibrate="platt")
    model.save(tmp_path / "model.candide", sample=sample)
    for again in (candide.load(tmp_path / "model.candide"), candide.from_json(model.to_json(sample))):
        assert isinstance(again, GeometricNB)
        assert again.alpha == 0.5
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_merging_and_forgetting() -> None:
    whole, first, second = fitted(), GeometricNB().fit(X[:40], Y[:40]), GeometricNB().fit(X[40:], Y[40:])
    for merged in (candide.merge([first, second]), GeometricNB().fit(X[:40], Y[:40]).partial_fit(X[40:], Y[40:])):
        np.testing.assert_array_equal(merged.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(whole.forget(X[40:], Y[40:]).predict_proba(X), first.predict_proba(X))
    with pytest.raises(ForgetError):
        first.forget(X[:40] + 100, Y[:40])
    assert first.discount(0.5).class_count_.sum() == 20


def test_scikit_learn() -> None:
    model = fitted(alpha=2.0)
    assert clone(model).get_params() == model.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert "GeometricNB" in model.report().html()
