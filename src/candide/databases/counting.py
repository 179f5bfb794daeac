"""Which sums the database makes, which are made of cells that it sends, and both as one state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..clusters.rows import Chunk
from ..data.labeled_rows import LabeledRows, read_labels, read_weights
from ..exceptions import InputError
from ..families import Batch, Bernoulli, Categorical, Complement, Gaussian, Multinomial, Poisson
from ..families.table import TableFamily
from ..kernels.layouts import Dense
from ..model.accumulator import Accumulator, summarize
from ..model.model import Model
from ..model.state import State
from ..specs import BoundSpec
from ..statistics.table import TableStatistics, hstack
from .cells import in_cells
from .classes import Classes
from .query import Query
from .sums import Extent, counts, extents, moments
from .values import cell_by_cell, distinct

# Pairs of class and number that are fetched; columns of more are asked for in cells.
MOST_VALUES = 50_000
_COUNTS = (Bernoulli, Multinomial, Complement, Poisson)


def can_count(family: Any) -> bool:
    """Whether the sums of a family are those of its columns, one by one."""
    if isinstance(family, TableFamily):
        return not family.blocks
    return isinstance(family, (Gaussian, Categorical, *_COUNTS))


class Counting:
    """Counts the columns of a query as a model does; ``head``: some of the rows."""

    def __init__(self, query: Query, classes: Classes, model: Model, head: pa.Table, group_bytes: int) -> None:
        self._query, self._classes, self._model, self._head = query, classes, model, head
        self._group_bytes = group_bytes

    def state(self) -> State:
        """The sums of all rows; none is kept."""
        family: Any = self._model.classifier.bound_spec.family
        names, classes = self._query.roles.columns, self._classes
        if isinstance(family, TableFamily):
            parts = self._table(family)
        elif isinstance(family, Categorical):
            parts = {name: self._by_value(name) for name in names}
        else:
            parts = self._numbers(family)
        statistics: Any = hstack([parts[name] for name in names], classes.weight)
        if isinstance(statistics, TableStatistics):
            statistics = replace(statistics, squares=classes.squares)
        return State(classes.index, np.zeros(len(classes.index), dtype=bool), statistics)

    # Numbers of one family.

    def _numbers(self, family: Any) -> dict[str, Any]:
        """By sums, but for columns that are no numbers in the database, or of very large or small ones."""
        names = [name for name in self._query.roles.columns if self._query.is_number(name)]
        found = extents(self._query, names)
        self._refuse(family, found)
        made = self._sums(family, [name for name in names if found[name].is_moderate])
        return made | self._by_row([name for name in self._query.roles.columns if name not in made])

    def _sums(self, family: Any, names: list[str]) -> dict[str, Any]:
        if isinstance(family, Gaussian):
            return dict(moments(self._query, names, self._classes))
        on_off = isinstance(family, Bernoulli)
        return dict(counts(self._query, names, self._classes, family.threshold if on_off else None, presence=on_off))

    def _refuse(self, family: Any, found: dict[str, Extent]) -> None:
        """What a family refuses of numbers, it refuses of the least and the largest of them."""
        if not found:
            return
        columns = Dense.of(tuple(np.array(extent[:2]) for extent in found.values()), tuple(found))
        with _of_an_answer():
            family.observe(Batch(columns, np.arange(2, dtype=np.int32), None, 2), self._model.kernels)

    # Tables.

    def _table(self, family: TableFamily) -> dict[str, Any]:
        """By values; columns of many numbers in cells of their bits, if the database can; all others row by row."""
        kinds = dict(zip(family.names, self._model.state.statistics.kinds, strict=True))
        names = self._query.roles.columns
        tried = {name: self._by_value(name, self._most(name, kinds[name])) for name in names}
        made = {name: part for name, part in tried.items() if part is not None}
        made |= self._in_cells([name for name in names if name not in made and kinds[name] == "number"])
        return made | self._by_row([name for name in names if name not in made])

    def _most(self, name: str, kind: str) -> int | None:
        """How many values of a column are fetched; None: all there are."""
        if kind == "text":
            return 0
        if kind != "number" or self._classes.n_rows.sum() <= MOST_VALUES:
            return None
        column = self._head.column(name)
        looks_continuous = 2 * pc.count_distinct(column).as_py() > len(column)
        return 0 if looks_continuous else MOST_VALUES

    def _in_cells(self, names: list[str]) -> dict[str, Any]:
        """Columns of numbers, as far as there is a way to their bits, and none is very large or small."""
        found = extents(self._query, [name for name in names if self._query.leading_bits(name, 0) is not None])
        exact = moments(self._query, [name for name in found if found[name].is_moderate], self._classes)
        cells = {name: self._counted([in_cells(self._query, name)]) for name in exact}
        return {name: replace(part, moments=exact[name]) for name, part in cells.items()}

    # Cells that are fetched.

    def _by_value(self, name: str, most: int | None = None) -> Any:
        """None if a column has more values than ``most``."""
        chunk = None if most == 0 else distinct(self._query, name, most)
        return None if chunk is None else self._counted([chunk])

    def _by_row(self, names: list[str]) -> dict[str, Any]:
        """In one pass, but for dates, each of which makes several columns."""
        dates = [name for name in names if pa.types.is_temporal(self._query.types.field(name).type)]
        others = [name for name in names if name not in dates]
        made = {name: self._streamed([name]) for name in dates}
        if others:
            together = self._streamed(others)
            made |= {name: together.only(j) for j, name in enumerate(others)}
        return made

    def _streamed(self, names: list[str]) -> Any:
        return self._counted(cell_by_cell(self._query, names, self._group_bytes))

    def _counted(self, chunks: Iterable[Chunk]) -> Any:
        with _of_an_answer():
            return _sums(self._model, chunks).among(self._classes.index).statistics


def _sums(model: Model, chunks: Iterable[Chunk]) -> State:
    """The sums of some columns, whose chunks are tables of these alone."""
    accumulator, kernels = Accumulator(), model.kernels
    for X, y, weight in chunks:
        data, family = model.read_columns(X)
        rows = LabeledRows(data, *read_labels(y, data.n_rows, kernels), read_weights(weight, data.n_rows))
        accumulator.add(summarize(BoundSpec(family), rows, kernels))
    return accumulator.total()


@contextmanager
def _of_an_answer() -> Iterator[None]:
    """Rows in errors are not those of the table."""
    try:
        yield
    except InputError as error:
        error.args = (f"{error} (rows are counted in an answer of the database)",)
        raise
