"""Rows as records, which may omit columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from .typed import Columns


class Records(dict[Any, Any]):
    """Columns by name, with None where a record omits one; ``omitted`` says of each column in which records.

    >>> records = Records({"age": [49, 31], "job": [None, None]}, {"job": np.array([True, False])})
    >>> records["age"], records.omitted["job"].tolist()
    ([49, 31], [True, False])
    """

    def __init__(self, columns: Mapping[Any, Any], omitted: Mapping[Any, Array]) -> None:
        super().__init__(columns)
        self.omitted = dict(omitted)


def with_omitted(data: Columns, omitted: Mapping[Any, Array], given: tuple[Any, ...]) -> Columns:
    """A table with what records omit marked as not given; a date is several columns."""
    absent, before = np.zeros((data.n_rows, data.n_columns), dtype=bool), data.absent()
    for j, column in enumerate(data.columns):
        name = column.name
        if name not in given and isinstance(name, str):
            name = next((own for own in given if isinstance(own, str) and name.startswith(f"{own}.")), name)
        if name in omitted:
            absent[:, j] = omitted[name]
    return data.with_absent(absent if before is None else absent | before)
