"""Scores as linear functions of simple inputs, derived from the terms of a likelihood.

Inputs are cells, squares of cells, one indicator for each value of a category, or tokens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Sparse
from ..kernels.tables import LinearTable
from ..lazy_dataclass import dataclass
from .categorical_likelihood import labels_of
from .feature_sets import KnownTokens
from .linear import LinearTerm
from .score_terms import CodeTable, JointNormal, LogGamma, LogQuadratic, Quadratic, RowTotal, Term
from .table_likelihood import TableLikelihood
from .text_likelihood import TextLikelihood


class InputNames(NamedTuple):
    """Names of the inputs, and the column (and value) that each belongs to."""

    inputs: Array
    columns: Array
    values: Array | None = None


class Inputs(Protocol):
    """The inputs of linear scores."""

    def names(self, columns: Array) -> InputNames:
        """Return the names of the inputs, given those of the columns."""

    def read(self, data: Any, kernels: Kernels) -> Data:
        """Return the inputs of rows; NaN where a cell is missing, unless a missing cell adds 0."""


@dataclass(frozen=True)
class Cells:
    """The cells, or whether they are above a threshold."""

    threshold: float | None = None

    def names(self, columns: Array) -> InputNames:
        names = np.array(columns, dtype=object)
        return InputNames(names, names)

    def read(self, data: Data, kernels: Kernels) -> Data:
        if self.threshold is None:
            return data
        if isinstance(data, Sparse):
            return replace(data, values=_above(data.values, self.threshold))
        return Dense.of(_above(data.floats(), self.threshold), data.names)


def _above(values: Array, threshold: float) -> Array:
    return np.where(np.isnan(values), np.nan, values > threshold)


@dataclass(frozen=True)
class CellsAndSquares:
    """The cells, then their squares."""

    def names(self, columns: Array) -> InputNames:
        names = np.asarray(columns, dtype=object)
        squares = [f"{name}²" for name in names]
        return InputNames(np.append(names, squares), np.tile(names, 2))

    def read(self, data: Data, kernels: Kernels) -> Data:
        if not isinstance(data, Sparse):
            x = data.floats()
            return Dense.of(np.hstack([x, np.square(x)]))
        from scipy.sparse import hstack

        x = data.matrix().astype(np.float64)
        return Sparse.of(hstack([x, x**2], format="csr"))


@dataclass(frozen=True)
class OneHot:
    """1 for the value that a cell holds. Missing cells and values without a code of their own have no input."""

    tables: tuple[CodeTable, ...]  # of the columns
    codes: Callable[[Dense, Kernels], Dense]

    @property
    def sizes(self) -> Array:
        """How many inputs each column has."""
        return np.array([len(table.table) for table in self.tables])

    def names(self, columns: Array) -> InputNames:
        owners = np.repeat(np.asarray(columns, dtype=object), self.sizes)
        values = np.empty(len(owners), dtype=object)
        values[:] = [value for table in self.tables for value in _values(table)]
        inputs = [f"{column}={value}" for column, value in zip(owners, values, strict=True)]
        return InputNames(np.array(inputs, dtype=object), owners, values)

    def read(self, data: Dense, kernels: Kernels) -> Sparse:
        codes, sizes = self.codes(data, kernels).floats(), self.sizes
        last = [table.lookup.size for table in self.tables if table.lookup is not None]
        code = np.minimum(np.nan_to_num(codes, nan=-1.0), last).astype(np.int64)
        on = (code >= 0) & (code < sizes)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        indptr = np.concatenate([[0], np.cumsum(on.sum(axis=1))])
        return Sparse(indptr, (code + starts[:-1])[on], np.ones(int(indptr[-1])), int(starts[-1]))


def _values(table: CodeTable) -> list[Any]:
    assert table.lookup is not None
    labels = labels_of(table.lookup).tolist()
    others = ["(other codes)"] * (table.lookup.size - len(labels))
    return [*labels, *others, *["(unseen)"] * (table.unseen is not None)]


@dataclass(frozen=True)
class Tokens:
    """The weights of a text's tokens."""

    known: KnownTokens
    cells: Inputs

    def names(self, columns: Array) -> InputNames:
        return self.cells.names(columns)

    def read(self, data: Any, kernels: Kernels) -> Data:
        return self.cells.read(self.known.rows(data, kernels), kernels)


