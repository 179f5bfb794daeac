"""How much each term of the log-odds could differ, because parameters were learned from few rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import ParameterError
from ..families import Multinomial
from ..families.score_terms import cells_of
from ..families.text_likelihood import TextLikelihood
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Floats, Sparse
from ..model.classifier import Classifier
from ..model.marginal_likelihood import prior_variance
from .values import or_none

if TYPE_CHECKING:
    from .terms import Term


@dataclass(frozen=True)
class Certainty:
    """The posterior of a model's parameters, as far as it concerns one row."""

    model: Classifier
    row: Any
    kernels: Kernels

    def deviations(self, terms: Sequence[Term], of: int, against: int) -> Floats:
        """Posterior standard deviations of the terms of the log-odds; NaN where the posterior gives none."""
        if self.model.bound_spec.corrects:
            raise ParameterError(
                "credible intervals are those of the parameters of a naive model, and this one is calibrated or "
                "stacked; pass calibrate=None (and a single family), or leave out level"
            )
        variance = np.full(len(terms), np.nan)
        cells = [i for i, term in enumerate(terms) if term.kind in ("cell", "token")]
        variance[cells] = self._cells(of, against)
        apart = prior_variance(self.model)
        variance[[i for i, term in enumerate(terms) if term.kind == "prior"]] = apart[of] + apart[against]
        return np.asarray(np.sqrt(variance))

    def _cells(self, of: int, against: int) -> Floats:
        family, statistics, row = self.model.family, self.model.state.statistics, self.row
        likelihood: Any = self.model.likelihood
        if isinstance(likelihood, TextLikelihood):
            row, family = likelihood.rows(row, self.kernels), likelihood.family.inner
            statistics = likelihood.known.counts
        rows = one_cell_each(row, zeros=isinstance(family, Multinomial))
        if rows is None:
            return np.full(len(cells_of(row)[0]), np.nan)
        each = family.score_variance(rows, statistics, self.kernels)
        first, second = (np.full(rows.n_rows, place, dtype=np.int32) for place in (of, against))
        together = family.score_covariance(rows, first, second, statistics)
        return np.asarray(np.maximum(each[:, of] + each[:, against] - 2 * together, 0.0))


def one_cell_each(row: Data, *, zeros: bool) -> Data | None:
    """A row for each cell, with nothing but it: others are missing, or 0 where a 0 says nothing.

    None for sparse rows of which a cell that is 0 says something: it cannot be left out.
    """
    if isinstance(row, Sparse):
        if not zeros:
            return None
        places = np.arange(len(row.indices) + 1, dtype=row.indptr.dtype)
        return Sparse(places, row.indices, row.values, row.n_columns)
    known = [j for j in range(row.n_columns) if or_none(row.column(j)[:1].tolist()[0]) is not None]
    columns = tuple(_alone(row.column(j), known, j, zeros) for j in range(row.n_columns))
    return Dense.of(columns, row.names)


def _alone(column: Array, known: list[int], j: int, zeros: bool) -> Array:
    """The cell of a column in its own row, and missing values in all others."""
    nothing: Any = None if column.dtype == object else 0.0 if zeros else np.nan
    out = np.full(len(known), nothing, dtype=object if column.dtype == object else np.float64)
    if j in known:
        out[known.index(j)] = column[0]
    return out
