"""Copies of a row leave with it wherever rows are left out; coincidences of few-valued columns leave one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from candide import GaussianNB, MultinomialNB, NaiveBayes, TextNB
from candide.kernels.layouts import Array, Dense
from candide.statistics import Sample
from candide.statistics.base import Budget

FILE = "model.candide"


def noisy_table(n_rows: int, seed: int, n_columns: int = 6) -> tuple[Array, Array]:
    """Measurements, of which half tell something about two classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, : n_columns // 2] += 1.0 * y[:, None]
    return X, y


def log_loss(model: Any, X: Any, y: Array) -> float:
    own = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return float(-own.mean())


def multiplicity(X: Array, classes: Array | None = None) -> list[int]:
    """Independent observations behind each distinct row."""
    classes = np.zeros(len(X), dtype=np.int32) if classes is None else classes
    sample = Sample.of(Dense.of(X), classes, None, int(classes.max()) + 1, budget=Budget(1 << 20))
    return sorted(sample.observations.multiplicity.tolist())


@pytest.fixture(scope="module")
def original() -> NaiveBayes:
    return NaiveBayes(compute_loo=True).fit(*noisy_table(200, 0))


@pytest.fixture(scope="module")
def twice() -> NaiveBayes:
    X, y = noisy_table(200, 0)
    return NaiveBayes(compute_loo=True).fit(np.tile(X, (2, 1)), np.tile(y, 2))


@pytest.fixture(scope="module")
def some_twice() -> NaiveBayes:
    X, y = noisy_table(200, 0)
    rows = np.append(np.arange(200), np.random.default_rng(2).permutation(200)[:60])
    return NaiveBayes(compute_loo=True).fit(X[rows], y[rows])


@pytest.mark.parametrize("name", ["some_twice", "twice"])
def test_copied_rows_neither_change_the_model_much_nor_make_its_loss_too_low(
    original: NaiveBayes, name: str, request: pytest.FixtureRequest
) -> None:
    X_test, y_test = noisy_table(2000, 1)
    model = request.getfixturevalue(name)
    found, promised = log_loss(model, X_test, y_test), model.loo_
    assert abs(found - log_loss(original, X_test, y_test)) < 0.01
    assert abs(promised.log_loss - found) < 2 * promised.log_loss_error
    assert promised.n_rows == 200


def test_rows_copied_once_give_the_same_predictions(original: NaiveBayes, twice: NaiveBayes) -> None:
    X, _ = noisy_table(200, 0)
    np.testing.assert_allclose(twice.predict_proba(X), original.predict_proba(X), atol=0.05)
    assert twice.loo_.log_loss == pytest.approx(original.loo_.log_loss, abs=0.005)
    assert twice.loo_.log_loss_error == pytest.approx(original.loo_.log_loss_error, rel=0.05)


def test_weights_are_copies_and_no_independent_rows() -> None:
    X, y = noisy_table(80, 0, 3)
    weight = np.random.default_rng(3).integers(1, 6, 80)
    weighted = NaiveBayes(compute_loo=True).fit(X, y, sample_weight=weight)
    copied = NaiveBayes(compute_loo=True).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.predict_proba(X), copied.predict_proba(X), atol=1e-6)
    assert weighted.loo_.log_loss == pytest.approx(copied.loo_.log_loss, abs=1e-6)
    assert weighted.loo_.log_loss_error == pytest.approx(copied.loo_.log_loss_error, rel=1e-6)


def test_a_common_weight_changes_nothing() -> None:
    X, y = noisy_table(200, 0)
    original = NaiveBayes(order=0, compute_loo=True).fit(X, y)
    heavy = NaiveBayes(order=0, compute_loo=True).fit(X, y, sample_weight=np.full(200, 3.0))
    np.testing.assert_allclose(heavy.predict_proba(X), original.predict_proba(X), atol=0.05)
    assert heavy.loo_.log_loss == pytest.approx(original.loo_.log_loss, abs=0.005)


def test_copies_with_different_weights_are_one_row() -> None:
    X, y = noisy_table(60, 0, 3)
    rows = np.tile(np.arange(60), 2)
    weight = np.repeat([1.0, 2.0], 60)
    apart = NaiveBayes(compute_loo=True).fit(X[rows], y[rows], sample_weight=weight)
    once = NaiveBayes(compute_loo=True).fit(X, y, sample_weight=np.full(60, 3.0))
    np.testing.assert_allclose(apart.predict_proba(X), once.predict_proba(X), atol=1e-9)
    assert apart.loo_.n_rows == 60


