"""Sparse rows on their way to the kernels: malformed ones are refused, stretches stand alone, moments are exact."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from tiers import every

from candide.exceptions import InputError
from candide.kernels import Kernels
from candide.kernels.layouts import Sparse
from candide.kernels.tables import FactoredTable, LinearTable

N_COLUMNS, N_CLASSES = 3, 2
KERNELS = Kernels(2)
CLASSES, BASE = np.array([0, 1], dtype=np.int32), np.zeros(N_CLASSES)


def _factored() -> FactoredTable:
    parts = (np.ones(1), np.zeros(1, dtype=np.int64), np.array([0, 1, 1, 1]))
    return FactoredTable(np.zeros(N_COLUMNS), BASE, csr_array(parts, shape=(N_COLUMNS, N_CLASSES)))


CALLS: dict[str, Callable[[Sparse], Any]] = {
    "tally": lambda data: KERNELS.tally(data, CLASSES, None, N_CLASSES, None),
    "tally of many classes": lambda data: KERNELS.tally(data, CLASSES, None, 1 << 22, None),
    "moments": lambda data: KERNELS.moments(data, CLASSES, None, N_CLASSES),
    "linear": lambda data: KERNELS.linear_scores(data, LinearTable(np.ones((N_CLASSES, N_COLUMNS))), BASE, None),
    "factored": lambda data: KERNELS.factored_scores(data, _factored(), BASE, None),
}
PARTS = {
    "column too large": ([0, 1, 2], [0, 3]),
    "column below 0": ([0, 1, 2], [0, -1]),
    "pointer too large": ([0, 1, 3], [0, 1]),
    "pointers fall": ([0, 2, 1], [0, 1]),
    "pointer below 0": ([-1, 1, 2], [0, 1]),
}


@every("call", CALLS)
@every("part", PARTS)
@every("index", [np.int32, np.int64])
def test_a_malformed_matrix_is_refused(call: str, part: str, index: Any) -> None:
    """Row pointers that do not rise, and columns that do not exist."""
    indptr, indices = (np.array(values, dtype=index) for values in PARTS[part])
    data = Sparse(indptr, indices, np.ones(2), N_COLUMNS)
    with pytest.raises(InputError, match=r"the sparse matrix is malformed: .*csr_array\(X\.tocoo\(\)\)"):
        CALLS[call](data)


def test_a_stretch_of_rows_stands_alone() -> None:
    """Its cells are its own, without a copy."""
    whole = Sparse.of(csr_array(np.arange(12.0).reshape(4, 3)))
    part = whole.rows(1, 3)
    assert part.indptr[0] == 0
    assert len(part.values) == len(part.indices) == part.indptr[-1] == 6
    assert np.shares_memory(part.values, whole.values)
    assert np.shares_memory(part.indices, whole.indices)
    np.testing.assert_array_equal(part.floats(), np.arange(12.0).reshape(4, 3)[1:3])


@pytest.mark.parametrize("weight", [None, np.array([0.1, 0.2, 0.7])], ids=["alike", "weighted"])
def test_equal_stored_cells_have_no_scatter(weight: Any) -> None:
    """The sum of three tenths is not three tenths; their mean is one tenth all the same."""
    data = Sparse.of(csr_array(np.full((3, 2), 0.1)))
    got = KERNELS.moments(data, np.zeros(3, dtype=np.int32), weight, 1)
    np.testing.assert_array_equal(got.mean, [[0.1, 0.1]])
    np.testing.assert_array_equal(got.scatter, [[0.0, 0.0]])
