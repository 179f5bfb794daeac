"""Validation of sparse matrices before scipy or a kernel reads them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array, Floats
from .arrays import KERNEL_DTYPES, is_missing

# Column indices are 32-bit integers.
MOST_COLUMNS = (1 << 31) - 1


def checked_rows(X: Any) -> Any:
    """Return a scipy matrix of any format as CSR; raise if its arrays do not fit its shape.

    scipy checks a matrix when it is made, not when its arrays are changed, and its conversions trust them.
    """
    if X.ndim != 2:
        raise InputError(f"Expected 2D array, got a sparse array of shape {X.shape}; reshape it to rows × columns")
    if X.dtype.kind == "c":
        raise InputError(f"Complex data not supported: X is of type {X.dtype}; pass real numbers")
    if X.shape[1] > MOST_COLUMNS:
        raise InputError(
            f"X is sparse and has {X.shape[1]} columns; expected at most {MOST_COLUMNS}; drop empty columns, or hash "
            "the features into fewer columns"
        )
    matrix = _CHECKS[X.format](X)
    return (matrix if matrix.dtype in KERNEL_DTYPES else _with_floats(matrix)).tocsr()


def _check_compressed(X: Any) -> Any:
    n_rows, n_columns = X.shape
    block = X.blocksize if X.format == "bsr" else (1, 1)
    major, minor = n_rows // block[0], n_columns // block[1]
    if X.format == "csc":
        major, minor = minor, major
    _require_integers(indptr=X.indptr, indices=X.indices)
    dimensions = 3 if X.format == "bsr" else 1
    _require(X.data.ndim == dimensions, f"data has {X.data.ndim} dimensions, expected {dimensions}")
    indptr, stored = X.indptr, min(len(X.indices), len(X.data))
    _require(len(indptr) == major + 1, f"indptr has {len(indptr)} entries, expected {major + 1}")
    _require(indptr[0] == 0, f"indptr begins with {indptr[0]}, expected 0")
    _require(bool((indptr[1:] >= indptr[:-1]).all()), "indptr decreases")
    end = int(indptr[-1])
    _require(end <= stored, f"indptr ends at {end}, and {len(X.indices)} indices and {len(X.data)} values")
    _require_within(X.indices[:end], minor)
    return X


def _check_coo(X: Any) -> Any:
    row, column = X.row, X.col
    _require_integers(row=row, col=column)
    _require(X.data.ndim == 1, f"data has {X.data.ndim} dimensions, expected 1")
    found = f"{len(row)} rows, {len(column)} columns and {len(X.data)} values"
    _require(len(row) == len(column) == len(X.data), f"{found}, expected the same number of each")
    for indices, size in zip((row, column), X.shape, strict=True):
        _require_within(indices, size)
    return X


def _check_dia(X: Any) -> Any:
    """Check diagonals; those outside the shape are allowed and dropped."""
    _require_integers(offsets=X.offsets)
    _require(X.data.ndim == 2, f"data has {X.data.ndim} dimensions, expected 2")
    n_diagonals, offsets = len(X.data), X.offsets
    _require(len(offsets) == n_diagonals, f"{len(offsets)} offsets for {n_diagonals} diagonals")
    _require(len(np.unique(offsets)) == n_diagonals, "it has duplicate offsets")
    inside = (offsets > -X.shape[0]) & (offsets < X.shape[1])
    return X if inside.all() else type(X)((X.data[inside], offsets[inside]), shape=X.shape)


def _check_lil(X: Any) -> Any:
    _require(len(X.rows) == len(X.data) == X.shape[0], f"it has lists for {len(X.rows)} rows, expected {X.shape[0]}")
    alike = all(len(columns) == len(values) for columns, values in zip(X.rows, X.data, strict=True))
    _require(alike, "a row has different numbers of indices and values")
    _require_indices([column for columns in X.rows for column in columns], X.shape[1])
    return X


def _check_dok(X: Any) -> Any:
    keys = list(X.keys())
    for axis, size in enumerate(X.shape):
        _require_indices([key[axis] for key in keys], size)
    return X


_CHECKS = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_compressed,
    "coo": _check_coo,
    "dia": _check_dia,
    "lil": _check_lil,
    "dok": _check_dok,
}


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InputError(
            f"the sparse matrix is malformed: {otherwise}; rebuild it from the original data, for example with "
            "scipy.sparse.csr_array((values, (rows, columns)), shape=shape)"
        )


def _require_integers(**arrays: Array) -> None:
    for name, array in arrays.items():
        _require(array.ndim == 1, f"{name} has {array.ndim} dimensions, expected 1")
        _require(array.dtype.kind in "iu", f"{name} is of type {array.dtype}, expected integers")


def _require_within(indices: Array, size: int) -> None:
    if len(indices):
        for index in (int(indices.min()), int(indices.max())):
            _require(0 <= index < size, f"an index is {index}, expected 0 to {size - 1}")


def _require_indices(indices: Sequence[Any], size: int) -> None:
    odd = next((index for index in indices if not isinstance(index, (int, np.integer)) or not 0 <= index < size), None)
    _require(odd is None, f"an index is {odd!r:.40}, expected 0 to {size - 1}")


def _with_floats(matrix: Any) -> Any:
    """Return the matrix with float64 values, converted from a data type that kernels do not read."""
    if matrix.format in ("lil", "dok"):
        from scipy.sparse import coo_array

        cells = list(matrix.items()) if matrix.format == "dok" else _lil_cells(matrix)
        places = np.array([place for place, _ in cells], dtype=np.int64).reshape(-1, 2)
        return coo_array((_floats([value for _, value in cells]), tuple(places.T)), shape=matrix.shape)
    other = copy(matrix)
    other.data = _floats(matrix.data.ravel().tolist()).reshape(matrix.data.shape)
    return other


def _lil_cells(matrix: Any) -> list[tuple[tuple[int, int], Any]]:
    rows = enumerate(zip(matrix.rows, matrix.data, strict=True))
    return [((i, j), value) for i, (columns, values) in rows for j, value in zip(columns, values, strict=True)]


def _floats(values: list[Any]) -> Floats:
    return np.array([_as_float(value) for value in values], dtype=np.float64)


def _as_float(value: Any) -> float:
    if is_missing(value):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        raise InputError("X contains a number beyond 1.8e308; rescale its column") from None
    except (TypeError, ValueError):
        raise InputError(
            f"X contains {value!r:.40}; expected numbers; convert X, for example with X.astype(float)"
        ) from None
