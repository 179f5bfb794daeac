"""What tables come in: the names of their columns, some of these, and the same container with its holes filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..kernels.data import Array
from .columns import as_array, as_frame, is_missing, is_sparse, two_dimensional
from .labels import NUMBERS


class Filling(NamedTuple):
    """Which cells of a column are missing, and what each cell would hold."""

    hole: Array
    guess: Array


def names_of(X: Any) -> tuple[Any, ...] | None:
    """The names of the columns, None if they have none."""
    if is_sparse(X):  # first, for some sparse matrices are dicts
        return None
    if isinstance(X, Mapping):
        return tuple(X)
    frame = as_frame(X)
    return None if frame is None else tuple(frame.columns)


def library_of(X: Any) -> Any:
    """Whose data frame it is, for ``new_frame``; None if it is none."""
    frame = None if isinstance(X, Mapping) or is_sparse(X) else as_frame(X)
    return None if frame is None else frame.implementation


def some_columns(X: Any, names: Sequence[Any]) -> Any:
    """The columns of these names, as far as a table with names has them.

    >>> some_columns({"a": [1], "b": [2], "c": [3]}, ["c", "a", "d"])
    {'c': [3], 'a': [1]}
    """
    if isinstance(X, Mapping):
        return {name: X[name] for name in names if name in X}
    frame = as_frame(X)
    assert frame is not None
    known = set(frame.columns)
    return X if known == set(names) else frame.select([name for name in names if name in known]).to_native()


def under_names(X: Any, names: Sequence[Any]) -> dict[Any, Any]:
    """The columns under other names, by their places."""
    columns = _columns(X)
    if len(columns) != len(names):
        raise InputError(
            f"X has {len(columns)} features, but NaiveBayes is expecting {len(names)} features as input; pass the "
            "columns that it was trained on"
        )
    return dict(zip(names, columns, strict=True))


def _columns(X: Any) -> list[Any]:
    if is_sparse(X):
        return list(X.toarray().T)
    if isinstance(X, Mapping):
        return list(X.values())
    frame = as_frame(X)
    return list(two_dimensional(X).T) if frame is None else [series.to_native() for series in frame.iter_columns()]


def filled(X: Any, fillings: Mapping[Any, Filling]) -> Any:
    """``X`` with the holes of some columns, by name or place, filled; everything else stays as it is.

    >>> hole = np.array([False, True])
    >>> filled({"age": [31.0, None], "job": ["cook", "smith"]}, {"age": Filling(hole, np.array([40.0, 44.0]))})
    {'age': array([31., 44.]), 'job': ['cook', 'smith']}
    """
    if is_sparse(X):
        return _filled_matrix(X, fillings)
    if isinstance(X, Mapping):
        return {name: _filled_values(values, fillings.get(name)) for name, values in X.items()}
    frame = as_frame(X)
    if frame is None:
        values = two_dimensional(X)
        columns = [_filled_values(values[:, j], fillings.get(j)) for j in range(values.shape[1])]
        return np.column_stack(columns)
    import narwhals.stable.v2 as nw

    new = [
        nw.new_series(name, _filled_cells(frame.get_column(name).to_list(), filling), backend=frame.implementation)
        for name, filling in fillings.items()
    ]
    out = frame.with_columns(*new).to_native() if new else frame.to_native()
    if new and hasattr(out, "set_index"):
        out.index = X.index  # pandas
    return out


def _filled_values(values: Any, filling: Filling | None) -> Any:
    if filling is None:
        return values
    array = as_array(values, "a column")
    if array.dtype.kind in "mM":
        return np.array(_filled_cells(array.astype(f"{array.dtype.kind}8[us]").tolist(), filling))
    cells = _filled_cells(array.tolist(), filling)
    if all(isinstance(cell, float) for cell in cells):
        return np.array(cells)
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


def _filled_matrix(X: Any, fillings: Mapping[Any, Filling]) -> Any:
    """Stored holes filled."""
    matrix = X.tocoo(copy=True).astype(np.float64)
    for j, filling in fillings.items():
        here = np.flatnonzero((matrix.col == j) & np.isnan(matrix.data))
        matrix.data[here] = filling.guess[matrix.row[here]]
    return matrix.asformat(X.format)


def _filled_cells(cells: list[Any], filling: Filling) -> list[Any]:
    guesses = filling.guess.tolist()
    known = next((cell for cell in cells if not is_missing(cell)), None)
    if isinstance(known, NUMBERS) and not isinstance(known, (bool, np.bool_)) and filling.guess.dtype.kind == "f":
        cells = [np.nan if is_missing(cell) else float(cell) for cell in cells]
    pairs = zip(cells, filling.hole.tolist(), guesses, strict=True)
    return [_like(known, guess) if hole else cell for cell, hole, guess in pairs]


def _like(known: Any, guess: Any) -> Any:
    """A number as the kind of thing that it stands for."""
    if not isinstance(guess, (int, float)):
        return guess
    if isinstance(known, (bool, np.bool_)):
        return guess >= 0.5
    if isinstance(known, datetime):
        return datetime(1970, 1, 1, tzinfo=known.tzinfo) + timedelta(days=guess)
    if isinstance(known, date):
        return date(1970, 1, 1) + timedelta(days=round(guess))
    if isinstance(known, timedelta):
        return timedelta(seconds=guess)
    return (datetime.min + timedelta(seconds=guess)).time() if isinstance(known, time) else guess
