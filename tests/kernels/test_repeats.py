"""Cells stored twice are found in rows of any order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference import ReferenceKernels
from scipy.sparse import csr_array

from candide.kernels import Kernels
from candide.kernels.layouts import Sparse


@given(rows=st.lists(st.lists(st.integers(0, 5), max_size=7), max_size=9), wide=st.booleans())
def test_native_is_reference(rows: list[list[int]], wide: bool) -> None:
    kind = np.int64 if wide else np.int32
    indptr = np.cumsum([0, *map(len, rows)]).astype(kind)
    indices = np.array([column for row in rows for column in row], dtype=kind)
    data = Sparse(indptr, indices, np.ones(len(indices)), 6)
    repeated = any(len(set(row)) < len(row) for row in rows)
    assert Kernels(2).has_repeats(data) == ReferenceKernels().has_repeats(data) == repeated


@pytest.mark.parametrize("n_threads", [1, 2])
def test_one_repeat_among_many_rows(n_threads: int) -> None:
    rng = np.random.default_rng(0)
    indices = np.concatenate([rng.permutation(50)[:8] for _ in range(30_000)]).astype(np.int32)
    indptr = np.arange(0, len(indices) + 1, 8, dtype=np.int32)
    assert not Kernels(n_threads).has_repeats(Sparse(indptr, indices, np.ones(len(indices)), 50))
    indices[-1] = indices[-5]
    assert Kernels(n_threads).has_repeats(Sparse(indptr, indices, np.ones(len(indices)), 50))


def test_a_column_outside_the_shape_is_refused() -> None:
    matrix = csr_array(np.array([[0.0, 1.0, 2.0]]))
    data = Sparse(matrix.indptr, np.array([2, 9], dtype=np.int32)[::-1].copy(), matrix.data, 3)
    with pytest.raises(ValueError, match="malformed"):
        Kernels(1).has_repeats(data)
