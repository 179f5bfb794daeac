"""Rows of a database, as a distributed engine provides them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..clusters import Settled
from ..clusters.rows import ArrowRows, Chunk
from ..data.arrow_batches import labelled_cells
from ..data.column_selection import Roles
from ..model.accumulator import PartialState
from ..model.state import State
from ..statistics import Sample
from ..statistics.kept_rows import row_bytes
from ..training import PartitionCounter
from .classes import Classes
from .counting import Counting, can_count
from .query import Query
from .values import row_by_row

# Rows are picked if there are more than so many times those that are kept; of fewer, all come, and are counted here.
_MANY = 4


class DatabaseRows(ArrowRows, Settled):
    """The rows of a query that have a label and a weight."""

    def __init__(self, query: Query, n_threads: int | None) -> None:
        self._query, self._n_threads = query, n_threads

    def rows(self, *given: Any, **options: Any) -> DatabaseRows:
        """These: they know all that a cluster is told of rows."""
        return self

    @property
    def roles(self) -> Roles:
        return self._query.roles

    def head(self, n: int) -> Chunk:
        """First rows by which all others are read, of every column some that hold something."""
        self._classes = Classes.of(self._query)  # which says so if there are no rows, or if weights are odd
        self._head = super().head(n)
        return self._head

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        query = self._query
        among = f" AND ({' OR '.join(map(query.is_known, having))})" if having else ""
        table = query.ask(query.cells, f"{query.rows}{among} LIMIT {n}")
        if not table.num_rows:
            return None
        rows = labelled_cells(table.combine_chunks().to_batches()[0], self.roles)
        return rows.X, rows.y, rows.weight

    def count(self, counter: PartitionCounter) -> PartialState:
        """Return the state of all rows: counted by the database where it can, unless all rows are needed here."""
        # No other machine counts beside this one.
        model = replace(counter.model, spec=replace(counter.model.spec, n_threads=self._n_threads))
        counter = replace(counter, model=model)
        classes, bound_spec = self._classes, model.classifier.bound_spec
        picked = self._picked(counter) if bound_spec.sample_bytes and can_count(bound_spec.family) else None
        state: State | None
        if can_count(bound_spec.family) and (picked is not None or not bound_spec.sample_bytes):
            counting = Counting(self._query, classes, model, self._head[0], counter.group_bytes)
            state = replace(counting.state(), sample=picked)
        else:
            state = counter.count(row_by_row(self._query, counter.group_bytes))
        return PartialState(state, frozenset([0]), int(classes.n_rows.sum()), classes.n_without_label)

    def _picked(self, counter: PartitionCounter) -> Sample | None:
        """Rows that the database picks, for none else to travel; None if all are to be looked at here."""
        query = self._query
        row_hash = query.database.row_hash([sql for sql, _ in query.cells.values()])
        if row_hash is None:
            return None
        most = counter.model.classifier.bound_spec.sample_bytes // self._row_bytes(counter)
        if self._classes.n_rows.sum() <= _MANY * np.minimum(self._classes.n_rows, most).sum():
            return None
        rest = query.rows_beside({"n": ("COUNT(*)", pa.int64())}) + f" AND {row_hash} * about.n < {most} * {1 << 32}"
        return self._sample(counter.count(row_by_row(query, counter.group_bytes, rest)))

    def _row_bytes(self, counter: PartitionCounter) -> int:
        """What a row takes, by the first ones."""
        state = counter.count([self._head])
        kept = None if state is None else state.sample
        assert kept is not None
        return max(1, int(np.mean(row_bytes(kept.data))))

    def _sample(self, state: State | None) -> Sample | None:
        """The rows that were picked, which stand for all rows."""
        kept = None if state is None else state.among(self._classes.index).sample
        return None if kept is None else replace(kept, rows=self._classes.weight)
