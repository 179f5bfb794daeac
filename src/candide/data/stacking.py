"""Rows of several chunks as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..kernels.layouts import Dense, Sparse, TextRows
from .index import Index, together
from .texts import Texts
from .typed import Column, Columns

Rows = Dense | Sparse | Columns | TextRows


def alike(a: Rows, b: Rows) -> bool:
    """Whether the cells of both lie in memory in one way, so that none changes when they are stacked."""
    return type(a) is type(b) and _layout(a) == _layout(b)


def _layout(data: Rows) -> Any:
    if isinstance(data, TextRows):
        return None
    if isinstance(data, Columns):
        return [(column.name, column.kind, column.values.dtype) for column in data.columns]
    if isinstance(data.values, tuple):
        return [column.dtype for column in data.values]
    return data.values.dtype, data.n_columns


def stacked(parts: Sequence[Any]) -> Any:
    """The rows of parts that are alike, one after the other. A copy, but for texts, which nobody can change.

    >>> stacked([Dense.of(np.array([[1, 2]])), Dense.of(np.array([[3, 4], [5, 6]]))]).values.tolist()
    [[1, 2], [3, 4], [5, 6]]
    """
    first = parts[0]
    if isinstance(first, TextRows):
        return TextRows(Texts.joined([part.texts for part in parts]))
    if isinstance(first, Sparse):
        from scipy.sparse import vstack

        return Sparse.of(vstack([part.matrix() for part in parts], format="csr"))
    if isinstance(first, Columns):
        columns = map(_stacked_column, zip(*(part.columns for part in parts), strict=True))
        return Columns(tuple(columns), sum(part.n_rows for part in parts))
    cells = [part.values for part in parts]
    if isinstance(first.values, tuple):
        return Dense.of(tuple(np.concatenate(column) for column in zip(*cells, strict=True)), first.names)
    return Dense.of(np.concatenate(cells), first.names)


def _stacked_column(parts: tuple[Column, ...]) -> Column:
    first, absent = parts[0], None
    if any(part.absent is not None for part in parts):
        given = (np.zeros(len(part.values), dtype=bool) if part.absent is None else part.absent for part in parts)
        absent = np.concatenate(list(given))
    if first.labels is None:
        texts = None if first.texts is None else stacked([part.texts for part in parts])
        values = np.concatenate([part.values for part in parts])
        return Column(first.name, first.kind, values, None, texts, absent)
    index, places = together([Index(part.labels) for part in parts if part.labels is not None])
    # The code -1 is the last place.
    codes = [np.append(place, -1)[part.values] for place, part in zip(places, parts, strict=True)]
    return Column(first.name, first.kind, np.concatenate(codes).astype(np.int32), index.labels, absent=absent)
