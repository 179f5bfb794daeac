"""A database query as a source: counted by the database where possible, otherwise fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...data.arrow_batches import labeled_cells
from ...data.column_selection import Roles
from ...data.column_types import check_label_type
from ...exceptions import InputError
from ...families import Batch, Bernoulli, Categorical, Complement, Gaussian, Multinomial, Poisson
from ...families.table import TableFamily
from ...kernels.layouts import Dense
from ...model.accumulator import PartialState
from ...model.model import Model
from ...model.source import Chunk
from ...model.state import State
from ...model.train import Summarize
from ...specs import BoundSpec
from ...statistics.table import TableStatistics, hstack
from ..engine_source import EngineSource
from .query import Classes, Extent, Query, cell_by_cell, counts, distinct, extents, moments, row_by_row

# Maximum number of (class, number) pairs that are fetched; of columns with more pairs, all numbers are.
MOST_VALUES = 50_000
# Number of first rows used to estimate the number of distinct values of a column.
_HEAD = 10_000
_COUNTS = (Bernoulli, Multinomial, Complement, Poisson)


class DatabaseSource(EngineSource):
    """The rows of a query that have a label and a weight."""

    def __init__(self, query: Query) -> None:
        self._query = query
        self._head: Chunk | None = None
        self.names = query.schema.names

    @property
    def roles(self) -> Roles:  # type: ignore[override]
        return self._query.roles

    def with_roles(self, roles: Roles) -> DatabaseSource:
        return DatabaseSource(replace(self._query, roles=roles))

    def with_types(
        self, schema: Mapping[Any, str], *, of_texts: bool = False, missing: tuple[str, ...] = ()
    ) -> DatabaseSource:
        label = self.roles.label
        if of_texts or label not in schema:
            return self
        return DatabaseSource(replace(self._query, label_type=check_label_type(label, schema[label])))

    @cached_property
    def _classes(self) -> Classes:
        return Classes.of(self._query)

    def head(self, n: int) -> Chunk:
        if self.roles.weight is not None:
            _ = self._classes  # an error if weights are negative, missing or infinite
        self._head = super().head(n)
        return self._head

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        query = self._query
        among = f" AND ({' OR '.join(map(query.is_known, having))})" if having else ""
        table = query.ask(query.cells, f"{query.rows}{among} LIMIT {n}")
        if not table.num_rows:
            return None
        rows = labeled_cells(table.combine_chunks().to_batches()[0], self.roles)
        return Chunk(rows.X, rows.y, rows.weight)

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        return row_by_row(self._query, n_bytes)

    def summarize(self, task: Summarize, start: int = 0) -> Iterator[PartialState]:
        """Yield the state of all rows: counted by the database if that is faster and no rows are kept, else fetched."""
        if task.bound.budget is not None or not self._query.database.counts or not can_count(task.bound.family):
            with _of_an_answer():
                yield task.whole(self.batches(task.group_bytes), 0)
            return
        classes, head = self._classes, self._head or self.head(_HEAD)
        state = Counting(self._query, classes, task.model, head.X, task.group_bytes).state()
        n_rows, n_unlabeled = int(classes.n_rows.sum()), classes.n_without_label
        yield PartialState(state, frozenset([0]), n_rows + n_unlabeled, n_unlabeled)


def can_count(family: Any) -> bool:
    """Return whether the sums of a family can be computed column by column."""
    if isinstance(family, TableFamily):
        return not family.blocks
    return isinstance(family, (Gaussian, Categorical, *_COUNTS))


class Counting:
    """Counts the columns of a query in the database; ``head`` contains some of the rows."""

    def __init__(self, query: Query, classes: Classes, model: Model, head: pa.Table, group_bytes: int) -> None:
        self._query, self._classes, self._model, self._head = query, classes, model, head
        self._group_bytes = group_bytes

    def state(self) -> State:
        """Return the state of all rows, without a sample."""
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
        """Count columns by sums, except those that are not numeric or contain very large or small numbers."""
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
        """Raise an error if the family does not accept the smallest or the largest number of a column."""
        if not found:
            return
        columns = Dense.of(tuple(np.array(extent[:2]) for extent in found.values()), tuple(found))
        with _of_an_answer():
            family.observe(Batch(columns, np.arange(2, dtype=np.int32), None, 2), self._model.kernels)

    # Tables.

    def _table(self, family: TableFamily) -> dict[str, Any]:
        """Count columns by value, and columns of texts or of many numbers row by row."""
        kinds = dict(zip(family.names, self._model.state.statistics.kinds, strict=True))
        names = self._query.roles.columns
        tried = {name: self._by_value(name, self._most(name, kinds[name])) for name in names}
        made = {name: part for name, part in tried.items() if part is not None}
        return made | self._by_row([name for name in names if name not in made])

    def _most(self, name: str, kind: str) -> int | None:
        """Return the maximum number of values of a column to fetch; None for no limit."""
        if kind == "text":
            return 0
        if kind != "number" or self._classes.n_rows.sum() <= MOST_VALUES:
            return None
        column = self._head.column(name)
        looks_continuous = 2 * pc.count_distinct(column).as_py() > len(column)
        return 0 if looks_continuous else MOST_VALUES

    # Cells that are fetched.

    def _by_value(self, name: str, most: int | None = None) -> Any:
        """Return the counts of a column by value; None if it has more values than ``most``."""
        chunk = None if most == 0 else distinct(self._query, name, most)
        return None if chunk is None else self._counted([chunk])

    def _by_row(self, names: list[str]) -> dict[str, Any]:
        """Count columns in one pass, except for date columns, each of which expands to several columns."""
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
            model = self._model
            task = SummarizeColumns(
                model.spec, model.schema, model.classifier.bound_spec, model.kernels, self._group_bytes,
                model.classifier,
            )  # fmt: skip
            state = task.whole(chunks, 0).state
            assert state is not None
            return state.among(self._classes.index).statistics


class SummarizeColumns(Summarize):
    """Summarizes chunks that contain only some of the columns."""

    def read_rows(self, X: Any, learned: Any) -> Any:
        data, family = self.spec.read_columns(X, self.schema, learned)
        self.bound = BoundSpec(family)
        return data


@contextmanager
def _of_an_answer() -> Iterator[None]:
    """Add to errors that the row numbers refer to the query result."""
    try:
        yield
    except InputError as error:
        error.args = (f"{error} (row numbers refer to the result of the query)",)
        raise
