"""Likelihoods whose logarithm is linear in the cells (Bernoulli, multinomial, complement, Poisson); rows of counts."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Positions, Sparse, chunks
from ..kernels.tables import FactoredTable, LinearTable, LogSums, Tally, infinite_cell, negative_cell
from ..lazy import dataclass
from ..priors import Dirichlet, Estimate, pseudo_count
from ..statistics import Counts
from ..statistics.base import remaining
from .base import Batch, Plain, Scores
from .score_terms import SHRINK, ScoreTerms, Term, TermLikelihood, cells_of


@dataclass(frozen=True)
class LinearTerm(Term):
    """``base + Σ weight · x``, one linear function of the cells per class.

    With a ``threshold``, x is 1 where a cell is above it, else 0. A missing cell adds ``absent``.
    """

    table: LinearTable | FactoredTable
    base: Floats
    absent: FactoredTable | None = None  # None for linear tables, which handle missing cells themselves
    threshold: float | None = None

    @property
    def has_rest(self) -> bool:
        return True

    def of(self, data: Data, offset: Floats | float, kernels: Kernels) -> Floats:
        """Return the scores of rows, ``(rows, classes)``."""
        base = self.base + offset
        if not isinstance(self.table, FactoredTable):
            return kernels.linear_scores(data, self.table, base, self.threshold)
        scores = kernels.factored_scores(data, self.table, base, self.threshold)
        missing = None if self.absent is None else _missing(data)
        if missing is not None and self.absent is not None:
            scores += kernels.factored_scores(missing, self.absent, np.zeros(len(base)), None)
        return scores

    def own(self, data: Data, classes: Positions, kernels: Kernels) -> Floats:
        """Return the score of each row under its own class."""
        if isinstance(self.table, FactoredTable):
            # With very many classes, only the weights of the rows' own classes are gathered.
            return self._own_factored(data, classes)
        return kernels.own_linear_scores(data, classes, self.table, self.base, self.threshold)

    def _own_factored(self, data: Data, classes: Positions) -> Floats:
        cells = data.compressed()
        row = np.repeat(np.arange(cells.n_rows), np.diff(cells.indptr))
        own, missing = classes[row], np.isnan(cells.values)
        assert isinstance(self.table, FactoredTable)
        added = _factored_cells(self.table, cells.indices, own) * self._inputs(np.asarray(cells.values))
        if self.absent is not None and missing.any():
            added += _factored_cells(self.absent, cells.indices, own) * missing
        return self.base[classes] + np.bincount(row, added, minlength=cells.n_rows)

    def _inputs(self, x: Floats) -> Floats:
        """Return the numbers that weights are multiplied by; 0 where a cell is missing."""
        x = np.asarray(x, dtype=np.float64)
        return np.where(np.isnan(x), 0.0, x if self.threshold is None else x > self.threshold)

    def cells(self, x: Floats) -> Floats:
        weights, absent = self.dense()
        cells = self._inputs(x) * weights
        return cells if absent is None else np.where(np.isnan(x), absent, cells)

    def rest(self, x: Floats) -> Floats:
        return self.base

    def row_parts(self, data: Data) -> tuple[Array, Floats, Floats]:
        """Return the contributions of one row.

        In a dense row, every cell has a contribution, also zeros. In a sparse row, the rest is the score of a row of
        zeros, and the contribution of a stored cell is the difference from it.
        """
        columns, x = cells_of(data)
        missing, inputs = np.isnan(x), self._inputs(x)[:, None]
        if isinstance(self.table, FactoredTable):
            classes = np.arange(len(self.base), dtype=np.int32)
            cells = _factored_rows(self.table, columns, classes) * inputs
            if self.absent is not None and missing.any():
                cells += _factored_rows(self.absent, columns, classes) * missing[:, None]
            return columns, cells, self.base
        cells, absent = self.table.weights[:, columns].T * inputs, self.table.absent
        if absent is None:
            return columns, cells, self.base
        if isinstance(data, Sparse):
            return columns, np.where(missing[:, None], absent[:, columns].T, cells), self.base
        return columns, cells - absent[:, columns].T, np.zeros_like(self.base)

    @cached_property
    def shrunk(self) -> LinearTerm:
        return self.times(SHRINK)

    def times(self, factor: float) -> LinearTerm:
        """Return the term multiplied by a number."""
        table, base = self.table, self.base * factor
        if isinstance(table, FactoredTable):
            absent = None if self.absent is None else _times(self.absent, factor)
            return replace(self, table=_times(table, factor), base=base, absent=absent)
        of_missing = None if table.absent is None else table.absent * factor
        return replace(self, table=LinearTable(table.weights * factor, of_missing, table.signed), base=base)

    def dense(self) -> tuple[Floats, Floats | None]:
        """Return the weights, and what a missing cell adds, ``(classes, columns)`` each."""
        if isinstance(self.table, LinearTable):
            return self.table.weights, self.table.absent
        return _written_out(self.table), None if self.absent is None else _written_out(self.absent)


def _factored_cells(table: FactoredTable, columns: Array, classes: Positions) -> Floats:
    return np.asarray(table.shared[columns] + table.slope[classes] + np.asarray(table.stored[columns, classes]).ravel())


def _factored_rows(table: FactoredTable, columns: Array, classes: Positions) -> Floats:
    """Return the weights of some columns under some classes, ``(columns, classes)``."""
    stored = np.asarray(table.stored[columns].toarray()[:, classes])
    return np.asarray(table.shared[columns][:, None] + table.slope[classes] + stored)


def _times(table: FactoredTable, factor: float) -> FactoredTable:
    return FactoredTable(table.shared * factor, table.slope * factor, table.stored * factor)


def _written_out(table: FactoredTable) -> Floats:
    return np.asarray(table.shared + table.slope[:, None] + table.stored.toarray().T)


def _missing(data: Data) -> Sparse | None:
    """Return 1 where a cell is missing; None if no cell is."""
    if isinstance(data, Sparse):
        missing = np.isnan(data.values)
        return Sparse(data.indptr, data.indices, missing.astype(np.float64), data.n_columns) if missing.any() else None
    from scipy.sparse import csr_array

    missing = np.isnan(data.floats())
    return Sparse.of(csr_array(missing.astype(np.float64))) if missing.any() else None


class TokenFamily(Plain):
    """Base class of families of tokens: the columns share one Dirichlet distribution over the tokens of a row."""

    prior: Dirichlet
    estimate: Estimate

    statistic: ClassVar[type[Counts]] = Counts
    separate: ClassVar[bool] = False

    def with_alpha(self, alpha: float | Floats) -> Self:
        return replace(self, prior=Dirichlet(alpha))  # type: ignore[type-var]  # of dataclasses

    @property
    def pseudo(self) -> float | Floats:
        """The pseudo-count that is added to every count."""
        return pseudo_count(self.prior.concentration, self.estimate)

    def amount(self, data: Data) -> Floats:
        return row_sums(data)

    def n_parameters(self, statistics: Counts) -> int:
        n_classes, n_columns = statistics.total.shape
        return int(n_classes * max(0, n_columns - 1))


class LinearLikelihood(TermLikelihood):
    """Scores of a linear family; subclasses define how it samples and what its parameters are called."""

    finite: LinearTerm
    order: LinearTerm | None  # powers of 1/ε: probabilities that are 0

    @property
    def terms(self) -> ScoreTerms:
        return ScoreTerms((self.finite,), () if self.order is None else ((self.order,),))

    @property
    def is_limit(self) -> bool:
        return self.order is not None

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        return self.finite.of(data, offset, kernels)

    def limits(self, data: Data, kernels: Kernels) -> list[Floats]:
        return [] if self.order is None else [self.order.of(data, 0.0, kernels)]

    def scores_with_own(
        self, other: LinearLikelihood, batch: Batch, offset: Floats, kernels: Kernels
    ) -> tuple[Floats, Scores]:
        """Return scores under all classes, and the score of each row under its own class by another likelihood."""
        table, own_table = self.finite.table, other.finite.table
        rows, base = (batch.data, batch.classes), self.finite.base + offset
        # Dense rows of binary cells are scored faster by their bytes.
        if not (
            isinstance(batch.data, Sparse) and isinstance(table, LinearTable) and isinstance(own_table, LinearTable)
        ):
            return self.scores(batch.data, offset, kernels), other.own(*rows, kernels)
        threshold = self.finite.threshold
        finite, values = kernels.left_out_linear(*rows, table, base, own_table, other.finite.base, threshold)
        order = None if other.order is None else other.order.own(*rows, kernels)
        return finite, Scores(values, () if order is None else (order,))

    def own(self, data: Data, classes: Positions, kernels: Kernels) -> Scores:
        """Return the score of each row under its own class."""
        finite, *limits = (term.own(data, classes, kernels) for term in (self.finite, self.order) if term is not None)
        return Scores(finite, tuple(limits))

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        return self.finite.shrunk.of(data, 0.0, kernels)


def observe_counts(
    batch: Batch, kernels: Kernels, model: str, threshold: float | None = None, *, presence: bool = False
) -> Counts:
    """Return the counts of a batch, which must be finite and, without a threshold, non-negative."""
    tally = kernels.tally(batch.data, batch.classes, batch.weight, batch.n_classes, threshold)
    if tally.infinite:
        raise infinite_cell(batch.data)
    if threshold is None:
        check_counts(tally, batch.data, model)
    return Counts(batch.row_weight(), tally.total, tally.missing, presence)


def check_counts(tally: Tally, data: Data, model: str) -> None:
    if tally.negative:
        raise negative_cell(data, model)
    stored = tally.total if isinstance(tally.total, np.ndarray) else tally.total.data
    if not np.isfinite(stored).all():
        raise InputError(f"counts in X are too large for {model}: their sum overflows; rescale X")


def sparse_parts(total: Any, alpha: float | Floats) -> tuple[Any, Floats, Floats]:
    """Return a sparse table by columns, the pseudo-count of each stored cell, and that of each column."""
    by_column = total.tocsc()
    by_column.eliminate_zeros()
    pseudo = np.broadcast_to(np.asarray(alpha, dtype=np.float64), total.shape[1:]).copy()
    return by_column, np.repeat(pseudo, np.diff(by_column.indptr)), pseudo


def factored(shared: Floats, slope: Floats, like: Any, stored: Floats) -> FactoredTable:
    """Return a factored table whose sparse part has the cells of ``like`` (by columns) with the values ``stored``."""
    from scipy.sparse import csr_array

    parts = (stored, like.indices.astype(np.int64), like.indptr.astype(np.int64))
    return FactoredTable(shared, slope, csr_array(parts, shape=like.shape[::-1]))


def row_sums(data: Data) -> Floats:
    """Return the sum of the observed counts of each row."""
    if isinstance(data, Sparse):
        sums = np.asarray(data.matrix() @ np.ones(data.n_columns), dtype=np.float64)
    elif isinstance(data.values, tuple):
        sums = sum((np.asarray(column, dtype=np.float64) for column in data.values), np.zeros(data.n_rows))
    else:
        sums = np.asarray(data.values.sum(axis=1, dtype=np.float64))
    # Few rows have missing cells, so only their sums are recomputed.
    odd = np.flatnonzero(np.isnan(sums))
    if len(odd):
        sums[odd] = np.nansum(data.take(odd).floats(), axis=1)
    return sums


def log_coefficient(data: Data) -> Floats:
    """Return log of n! / Π x_j! for each row."""
    from scipy.special import gammaln

    return np.asarray(gammaln(row_sums(data) + 1) - log_factorials(data))


def log_factorials(data: Data) -> Floats:
    """Return Σ log x_j! for each row."""
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
    """Return the squares of the cells."""
    if isinstance(data, Sparse):
        values = np.square(data.values, dtype=np.float64)
        return Sparse(data.indptr, data.indices, values, data.n_columns, data.first_row)
    return Dense(np.square(data.floats()), data.n_rows, data.n_columns, data.first_row, data.names)


def scores_and_log_sums(
    term: LinearTerm, offset: Floats, batch: Batch, total: Any, pseudo: float | Floats, kernels: Kernels
) -> tuple[Floats, LogSums]:
    """Return scores under all classes, and sums for each row under its own class.

    The sums are Σ x log(total - w x + pseudo), Σ x where the total is 0, and Σ x.
    """
    if isinstance(term.table, LinearTable) and isinstance(total, np.ndarray):
        rows = batch.data, batch.classes, batch.weight
        return kernels.left_out_counts(*rows, term.table, term.base + offset, total, pseudo)
    return term.of(batch.data, offset, kernels), _own_log_sums(batch, total, pseudo)


def _own_log_sums(batch: Batch, total: Any, pseudo: float | Floats) -> LogSums:
    """Compute the sums from the counts of each row's own class, for very many classes."""
    cells = batch.data.compressed()
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
    """Return Σ (total - w x + pseudo) over the columns for each row's own class; ``length`` is Σ x."""
    tokens, pseudo_total = np.asarray(total.sum(axis=1)).ravel(), pseudo_sums(pseudo, *total.shape)
    left = remaining(tokens[batch.classes], length if batch.weight is None else length * batch.weight)
    left += pseudo_total[0] if np.ndim(pseudo) < 2 else pseudo_total[batch.classes]
    return left


