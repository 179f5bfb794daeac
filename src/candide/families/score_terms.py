"""The description of log p(x | class) as a sum of terms of a few kinds.

Every likelihood returns its description from ``terms``. The exports to SQL, ONNX and JavaScript, the linear form and
explanations interpret the kinds of terms defined here and in ``linear.py``; none of them has a case for a family. Terms
that are equal for all classes are omitted.

Parameters of a term have the shape ``(classes, columns)``, unless noted otherwise. A missing cell adds 0, unless the
term says something else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Floats, Sparse, chunks
from ..lazy import dataclass
from ..priors import log_rising
from .base import CELLS, Scores

if TYPE_CHECKING:
    from ..data.categories import Lookup
    from .columns.transforms import Transform

# Column position of a contribution that belongs to no single cell.
REST = -1
# Scale factor small enough that products with finite cells do not overflow, and large enough that differences remain.
SHRINK = 2.0**-600


class Parts(NamedTuple):
    """The contributions of one row's cells to the score of each class, ``(parts, classes)``, and to the limits.

    Their sums are ``Likelihood.scores`` and ``Likelihood.limits`` of the row.
    """

    columns: Array  # (parts,) the position of the column that a part belongs to, or REST
    finite: Floats
    limits: tuple[Floats, ...] = ()


class Term:
    """One summand of log p(x | class).

    ``x`` are numbers of shape ``(classes, columns)`` (row i belongs to class i) or ``(rows, 1, columns)``.
    """

    @property
    def has_rest(self) -> bool:
        """Whether the term has a contribution that belongs to no single cell."""
        return False

    def cells(self, x: Floats) -> Floats | None:
        """Return the contribution of each cell, or None if contributions do not belong to single cells."""
        return None

    def rest(self, x: Floats) -> Floats:
        """Return the contribution of the row that belongs to no single cell."""
        return np.zeros(1)

    def row_parts(self, data: Data) -> tuple[Array, Floats, Floats]:
        """Return columns of one row's cells, their contributions ``(cells, classes)`` and the rest ``(classes,)``."""
        row = data.floats()
        known = np.flatnonzero(~np.isnan(row[0]))
        found, rest = self.cells(row), self.rest(row)
        if found is None:
            return known[:0], np.zeros((0, len(rest))), rest
        return known, found[:, known].T, np.broadcast_to(rest, found.shape[:1])


class ScoreTerms(NamedTuple):
    """The terms of the scores, and those of the coefficients of diverging terms (see ``Likelihood``)."""

    finite: tuple[Term, ...]
    limits: tuple[tuple[Term, ...], ...] = ()


@dataclass(frozen=True)
class Quadratic(Term):
    """``constant - spread · (x - center)²``: a normal distribution."""

    constant: Floats
    spread: Floats
    center: Floats

    def cells(self, x: Floats) -> Floats:
        return np.where(np.isnan(x), 0.0, self.constant - self.spread * np.square(x - self.center))


@dataclass(frozen=True)
class LogQuadratic(Term):
    """``constant - power · log(1 + spread · (x - center)²)``: Student's t."""

    constant: Floats
    power: Floats
    spread: Floats
    center: Floats

    def cells(self, x: Floats) -> Floats:
        square = np.square(x - self.center)
        return np.where(np.isnan(x), 0.0, self.constant - self.power * np.log1p(self.spread * square))


@dataclass(frozen=True)
class LogGamma(Term):
    """``log Γ(start + x) - log Γ(start) + slope · x + constant`` of counts: a negative binomial distribution."""

    start: Floats
    slope: Floats | float = 0.0
    constant: Floats | float = 0.0

    def cells(self, x: Floats) -> Floats:
        filled = np.nan_to_num(x, nan=0.0)
        cells = log_rising(self.start, filled) + self.constant + filled * self.slope
        return np.where(np.isnan(x), 0.0, cells)

    def row_parts(self, data: Data) -> tuple[Array, Floats, Floats]:
        if np.ndim(self.constant):
            return super().row_parts(data)
        # Counts of 0, the majority in rows of texts, add 0.
        columns, count = cells_of(data)
        columns, count = columns[count > 0], count[count > 0]
        return columns, log_rising(self.start[:, columns], count).T, np.zeros(len(self.start))


@dataclass(frozen=True)
class RowTotal(Term):
    """``log Γ(start) - log Γ(start + Σ x)``: the normalization of a Dirichlet-multinomial distribution."""

    start: Floats  # (classes,)

    @property
    def has_rest(self) -> bool:
        return True

    def rest(self, x: Floats) -> Floats:
        return np.asarray(-log_rising(self.start, np.nansum(x, axis=-1)))


@dataclass(frozen=True)
class Presence(Term):
    """``known`` where a cell has a value, ``missing`` where it has none."""

    known: Floats
    missing: Floats

    def cells(self, x: Floats) -> Floats:
        return np.where(np.isnan(x), self.missing, self.known)


