"""Categories: traps 20, 21 and 23.

Trap 22 (H2O's exported code compares a level with the number of predictors) concerns exported models; candide exports
none yet.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
import sklearn.naive_bayes as theirs
from sklearn.feature_extraction.text import HashingVectorizer

from candide import CategoricalNB, ComplementNB, MultinomialNB, PoissonNB
from candide.exceptions import InputError

from .theirs import assert_trapped, raises

X = np.array([[0, 1], [1, 0], [2, 1], [2, 0]])
y = np.array([0, 0, 1, 1])


def peak(call: Callable[[], object]) -> int:
    """Bytes that Python and NumPy held at most."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_unseen_code_leaves_the_decision_to_the_others() -> None:
    """Trap 20: a code that training lacked is an IndexError."""
    model = CategoricalNB().fit(X, y)
    alone = CategoricalNB().fit(X[:, :1], y)
    np.testing.assert_allclose(model.predict_proba([[2, 7]]), alone.predict_proba([[2]]))
    assert_trapped(lambda: raises(IndexError, lambda: theirs.CategoricalNB().fit(X, y).predict([[2, 7]])))


def test_code_below_zero_gets_advice() -> None:
    """Trap 20: OrdinalEncoder's -1 for the unknown is refused; NaN is what it should be told to write."""
    model = CategoricalNB().fit(X, y)
    with pytest.raises(InputError, match="use NaN for missing values"):
        model.predict([[-1, 0]])
    np.testing.assert_allclose(model.predict_proba([[np.nan, np.nan]]), [[0.5, 0.5]])


def test_fractions_are_not_cut_off() -> None:
    """Trap 20: 0.9 becomes category 0 in scikit-learn."""
    fractions = np.array([[0.9], [0.1], [0.9], [0.2]])
    with pytest.warns(UserWarning, match="not integers"):
        model = CategoricalNB().fit(fractions, y)
    assert model.categories_[0].tolist() == [0.1, 0.2, 0.9]
    assert_trapped(lambda: theirs.CategoricalNB().fit(fractions, y).n_categories_.tolist() == [1])


def test_fraction_is_not_the_code_below_it() -> None:
    """Trap 20: at predict time 1.9 is an unseen value, not code 1."""
    model = CategoricalNB().fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[1.9, np.nan]]), [[0.5, 0.5]])


def test_large_code_does_not_allocate_by_its_size() -> None:
    """Trap 20: one code of 2,000,000 takes 32 MB for two rows."""
    codes = np.array([[0], [2_000_000]])
    assert peak(lambda: CategoricalNB().fit(codes, [0, 1]).predict_proba(codes)) < 1e6
    model = CategoricalNB().fit(codes, [0, 1])
    assert model.n_categories_.tolist() == [2_000_001]
    shares = (1 + 1) / (1 + 2_000_001), 1 / (1 + 2_000_001)
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(codes)), 0.5 * np.array([shares, shares[::-1]]))
    assert_trapped(lambda: peak(lambda: theirs.CategoricalNB().fit(codes, [0, 1])) > 30e6)


def test_number_of_categories_never_shrinks() -> None:
    """Trap 20: a later batch with smaller codes shrinks n_categories_."""
    first, later = np.array([[5], [0]]), np.array([[0], [0]])
    model = CategoricalNB().partial_fit(first, [0, 1]).partial_fit(later, [0, 1])
    assert model.n_categories_.tolist() == [6]
    other = theirs.CategoricalNB().partial_fit(first, [0, 1], classes=[0, 1])
    assert_trapped(lambda: other.partial_fit(later, [0, 1]).n_categories_.tolist() == [1])


@pytest.mark.parametrize("categories", ["range", "seen"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]])
def test_smoothing_does_not_depend_on_the_split(categories: str, order: list[int]) -> None:
    """Trap 21: sizing the smoothing batch by batch makes the answer depend on the batches."""
    codes, labels = np.array([[0], [9], [2], [2]]), np.array([0, 0, 1, 1])
    whole = CategoricalNB(categories=categories).fit(codes, labels)
    model = CategoricalNB(categories=categories)
    for i in order:
        model.partial_fit(codes[[i]], labels[[i]])
    np.testing.assert_allclose(model.predict_proba(codes), whole.predict_proba(codes), rtol=1e-14)


def test_smoothing_can_be_sized_by_hand() -> None:
    """Trap 21: min_categories makes train and test splits agree on the number of values."""
    model = CategoricalNB(min_categories=[4, 2]).fit(X[:2], y[:2])
    np.testing.assert_allclose(model.feature_log_prob_[0], np.log([[2 / 6, 2 / 6, 1 / 6, 1 / 6]]))


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB, PoissonNB])
def test_signed_hashing_gets_advice(kind: type) -> None:
    """Trap 23: HashingVectorizer's default signs are negative counts; the error says which switch to turn."""
    texts = [f"word{i} word{i + 1} word{i + 2}" for i in range(20)]
    labels = np.arange(20) % 2
    with pytest.raises(InputError, match="alternate_sign=False"):
        kind().fit(HashingVectorizer(n_features=64).transform(texts), labels)
    kind().fit(HashingVectorizer(n_features=64, alternate_sign=False).transform(texts), labels)
