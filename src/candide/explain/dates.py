"""Dates, which a table knows as days since 1970 and as parts of the calendar."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.dates import DATE_PARTS, days_to_datetimes
from ..kernels.layouts import Array


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
