"""What tables come in: the names of their columns, some of these, and the same container with its holes filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError
from ..kernels.layouts import Array
from .columns import as_array, as_frame, is_sparse, two_dimensional
from .examples import first_known, like
from .sparse import checked_rows


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


def library_named(name: str | None) -> Any:
    """The same by its name."""
    import narwhals as nw

    return None if name is None else nw.Implementation(name)


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
        return list(checked_rows(X).toarray().T)
    if isinstance(X, Mapping):
        return list(X.values())
    frame = as_frame(X)
    return list(two_dimensional(X).T) if frame is None else [series.to_native() for series in frame.iter_columns()]


def n_rows_of(X: Any) -> int | None:
    """How many rows anything has that ``fit`` takes; None where only reading tells."""
    if isinstance(X, Mapping) and not is_sparse(X):
        return next((len(values) for values in X.values()), 0)
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple) and shape:
        return int(shape[0])
    return len(X) if hasattr(X, "__len__") else None


def take_rows(X: Any, rows: Array) -> Any:
    """Some rows, by their places in ascending order, in a container of the same kind.

    >>> take_rows({"age": [31, 58, 40], "job": ["cook", "smith", None]}, np.array([0, 2]))
    {'age': [31, 40], 'job': ['cook', None]}
    """
    import narwhals.stable.v2 as nw

    if is_sparse(X):
        return X.tocsr()[rows]
    if isinstance(X, Mapping):
        return {name: take_rows(values, rows) for name, values in X.items()}
    if isinstance(X, (list, tuple)):
        return [X[row] for row in rows.tolist()]
    if isinstance(X, np.ndarray):
        return X[rows]
    if nw.dependencies.is_into_series(X):
        return nw.from_native(X, series_only=True)[rows].to_native()
    frame = as_frame(X)
    if frame is not None:
        return frame[rows, :].to_native()
    # Arrow arrays and the like.
    return X.take(rows) if hasattr(X, "take") else as_array(X, "X")[rows]


def filled(X: Any, fillings: Mapping[Any, Filling]) -> Any:
    """``X`` with the holes of some columns, by name or place, filled; everything else stays as it is.

    >>> hole = np.array([False, True])
    >>> filled({"age": [31.0, None], "job": ["cook", "smith"]}, {"age": Filling(hole, np.array([40.0, 44.0]))})
    {'age': [31.0, 44.0], 'job': ['cook', 'smith']}
    """
    if is_sparse(X):
        return _filled_matrix(X, fillings)
    if isinstance(X, Mapping):
        return {name: _filled_values(values, fillings.get(name)) for name, values in X.items()}
    frame = as_frame(X)
    if frame is None:
        return _filled_array(two_dimensional(X), fillings)
    new = [_filled_series(frame.get_column(name), filling) for name, filling in fillings.items()]
    return frame.with_columns(*new).to_native() if new else X


def _filled_values(values: Any, filling: Filling | None) -> Any:
    """One column of a dict: a series, an array or a list."""
    import narwhals.stable.v2 as nw

    if filling is None:
        return values
    if nw.dependencies.is_into_series(values):
        return _filled_series(nw.from_native(values, series_only=True), filling).to_native()
    array = as_array(values, "a column")
    column = _filled_array(array[:, None], {0: filling})[:, 0]
    return type(values)(column.tolist()) if isinstance(values, (list, tuple)) else column


def _filled_array(values: Array, fillings: Mapping[Any, Filling]) -> Array:
    out = values.copy()
    for j, filling in fillings.items():
        cells = values[:, j]
        known = first_known(cells)
        out[filling.hole, j] = [like(known, guess) for guess in filling.guess[filling.hole].tolist()]
    return out


def _filled_series(series: Any, filling: Filling) -> Any:
    """Its holes filled, in its own type: the mean of whole numbers is rounded."""
    places = np.flatnonzero(filling.hole)
    guesses = [like(first_known(series), guess) for guess in filling.guess[places].tolist()]
    if series.dtype.is_integer():
        guesses = [round(guess) for guess in guesses]
    return _scattered(series, places, guesses)


def _scattered(series: Any, places: Array, guesses: list[Any]) -> Any:
    if not series.implementation.is_pyarrow():
        return series.scatter(places, guesses)
    import narwhals.stable.v2 as nw

    # pyarrow puts no durations or categories into a column.
    cells = dict(enumerate(series.to_list())) | dict(zip(places.tolist(), guesses, strict=True))
    new = nw.new_series(series.name, list(cells.values()), backend=series.implementation).to_native()
    return nw.from_native(new.cast(series.to_native().type), series_only=True).alias(series.name)


def _filled_matrix(X: Any, fillings: Mapping[Any, Filling]) -> Any:
    """Stored holes filled."""
    matrix = checked_rows(X).tocoo(copy=True).astype(np.float64)
    for j, filling in fillings.items():
        here = np.flatnonzero((matrix.col == j) & np.isnan(matrix.data))
        matrix.data[here] = filling.guess[matrix.row[here]]
    return matrix.asformat(X.format)
