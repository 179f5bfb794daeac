"""The classes of a query, and what their rows weigh."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..data.arrow_batches import labelled_cells
from ..data.index import Index
from ..data.labeled_rows import read_labels
from ..exceptions import InputError
from ..kernels import Kernels
from ..kernels.layouts import Array, Floats
from .query import Query
from .values import ANSWER

_SUMS = {
    "n": "COUNT(*)",
    "w": "SUM({w})",
    "squares": "SUM({w} * {w})",
    "low": "MIN({w})",
    "high": "MAX({w})",
    "missing": "COUNT(*) - COUNT({w})",
}


@dataclass(frozen=True)
class Classes:
    """In order, with sums over the rows of each."""

    index: Index
    n_rows: Array
    weight: Floats
    squares: Floats  # of the weights
    n_without_label: int

    @classmethod
    def of(cls, query: Query) -> Classes:
        """Those whose rows weigh something."""
        sums = {name: (sql.format(w=query.weight), pa.float64()) for name, sql in _SUMS.items()}
        table = query.ask({"y": query.label, **sums}, f"{query.everything} GROUP BY {query.label[0]}")
        n_without_label = sum(table.filter(table["y"].is_null())["n"].to_pylist())
        table = table.filter(table["y"].is_valid())
        _refuse_odd_weights(table, query.roles.weight)
        table = table.filter(pc.greater(table["w"], 0.0))
        if not table.num_rows:
            raise InputError("found no rows with a label and a weight; expected at least one")
        index, places = _placed(table)
        order = np.argsort(places)
        n_rows, weight, squares = (table[name].to_numpy()[order] for name in ("n", "w", "squares"))
        return cls(index, n_rows, weight, squares, int(n_without_label))

    def spread(self, table: pa.Table) -> dict[str, Floats]:
        """The numbers of an answer that has a row for each class, in their order, ``(classes, 1)``; for none, 0."""
        index, places = _placed(table)
        order = np.argsort(index.positions_in(self.index)[places])
        return {
            name: table[name].fill_null(0.0).to_numpy()[order][:, None] for name in table.column_names if name != "y"
        }


def _placed(table: pa.Table) -> tuple[Index, Array]:
    """The classes of an answer, and of each row where its class stands among them."""
    rows = labelled_cells(table.combine_chunks().to_batches()[0], ANSWER._replace(columns=(), weight=None))
    return read_labels(rows.y, rows.n_rows, Kernels())


def _refuse_odd_weights(table: pa.Table, name: str | None) -> None:
    low, high, missing = pc.min(table["low"]).as_py(), pc.max(table["high"]).as_py(), pc.max(table["missing"]).as_py()
    if not missing and (low is None or (low >= 0 and high < np.inf)):
        return
    odd = "missing" if missing else low if low < 0 else high
    raise InputError(
        f"weight={name!r} holds a weight that is {odd}; negative, missing or infinite weights mean nothing here; use 0 "
        "to leave a row out"
    )
