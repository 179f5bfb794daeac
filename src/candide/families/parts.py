"""One row's log p(x | class) as the sum of what its cells say."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..kernels.layouts import Array, Data, Floats, Sparse
from .base import Scores

# In place of a column: all that is not there, or that no cell alone says.
REST = -1


class Parts(NamedTuple):
    """What each part adds to the score of each class, ``(parts, classes)``, and to the limits.

    Added up they are ``Likelihood.scores`` and ``Likelihood.limits`` of the row.
    """

    columns: Array  # (parts,) the place of the column that a part belongs to, or REST
    finite: Floats
    limits: tuple[Floats, ...] = ()

    def and_rest(self, finite: Floats) -> Parts:
        """With a last part, ``(classes,)``, that belongs to no column."""
        limits = tuple(np.vstack([limit, np.zeros(limit.shape[1])]) for limit in self.limits)
        return Parts(np.append(self.columns, REST), np.vstack([self.finite, finite]), limits)


def cells_of(data: Data) -> tuple[Array, Floats]:
    """Columns and numbers of one row: those that are observed, or of a sparse row those that are stored."""
    if isinstance(data, Sparse):
        return data.indices, np.asarray(data.values, dtype=np.float64)
    row = data.floats()[0]
    columns = np.flatnonzero(~np.isnan(row))
    return columns, row[columns]


def parts_of(data: Data, cells: Callable[[Floats], Scores], n_classes: int) -> Parts:
    """From what every cell of a row says, where columns are separate: ``cells`` of ``(classes, columns)``."""
    row = data.floats()[0]
    columns = np.flatnonzero(~np.isnan(row))
    found = cells(np.broadcast_to(row, (n_classes, len(row))))
    return Parts(columns, found.finite[:, columns].T, tuple(limit[:, columns].T for limit in found.limits))


def added_up(cells: Scores) -> Scores:
    """From ``(rows, columns)`` sums over the columns."""
    return Scores(cells.finite.sum(axis=1), tuple(limit.sum(axis=1) for limit in cells.limits))
