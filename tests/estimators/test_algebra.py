"""Merge, forget and discount from the user's side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from tiers import every

import candide
from candide.exceptions import ForgetError, MergeError

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
COUNTING = NAMES[1:]
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 4, (90, 3)).astype(float)
X[RANDOM.random(X.shape) < 0.1] = np.nan
y = RANDOM.integers(0, 3, 90)


def same(a: Any, b: Any, rtol: float = 1e-9) -> None:
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.class_count_, b.class_count_, rtol=rtol)
    np.testing.assert_allclose(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=rtol)


@every("name", NAMES)
def test_merge_method_changes_only_its_own_model(name: str) -> None:
    kind = getattr(candide, name)
    a, b = kind().fit(X[:50], y[:50]), kind().fit(X[50:], y[50:])
    assert a.merge(b) is a
    same(a, kind().fit(X, y))
    same(b, kind().fit(X[50:], y[50:]))


@every("name", NAMES)
def test_merge_function_changes_no_model(name: str) -> None:
    kind = getattr(candide, name)
    parts = [kind().fit(X[i::3], y[i::3]) for i in range(3)]
    same(candide.merge(parts), kind().fit(X, y))
    same(candide.merge(iter(parts[::-1])), kind().fit(X, y))
    assert [part.class_count_.sum() for part in parts] == [30, 30, 30]


@every("name", NAMES)
def test_merge_of_one_is_a_copy(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    alone = candide.merge([model])
    alone.partial_fit(X, y)
    assert (model.class_count_.sum(), alone.class_count_.sum()) == (90, 180)


def test_merge_of_none() -> None:
    with pytest.raises(MergeError, match="at least one"):
        candide.merge([])


@every("name", NAMES)
def test_merge_aligns_classes(name: str) -> None:
    kind = getattr(candide, name)
    parts = [kind().fit(X[y == c], y[y == c]) for c in (2, 0, 1)]
    same(candide.merge(parts), kind().fit(X, y))


def test_merge_aligns_categories() -> None:
    monday = candide.CategoricalNB().fit([["red", "s"], ["blue", "m"]], [0, 1])
    tuesday = candide.CategoricalNB().fit([["green", "m"], ["red", None]], [1, 2])
    rows = [["red", "s"], ["blue", "m"], ["green", "m"], ["red", None]]
    whole = candide.CategoricalNB().fit(rows, [0, 1, 1, 2])
    both = candide.merge([monday, tuesday])
    assert [values.tolist() for values in both.categories_] == [["blue", "green", "red"], ["m", "s"]]
    np.testing.assert_allclose(both.predict_proba(rows), whole.predict_proba(rows))


@every("name", ["BernoulliNB", "MultinomialNB", "ComplementNB", "PoissonNB"])
def test_merge_of_dense_and_sparse(name: str) -> None:
    kind = getattr(candide, name)
    model = kind().fit(X[:40], y[:40]).merge(kind().fit(csr_array(X[40:]), y[40:]))
    same(model, kind().fit(X, y))


@every("name", NAMES)
def test_merge_keeps_the_parameters_of_the_first(name: str) -> None:
    options = {"var_smoothing": 0.1} if name == "GaussianNB" else {"alpha": 3.0}
    kind = getattr(candide, name)
    same(candide.merge([kind(**options).fit(X[:40], y[:40]), kind().fit(X[40:], y[40:])]), kind(**options).fit(X, y))


@every("name", NAMES)
def test_merge_of_named_and_nameless_columns(name: str) -> None:
    named = getattr(candide, name)().fit(pd.DataFrame(X, columns=list("abc")), y)
    named.merge(getattr(candide, name)().fit(X, y))
    assert named.class_count_.sum() == 180
    assert named.feature_names_in_.tolist() == list("abc")


@every("name", COUNTING)
def test_forgetting_counts_is_exact(name: str) -> None:
    model = getattr(candide, name)().fit(X, y).forget(X[30:], y[30:])
    np.testing.assert_array_equal(
        model.predict_joint_log_proba(X), getattr(candide, name)().fit(X[:30], y[:30]).predict_joint_log_proba(X)
    )


@every("name", NAMES)
def test_forgetting_with_weights(name: str) -> None:
    weight = RANDOM.random(90)
    model = getattr(candide, name)().fit(X, y, weight).forget(X[30:], y[30:], sample_weight=weight[30:])
    same(model, getattr(candide, name)().fit(X[:30], y[:30], weight[:30]))


@every("name", NAMES)
def test_sliding_window(name: str) -> None:
    """Learning the newest rows and forgetting the oldest."""
    model = getattr(candide, name)().fit(X[:30], y[:30])
    for i in range(30, 90, 5):
        model.partial_fit(X[i : i + 5], y[i : i + 5]).forget(X[i - 30 : i - 25], y[i - 30 : i - 25])
    same(model, getattr(candide, name)().fit(X[60:], y[60:]))


def test_forgotten_categories_vanish() -> None:
    model = candide.CategoricalNB().fit([["red"], ["blue"], ["red"]], [0, 0, 1]).forget([["blue"]], [0])
    assert model.categories_[0].tolist() == ["red"]
    with pytest.raises(ForgetError, match="'blue' is unknown"):
        model.forget([["blue"]], [0])


def test_forgotten_codes_shorten_the_range() -> None:
    model = candide.CategoricalNB().fit([[0], [9], [1]], [0, 0, 1]).forget([[9]], [0])
    assert model.n_categories_.tolist() == [2]


@every("name", NAMES)
def test_discount_makes_newer_rows_count_more(name: str) -> None:
    kind = getattr(candide, name)
    options = {"var_smoothing": 1e-2} if name == "GaussianNB" else {}
    model = kind(**options).fit(X[:50], y[:50])
    assert model.discount(0.25) is model
    model.partial_fit(X[50:], y[50:])
    same(model, kind(**options).fit(X, y, np.where(np.arange(90) < 50, 0.25, 1.0)))


@every("name", NAMES)
def test_discounted_rows_are_forgotten_with_their_weight(name: str) -> None:
    model = getattr(candide, name)().fit(X, y).discount(0.5).forget(X[30:], y[30:], sample_weight=np.full(60, 0.5))
    same(model, getattr(candide, name)().fit(X[:30], y[:30], np.full(30, 0.5)))


@every("name", NAMES)
def test_discount_of_one_and_of_zero(name: str) -> None:
    model = getattr(candide, name)().fit(X, y)
    same(model.discount(1.0), getattr(candide, name)().fit(X, y))
    model.discount(0.0).partial_fit(X[:30], y[:30])
    same(model, getattr(candide, name)().fit(X[:30], y[:30]))