@pytest.mark.parametrize("settings", [{"calibrate": "platt"}, {"alpha": "loo"}], ids=str)
def test_other_estimators_leave_copies_out_together(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    X = rng.poisson(0.3, (100, 40))
    once = MultinomialNB(compute_loo=True, **settings).fit(X, y)
    five = MultinomialNB(compute_loo=True, **settings).fit(np.tile(X, (5, 1)), np.tile(y, 5))
    # Nothing tells the classes apart: at best the loss of a coin.
    assert five.loo_.log_loss > 0.65
    assert five.loo_.n_rows == once.loo_.n_rows == 100


def test_leave_one_out_takes_copies_along() -> None:
    X, y = noisy_table(40, 0)
    rows = np.append(np.arange(40), [3, 3, 8])
    model = GaussianNB(subsample=100_000).fit(X[rows], y[rows])
    found = model.leave_one_out(X[rows], y[rows])
    for row in (3, 8, 20):
        rest = GaussianNB(var_smoothing=0).fit(X[rows[rows != row]], y[rows[rows != row]])
        for place in np.flatnonzero(rows == row):
            np.testing.assert_allclose(found[place], rest.predict_log_proba(X[[row]])[0], atol=1e-6)


def test_texts() -> None:
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(300)])
    y = rng.integers(0, 2, 150)
    texts = [" ".join(rng.choice(words, 8)) + (" good" if rng.random() < 0.3 + 0.4 * label else "") for label in y]
    once = TextNB(compute_loo=True).fit(texts, y)
    thrice = TextNB(compute_loo=True).fit(texts * 3, np.tile(y, 3))
    assert thrice.loo_.n_rows == once.loo_.n_rows == 150
    assert thrice.loo_.log_loss == pytest.approx(once.loo_.log_loss, abs=0.02)
    assert thrice.loo_.log_loss_error == pytest.approx(once.loo_.log_loss_error, rel=0.1)


def test_a_model_without_its_rows_and_one_from_a_file_predict_the_same(tmp_path: Any) -> None:
    import candide

    X, y = noisy_table(60, 0, 3)
    model = NaiveBayes().fit(np.tile(X, (2, 1)), np.tile(y, 2))
    light = NaiveBayes(subsample=0).fit(np.tile(X, (2, 1)), np.tile(y, 2))
    np.testing.assert_allclose(light.predict_proba(X), model.predict_proba(X), atol=1e-12)
    model.save(tmp_path / FILE)
    np.testing.assert_array_equal(candide.load(tmp_path / FILE).predict_proba(X), model.predict_proba(X))


def test_equal_rows_of_measurements_are_copies() -> None:
    X, _ = noisy_table(50, 0)
    assert multiplicity(np.vstack([X, X[:5], X[:5]])) == [1] * 50


@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_equal_rows_of_few_categories_are_coincidences(n_columns: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, n_columns)).astype(float)
    assert sum(multiplicity(X)) == 200


def test_equal_rows_of_whole_numbers_are_coincidences_in_few_columns() -> None:
    rng = np.random.default_rng(0)
    assert sum(multiplicity(rng.poisson(30, (300, 1)).astype(float))) == 300
    gains = np.where(rng.random(300) < 0.9, 0.0, np.rint(1e5 * rng.random(300)))
    assert sum(multiplicity(gains[:, None])) == 300


def test_frequent_rows_of_many_categories_are_coincidences() -> None:
    rng = np.random.default_rng(0)
    usual = rng.random((300, 10)) < 0.95
    assert sum(multiplicity(usual.astype(float))) > 200  # of the most frequent row alone it is not sure


def test_rows_of_many_categories_are_copies_where_the_model_expects_none() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (200, 12)).astype(float)
    assert sum(multiplicity(np.vstack([X, X[:60]]))) == 200


def test_frequent_rows_that_were_all_copied_are_as_many_observations_as_before() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (200, 3)).astype(float)
    assert sum(multiplicity(np.tile(X, (2, 1)))) == 200


def test_a_class_that_was_oversampled_alone() -> None:
    X, y = noisy_table(120, 0)
    rare = np.flatnonzero(y == 1)[:10]
    rows = np.concatenate([np.flatnonzero(y == 0), np.random.default_rng(1).choice(rare, 100)])
    assert sum(multiplicity(X[rows], y[rows].astype(np.int32))) == len(np.unique(rows))


def test_copies_are_told_from_coincidences_among_sparse_rows() -> None:
    rng = np.random.default_rng(0)
    from scipy.sparse import csr_array

    from candide.kernels.layouts import Sparse

    X = (rng.random((100, 200)) < 0.05).astype(float)
    data = Sparse.of(csr_array(np.vstack([X, X[:30], np.zeros((1, 200))])))
    sample = Sample.of(data, np.zeros(131, dtype=np.int32), None, 1, budget=Budget(1 << 20))
    assert sample.observations.multiplicity.sum() == 101
