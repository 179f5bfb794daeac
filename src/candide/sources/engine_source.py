"""Shared code of sources on clusters and in databases: first rows, and columns of predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..data.column_selection import did_you_mean, quote_names
from ..exceptions import InputError
from ..kernels.layouts import Array
from ..model.model import Model
from ..model.source import Chunk, Source


class EngineSource(Source):
    """Rows that an engine reads and counts: Dask, Spark or a database."""

    is_read_here = False

    def head(self, n: int) -> Chunk:
        """Return first rows; where a column has no value in them, with some rows in which it has one."""
        found = self._first(n, [])
        if found is None:
            raise InputError(
                "found no rows with a label and a positive weight; expected at least one; check the source"
            )
        while empty := self._empty(found.X):
            more = self._first(n, empty)
            if more is None:
                break
            found = self._joined([found, more])
        return found

    @abstractmethod
    def _first(self, n: int, having: list[str]) -> Chunk | None:
        """Return about ``n`` first rows that have a label, a weight, and a value in any of these columns."""

    def _empty(self, X: Any) -> list[str]:
        """Return the columns without any value."""
        import pyarrow as pa

        names = X.column_names if isinstance(X, pa.Table) else []
        return [name for name in names if X.column(name).null_count == X.num_rows]

    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        return Chunk(*(concatenate([chunk[i] for chunk in chunks]) for i in range(3)))


def concatenate(pieces: list[Any]) -> Any:
    """Return the concatenation of arrays, tables of Arrow, or data of pandas."""
    if len(pieces) == 1 or pieces[0] is None:
        return pieces[0]
    if any(isinstance(piece, np.ndarray) for piece in pieces):
        return np.concatenate([np.asarray(piece) for piece in pieces])
    if type(pieces[0]).__module__.startswith("pandas"):
        import pandas as pd

        return pd.concat(pieces)
    import pyarrow as pa

    return pa.concat_tables(pieces) if isinstance(pieces[0], pa.Table) else pa.concat_arrays(pieces)


def check_name(name: Any, what: str, names: Iterable[Any]) -> None:
    """Raise an error for the name of a column that is not there."""
    if name not in names:
        hint = did_you_mean(name, names, "pass one of these")
        raise InputError(f"{what} is {name!r}, but X has no such column; its columns are {quote_names(names)}; {hint}")


_COLUMN_NAMES = {"predict_proba": "p({})", "predict_log_proba": "log p({})"}


def prediction_names(model: Model, method: str) -> list[str]:
    """Return the names of the columns of predictions. They replace columns that have their names."""
    if method == "predict":
        return ["prediction"]
    return [_COLUMN_NAMES[method].format(label) for label in model.classes.tolist()]


def predictions(model: Model, method: str, X: Any, n_rows: int) -> dict[str, Array]:
    """Return columns of predictions by name, for no rows too."""
    names = prediction_names(model, method)
    if method == "predict":
        return {names[0]: model.predict(X) if n_rows else model.classes[:0]}
    found = getattr(model, method)(X) if n_rows else np.zeros((0, len(names)))
    return {name: np.ascontiguousarray(column) for name, column in zip(names, found.T, strict=True)}
