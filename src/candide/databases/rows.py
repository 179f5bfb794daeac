"""Rows of a database, as learners know rows that are elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ..clusters import Settled
from ..clusters.arrow_rows import ArrowRows
from ..clusters.rows import Chunk
from ..data.column_selection import Roles
from ..engines.batches import labelled_cells
from ..engines.parts import Part
from ..learners.base import BaseNB
from ..model.state import State
from ..statistics import Sample
from ..statistics.kept_rows import row_bytes
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

    def count(self, learner: Any) -> Part:
        """The sums of all rows: made by the database where they can be, unless all rows are needed here anyway."""
        classes, plan = self._classes, learner._fitted().plan
        learner.n_threads = self._n_threads  # no other machine counts beside this one
        picked = self._picked(learner) if plan.sample_bytes and can_count(plan.family) else None
        state: State | None
        if can_count(plan.family) and (picked is not None or not plan.sample_bytes):
            state = replace(Counting(self._query, classes, learner, self._head[0]).state(), sample=picked)
        else:
            state = learner.count(row_by_row(self._query, learner.group_bytes))
        return Part(state, frozenset([0]), int(classes.n_rows.sum()), classes.n_without_label)

    def _picked(self, learner: BaseNB) -> Sample | None:
        """Rows that the database picks, for none else to travel; None if all are to be looked at here."""
        query = self._query
        row_hash = query.database.row_hash([sql for sql, _ in query.cells.values()])
        if row_hash is None:
            return None
        most = learner._fitted().plan.sample_bytes // self._row_bytes(learner)
        if self._classes.n_rows.sum() <= _MANY * np.minimum(self._classes.n_rows, most).sum():
            return None
        rest = query.rows_beside({"n": ("COUNT(*)", pa.int64())}) + f" AND {row_hash} * about.n < {most} * {1 << 32}"
        return self._sample(learner.count(row_by_row(query, learner.group_bytes, rest)))

    def _row_bytes(self, learner: BaseNB) -> int:
        """What a row takes, by the first ones."""
        state = learner.count([self._head])
        kept = None if state is None else state.sample
        assert kept is not None
        return max(1, int(np.mean(row_bytes(kept.data))))

    def _sample(self, state: State | None) -> Sample | None:
        """The rows that were picked, which stand for all rows."""
        kept = None if state is None else state.among(self._classes.index).sample
        return None if kept is None else replace(kept, rows=self._classes.weight)
