"""Rows of a database, as learners know rows that are elsewhere."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..encoding.roles import Roles
from ..engines.batches import labelled_cells
from ..engines.parts import Part
from ..learners.base import BaseNB
from ..model.state import State
from ..statistics import Sample
from ..statistics.cells import row_bytes
from .classes import Classes
from .counting import Counting, can_count
from .query import Query
from .values import Chunk, row_by_row

# Rows are picked if there are more than so many times those that are kept; of fewer, all come, and are counted here.
_MANY = 4


class DatabaseRows:
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
        self._head = self._some(n, [])
        while empty := [name for name in self.roles.columns if _is_empty(self._head.column(name))]:
            more = self._some(n, empty)
            if not more.num_rows:
                break
            self._head = pa.concat_tables([self._head, more])
        return self._first()

    def _some(self, n: int, known: list[str]) -> pa.Table:
        """First rows; those that hold something in one of these columns."""
        query = self._query
        among = f" AND ({' OR '.join(map(query.is_known, known))})" if known else ""
        return query.ask(query.cells, f"{query.rows}{among} LIMIT {n}")

    def _first(self) -> Chunk:
        rows = labelled_cells(self._head.combine_chunks().to_batches()[0], self.roles)
        return rows.X, rows.y, rows.weight

    def count(self, learner: Any) -> Part:
        """The sums of all rows: made by the database where they can be, unless all rows are needed here anyway."""
        classes, plan = self._classes, learner._fitted().plan
        learner.n_threads = self._n_threads  # no other machine counts beside this one
        picked = self._picked(learner) if plan.sample_bytes and can_count(plan.family) else None
        state: State | None
        if can_count(plan.family) and (picked is not None or not plan.sample_bytes):
            state = replace(Counting(self._query, classes, learner, self._head).state(), sample=picked)
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
        state = learner.count([self._first()])
        kept = None if state is None else state.sample
        assert kept is not None
        return max(1, int(np.mean(row_bytes(kept.data))))

    def _sample(self, state: State | None) -> Sample | None:
        """The rows that were picked, which stand for all rows."""
        kept = None if state is None else state.among(self._classes.index).sample
        return None if kept is None else replace(kept, rows=self._classes.weight)


def _is_empty(column: Any) -> bool:
    return bool(pc.all(column.is_null(nan_is_null=True)).as_py())
