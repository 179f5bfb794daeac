"""How probable rows are: densities, typicality, and missing cells from the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.arrays import frame_like, missing_cells
from ..kernels.layouts import Array, Floats, Sparse
from ..model.typicality import typicality as _typicality
from ..specs.table_schema import TableSchema
from .inputs import with_density


def log_density(model: Any, X: Any) -> Floats:
    """Return log p(x) of each row, all terms included."""
    fitted = with_density(model, "log_density")
    return fitted.classifier.log_density(fitted.read(X), fitted.kernels)


def log_likelihood(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Return the log-likelihood of the data, Σ log p(x, class) over rows: what maximum likelihood maximizes."""
    fitted = with_density(model, "log_likelihood")
    batch = fitted.labeled_batch(X, y, sample_weight)
    return fitted.classifier.log_likelihood(batch.data, batch.classes, batch.weight, fitted.kernels)


def typicality(model: Any, X: Any) -> Floats:
    """Return how typical each row is: the share of training rows, each left out, that are no more probable.

    Near 0: no training row is like it, and the prediction is an extrapolation. Needs training rows
    (``keep_sample=True``).
    """
    fitted = with_density(model, "typicality")
    return _typicality(fitted.classifier, fitted.read(X), fitted.kernels)


def impute(model: Any, X: Any) -> Any:
    """Return ``X`` with its missing cells filled from p(cell | observed cells of the row).

    Means for numbers and counts (rounded in columns that can hold integers only), the most probable value for
    categories and binary columns. A data frame is returned as one, with all its columns and their types; anything else
    as an array (sparse if it was). A column without any value in training stays empty.

    Examples
    --------
    >>> import numpy as np
    >>> from candide import GaussianNB, diagnostics
    >>> X = np.array([[1.0, 10.0], [2.0, 20.0], [8.0, 80.0], [9.0, 90.0]])
    >>> diagnostics.impute(GaussianNB().fit(X, ["low", "low", "high", "high"]), [[1.5, np.nan]])
    array([[ 1.5, 15. ]])
    """
    fitted = with_density(model, "impute")
    data, likelihood = fitted.read(X), fitted.classifier.likelihood
    posterior = fitted.classifier.posterior(data, fitted.kernels, logarithm=False)
    if isinstance(fitted.schema, TableSchema):
        return fitted.schema.fill_missing(X, data, likelihood.expected(data, posterior))
    if isinstance(data, Sparse):
        return _filled_sparse(data, lambda rows: likelihood.expected(data.take(rows), posterior[rows]))
    guess = likelihood.expected(data, posterior)
    columns = [_filled(data.column(j), guess[:, j]) for j in range(data.n_columns)]
    frame = frame_like(X, columns)
    return np.column_stack(columns) if frame is None else frame


def _filled(column: Array, guess: Array) -> Array:
    """Return a column with missing cells replaced; numbers stay numbers."""
    known = ~missing_cells(column)
    filled = np.where(known, column.astype(object), guess)
    try:
        return filled.astype(np.float64) if column.dtype.kind in "fiub" else filled
    except (TypeError, ValueError):
        return filled  # a column without any value, where the model has strings


def _filled_sparse(data: Sparse, expected: Any) -> Any:
    """Return a sparse matrix with stored NaN replaced; rows without any are skipped."""
    matrix = data.matrix().astype(np.float64)
    row = np.repeat(np.arange(data.n_rows), np.diff(data.indptr))
    missing = np.isnan(matrix.data)
    rows = np.unique(row[missing])
    if len(rows):
        values = expected(rows)
        matrix.data[missing] = values[np.searchsorted(rows, row[missing]), data.indices[missing]]
    return matrix
