"""The linear form of a model is the model: its softmax gives predict_proba, its differences those of joint scores."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array, issparse

from candide import GaussianNB, diagnostics
from candide.kernels.layouts import Floats
from candide.stacking.calibration import normalised

from .models import KINDS, SMOOTHED, Kind, by_name, unsmoothed
from .strategies import rows

SHARED = Kind("gaussian-shared", partial(GaussianNB, variance="shared", var_smoothing=0.01), measures=True)
every_kind = pytest.mark.parametrize("kind", [*KINDS, SHARED], ids=by_name)
counted = pytest.mark.parametrize("kind", SMOOTHED, ids=by_name)
DIGITS = {"rtol": 1e-9, "atol": 1e-9}


def form_of(kind: Kind, model: Any) -> Any:
    """Class variances are quadratic in x: linear with squares."""
    return diagnostics.as_linear(model, squares=kind.name == "gaussian")


def by_hand(form: Any, X: Any) -> Floats:
    """bias + weights · inputs, in NumPy."""
    inputs = form.design(X)
    inputs = inputs.toarray() if issparse(inputs) else inputs
    holes = np.isnan(inputs)
    scores = np.where(holes, 0.0, inputs) @ form.weights.T + form.bias
    return scores if form.missing is None else scores + holes @ form.missing.T


def differences(scores: Floats) -> Floats:
    """Of each class from the first, where both are possible."""
    with np.errstate(invalid="ignore"):
        return scores - scores[:, :1]


def queried(data: Any, kind: Kind, **parameters: Any) -> tuple[Any, Any]:
    """A model, and rows that it has not seen: among them new values and missing cells."""
    table, asked = data.draw(rows(kind)), data.draw(rows(kind))
    X, y, weight = table.X, table.y, table.weight
    if kind.measures:
        # Where nothing varies at all, the density is infinite, and the form refused.
        ends = np.multiply.outer([-8.0, 8.0], np.ones(X.shape[1]))
        X, y, weight = np.vstack([X, ends]), np.append(y, ["ant", "ant"]), np.append(weight, [1.0, 1.0])
    model = kind.fit(X, y, weight, **parameters)
    return model, kind.encode(np.resize(asked.X, (len(asked.X), table.X.shape[1])))


@every_kind
@given(data=st.data())
def test_weights_and_bias_give_the_probabilities(kind: Kind, data: Any) -> None:
    model, X = queried(data, kind)
    form = form_of(kind, model)
    np.testing.assert_allclose(normalised(by_hand(form, X)), model.predict_log_proba(X), **DIGITS)
    np.testing.assert_allclose(normalised(form.scores(X)), model.predict_log_proba(X), **DIGITS)
    joint = differences(model.predict_joint_log_proba(X))
    np.testing.assert_allclose(differences(form.scores(X)), joint, **DIGITS)


@pytest.mark.parametrize("estimate", ["mle", "mean", "map"])
@every_kind
@given(data=st.data())
def test_for_every_estimate(kind: Kind, estimate: str, data: Any) -> None:
    """Where probabilities of 0 leave no class, the form takes the same limit as the model."""
    if kind.measures and estimate != "mle":
        # A prior takes the floor's place.
        variance = "shared" if kind is SHARED else "class"
        kind = replace(kind, make=partial(GaussianNB, variance=variance))
    model, X = queried(data, kind, estimate=estimate)
    scores = form_of(kind, model).scores(X)
    np.testing.assert_allclose(normalised(scores), model.predict_log_proba(X), **DIGITS)


@counted
@given(data=st.data())
def test_probabilities_of_zero(kind: Kind, data: Any) -> None:
    model, X = queried(data, kind, **unsmoothed(kind))
    form = diagnostics.as_linear(model)
    np.testing.assert_allclose(normalised(form.scores(X)), model.predict_log_proba(X), **DIGITS)
    assert not np.isnan(form.weights).any()
    assert not np.isnan(form.bias).any()


@pytest.mark.parametrize("kind", [kind for kind in [*KINDS, SHARED] if kind.sparse], ids=by_name)
@given(data=st.data())
def test_sparse_rows(kind: Kind, data: Any) -> None:
    model, X = queried(data, kind)
    form = form_of(kind, model)
    assert issparse(form.design(csr_array(X)))
    np.testing.assert_allclose(form.design(csr_array(X)).toarray(), form.design(X))
    np.testing.assert_allclose(form.scores(csr_array(X)), form.scores(X), **DIGITS)


@every_kind
@given(data=st.data())
def test_the_boundary_of_two_classes(kind: Kind, data: Any) -> None:
    model, X = queried(data, kind)
    form, classes = form_of(kind, model), model.classes_.tolist()
    if len(classes) < 2:
        return
    weights, bias = form.between(classes[1], classes[0])
    np.testing.assert_allclose(weights, form.weights[1] - form.weights[0], **DIGITS)
    log_odds = form.log_odds(X, classes[1], classes[0])
    np.testing.assert_allclose(log_odds, differences(model.predict_joint_log_proba(X))[:, 1], **DIGITS)
    assert bias == pytest.approx(form.bias[1] - form.bias[0])
