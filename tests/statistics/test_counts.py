"""Sums in the arrays that are there already."""

import numpy as np
import pytest
from scipy.sparse import csr_array

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