class LinearScores(NamedTuple):
    """Scores as linear functions of inputs, up to a term that is the same for all classes."""

    inputs: Inputs
    finite: LinearTerm
    limits: tuple[LinearTerm, ...] = ()

    def times(self, factor: float) -> LinearScores:
        """Return the scores multiplied by a number, such as an inverse temperature; limits stay."""
        return self._replace(finite=self.finite.times(factor))

    def plus(self, offset: Floats) -> LinearScores:
        """Return the scores with a number added for each class."""
        return self._replace(finite=replace(self.finite, base=self.finite.base + offset))


def not_linear(why: str, remedy: str) -> ParameterError:
    """Return the error of a model whose scores are not linear in any of the inputs."""
    return ParameterError(f"this model has no linear form: {why}; {remedy}")


# Why a kind of term is not linear, and what to do.
_NOT_LINEAR: dict[type[Term], tuple[str, str]] = {
    LogQuadratic: (
        "estimate='predictive' gives every column a Student's t, the logarithm of 1 + a square",
        "choose estimate='mle', 'mean' or 'map', with variance='shared'",
    ),
    RowTotal: (
        "tokens are drawn from shares that differ from row to row: each counts for less than the one before",
        "choose estimate='mean' (TextNB: model='multinomial')",
    ),
    LogGamma: (
        "estimate='predictive' makes every count a negative binomial, whose logarithm bends with the count",
        "choose estimate='mean'",
    ),
    JointNormal: ("a full covariance has products of columns in it", "take GaussianNB(variance='shared')"),
}


def linear_scores(likelihood: Any, *, squares: bool) -> LinearScores:
    """Return the scores of a likelihood as linear functions; an error where they are not linear.

    ``squares``: squares of cells may be among the inputs.
    """
    if isinstance(likelihood, TableLikelihood):
        raise not_linear(
            "NaiveBayes models each column in a way of its own, by bins and kernels among others",
            "train the model of one family, such as CategoricalNB, or GaussianNB(variance='shared')",
        )
    if isinstance(likelihood, TextLikelihood):
        made = linear_scores(likelihood.inner, squares=squares)
        return made._replace(inputs=Tokens(likelihood.known, made.inputs))
    finite, limits = likelihood.terms
    kinds = {type(term) for term in finite}
    reason = next((reason for kind, reason in _NOT_LINEAR.items() if kind in kinds), None)
    if reason is not None:
        raise not_linear(*reason)
    if kinds == {CodeTable}:
        tables = [_one_hot_term(terms) for terms in (finite, *limits)]
        return LinearScores(OneHot(finite, likelihood.codes), tables[0], tuple(tables[1:]))
    (term,) = finite
    if isinstance(term, Quadratic):
        return _quadratic(term, is_limit=bool(limits), squares=squares)
    # Inputs are compared with the threshold when they are read.
    terms = [replace(own, threshold=None) for (own,) in ((term,), *limits)]
    return LinearScores(Cells(term.threshold), terms[0], tuple(terms[1:]))


def _one_hot_term(tables: tuple[CodeTable, ...]) -> LinearTerm:
    weights = np.ascontiguousarray(np.concatenate([table.table for table in tables]).T)
    return LinearTerm(LinearTable(weights), np.zeros(len(weights)))


def _quadratic(term: Quadratic, *, is_limit: bool, squares: bool) -> LinearScores:
    """With one variance for all classes linear in x; with any variances linear in x and x²."""
    if is_limit:
        raise not_linear(
            "a column has no variance within a class, so that its weight would be infinite",
            "set var_smoothing above 0, or estimate='mean'",
        )
    constant, spread, center = term.constant, term.spread, term.center
    if squares:
        at_zero = constant - spread * center**2
        weights = np.hstack([2 * spread * center, -spread])
        table = LinearTable(weights, np.hstack([-at_zero, 0 * at_zero]), signed=True)
        return LinearScores(CellsAndSquares(), LinearTerm(table, at_zero.sum(axis=1)))
    if np.ptp(spread, axis=0).any() or np.ptp(constant, axis=0).any():
        raise not_linear(
            "the classes have variances of their own, which makes the log-odds quadratic",
            "give them one with variance='shared', or call as_linear(squares=True), which is linear in x and x²",
        )
    # Measured from the mean of the classes' means: what all classes share is left out, which would cost digits.
    middle = center.mean(axis=0)
    away = spread * (center - middle)
    at_zero = -away * (center + middle)
    return LinearScores(Cells(), LinearTerm(LinearTable(2 * away, -at_zero, signed=True), at_zero.sum(axis=1)))
