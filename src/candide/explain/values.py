"""The cells of a row as users write them; dates, which a table stores as days since 1970 and as calendar parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.columns import Columns
from ..data.dates import DATE_PARTS, days_to_datetimes
from ..families.score_terms import REST
from ..kernels.layouts import Array, Data, Dense, Sparse


def date_columns(names: list[Any]) -> dict[int, dict[int, str]]:
    """Places of dates, and for each the places of the parts made of it.

    >>> date_columns(["age", "when", "when.month", "when.weekday"])
    {1: {2: 'month', 3: 'weekday'}}
    """
    place = {name: j for j, name in enumerate(names)}
    found = {
        j: {place[f"{name}.{part}"]: part for part in DATE_PARTS if f"{name}.{part}" in place}
        for name, j in place.items()
    }
    return {j: parts for j, parts in found.items() if parts}


def written(days: Any) -> Any:
    """
    >>> written(19797.0), written(19797.75), written(None)
    ('2024-03-15', '2024-03-15T18:00', None)
    """
    if days is None:
        return None
    text = str(days_to_datetimes(np.array([days], dtype=np.float64))[0])[:16]
    return text.removesuffix("T00:00")


def parts_of(days: float, parts: dict[int, str]) -> dict[int, Any]:
    """What the parts of a date hold.

    >>> parts_of(19797.0, {2: "month", 3: "weekday"})
    {2: 3, 3: 'Friday'}
    """
    when: Array = days_to_datetimes(np.array([days], dtype=np.float64))
    out = {}
    for place, part in parts.items():
        unit, first, labels = DATE_PARTS[part]
        out[place] = list(labels)[int((when.astype(f"datetime64[{unit}]").astype(np.int64)[0] + first) % len(labels))]
    return out


def shown_values(row: Data | Columns, columns: Array, names: Array) -> list[Any]:
    """One row's cells in some columns, dates as people write them."""
    dates = date_columns(names.tolist()) if isinstance(row, Columns) else {}
    pairs = zip(columns.tolist(), _values(row, columns), strict=True)
    return [written(value) if j in dates else value for j, value in pairs]


def values_of(row: Data | Columns) -> list[Any]:
    """The cells of one row, as they were given; None where one is missing."""
    return _values(row, np.arange(row.n_columns))


def _values(row: Data | Columns, columns: Array) -> list[Any]:
    """Of one row's cells in some columns."""
    if isinstance(row, Sparse):
        held = dict(zip(row.indices.tolist(), row.values.tolist(), strict=True))
        return [or_none(held.get(j, 0.0)) for j in columns.tolist()]
    return [None if j == REST else _value(row, j) for j in columns.tolist()]


def _value(row: Data | Columns, j: int) -> Any:
    if isinstance(row, Dense):
        return or_none(row.column(j)[:1].tolist()[0])
    assert isinstance(row, Columns)
    column = row.columns[j]
    cell = column.values[:1].tolist()[0]
    if column.labels is None:
        return or_none(cell)
    return None if cell < 0 else column.labels[cell : cell + 1].tolist()[0]


def or_none(cell: Any) -> Any:
    """NaN is missing, and not even equal to itself."""
    return cell if cell == cell else None
