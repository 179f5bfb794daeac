"""How views see a row: every column as one of at most 64 codes, made from the summaries and frozen."""

from __future__ import annotations

import numpy as np

from ..data.columns import Column, Columns
from ..families.columns.histogram import MICRO_BINS, cuts_between, equal_frequency, merged
from ..kernels import Kernels
from ..kernels.layouts import Array, Dense, Floats
from ..lazy_dataclass import dataclass
from ..statistics.grid import Cells
from ..statistics.table import TableStatistics
from .views import Looked


@dataclass(frozen=True)
class ColumnLook:
    """The codes of one column."""

    column: int  # its position in the table
    count: Floats  # weight of each code, all classes together
    cuts: Floats | None = None  # of a number column
    labels: Array | None = None  # of a category column

    @property
    def size(self) -> int:
        return len(self.count)

    @property
    def is_number(self) -> bool:
        return self.cuts is not None


@dataclass(frozen=True)
class Look:
    """The columns that views see.

    ``nulls`` says of each column of the table whether nulls were met when the views were made: there a null is a value
    like others. Elsewhere a null is a cell that was not given. None: nulls are values everywhere.
    """

    columns: tuple[ColumnLook, ...]
    nulls: Array | None = None  # bool (columns of the table,)

    @classmethod
    def of(cls, statistics: TableStatistics, which: list[int]) -> Look:
        """From the summaries of the columns ``which``."""
        return cls(tuple(_look(statistics, j) for j in which), _with_nulls(statistics))

    @property
    def sizes(self) -> Array:
        """Codes of each column without "missing" and "unseen"."""
        return np.array([column.size for column in self.columns], dtype=np.int64)

    def absent(self, data: Columns) -> Array | None:
        """``(rows, columns of the table)``: which cells are not given; None if all are."""
        none = np.zeros(len(data.columns), dtype=bool) if self.nulls is None else ~self.nulls
        found = [(column.nulls() if like_absent else None, column.absent)
                 for like_absent, column in zip(none.tolist(), data.columns, strict=True)]  # fmt: skip
        if not any(part is not None and part.any() for pair in found for part in pair):
            return None
        out = np.zeros((data.n_rows, len(found)), dtype=bool)
        for j, pair in enumerate(found):
            for part in pair:
                if part is not None:
                    out[:, j] |= part
        return out

    def see(self, data: Columns, kernels: Kernels) -> Looked:
        """Rows as views see them. Cells are not given where their columns say so (``Columns.with_absent``)."""
        codes = np.empty((data.n_rows, len(self.columns)), dtype=np.int32)
        number = [(i, column) for i, column in enumerate(self.columns) if column.is_number]
        numbers = np.empty((data.n_rows, len(number)))
        if number:
            cells = Dense.of(tuple(data.columns[column.column].values for _, column in number))
            numbers = cells.floats()
            found = kernels.cell_codes(cells, [cuts for _, column in number if (cuts := column.cuts) is not None])
            for k, (i, column) in enumerate(number):
                codes[:, i] = np.where(found[:, k] < 0, column.size, found[:, k])
        for i, column in enumerate(self.columns):
            if not column.is_number:
                codes[:, i] = _category_codes(data.columns[column.column], column)
        absent = data.absent()
        if absent is None:
            return Looked(codes, numbers)
        here = absent[:, [column.column for column in self.columns]]
        return Looked(np.where(here, np.int32(-1), codes), numbers, here[:, [i for i, _ in number]], codes)


def _category_codes(column: Column, look: ColumnLook) -> Array:
    if column.labels is None:
        return np.full(len(column.values), look.size, dtype=np.int32)
    place = {label: i for i, label in enumerate(look.labels.tolist() if look.labels is not None else [])}
    codes = [place.get(label, look.size + 1) for label in column.labels.tolist()]
    return np.array([*codes, look.size], dtype=np.int32)[column.values]


def _with_nulls(statistics: TableStatistics) -> Array:
    """Of each column, whether some row of training had no value."""
    whole = float(statistics.rows.sum()) * (1 - 1e-12)
    return np.array([float(statistics.observed(j).sum()) < whole for j in range(len(statistics.kinds))], dtype=bool)


def _look(statistics: TableStatistics, j: int) -> ColumnLook:
    place = statistics.place(j)
    if statistics.kinds[j] == "category":
        count = statistics.categories.column(place).sum(axis=0)
        return ColumnLook(j, count, labels=statistics.categories.labels[place])
    return _number_look(j, statistics.grid.column(place))


def _number_look(j: int, cells: Cells) -> ColumnLook:
    few = merged(cells, equal_frequency(cells.count.sum(axis=1), MICRO_BINS))
    return ColumnLook(j, few.count.sum(axis=1), cuts_between(few))