def pseudo_sums(pseudo: float | Floats, n_classes: int, n_columns: int) -> Floats:
    """Return the sum of the pseudo-counts of each class."""
    whole = np.sum(pseudo, axis=-1) if np.ndim(pseudo) else np.multiply(pseudo, n_columns)
    return np.broadcast_to(whole, (n_classes,))


def draw_tokens(share: Floats, classes: Positions, rng: np.random.Generator, length: int | Array) -> Floats:
    """Draw rows of counts with the shares of their class and ``length`` tokens each."""
    lengths = np.broadcast_to(np.asarray(length, dtype=np.int64), (len(classes),))
    out = np.empty((len(classes), share.shape[1]))
    for c in np.unique(classes):
        rows = np.flatnonzero(classes == c)
        out[rows] = rng.multinomial(lengths[rows], share[c])
    return out


def fill_tokens(data: Data, posterior: Floats, share: Floats) -> Floats:
    """Return the expected counts of all columns, given those that were observed.

    If the observed columns contain a share s of a class's tokens, n observed tokens imply n / s tokens in total.
    """
    observed = ~np.isnan(data.floats())
    held = observed @ share.T  # (rows, classes)
    per_share = np.divide(row_sums(data)[:, None], held, out=np.zeros_like(held), where=held > 0)
    return np.asarray((posterior * per_share) @ share)
