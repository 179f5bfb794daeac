"""Sums in the arrays that are there already."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from candide.exceptions import ForgetError
from candide.statistics import Counts


def counts(total):
    return Counts(np.ones(total.shape[0]), total, None)


@pytest.mark.parametrize("more", [np.array([[0.0, 2.0], [3.0, 0.0]]), csr_array([[0.0, 2.0], [3.0, 0.0]])])
def test_absorbing_is_merging_without_a_copy(more):
    total = np.array([[1.0, 2.0], [3.0, 4.0]])
    merged = counts(total).merge(counts(more))
    absorbed = counts(total).absorb(counts(more))
    np.testing.assert_array_equal(absorbed.total, merged.total)
    np.testing.assert_array_equal(absorbed.rows, merged.rows)
    assert absorbed.total is total


def test_what_may_not_be_written_is_copied():
    total = np.array([[1.0, 2.0]])
    total.flags.writeable = False
    absorbed = counts(total).absorb(counts(np.array([[1.0, 1.0]])))
    np.testing.assert_array_equal(absorbed.total, [[2.0, 3.0]])
    np.testing.assert_array_equal(total, [[1.0, 2.0]])


def test_a_pickle_has_no_room_for_zeros():
    total = np.zeros((3, 1 << 16))
    total[[0, 2], [5, 70]] = 1.5, 2.0
    content = pickle.dumps(counts(total))
    assert len(content) < 1000
    again = pickle.loads(content)
    np.testing.assert_array_equal(again.total, total)
    assert again.total.flags.c_contiguous
    assert again.total.flags.writeable
    assert again.merge(counts(total)).total[0, 5] == 3.0


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_full_table_is_pickled_as_it_lies(order):
    total = np.asarray(np.random.default_rng(0).integers(0, 3, (4, 5000)) + 0.0, order=order)
    again = pickle.loads(pickle.dumps(counts(total), protocol=5)).total
    np.testing.assert_array_equal(again, total)
    assert again.flags.c_contiguous == total.flags.c_contiguous


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_counts_without_rows_are_refused_in_any_class(form):
    whole = Counts(np.ones(2), form([[3.0, 0.0], [0.0, 2.0]]), None)
    with pytest.raises(ForgetError, match="no rows"):
        whole.forget(Counts(np.ones(2), form([[1.0, 0.0], [0.0, 2.0]]), None))
