"""Rules about results that the native kernels and their reference share."""

from __future__ import annotations

import numpy as np

from ..exceptions import InputError
from .base import Findings, MomentTable
from .data import Array, Data, Floats, Sparse

# Up to this many cells (32 MB) a table of classes × columns is dense whatever it holds.
DENSE_CELLS = 1 << 22


def keep_sparse(n_classes: int, n_columns: int, stored: int) -> bool:
    """Whether a table of sums with at most ``stored`` cells is better kept sparse."""
    cells = n_classes * n_columns
    return cells > DENSE_CELLS and 3 * stored < cells


def with_implicit_zeros(rows: Array, count: Floats, missing: Floats, mean: Floats, scatter: Floats) -> MomentTable:
    """Moments of all cells from those of the stored ones: the cells that are not stored are zeros."""
    zeros = rows[:, None] - count - missing
    # Weights that are not whole leave a rest where every cell is stored.
    zeros[zeros < 1e-12 * rows[:, None]] = 0.0
    weight = count + zeros
    share = np.divide(zeros, weight, out=np.zeros_like(weight), where=weight > 0)
    return MomentTable(weight, mean * (1.0 - share), scatter + mean * mean * (count * share))


def infinite_cell(data: Data) -> InputError:
    """The error for an infinite value, with its place."""
    if isinstance(data, Sparse):
        begin, end = int(data.indptr[0]), int(data.indptr[-1])
        at = begin + int(np.flatnonzero(np.isinf(data.values[begin:end]))[0])
        row, column = int(np.searchsorted(data.indptr, at, side="right")) - 1, int(data.indices[at])
    else:
        row, column = (int(i[0]) for i in np.nonzero(np.isinf(data.floats())))
    return InputError(
        f"Input X contains infinity: column {column} is infinite at row {data.first_row + row}; values must be "
        "finite, or NaN where they are missing; replace or drop it"
    )


def negative_cell(data: Data, model: str = "a model of counts") -> InputError:
    """The error for a count below 0, with its place."""
    x = data.matrix() if isinstance(data, Sparse) else data.floats()
    rows, columns = (x < 0).nonzero()
    row, column = int(rows[0]), int(columns[0])
    return InputError(
        f"Negative values in data passed to {model} (input X): column {column} is {x[row, column]:g} at row "
        f"{data.first_row + row}; counts are 0 or more; for hashed features pass alternate_sign=False"
    )


def refuse(data: Data, found: Findings, *, counts: bool = False) -> None:
    """Raises for what a kernel met: infinite cells and, among counts, negative ones."""
    if found.infinite:
        raise infinite_cell(data)
    if counts and found.negative:
        raise negative_cell(data)
