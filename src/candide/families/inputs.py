"""What linear scores are linear in: cells, squares of cells, one column for each value of a category, tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ..data.categories import Lookup
from ..exceptions import ParameterError
from ..kernels import Kernels
from ..kernels.layouts import Array, Data, Dense, Sparse
from ..lazy_dataclass import dataclass
from .slots import labels_of

if TYPE_CHECKING:
    from .categorical_likelihood import CategoricalLikelihood
    from .terms import KnownTokens


class InputNames(NamedTuple):
    """How people call the inputs, and which column (and value of it) each is about."""

    inputs: Array
    columns: Array
    values: Array | None = None


class Inputs(Protocol):
    """From rows to inputs."""

    def names(self, columns: Array) -> InputNames:
        """Of the inputs, given those of the columns."""

    def read(self, data: Any, kernels: Kernels) -> Data:
        """The inputs of rows; NaN where a cell is missing, unless its absence adds nothing."""


@dataclass(frozen=True)
class Cells:
    """The cells themselves, or whether they are above a threshold."""

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
    """A 1 for the value that a cell holds; nothing where it is missing, or has a value that is passed over."""

    likelihood: CategoricalLikelihood

    @property
    def sizes(self) -> Array:
        """How many inputs each column has; what nobody saw is one only if it has a share."""
        spare = self.likelihood.family.unseen == "smooth"
        return np.array([look.size + spare for look, _ in self.likelihood.columns])

    def names(self, columns: Array) -> InputNames:
        owners = np.repeat(np.asarray(columns, dtype=object), self.sizes)
        values = np.empty(len(owners), dtype=object)
        values[:] = [value for look, _ in self.likelihood.columns for value in self._values(look)]
        inputs = [f"{column}={value}" for column, value in zip(owners, values, strict=True)]
        return InputNames(np.array(inputs, dtype=object), owners, values)

    def _values(self, look: Lookup) -> list[Any]:
        labels = labels_of(look).tolist()
        others = ["(other codes)"] * (look.size - len(labels))
        return [*labels, *others, *["(unseen)"] * (self.likelihood.family.unseen == "smooth")]

    def read(self, data: Dense, kernels: Kernels) -> Sparse:
        codes, sizes = self.likelihood.codes(data, kernels).floats(), self.sizes
        last = [look.size for look, _ in self.likelihood.columns]
        code = np.minimum(np.nan_to_num(codes, nan=-1.0), last).astype(np.int64)
        on = (code >= 0) & (code < sizes)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        indptr = np.concatenate([[0], np.cumsum(on.sum(axis=1))])
        return Sparse(indptr, (code + starts[:-1])[on], np.ones(int(indptr[-1])), int(starts[-1]))


@dataclass(frozen=True)
class Tokens:
    """What the tokens of a text weigh."""

    known: KnownTokens
    cells: Inputs

    def names(self, columns: Array) -> InputNames:
        return self.cells.names(columns)

    def read(self, data: Any, kernels: Kernels) -> Data:
        return self.cells.read(self.known.rows(data, kernels), kernels)


def not_linear(why: str, cure: str) -> ParameterError:
    """The scores of this model are no linear function of anything simple."""
    return ParameterError(f"this model has no linear form: {why}; {cure}")
