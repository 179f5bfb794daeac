"""Batches of Arrow as a learner reads them: the text or the columns, the labels, the weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .arrays import as_array
from .column_selection import Roles

# Bytes of a label, of which there is one for each row: 64 characters.
_WIDEST = 256


class LabeledCells(NamedTuple):
    """Rows that have a label, in the form that ``fit`` takes."""

    X: Any
    y: Any
    weight: Any
    n_rows: int
    groups: Any = None


class Groups:
    """Batches of another size: of as many rows, which the size of the first rows tells unless it is given.

    They end at the same rows wherever a pass begins, if it begins where one of them does.
    """

    def __init__(self, n_bytes: int, n_rows: int | None = None) -> None:
        self.n_bytes = n_bytes
        self.n_rows = n_rows

    def of(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the same rows in groups."""
        waiting: list[Any] = []
        n_bytes = 0
        for batch in batches:
            if self.n_rows is None:
                self.n_rows = max(1, self.n_bytes * batch.num_rows // max(1, batch.nbytes))
            waiting.append(batch)
            n_bytes += batch.nbytes
            del batch
            while _n_rows(waiting) >= self.n_rows:
                yield self._first(waiting, self.n_rows)
                n_bytes = sum(part.nbytes for part in waiting)
            # Rows may become larger than the first ones were.
            if n_bytes >= 2 * self.n_bytes:
                yield self._first(waiting, _n_rows(waiting))
                n_bytes = 0
        if _n_rows(waiting):
            yield self._first(waiting, _n_rows(waiting))

    @staticmethod
    def _first(waiting: list[Any], n_rows: int) -> Any:
        """Return the buffered rows."""
        import pyarrow as pa

        taken = []
        while n_rows:
            part = waiting.pop(0)
            taken.append(part.slice(0, n_rows))
            if part.num_rows > n_rows:
                waiting.insert(0, part.slice(n_rows))
            n_rows -= taken[-1].num_rows
        return taken[0] if len(taken) == 1 else pa.concat_batches(taken)


def _n_rows(batches: list[Any]) -> int:
    return sum(batch.num_rows for batch in batches)


def needed(roles: Roles) -> list[str]:
    """Return the columns that are needed."""
    return [name for name in dict.fromkeys([roles.label, roles.weight, roles.groups, *roles.columns]) if name]


def cells(batch: Any, roles: Roles) -> Any:
    """Return the features of a batch: a column of texts, or a table."""
    import pyarrow as pa

    if roles.text is not None:
        return batch.column(roles.text)
    return pa.Table.from_batches([batch.select(list(roles.columns))])


def labeled_cells(batch: Any, roles: Roles) -> LabeledCells:
    """Return the rows of a batch that have a label, which is neither null nor NaN."""
    import pyarrow.compute as pc

    labels = batch.column(roles.label)
    missing = labels.is_null(nan_is_null=True)
    if missing.true_count:
        batch = batch.filter(pc.invert(missing))
        labels = batch.column(roles.label)
    weight = None if roles.weight is None else batch.column(roles.weight).to_numpy(zero_copy_only=False)
    groups = None if roles.groups is None else batch.column(roles.groups)
    return LabeledCells(cells(batch, roles), _as_numpy(labels), weight, batch.num_rows, groups)


def _as_numpy(labels: Any) -> Any:
    """Return labels as an array; each distinct string is created only once."""
    import pyarrow as pa

    if not (pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type)):
        return labels
    coded = labels.dictionary_encode()
    names = as_array(coded.dictionary.to_pylist(), "y")
    # All cells of such an array are as wide as the widest.
    wide = names.dtype.kind != "U" or names.itemsize > _WIDEST
    return labels if wide else names[coded.indices.to_numpy(zero_copy_only=False)]
