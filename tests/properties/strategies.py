"""What the laws are tried on: small tables of rows with classes and weights, and statistics made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from reference import ReferenceKernels
from scipy.sparse import csr_array

from candide.data.categories import read_categories
from candide.data.columns import Columns
from candide.data.table import table_of
from candide.families import Batch, Bernoulli, Categorical, Gaussian, Multinomial, MultivariateNormal
from candide.kernels.layouts import Array, Data, Dense, Floats, Sparse
from candide.statistics import Counts, Grid, Sample
from candide.statistics.base import Budget

from .models import Kind, as_texts

LABELS = np.array(["ant", "bee", "cat"])
N_COLUMNS = 3


@dataclass(frozen=True)
class Rows:
    """Cells, labels and whole weights of some rows, at least one of which has weight."""

    X: Floats
    y: Array
    weight: Floats

    def take(self, rows: Array) -> Rows:
        return Rows(self.X[rows], self.y[rows], self.weight[rows])

    @property
    def has_weight(self) -> bool:
        return bool(self.weight.any())


_HOLE = [np.nan]
_COUNTS = [0.0, 1.0, 2.0, 3.0, 4.0]
_QUARTERS = [sign * n / 4 for n in range(33) for sign in (1, -1)]


def numbers(draw: Any, shape: tuple[int, ...], values: list[float]) -> Floats:
    """An array of the given values; one draw of bytes is much faster than one draw per cell."""
    size = int(np.prod(shape))
    drawn = np.frombuffer(draw(st.binary(min_size=size, max_size=size)), dtype=np.uint8)
    return np.array(values)[drawn % len(values)].reshape(shape)


def cell_values(kind: Kind, *, missing: bool = True) -> list[float]:
    """The cells of a kind: quarters between -8 and 8, or whole numbers from 0 to 4; some missing."""
    known = _QUARTERS if kind.measures else _COUNTS
    return known + _HOLE * (len(known) // 4) if missing else known


@st.composite
def rows(draw: Any, kind: Kind, *, missing: bool = True, least: int = 1, n_columns: int | None = None) -> Rows:
    """A table for one kind of model."""
    n = draw(st.integers(least, 10))
    X = numbers(draw, (n, n_columns or draw(st.integers(1, 4))), cell_values(kind, missing=missing))
    y = LABELS[numbers(draw, (n,), [0, 1, 2])]
    weight = numbers(draw, (n,), [1.0, 0.0, 2.0, 3.0])
    weight[draw(st.integers(0, n - 1))] = 1.0
    return Rows(X, y, weight)


@st.composite
def orders(draw: Any, n: int) -> Array:
    """A permutation of ``n`` things."""
    return np.random.default_rng(draw(st.integers(0, 1000))).permutation(n)


@st.composite
def parts(draw: Any, table: Rows, most: int = 4) -> list[Rows]:
    """The rows dealt out in any order; every part has weight, and classes or values may be in one part only."""
    deal = numbers(draw, (len(table.y),), list(range(most)))
    order = draw(orders(len(table.y)))
    dealt = [table.take(order[deal[order] == part]) for part in range(most)]
    return [part for part in dealt if part.has_weight]


@st.composite
def altered(draw: Any, table: Rows, kind: Kind) -> Rows:
    """Some of the rows, each once, with a few cells that may differ."""
    some = table.take(np.flatnonzero((numbers(draw, (len(table.y),), [0, 1]) > 0) & (table.weight > 0)))
    if not len(some.y):
        some = table.take(np.array([int(table.weight.argmax())]))
    change = numbers(draw, some.X.shape, [0, 0, 0, 1]) > 0
    X = np.where(change, numbers(draw, some.X.shape, cell_values(kind)), some.X)
    return Rows(X, some.y, np.ones(len(some.y)))


@st.composite
def batches(draw: Any, values: list[float]) -> tuple[Floats, Array, Floats]:
    """Cells, positions among three classes, and whole weights; perhaps no rows at all."""
    n = draw(st.integers(0, 7))
    classes = numbers(draw, (n,), [0, 1, 2]).astype(np.int32)
    return numbers(draw, (n, N_COLUMNS), values), classes, numbers(draw, (n,), [1.0, 0.0, 2.0, 3.0])


_COUNT = [0.0, 0.0, 1.0, 2.0, 5.0, np.nan]
_MEASURE = [*_QUARTERS, *_HOLE * 16]


def _counted(batch: tuple[Floats, Array, Floats]) -> Counts:
    X, classes, weight = batch
    return Multinomial().observe(Batch(Dense.of(X), classes, weight, 3), ReferenceKernels())


def _present(batch: tuple[Floats, Array, Floats]) -> Counts:
    X, classes, weight = batch
    return Bernoulli().observe(Batch(Dense.of(X), classes, weight, 3), ReferenceKernels())


def thin(counts: Counts) -> Counts:
    """The same counts, kept sparse."""
    missing = None if counts.missing is None else csr_array(counts.missing)
    return replace(counts, total=csr_array(counts.total), missing=missing)


def _categories(batch: tuple[Floats, Array, Floats], as_text: bool) -> Any:
    X, classes, weight = batch
    if not len(X):
        X, classes, weight = np.zeros((1, N_COLUMNS)), np.zeros(1, np.int32), np.zeros(1)
    data = read_categories(as_texts(np.minimum(X, 4.0)) if as_text else X)
    return Categorical().observe(Batch(data, classes, weight, 3), ReferenceKernels())


def _measured(batch: tuple[Floats, Array, Floats]) -> Any:
    X, classes, weight = batch
    return Gaussian().observe(Batch(Dense.of(X), classes, weight, 3), ReferenceKernels())


def _gridded(batch: tuple[Floats, Array, Floats]) -> Grid:
    X, classes, weight = batch
    return Grid.observe(Dense.of(X), classes, weight, 3, ReferenceKernels())


def _blocks(batch: tuple[Floats, Array, Floats]) -> Any:
    X, classes, weight = batch
    return MultivariateNormal().observe(Batch(Dense.of(X), classes, weight, 3), ReferenceKernels())


def _texts(X: Floats) -> tuple[Array, ...]:
    return tuple(as_texts(np.minimum(X, 4.0)).T)


def _table(X: Floats) -> Columns:
    return table_of(Dense.of((X[:, 0], *_texts(X[:, 1:]))), ("number", "category", "category"), ("a", "b", "c"))


# Ways in which rows of the numbers 0 to 4 may come.
FORMS: dict[str, Callable[[Floats], Data | Columns]] = {
    "numbers": Dense.of,
    "sparse": lambda X: Sparse.of(csr_array(X)),
    "texts": lambda X: Dense.of(_texts(X)),
    "both": lambda X: Dense.of((X[:, 0], *_texts(X[:, 1:]))),
    "table": _table,
}


def _sampled(batch: tuple[Floats, Array, Floats], form: str) -> Sample:
    X, classes, weight = batch
    return Sample.of(FORMS[form](X), classes, weight, 3, budget=Budget(1 << 20))


def _samples(*forms: str) -> st.SearchStrategy[Sample]:
    return st.tuples(batches(_COUNT), st.sampled_from(forms)).map(lambda pair: _sampled(*pair))


# Every statistic that the laws of the algebra range over: three classes, three columns.
STATISTICS = {
    "counts": batches(_COUNT).map(_counted),
    "presences": batches(_COUNT).map(_present),
    "counts-sparse": batches(_COUNT).map(_counted).map(thin),
    "counts-mixed": st.one_of(batches(_COUNT).map(_counted), batches(_COUNT).map(_counted).map(thin)),
    "categories": batches(_COUNT).map(lambda batch: _categories(batch, as_text=False)),
    "categories-texts": batches(_COUNT).map(lambda batch: _categories(batch, as_text=True)),
    "categories-mixed": st.tuples(batches(_COUNT), st.booleans()).map(lambda pair: _categories(*pair)),
    "moments": batches(_MEASURE).map(_measured),
    "grid": batches(_MEASURE).map(_gridded),
    "blocks": batches(_MEASURE).map(_blocks),
    "sample": _samples("numbers"),
    "sample-sparse": _samples("sparse", "numbers"),
    "sample-texts": _samples("texts", "numbers", "both", "table"),
}