@dataclass(frozen=True)
class CodeTable(Term):
    """An entry of a table: the code of a cell of one column selects a row of ``table``.

    For numbers, the code is the number of ``cuts`` less than or equal to the value; other values are found in
    ``lookup``. A missing cell has the code ``missing``, and a value without a code the code ``unseen``; if this is
    None, such cells add 0. Likelihoods with such terms look up codes themselves.
    """

    table: Floats  # (codes, classes)
    lookup: Lookup | None = None
    cuts: Floats | None = None
    missing: int | None = None
    unseen: int | None = None
    column: int = 0  # its position among the columns of the likelihood

    @cached_property
    def with_neutral(self) -> Floats:
        """The table with a last row of zeros, for cells that add 0."""
        return np.vstack([self.table, np.zeros(self.table.shape[1])])

    def code(self, code: int | None) -> int:
        """Return the row of ``with_neutral`` that a cell selects, which is the last one if it has no code."""
        return len(self.table) if code is None else code


@dataclass(frozen=True)
class Transformed(Term):
    """Terms of a transformed column. Values outside the domain of the transform count as missing."""

    transform: Transform
    terms: tuple[Term, ...]

    def cells(self, x: Floats) -> Floats:
        t = self.transform(x)
        return np.asarray(sum(cells for term in self.terms if (cells := term.cells(t)) is not None))


@dataclass(frozen=True)
class JointNormal(Term):
    """A normal or Student distribution of several columns together. ``freedom``: degrees of freedom, or infinity.

    Missing cells are integrated out: a row has the marginal density of its other cells. This is not a sum over columns,
    so explanations show one contribution, and there is no SQL expression for it.
    """

    location: Floats
    scale: Floats  # (classes, columns, columns)
    freedom: Floats  # (classes,)

    @property
    def has_rest(self) -> bool:
        return True


class TermLikelihood(ABC):
    """A likelihood of numbers defined by its terms.

    Subclasses define ``terms``, sampling and the table of parameters. They may override ``scores`` and ``limits``,
    which evaluate the terms in NumPy, with kernels.
    """

    @property
    @abstractmethod
    def terms(self) -> ScoreTerms:
        """The description of the scores."""

    @property
    def is_limit(self) -> bool:
        return bool(self.terms.limits)

    def scores(self, data: Data, offset: Floats, kernels: Kernels) -> Floats:
        return _evaluated(self.terms.finite, data) + offset

    def limits(self, data: Data, kernels: Kernels) -> list[Floats]:
        return [_evaluated(terms, data) for terms in self.terms.limits]

    def each(self, data: Data, kernels: Kernels) -> Scores:
        x = data.floats()
        finite, *limits = (_added_up(terms, x) for terms in (self.terms.finite, *self.terms.limits))
        return Scores(finite, tuple(limits))

    def parts(self, data: Data, kernels: Kernels) -> Parts:
        return row_parts(self.terms, data)

    def shrunk(self, data: Data, kernels: Kernels) -> Floats:
        return _evaluated(self.terms.finite, data) * SHRINK

    def log_base(self, data: Data) -> Floats:
        return np.zeros(data.n_rows)


def _added_up(terms: Sequence[Term], x: Floats) -> Floats:
    """Return the sum of all terms for rows."""
    parts = [term.rest(x) for term in terms]
    parts += [cells.sum(axis=-1) for term in terms if (cells := term.cells(x)) is not None]
    return np.asarray(sum(parts))


def _evaluated(terms: Sequence[Term], data: Data) -> Floats:
    """Return the sum of terms under all classes, ``(rows, classes)``, a few rows at a time."""
    step = max(1, CELLS // max(1, data.n_columns))
    return np.concatenate([_added_up(terms, part.floats()[:, None, :]) for _, _, part in chunks(data, step)])


def row_parts(terms: ScoreTerms, data: Data) -> Parts:
    """Return the contributions of the cells of one row."""
    groups = [[term.row_parts(data) for term in group] for group in (terms.finite, *terms.limits)]
    named = [column for group in groups for columns, _, _ in group for column in columns.tolist()]
    position = {column: i for i, column in enumerate(dict.fromkeys(named))}
    finite, *limits = (_row_table(group, position) for group in groups)
    columns = np.array([*position, REST], dtype=np.int64)
    kept = slice(None) if any(term.has_rest for term in terms.finite) else slice(-1)
    return Parts(columns[kept], finite[kept], tuple(limit[kept] for limit in limits))


def _row_table(parts: list[tuple[Array, Floats, Floats]], position: dict[int, int]) -> Floats:
    """Add up the contributions of several terms, ``(columns and the rest, classes)``."""
    out = np.zeros((len(position) + 1, max(len(rest) for _, _, rest in parts)))
    for columns, cells, rest in parts:
        out[[position[column] for column in columns.tolist()]] += cells
        out[-1] += rest
    return out


def cells_of(data: Data) -> tuple[Array, Floats]:
    """Return the columns and numbers of one row: those that are observed, or those that a sparse row stores."""
    if isinstance(data, Sparse):
        return data.indices, np.asarray(data.values, dtype=np.float64)
    row = data.floats()[0]
    columns = np.flatnonzero(~np.isnan(row))
    return columns, row[columns]
