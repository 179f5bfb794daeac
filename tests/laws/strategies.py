"""What the laws are tried on: small tables of rows with classes and weights, and statistics made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from candide.encoding.categories import read_categories
from candide.families import Batch, Bernoulli, Categorical, Gaussian, Multinomial
from candide.kernels.data import Array, Dense, Floats
from candide.kernels.reference import Reference
from candide.statistics import Counts

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


def cells(kind: Kind, *, missing: bool = True) -> st.SearchStrategy[float]:
    """One cell: a quarter between -8 and 8, or a whole number from 0 to 4; sometimes missing."""
    known = st.integers(-32, 32).map(lambda n: n / 4) if kind.measures else st.integers(0, 4).map(float)
    return st.one_of(known, known, known, st.just(np.nan)) if missing else known


@st.composite
def rows(draw: Any, kind: Kind, *, missing: bool = True, least: int = 1, n_columns: int | None = None) -> Rows:
    """A table for one kind of model."""
    n = draw(st.integers(least, 10))
    width = n_columns or draw(st.integers(1, 4))
    X = draw(hnp.arrays(np.float64, (n, width), elements=cells(kind, missing=missing), fill=st.nothing()))
    y = LABELS[draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2), fill=st.nothing()))]
    weight = draw(hnp.arrays(np.float64, n, elements=st.integers(0, 3).map(float), fill=st.nothing()))
    weight[draw(st.integers(0, n - 1))] = 1.0
    return Rows(X, y, weight)


@st.composite
def parts(draw: Any, table: Rows, most: int = 4) -> list[Rows]:
    """The rows dealt out in any order; every part has weight, and classes or values may be in one part only."""
    n = len(table.y)
    deal = draw(hnp.arrays(np.int64, n, elements=st.integers(0, most - 1), fill=st.nothing()))
    order = np.array(draw(st.permutations(range(n))), dtype=np.int64)
    dealt = [table.take(order[deal[order] == part]) for part in range(most)]
    heavy = [part for part in dealt if part.has_weight]
    return heavy


@st.composite
def batches(draw: Any, elements: st.SearchStrategy[float]) -> tuple[Floats, Array, Floats]:
    """Cells, positions among three classes, and whole weights; perhaps no rows at all."""
    n = draw(st.integers(0, 7))
    X = draw(hnp.arrays(np.float64, (n, N_COLUMNS), elements=elements, fill=st.nothing()))
    classes = draw(hnp.arrays(np.int32, n, elements=st.integers(0, 2), fill=st.nothing()))
    return X, classes, draw(hnp.arrays(np.float64, n, elements=st.integers(0, 3).map(float), fill=st.nothing()))


_COUNT = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0, np.nan])
_MEASURE = st.one_of(st.integers(-40, 40).map(lambda n: n / 8), st.just(np.nan))


def _counted(batch: tuple[Floats, Array, Floats]) -> Counts:
    X, classes, weight = batch
    return Multinomial().observe(Batch(Dense.of(X), classes, weight, 3), Reference())


def _present(batch: tuple[Floats, Array, Floats]) -> Counts:
    X, classes, weight = batch
    return Bernoulli().observe(Batch(Dense.of(X), classes, weight, 3), Reference())


def _thin(counts: Counts) -> Counts:
    missing = None if counts.missing is None else csr_array(counts.missing)
    arrays = {**counts.arrays(), "total": csr_array(counts.total), "missing": missing}
    return Counts.from_arrays(arrays)


def _categories(batch: tuple[Floats, Array, Floats], as_text: bool) -> Any:
    X, classes, weight = batch
    if not len(X):
        X, classes, weight = np.zeros((1, N_COLUMNS)), np.zeros(1, np.int32), np.zeros(1)
    data = read_categories(as_texts(np.minimum(X, 4.0)) if as_text else X)
    return Categorical().observe(Batch(data, classes, weight, 3), Reference())


def _measured(batch: tuple[Floats, Array, Floats]) -> Any:
    X, classes, weight = batch
    return Gaussian().observe(Batch(Dense.of(X), classes, weight, 3), Reference())


# Every statistic that the laws of the algebra range over: three classes, three columns.
STATISTICS = {
    "counts": batches(_COUNT).map(_counted),
    "presences": batches(_COUNT).map(_present),
    "counts-sparse": batches(_COUNT).map(_counted).map(_thin),
    "counts-mixed": st.one_of(batches(_COUNT).map(_counted), batches(_COUNT).map(_counted).map(_thin)),
    "categories": batches(_COUNT).map(lambda batch: _categories(batch, as_text=False)),
    "categories-texts": batches(_COUNT).map(lambda batch: _categories(batch, as_text=True)),
    "categories-mixed": st.tuples(batches(_COUNT), st.booleans()).map(lambda pair: _categories(*pair)),
    "moments": batches(_MEASURE).map(_measured),
}
