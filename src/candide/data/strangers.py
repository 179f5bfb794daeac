"""Columns of which nothing is known, most likely by a slip."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import warn
from ..kernels.layouts import Array
from .categories import same_kind
from .index import Index
from .typed import Column

# As many rows that are all new are no chance.
_MANY = 10


def remark_strangers(column: Column, learned: Array) -> None:
    """Warns if no category of a column is one that was learned, and their type or their number tells that it is a slip.

    >>> import warnings
    >>> asked = Column("city", "category", np.array([0], dtype=np.int32), np.array([3]))
    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     remark_strangers(asked, np.array(["Paris", "Rome"]))
    >>> print(found[0].message)
    column 'city' holds values such as 3, but was learned with values such as 'Paris', so none of them is known; pass \
the type that was learned
    """
    assert column.labels is not None
    known = column.values[column.values >= 0]
    if not len(known) or not len(learned) or (Index(column.labels).positions_in(Index(learned))[known] >= 0).any():
        return
    asked, name = column.labels[np.unique(known)], f"column {column.name!r}"
    if not same_kind(asked, learned, name) or len(known) < _MANY:
        return
    warn(
        f"{name} holds values such as {asked.tolist()[0]!r}, but was learned with values such as "
        f"{learned.tolist()[0]!r}, and none of {len(known)} rows has one that is known; check how they are written"
    )


def unseen_categories(column: Column, learned: Array) -> dict[Any, int]:
    """The categories of a column that are not among those learned, and in how many rows each is.

    >>> asked = Column("city", "category", np.array([0, 1, 0], dtype=np.int32), np.array(["Oslo", "Rome"]))
    >>> unseen_categories(asked, np.array(["Paris", "Rome"]))
    {'Oslo': 2}
    """
    assert column.labels is not None
    is_new = Index(column.labels).positions_in(Index(learned)) < 0
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.labels))
    labels = column.labels.tolist()
    return {labels[place]: int(counts[place]) for place in np.flatnonzero(is_new & (counts > 0))}
