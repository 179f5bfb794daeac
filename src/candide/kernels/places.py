"""Errors about cells, with their places, and about matrices that are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..exceptions import InputError
from .base import Findings
from .layouts import Data, Sparse


def infinite_cell(data: Data) -> InputError:
    """The error for an infinite value, with its place."""
    if isinstance(data, Sparse):
        at = int(np.flatnonzero(np.isinf(data.values))[0])
        row, column = int(np.searchsorted(data.indptr, at, side="right")) - 1, int(data.indices[at])
    else:
        row, column = (int(i[0]) for i in np.nonzero(np.isinf(data.floats())))
    return InputError(
        f"Input X contains infinity: {data.name(column)} is infinite at row {data.first_row + row}; values must be "
        "finite, or NaN where they are missing; replace or drop it"
    )


def negative_cell(data: Data, model: str = "a model of counts") -> InputError:
    """The error for a count below 0, with its place."""
    x = data.matrix() if isinstance(data, Sparse) else data.floats()
    rows, columns = (x < 0).nonzero()
    row, column = int(rows[0]), int(columns[0])
    return InputError(
        f"Negative values in data passed to {model} (input X): {data.name(column)} is {x[row, column]:g} at row "
        f"{data.first_row + row}; counts are 0 or more; for hashed features pass alternate_sign=False"
    )


def refuse(data: Data, found: Findings, *, counts: bool = False) -> None:
    """Raises for what a kernel met: infinite cells and, among counts, negative ones."""
    if found.infinite:
        raise infinite_cell(data)
    if counts and found.negative:
        raise negative_cell(data)


@contextmanager
def well_formed() -> Iterator[None]:
    """Sparse rows are checked where they are read, one row before its cells are used."""
    try:
        yield
    except IndexError as error:
        raise InputError(
            f"the sparse matrix is malformed: {error}; row pointers must rise and column indices lie within the shape; "
            "rebuild it, for example with scipy.sparse.csr_array(X.tocoo())"
        ) from error
