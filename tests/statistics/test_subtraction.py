"""Differences of sums: exact for whole numbers, rounding set to zero for others, never negative."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from tiers import every

from candide.exceptions import ForgetError
from candide.statistics.base import ROUNDING, as_dense, refuse_above, remaining, subtract

dense_and_sparse = every("a,b", [(a, b) for a in (np.asarray, csr_array) for b in (np.asarray, csr_array)])


@dense_and_sparse
def test_whole_numbers_leave_exact_differences(a, b):
    """One of 2^43 is below the rounding of fractions, and is still a row."""
    found = subtract(a([[2.0**43, 3.0, 0.0]]), b([[2.0**43 - 1, 3.0, 0.0]]), "a count")
    np.testing.assert_array_equal(as_dense(found), [[1.0, 0.0, 0.0]])
    with pytest.raises(ForgetError, match="would make a count negative"):
        subtract(a([[2.0**43, 1.0]]), b([[2.0**43 + 1, 1.0]]), "a count")


@dense_and_sparse
def test_rounding_of_fractions_is_zero(a, b):
    before = np.array([[0.5, 0.5, 1000.5, 0.0]])
    tiny, small = np.array([[0.5, -0.5, 0.5, 0.0]]) * ROUNDING, np.array([[0.5, 0.25, 1000.0, 0.0]])
    found = as_dense(subtract(a(before), b(before * (1 - tiny)), "a count"))
    np.testing.assert_array_equal(found, [[0.0, 0.0, 0.0, 0.0]])
    np.testing.assert_array_equal(as_dense(subtract(a(before), b(small), "a count")), before - small)
    kept = as_dense(subtract(a(before), b(before * (1 - 2 * ROUNDING)), "a count"))
    assert (kept[0, :3] > 0).all()
    with pytest.raises(ForgetError, match="negative"):
        subtract(a(before), b(before * (1 + 2 * ROUNDING)), "a count")


@dense_and_sparse
def test_one_fraction_on_either_side_allows_rounding(a, b):
    whole, fraction = np.array([[1e13, 1.0]]), np.array([[1e13 + 0.5, 1.0]])
    np.testing.assert_array_equal(as_dense(subtract(a(whole), b(fraction), "a count")), [[0.0, 0.0]])
    np.testing.assert_array_equal(as_dense(subtract(a(fraction), b(whole), "a count")), [[0.0, 0.0]])


@dense_and_sparse
def test_what_was_never_added_is_refused(a, b):
    with pytest.raises(ForgetError, match="negative"):
        subtract(a([[0.0, 1.0]]), b([[1.0, 0.0]]), "a count")
    with pytest.raises(ForgetError, match="negative"):
        subtract(a([[0.0, 1.5]]), b([[0.25, 0.0]]), "a count")


def test_sparse_sums_store_no_zeros():
    found = subtract(csr_array([[2.0, 3.0, 0.5]]), csr_array([[2.0, 1.0, 0.5]]), "a count")
    assert (found.format, found.data.tolist(), found.indices.tolist()) == ("csr", [2.0], [1])


@every("form", [np.asarray, csr_array])
def test_cells_may_not_outweigh_their_rows(form):
    after, before = np.array([2.0, 0.0]), np.array([5.0, 1e12])
    refuse_above(form([[2.0, 1.0], [1.0, 0.0]]), after, before, "the rest")
    for cells in ([[2.0, 2.5], [0.0, 0.0]], [[2.0, 0.0], [0.0, 1.5]]):
        with pytest.raises(ForgetError, match="would make the rest negative"):
            refuse_above(form(cells), after, before, "the rest")


def test_what_remains_is_at_least_zero():
    before = np.array([2.0, 2.0, 2.0, 2.0, 0.0])
    removed = before * [0.5, 1 - ROUNDING / 2, 1 - 4 * ROUNDING, 2.0, 0.0]
    found = remaining(before, removed)
    assert found[[0, 1, 3, 4]].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert found[2] > 0
    assert remaining(before, 0.5).tolist() == [1.5, 1.5, 1.5, 1.5, 0.0]
