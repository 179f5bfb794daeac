"""Every way in which rows may lie in memory, and tables large and small to lay out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.sparse import csr_array

from candide.kernels.layouts import Array, Data, Dense, Floats, Positions, Sparse

DTYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]


@dataclass(frozen=True)
class Problem:
    """Rows with classes and weights, and a generator for whatever else a kernel wants."""

    X: Floats
    classes: Positions
    weight: Floats | None
    n_classes: int
    rng: np.random.Generator

    @property
    def groups(self) -> tuple[Positions, Floats | None, int]:
        return self.classes, self.weight, self.n_classes

    def table(self, n: int | None = None) -> Floats:
        """Numbers for each class and column."""
        return self.rng.normal(size=(self.n_classes, n or self.X.shape[1]))


def problem(seed: int, n_rows: int, n_columns: int, n_classes: int, weights: str, low: int = 0) -> Problem:
    """Whole cells, a tenth of them missing."""
    rng = np.random.default_rng(seed)
    X = rng.integers(low, 6, (n_rows, n_columns)).astype(np.float64)
    X[rng.random(X.shape) < 0.1] = np.nan
    whole, fraction = rng.integers(0, 4, n_rows).astype(np.float64), rng.random(n_rows)
    weight = {"none": None, "whole": whole, "fraction": fraction}[weights]
    return Problem(X, rng.integers(0, n_classes, n_rows).astype(np.int32), weight, n_classes, rng)


def problems(weights: list[str], low: int = 0) -> st.SearchStrategy[Problem]:
    """Tables whose sizes straddle those of vectors and blocks."""
    sizes = (st.integers(1, 70), st.integers(1, 19), st.integers(1, 9))
    return st.builds(problem, st.integers(0, 10**6), *sizes, st.sampled_from(weights), st.just(low))


def _strided(X: Floats) -> Dense:
    room = np.full((2 * len(X), 3 * X.shape[1]), 77.0)
    room[::2, ::3] = X
    return Dense.of(room[::2, ::3])


def _reversed(X: Floats) -> Dense:
    return Dense.of(np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1])


def _read_only(X: Floats) -> Dense:
    out = X.copy()
    out.flags.writeable = False
    return Dense.of(out)


def _columns(X: Floats) -> Dense:
    """One array per column, each of another type; every third is a strided view."""
    types = [dtype for dtype in DTYPES if dtype not in ("u8", "u4", "u2", "u1")]
    columns = [_typed(column, types[j % len(types)]) for j, column in enumerate(X.T)]
    return Dense.of(tuple(np.repeat(c, 2)[::2] if j % 3 == 1 else c.copy() for j, c in enumerate(columns)))


def _typed(X: Array, dtype: str) -> Array:
    if np.dtype(dtype).kind == "f":
        return X.astype(dtype)
    filled = np.nan_to_num(X, nan=0.0)
    return (np.abs(filled) if np.dtype(dtype).kind == "u" else filled).astype(dtype)


def _csr(dtype: str, index: str) -> Callable[[Floats], Sparse]:
    def lay(X: Floats) -> Sparse:
        matrix = csr_array(_typed(X, dtype))
        return Sparse(matrix.indptr.astype(index), matrix.indices.astype(index), matrix.data, X.shape[1])

    return lay


def _middle_rows(X: Floats) -> Sparse:
    """A stretch of rows of a larger matrix."""
    return Sparse.of(csr_array(np.vstack([X, X, X]))).rows(len(X), 2 * len(X))


def _fill(dtype: str) -> Callable[[Floats], Dense]:
    return lambda X: Dense.of(_typed(X, dtype))


DENSE: dict[str, Callable[[Floats], Dense]] = {
    **{f"c-{dtype}": _fill(dtype) for dtype in DTYPES},
    "fortran": lambda X: Dense.of(np.asfortranarray(X)),
    "fortran-f4": lambda X: Dense.of(np.asfortranarray(X.astype("f4"))),
    "strided": _strided,
    "reversed": _reversed,
    "read-only": _read_only,
    "columns": _columns,
}
SPARSE: dict[str, Callable[[Floats], Data]] = {
    **{f"csr-{dtype}-{index}": _csr(dtype, index) for dtype in ("f8", "f4", "i8", "u1", "?") for index in ("i4", "i8")},
    "csr-middle": _middle_rows,
}
LAYOUTS: dict[str, Any] = {**DENSE, **SPARSE}
