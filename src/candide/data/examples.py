"""What kind of thing the cells of a column are, to answer in kind: booleans, whole numbers, dates, durations, times."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from ..kernels.layouts import Array
from .columns import as_array, as_frame, is_missing, is_sparse, two_dimensional
from .dates import moments
from .index import is_whole
from .labels import NUMBERS

# Rows among which there is mostly a cell that is known.
_FEW = 64


def examples_of(X: Any) -> dict[Any, Any]:
    """For each column of booleans, whole numbers or times, by name or place, a cell of its type that nobody gave.

    >>> examples_of({"age": [31, 58], "job": ["cook", "smith"], "member": [None, True]})
    {'age': 0, 'member': False}
    """
    found = {name: _neutral(cell) for name, cell in _first_cells(X).items()}
    return {name: example for name, example in found.items() if example is not None}


def _first_cells(X: Any) -> dict[Any, Any]:
    if is_sparse(X):
        return {}
    if isinstance(X, Mapping):
        return {name: first_known(as_array(values, f"column {name!r}")) for name, values in X.items()}
    frame = as_frame(X)
    if frame is None:
        values = two_dimensional(X)
        return {} if values.dtype.kind in "biuf" else {j: first_known(values[:, j]) for j in range(values.shape[1])}
    return {name: first_known(frame.get_column(name)) for name, dtype in frame.schema.items() if not dtype.is_float()}


def first_known(cells: Any) -> Any:
    """The first cell of an array or a series that is not missing; None if all are."""
    stretches = slice(_FEW), slice(_FEW, None)
    return next((cell for part in stretches for cell in _items(cells[part]) if not is_missing(cell)), None)


def _items(cells: Any) -> list[Any]:
    if not isinstance(cells, np.ndarray):
        return list(cells.to_list())
    # Of a finer unit, NumPy would give whole numbers.
    exact = cells.astype(f"{cells.dtype.kind}8[us]") if cells.dtype.kind in "mM" else cells
    return list(exact.tolist())


def _neutral(cell: Any) -> Any:
    """A cell of the same type; None of texts and of numbers with fractions."""
    if isinstance(cell, (bool, np.bool_)):
        return False
    if isinstance(cell, (int, np.integer)):
        return 0
    if isinstance(cell, datetime):
        return datetime(1970, 1, 1, tzinfo=cell.tzinfo)
    if isinstance(cell, date):
        return date(1970, 1, 1)
    return timedelta() if isinstance(cell, timedelta) else time() if isinstance(cell, time) else None


def like(example: Any, number: Any) -> Any:
    """A number as the kind of thing that it stands for."""
    if not isinstance(number, (int, float)):
        return number
    if isinstance(example, (bool, np.bool_)):
        return number >= 0.5
    if isinstance(example, datetime):
        return _on_the_clock(datetime(1970, 1, 1) + timedelta(days=number), example.tzinfo)
    if isinstance(example, date):
        return date(1970, 1, 1) + timedelta(days=round(number))
    if isinstance(example, timedelta):
        return timedelta(seconds=number)
    return (datetime.min + timedelta(seconds=number)).time() if isinstance(example, time) else number


def _on_the_clock(moment: datetime, zone: Any) -> datetime:
    # The zones of pytz do not know their own summer unless they are asked.
    return zone.localize(moment) if hasattr(zone, "localize") else moment.replace(tzinfo=zone)


def cells_like(example: Any, cells: Array) -> Array:
    """Numbers as the kind of thing that they stand for; holes stay holes, and what is no number stays as it is.

    >>> cells_like(date(1970, 1, 1), np.array([19782.0, np.nan])).tolist()
    [datetime.date(2024, 2, 29), None]
    """
    if example is None or not all(isinstance(cell, (*NUMBERS, type(None))) for cell in cells.tolist()):
        return cells
    numbers = cells.astype(np.float64)
    known = ~np.isnan(numbers)
    if isinstance(example, int):
        return numbers.astype(type(example)) if known.all() and is_whole(numbers) else numbers
    if isinstance(example, date) and getattr(example, "tzinfo", None) is None:
        return moments(numbers).astype("datetime64[us]" if isinstance(example, datetime) else "datetime64[D]")
    out = np.full(len(numbers), None, dtype=object)
    out[known] = [like(example, number) for number in numbers[known].tolist()]
    return out
