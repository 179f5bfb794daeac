"""Rows drawn from a model look like the rows it learned."""

from __future__ import annotations

from typing import Any

import numpy as np
from tiers import every

import candide

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "CategoricalNB", "PoissonNB"]
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 4, (200, 3)).astype(float)
y = np.array(["a", "b"])[(RANDOM.random(200) < 0.3).astype(int)]
X[y == "b", 0] += 2


def drawn(name: str, n: int, seed: Any = 0) -> tuple[Any, np.ndarray, np.ndarray]:
    model = getattr(candide, name)().fit(X, y)
    return model, *model.sample(n, random_state=seed)


@every("name", NAMES)
def test_shapes_and_types(name: str) -> None:
    _, rows, labels = drawn(name, 7)
    assert rows.shape == (7, 3)
    assert set(labels) <= {"a", "b"}
    assert labels.dtype == y.dtype


@every("name", NAMES)
def test_seed_decides(name: str) -> None:
    model, rows, labels = drawn(name, 20, 5)
    again, other = model.sample(20, random_state=5), model.sample(20, random_state=6)
    np.testing.assert_array_equal(rows, again[0])
    np.testing.assert_array_equal(labels, again[1])
    assert not np.array_equal(rows, other[0])


@every("seed", [None, 3, np.random.default_rng(0), np.random.RandomState(0)])
def test_kinds_of_seed(seed: Any) -> None:
    assert drawn("GaussianNB", 5, seed)[1].shape == (5, 3)


@every("name", NAMES)
def test_learning_from_samples_gives_the_model_back(name: str) -> None:
    model, rows, labels = drawn(name, 20_000)
    again = getattr(candide, name)().fit(rows, labels)
    np.testing.assert_allclose(again.class_prior_, model.class_prior_, atol=0.02)
    a, b = (m.parameters() for m in (again, model))
    measure = "mean" if name == "GaussianNB" else "rate" if name == "PoissonNB" else "probability"
    np.testing.assert_allclose(a[measure], b[measure], atol=0.1 if name in ("GaussianNB", "PoissonNB") else 0.03)


def test_rows_of_a_text_have_their_length() -> None:
    model = candide.MultinomialNB().fit(X, y)
    assert (model.sample(4, length=17)[0].sum(axis=1) == 17).all()
    assert model.sample(3, length=[1, 0, 9])[0].sum(axis=1).tolist() == [1, 0, 9]
    assert (model.sample(2)[0].sum(axis=1) == 100).all()


def test_impossible_values_are_never_drawn() -> None:
    model = candide.BernoulliNB(alpha=0).fit([[1, 0], [1, 0], [0, 1]], [0, 0, 1])
    rows, labels = model.sample(500, random_state=0)
    np.testing.assert_array_equal(rows[:, 0] == 1, labels == 0)


def test_samples_pass_the_threshold() -> None:
    """A drawn row means to the model what was drawn."""
    model = candide.BernoulliNB(binarize=2.5, alpha=0).fit([[3, 0], [9, 1]], [0, 0])
    assert (model.sample(10, random_state=0)[0] > 2.5).tolist() == [[True, False]] * 10


def test_samples_of_texts_are_texts() -> None:
    model = candide.CategoricalNB().fit([["red", 1], ["blue", 0], ["red", 0]], [0, 1, 1])
    rows, _ = model.sample(50, random_state=0)
    assert set(rows[:, 0]) == {"red", "blue"}
    assert set(rows[:, 1]) == {0, 1}


def test_samples_of_a_long_range() -> None:
    """Codes of a range too long to list are drawn too: they have a share."""
    model = candide.CategoricalNB().fit([[0], [1_000_000]], [0, 0])
    rows, _ = model.sample(200, random_state=0)
    assert ((rows >= 0) & (rows <= 1_000_000)).all()
    assert len(np.unique(rows)) > 100


def test_class_of_no_probability_is_never_drawn() -> None:
    model = candide.GaussianNB().partial_fit(X, y, classes=["a", "b", "c"])
    assert set(model.sample(300, random_state=0)[1]) == {"a", "b"}
