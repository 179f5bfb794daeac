"""What a sample keeps can be read again, and it keeps no more than it says."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from storage.storing import decoded
from tiers import every

from candide.data.categories import read_categories
from candide.exceptions import ForgetError, MergeError
from candide.families import Batch, Categorical, Gaussian
from candide.kernels import Kernels
from candide.kernels.layouts import Array, Dense, Sparse
from candide.statistics import Sample
from candide.statistics.base import Budget
from candide.statistics.hashing import ABOVE_ALL, row_hashes

ROOMY = 1 << 24


def sample_of(values: Any, classes: Any = None, weight: Any = None, budget: int = ROOMY) -> Sample:
    """Of one class, unless told otherwise; the budget is in bytes."""
    data = values if isinstance(values, (Dense, Sparse)) else Dense.of(np.asarray(values))
    classes = np.zeros(data.n_rows, dtype=np.int32) if classes is None else np.asarray(classes, dtype=np.int32)
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    return Sample.of(data, classes, weight, int(classes.max(initial=0)) + 1, Budget(budget))


def normal(*shape: int) -> Array:
    return np.random.default_rng(0).normal(size=shape)


def test_duplicates_are_counted() -> None:
    sample = sample_of([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [5.0, 6.0]], weight=[1, 1, 2, 1])
    seen = zip(sample.data.floats().tolist(), sample.weight.tolist(), sample.multiplicity.tolist(), strict=True)
    assert sorted(seen) == [([1.0, 2.0], 1.0, 2), ([1.0, 2.0], 2.0, 1), ([5.0, 6.0], 1.0, 1)]


def test_rows_without_weight_leave_no_trace() -> None:
    sample = sample_of([[1.0], [2.0]], weight=[0, 1])
    assert sample.data.floats().tolist() == [[2.0]]


def test_no_rows() -> None:
    empty = sample_of(np.empty((0, 3)))
    assert empty.data.floats().shape == (0, 3)
    assert empty.threshold.tolist() == [ABOVE_ALL]
    assert empty.case_weight(empty.rows).shape == (0,)
    assert empty.merge(sample_of([[1.0, 2.0, 3.0]])).multiplicity.tolist() == [1]


@every("budget", [0, 7, 8, 1000])
def test_one_row(budget: int) -> None:
    sample = sample_of([[3.0]], budget=budget)
    assert len(sample.weight) == (budget >= 8)
    assert sample.rows.tolist() == [1.0]


def test_the_budget_is_kept_and_used() -> None:
    X, classes = normal(5000, 4), np.arange(5000) % 3
    sample = sample_of(X, classes, budget=10_000)
    kept = np.bincount(sample.classes)
    assert 10_000 // 32 - 3 <= kept.sum() <= 10_000 // 32
    assert kept.min() >= 10_000 // 2 // 32 // 3
    np.testing.assert_allclose(sample.case_weight(sample.rows), (sample.rows / kept)[sample.classes])


def test_a_small_class_is_kept_and_a_large_set_keeps_more_of_its_large_class() -> None:
    X, classes = normal(5000, 4), np.where(np.arange(5000) < 40, 2, np.where(np.arange(5000) < 1000, 1, 0))
    sample = sample_of(X, classes, budget=400 * 32)
    kept = np.bincount(sample.classes)
    assert kept.sum() == 400
    assert kept[2] == 40  # all
    assert kept[1] >= (200 - 40) // 2  # its share of one half
    assert kept[0] > 2 * kept[1]  # of the other half, a random part of all rows


def test_the_budget_is_used_where_most_rows_are_there_twice() -> None:
    """A first look at the smallest hashes finds too few distinct rows, and must not be believed."""
    X = np.repeat(normal(300, 4), 40, axis=0)
    assert sample_of(X, budget=250 * 32).multiplicity.tolist() == [40] * 250
    assert sample_of(X, budget=300 * 32).threshold.tolist() == [ABOVE_ALL]


def test_sparse_rows_cost_their_cells() -> None:
    rows = Sparse.of(csr_array(np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 2.0, 3.0]])))
    assert len(sample_of(rows, budget=8 + 24 + 56).weight) == 3
    assert len(sample_of(rows, budget=8 + 24 + 55).weight) < 3


def test_sparse_rows_are_kept_sorted_and_without_zeros() -> None:
    stored = Sparse(np.array([0, 4]), np.array([3, 0, 1, 2]), np.array([5.0, 0.0, -0.0, np.nan]), 4)
    data = sample_of(stored, budget=16 + 16 + 8).data
    assert isinstance(data, Sparse)
    assert (data.indptr.tolist(), data.indices.tolist()) == ([0, 2], [2, 3])
    np.testing.assert_array_equal(data.values, [np.nan, 5.0])
    assert stored.values.tolist()[0] == 5.0


def test_a_sample_owns_its_cells() -> None:
    X = normal(10, 2)
    before = X.copy()
    sample = sample_of(X)
    X[:] = 0.0
    assert sorted(sample.data.floats()[:, 0]) == sorted(before[:, 0])


@pytest.mark.parametrize("form", [Dense.of, lambda X: Sparse.of(csr_array(X))], ids=["dense", "sparse"])
def test_a_model_file_holds_everything(form: Any) -> None:
    sample = sample_of(form(np.eye(4)), [0, 1, 1, 2], budget=32)
    again = decoded(sample)
    assert pickle.dumps(again) == pickle.dumps(sample)
    assert again.merge(sample).multiplicity.tolist() == (2 * sample.multiplicity).tolist()


FRAMES: dict[str, Any] = {
    "texts": np.array([["a", "x"], ["b", None], ["a", "y"], ["a", "x"]], dtype=object),
    "codes": np.array([[0, 3], [1, 2], [0, 3], [5, 0]]),
    "holes": np.array([[0, np.nan], [np.nan, 2], [0, 3], [5, 0]]),
    "identifiers": np.array([[2**60, 1], [2**60 + 1, 1], [2**60, 2], [7, 1]]),
    "mixed": pd.DataFrame(
        {
            "code": [1, 2, 1, 1],
            "flag": [True, False, True, True],
            "maybe": pd.array([True, None, False, None], dtype="boolean"),
            "kind": pd.Categorical(["u", "v", None, "u"]),
            "text": pd.array(["p", "q", None, "p"], dtype="string"),
            "any": pd.Series(["p", 1, 2.5, None], dtype=object),
            "identifier": pd.array([2**60 + 1, None, 2**60, 5], dtype="Int64"),
            "day": pd.to_datetime(["2020-01-01", "2020-01-02", None, "2020-01-01"]),
        }
    ),
}
CLASSES = np.array([0, 1, 1, 0], dtype=np.int32)


@pytest.mark.filterwarnings("ignore:column 'any' contains numbers that are not integers")
@pytest.mark.parametrize("name", FRAMES)
def test_categories_are_read_again(name: str) -> None:
    """Learning from the sample is learning from the rows, and the likelihood of the rows knows those of the sample."""
    data, kernels, family = read_categories(FRAMES[name]), Kernels(), Categorical(unseen="error")
    sample = Sample.of(data, CLASSES, None, 2, Budget(ROOMY))
    learned = family.observe(Batch(data, CLASSES, None, 2), kernels)
    again = family.observe(Batch(sample.data, sample.classes, sample.case_weight(sample.rows), 2), kernels)
    np.testing.assert_array_equal(row_hashes(sample.data), sample.entries.hashes)
    np.testing.assert_array_equal(learned.count, again.count)
    assert [column.tolist() for column in learned.labels] == [column.tolist() for column in again.labels]
    scores = family.likelihood(learned).scores(sample.data, np.zeros(2), kernels)
    assert len(scores) == len(sample.weight)


def test_numbers_are_read_again() -> None:
    X, kernels = normal(50, 3), Kernels()
    sample = sample_of(X.astype(np.float32), np.arange(50) % 2)
    moments = Gaussian().observe(Batch(sample.data, sample.classes, sample.case_weight(sample.rows), 2), kernels)
    expected = Gaussian().observe(
        Batch(Dense.of(X.astype(np.float32)), np.arange(50, dtype=np.int32) % 2, None, 2), kernels
    )
    np.testing.assert_allclose(moments.mean, expected.mean, atol=1e-12)
    np.testing.assert_allclose(moments.scatter, expected.scatter)


def test_large_whole_numbers_stay_numbers() -> None:
    """Times in nanoseconds are kept as the kernels can read them."""
    times = np.array([[1_700_000_000_000_000_001, 1], [1_700_000_000_000_000_002, 2]])
    data = sample_of(times).data
    assert isinstance(data, Dense)
    assert [data.column(j).dtype for j in (0, 1)] == [np.int64, np.float64]


def test_forgetting_in_parts_beyond_the_budget() -> None:
    """The last rows of a class go, though some of them were never in the sample."""
    X = normal(100, 2)
    whole = sample_of(X, budget=160)
    half = whole.forget(sample_of(X[:50], budget=160))
    assert half.threshold == whole.threshold
    nothing = half.forget(sample_of(X[50:], budget=160))
    assert (nothing.rows.tolist(), len(nothing.weight), nothing.threshold.tolist()) == ([0.0], 0, [ABOVE_ALL])


def test_forgetting_after_discounts() -> None:
    """Factors multiplied in another order round up or down, and still mean the same rows."""
    X, weight = normal(40, 2), np.linspace(0.1, 1.0, 40)
    twice = sample_of(np.vstack([X, X]), weight=np.tile(weight, 2)).discount(0.99).discount(0.99).discount(0.99)
    once = sample_of(X, weight=weight).discount(0.99**3)
    assert set(np.sign(twice.weight - once.weight)) == {-1.0, 0.0, 1.0}
    left = twice.forget(once)
    assert left.multiplicity.tolist() == [1] * 40
    np.testing.assert_array_equal(left.data.floats(), once.data.floats())


def test_a_row_of_another_weight_is_refused() -> None:
    with pytest.raises(ForgetError, match="with their current weights"):
        sample_of([[1.0], [2.0]], weight=[2, 2]).forget(sample_of([[1.0]]))


def test_rows_outside_the_sample_are_refused_by_weight() -> None:
    """What is forgotten outside the sample cannot be checked row by row, but must not outweigh what is there."""
    X = normal(12, 1)
    X = X[np.argsort(row_hashes(Dense.of(X)))]
    sample = sample_of(X, budget=80)
    with pytest.raises(ForgetError, match="rows outside the sample"):
        sample.forget(sample_of(X[10:], weight=[1.0, 1.5]))


def test_the_smaller_budget_holds() -> None:
    X = normal(100, 1)
    merged = sample_of(X[:50], budget=400).merge(sample_of(X[50:], budget=80))
    assert (merged.budget, len(merged.weight)) == (Budget(80), 10)


def test_a_number_of_rows_goes_before_bytes() -> None:
    X = normal(100, 1)
    few = Sample.of(Dense.of(X[50:]), np.zeros(50, dtype=np.int32), None, 1, Budget(10, "rows"))
    for merged in (few.merge(sample_of(X[:50])), sample_of(X[:50]).merge(few)):
        assert (merged.budget, len(merged.weight)) == (Budget(10, "rows"), 10)


def test_categories_and_sparse_rows_do_not_mix() -> None:
    texts = sample_of(Dense.of((np.array(["a"], dtype=object),)))
    with pytest.raises(MergeError, match="categorical columns cannot be added to sparse rows"):
        texts.merge(sample_of(Sparse.of(csr_array(np.eye(1)))))
