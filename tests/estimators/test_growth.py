"""Classes that join, stay or vanish."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tiers import every

import candide
from candide.exceptions import InputError, ParameterError

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 4, (60, 3)).astype(float)
y = np.array(["m", "c", "x"])[np.arange(60) // 20]


def prior_of(name: str, prior: list[float]) -> dict[str, Any]:
    return {"priors" if name == "GaussianNB" else "class_prior": prior}


@every("name", NAMES)
def test_classes_join_in_order(name: str) -> None:
    """Rows of m, then of c, then of x: the columns follow the sorted labels."""
    model = getattr(candide, name)()
    known = []
    for part in range(3):
        rows = slice(20 * part, 20 * part + 20)
        model.partial_fit(X[rows], y[rows])
        known.append(y[20 * part])
        assert model.classes_.tolist() == sorted(known)
        assert model.predict_proba(X).shape == (60, len(known))
    whole = getattr(candide, name)().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-10)
    np.testing.assert_array_equal(model.predict(X), whole.predict(X))


@every("name", NAMES)
def test_wider_labels_are_not_cut(name: str) -> None:
    model = getattr(candide, name)().partial_fit(X[:20], ["a", "b"] * 10).partial_fit(X[20:22], ["a", "banana"])
    assert model.classes_.tolist() == ["a", "b", "banana"]


@every("name", NAMES)
def test_wider_numbers_are_not_cut(name: str) -> None:
    model = getattr(candide, name)().partial_fit(X[:2], np.array([1, 2], dtype=np.int8))
    model.partial_fit(X[2:4], np.array([1, 300], dtype=np.int64))
    assert model.classes_.tolist() == [1, 2, 300]


@every("name", NAMES)
def test_declared_classes_wait_for_rows(name: str) -> None:
    model = getattr(candide, name)().partial_fit(X[:20], y[:20], classes=["x", "c", "m"])
    assert model.classes_.tolist() == ["c", "m", "x"]
    assert model.class_count_.tolist() == [0, 20, 0]
    assert (model.predict(X) == "m").all() or name == "ComplementNB"
    model.partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(model.predict_proba(X), getattr(candide, name)().fit(X, y).predict_proba(X), rtol=1e-10)


@every("name", NAMES)
def test_declared_classes_are_closed(name: str) -> None:
    model = getattr(candide, name)().partial_fit(X[:20], y[:20], classes=["m", "x"])
    with pytest.raises(InputError, match=r"\['c'\] in y do not exist in the initial classes.*omit classes"):
        model.partial_fit(X[20:40], y[20:40])
    model.partial_fit(X[40:], y[40:], classes=["m", "x"])
    assert model.classes_.tolist() == ["m", "x"]


@every("name", NAMES)
def test_first_batch_must_fit_the_declaration(name: str) -> None:
    model = getattr(candide, name)()
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        model.partial_fit(X, y, classes=["m", "x"])
    assert not hasattr(model, "classes_")


@every("name", NAMES)
def test_given_prior_does_not_stretch(name: str) -> None:
    model = getattr(candide, name)(**prior_of(name, [0.3, 0.7])).partial_fit(X[:40], y[:40])
    with pytest.raises(ParameterError, match="got 2 priors for 3 classes"):
        model.partial_fit(X[40:], y[40:])
    np.testing.assert_allclose(model.class_prior_, [0.3, 0.7])


@every("name", NAMES)
def test_given_prior_fits_declared_classes(name: str) -> None:
    model = getattr(candide, name)(**prior_of(name, [0.2, 0.3, 0.5]))
    model.partial_fit(X[:40], y[:40], classes=["c", "m", "x"]).partial_fit(X[40:], y[40:])
    whole = getattr(candide, name)(**prior_of(name, [0.2, 0.3, 0.5])).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-10)


@every("name", NAMES)
def test_forgotten_classes_vanish_unless_declared(name: str) -> None:
    free = getattr(candide, name)().fit(X, y).forget(X[:20], y[:20])
    assert free.classes_.tolist() == ["c", "x"]
    closed = getattr(candide, name)().partial_fit(X, y, classes=["c", "m", "x"]).forget(X[:20], y[:20])
    assert closed.classes_.tolist() == ["c", "m", "x"]
    assert closed.class_count_.tolist() == [20, 0, 20]


@every("name", NAMES)
def test_rows_of_weight_zero_bring_no_class(name: str) -> None:
    model = getattr(candide, name)().fit(X, y, sample_weight=(y != "x").astype(float))
    assert model.classes_.tolist() == ["c", "m"]


@every("name", NAMES)
def test_fit_starts_again(name: str) -> None:
    model = getattr(candide, name)().fit(X, y).fit(X[:40, :2], y[:40])
    assert model.classes_.tolist() == ["c", "m"]
    assert model.n_features_in_ == 2
    assert model.class_count_.sum() == 40
