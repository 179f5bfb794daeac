"""What models of counts share: lengths of rows, coefficients, draws, and sums of logarithms with a row taken out."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Positions, Sparse, chunks
from ..kernels.tables import LinearTable, LogSums
from ..statistics.base import remaining
from .base import Batch
from .linear import LinearTerm, csr_from


def row_sums(data: Data) -> Floats:
    """The observed counts of each row, added up."""
    if isinstance(data, Sparse):
        sums = np.asarray(data.matrix() @ np.ones(data.n_columns), dtype=np.float64)
    elif isinstance(data.values, tuple):
        sums = sum((np.asarray(column, dtype=np.float64) for column in data.values), np.zeros(data.n_rows))
    else:
        sums = np.asarray(data.values.sum(axis=1, dtype=np.float64))
    # Rows with holes are rare: only they are looked at again.
    odd = np.flatnonzero(np.isnan(sums))
    if len(odd):
        sums[odd] = np.nansum(data.take(odd).floats(), axis=1)
    return sums


def log_coefficient(data: Data) -> Floats:
    """log of n! / Π x_j!, row by row."""
    from scipy.special import gammaln

    return np.asarray(gammaln(row_sums(data) + 1) - log_factorials(data))


def log_factorials(data: Data) -> Floats:
    """Σ log x_j!, row by row."""
    from scipy.special import gammaln

    out = np.empty(data.n_rows)
    for begin, end, part in chunks(data, 4096):
        if isinstance(part, Dense):
            out[begin:end] = np.nansum(gammaln(part.floats() + 1), axis=1)
        else:
            x = part.matrix().astype(np.float64)
            x.data = np.nan_to_num(gammaln(x.data + 1), nan=0.0)
            out[begin:end] = np.asarray(x.sum(axis=1)).ravel()
    return out


def squared(data: Data) -> Data:
    """The squares of the cells."""
    if isinstance(data, Sparse):
        values = np.square(data.values, dtype=np.float64)
        return Sparse(data.indptr, data.indices, values, data.n_columns, data.first_row)
    return Dense(np.square(data.floats()), data.n_rows, data.n_columns, data.first_row, data.names)


def scores_and_log_sums(
    term: LinearTerm, offset: Floats, batch: Batch, total: Any, pseudo: float | Floats, kernels: Kernels
) -> tuple[Floats, LogSums]:
    """Scores under all classes; of each row under its own class Σ x log(total - w x + pseudo), the x that meet a total
    of 0, and all x.
    """
    if isinstance(term.table, LinearTable) and isinstance(total, np.ndarray):
        rows = batch.data, batch.classes, batch.weight
        return kernels.left_out_counts(*rows, term.table, term.base + offset, total, pseudo)
    return term.of(batch.data, offset, kernels), _own_log_sums(batch, total, pseudo)


def _own_log_sums(batch: Batch, total: Any, pseudo: float | Floats) -> LogSums:
    """Where there are very many classes: gather what is stored for each cell's own class."""
    cells = batch.data if isinstance(batch.data, Sparse) else Sparse.of(csr_from(batch.data))
    row = np.repeat(np.arange(cells.n_rows), np.diff(cells.indptr))
    x = np.nan_to_num(np.asarray(cells.values, dtype=np.float64), nan=0.0)
    own = batch.classes[row]
    count = np.asarray(total[own, cells.indices]).ravel()
    left = remaining(count, x if batch.weight is None else x * batch.weight[row])
    left += np.broadcast_to(pseudo, total.shape)[own, cells.indices]
    gone = left <= 0
    logs = np.log(np.where(gone, 1.0, left))
    parts = x * logs, np.where(gone, x, 0.0), x
    return LogSums(*(np.bincount(row, part, minlength=cells.n_rows).astype(np.float64) for part in parts))


def own_tokens_left(batch: Batch, total: Any, pseudo: float | Floats, length: Floats) -> Floats:
    """Σ (total - w x + pseudo) over the columns of each row's own class; ``length`` is Σ x."""
    tokens, believed = np.asarray(total.sum(axis=1)).ravel(), pseudo_sums(pseudo, *total.shape)
    left = remaining(tokens[batch.classes], length if batch.weight is None else length * batch.weight)
    left += believed[0] if np.ndim(pseudo) < 2 else believed[batch.classes]
    return left


def pseudo_sums(pseudo: float | Floats, n_classes: int, n_columns: int) -> Floats:
    """The pseudo-counts of each class, added up."""
    whole = np.sum(pseudo, axis=-1) if np.ndim(pseudo) else np.multiply(pseudo, n_columns)
    return np.broadcast_to(whole, (n_classes,))


def draw_tokens(share: Floats, classes: Positions, rng: np.random.Generator, length: int | Array) -> Floats:
    """Rows of counts with the shares of their class; ``length`` tokens a row."""
    lengths = np.broadcast_to(np.asarray(length, dtype=np.int64), (len(classes),))
    out = np.empty((len(classes), share.shape[1]))
    for c in np.unique(classes):
        rows = np.flatnonzero(classes == c)
        out[rows] = rng.multinomial(lengths[rows], share[c])
    return out


def fill_tokens(data: Data, posterior: Floats, share: Floats) -> Floats:
    """Expected counts of all columns, given those that were observed.

    If the observed columns hold a share s of a class's tokens, n observed tokens make it n / s in all.
    """
    observed = ~np.isnan(data.floats())
    held = observed @ share.T  # (rows, classes)
    per_share = np.divide(row_sums(data)[:, None], held, out=np.zeros_like(held), where=held > 0)
    return np.asarray((posterior * per_share) @ share)
