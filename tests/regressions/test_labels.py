"""Labels and classes: traps 15 to 19."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from tiers import every

import candide
from candide.exceptions import InputError, ParameterError

from .theirs import assert_trapped, raises

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
DISCRETE = NAMES[1:]
X = np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 3.0], [1.0, 5.0]])
y = np.array([0, 0, 1, 1])


@pytest.mark.parametrize("name", NAMES)
@every("classes", [[0, 1], [0, 1, 2]])
def test_unknown_label_is_refused_where_classes_are_declared(name: str, classes: list[int]) -> None:
    """Trap 15: of two classes an unknown label counts as the first, of three it vanishes."""
    model = getattr(candide, name)().partial_fit(X, y, classes=classes)
    before = model.class_count_.copy()
    with pytest.raises(InputError, match="do not exist in the initial classes"):
        model.partial_fit([[1.0, 1.0]], [9])
    np.testing.assert_array_equal(model.class_count_, before)


@pytest.mark.parametrize("name", NAMES)
def test_unknown_label_joins_where_classes_are_open(name: str) -> None:
    """Trap 15: a label lands in its own class or nowhere."""
    model = getattr(candide, name)().partial_fit(X, y).partial_fit([[1.0, 1.0]], [9])
    assert model.classes_.tolist() == [0, 1, 9]
    assert model.class_count_.tolist() == [2, 2, 1]


def test_unknown_label_counts_as_another_class_in_scikit_learn() -> None:
    """Trap 15, as measured."""
    model = theirs.MultinomialNB()

    def landed_elsewhere() -> bool:
        model.partial_fit(X, y, classes=[0, 1]).partial_fit([[1.0, 1.0]], [9])
        return bool(model.class_count_[0] == 3)

    assert_trapped(landed_elsewhere)


@pytest.mark.parametrize("name", NAMES)
def test_labels_never_change_their_type(name: str) -> None:
    """Trap 16: whole numbers must not come back as texts, nor live beside them."""
    model = getattr(candide, name)().partial_fit(X, y)
    assert model.predict(X).dtype == y.dtype
    with pytest.raises(InputError, match="different types"):
        model.partial_fit(X, np.where(y == 0, "ham", "spam"))
    assert model.partial_fit(X, y.astype(str)).classes_.tolist() == [0, 1]
    assert model.partial_fit(X, y.astype(bool)).classes_.tolist() == [0, 1]
    assert model.class_count_.sum() == 3 * len(y)


@pytest.mark.parametrize("labels", [[0, 0, "1", "1"], [True, "yes", "yes", True]])
def test_lists_of_mixed_labels_do_not_become_texts(labels: list[Any]) -> None:
    """Trap 16: NumPy makes "0" of 0 and a class "nan" of a missing label, and nobody notices."""
    with pytest.raises(InputError, match="y mixes labels"):
        candide.GaussianNB().fit(X, labels)
    with pytest.warns(UserWarning, match="skipped 1 row without a label"):
        assert candide.GaussianNB().fit(X, ["a", "b", float("nan"), "a"]).classes_.tolist() == ["a", "b"]
    if labels[0] == 0:
        assert_trapped(lambda: theirs.GaussianNB().fit(X, labels).classes_.tolist() == ["0", "1"])


@pytest.mark.parametrize("name", NAMES)
@every("prior", [[3, 3], [-1, 2], [0.5, 0.4], [0.5, np.nan], [1.0], [0.2, 0.3, 0.5]])
def test_prior_must_be_one(name: str, prior: list[float]) -> None:
    """Trap 17: the discrete models take [3, 3] for a prior, and make NaN of [-1, 2]."""
    option = "priors" if name == "GaussianNB" else "class_prior"
    with pytest.raises(ParameterError, match=r"[Pp]riors"):
        getattr(candide, name)(**{option: prior}).fit(X, y)
    if prior == [3, 3] and name == "MultinomialNB":
        assert_trapped(lambda: theirs.MultinomialNB(class_prior=prior).fit(X, y).class_log_prior_[0] > 0)


def test_mixed_labels_get_an_explanation() -> None:
    """Trap 18: labels of mixed types raise a raw TypeError."""
    mixed = np.array([0, 0, "a", "a"], dtype=object)
    with pytest.raises(InputError, match="same type"):
        candide.MultinomialNB().fit(X, mixed)
    assert_trapped(lambda: raises(TypeError, lambda: theirs.MultinomialNB().fit(X, mixed)))


@pytest.mark.parametrize("name", NAMES)
def test_prior_follows_the_sorted_classes(name: str) -> None:
    """Trap 18: a given prior belongs to the sorted classes, whatever order the rows or the user have."""
    option = "priors" if name == "GaussianNB" else "class_prior"
    model = getattr(candide, name)(**{option: [0.9, 0.1]})
    model.partial_fit(X, ["b", "b", "a", "a"], classes=["b", "a"])
    assert model.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(model.class_prior_, [0.9, 0.1])


@pytest.mark.parametrize("name", NAMES)
def test_ties_go_to_the_first_class(name: str) -> None:
    """Trap 19: ties are broken by order, never at random."""
    same = np.array([[1.0, 2.0], [3.0, 1.0]] * 3)
    model = getattr(candide, name)().fit(same, ["c", "c", "b", "b", "a", "a"])
    np.testing.assert_allclose(model.predict_proba(same), 1 / 3)
    assert (model.predict(np.repeat(same, 50, axis=0)) == "a").all()


def test_empty_document_shows_that_it_is_undecided() -> None:
    """Trap 19: ComplementNB has no prior, so an empty document is a tie, and its probabilities say so."""
    complement = candide.ComplementNB().fit(X[1:], y[1:])
    np.testing.assert_allclose(complement.predict_proba([[0, 0]]), [[0.5, 0.5]])
    np.testing.assert_allclose(candide.MultinomialNB().fit(X[1:], y[1:]).predict_proba([[0, 0]]), [[1 / 3, 2 / 3]])
