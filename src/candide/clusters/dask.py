"""Dask's arrays and data frames: a task for each partition, and a tree of tasks that add."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..encoding.roles import Roles
from ..engines.parts import Part, merged
from ..exceptions import InputError
from .answers import columns
from .rows import Answerer, Chunk, Counter, SpreadRows, some

# Sums that one task adds.
_FAN_IN = 8


class DaskRows:
    """Rows with labels, partition by partition."""

    def __init__(self, X: Any, y: Any, weight: Any, *, texts: bool) -> None:
        self.roles = _roles(X, y, weight, texts) if _is_frame(X) else None
        if self.roles is not None:
            y, weight = _column(X, y, "y"), _column(X, weight, "sample_weight")
            X = X[self.roles.text if texts else list(self.roles.columns)]
        self._parts = _cut_alike({"X": X, "y": y, "sample_weight": weight})

    def head(self, n: int) -> Chunk:
        from dask import compute, delayed

        for part in self._parts:
            found: tuple[Chunk] = compute(delayed(_first)(n, *part))
            if any(some(found)):
                return found[0]
        raise InputError("X has no rows with a weight, and nothing is learned from nothing")

    def count(self, counter: Counter) -> Part:
        from dask import compute, delayed

        sent = delayed(counter, traverse=False)
        parts = [delayed(_counted)(sent, place, *part) for place, part in enumerate(self._parts)]
        while len(parts) > 1:
            parts = [delayed(merged)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        found: tuple[Part] = compute(parts[0])
        return found[0]

    def score(self, model: Answerer) -> float:
        """The share of rows that are predicted right."""
        from dask import compute, delayed

        sent = delayed(model, traverse=False)
        (parts,) = compute([delayed(_right)(sent, *part) for part in self._parts])
        right, whole = np.sum(parts, axis=0)
        return float(right / whole)


class Dask:
    """Rows of Dask."""

    def rows(self, X: Any, y: Any, sample_weight: Any, *, texts: bool) -> SpreadRows:
        _refuse_others(X)
        return DaskRows(X, y, sample_weight, texts=texts)

    def answers(self, model: Answerer, verb: str, X: Any) -> Any:
        """Arrays become arrays, series series; data frames keep their columns, and get those of the answer."""
        _refuse_others(X)
        if hasattr(X, "map_partitions"):
            beside = _beside if _is_frame(X) else _instead
            return X.map_partitions(beside, model, verb, meta=beside(X._meta, model, verb))
        n_axes = 1 if verb == "predict" else 2
        dtype = model.classes_.dtype if n_axes == 1 else np.dtype(np.float64)
        chunks = (X.chunks[0],) if n_axes == 1 else (X.chunks[0], (len(model.classes_),))
        axes = {"drop_axis": 1} if X.ndim > n_axes else {"new_axis": 1} if X.ndim < n_axes else {}
        return _whole_rows(X).map_blocks(
            _block, model, verb, chunks=chunks, dtype=dtype, meta=np.zeros((0,) * n_axes, dtype), **axes
        )


CLUSTER = Dask()


def _is_frame(X: Any) -> bool:
    """Whether it is a data frame, not a series or an array."""
    return hasattr(X, "map_partitions") and X.ndim == 2


def _refuse_others(X: Any) -> None:
    if type(X).__module__.startswith("dask.bag") or not hasattr(X, "to_delayed"):
        raise InputError(
            f"X is a {type(X).__name__} of Dask; pass a data frame, a series of texts or an array, as a bag gives one "
            "with to_dataframe()"
        )


def _roles(X: Any, y: Any, weight: Any, texts: bool) -> Roles:
    """What the columns of a data frame are for."""
    label, heavy = (part if isinstance(part, str) else None for part in (y, weight))
    found = tuple(name for name in X.columns if name not in (label, heavy))
    if texts and len(found) != 1:
        raise InputError(
            f"a model of texts learns from one column, and X has {', '.join(map(str, found))}; pass that column and "
            "the labels: fit(X['text'], X['label']), or fit(X[['text', 'label']], y='label')"
        )
    return Roles(label or "", found[0] if texts else None, found, heavy)


def _column(X: Any, part: Any, what: str) -> Any:
    """Labels or weights that are named, or given."""
    if isinstance(part, str) and part not in X.columns:
        raise InputError(f"X has no column {part!r} for {what}; it has {', '.join(map(str, X.columns))}")
    return X[part] if isinstance(part, str) else part


def _cut_alike(parts: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Tasks of each partition; None for what is not given."""
    for name, part in parts.items():
        if part is not None and not hasattr(part, "to_delayed"):
            raise InputError(
                f"X is Dask's, and {name} is {part!r:.60}; pass Dask's too, cut as X is, or the name of a column of X"
            )
    if parts["y"] is None:
        raise InputError("y is None; pass the labels, or the name of the column of X that holds them")
    tasks = {name: _partitions(part) for name, part in parts.items() if part is not None}
    if len({len(each) for each in tasks.values()}) > 1:
        found = ", ".join(f"{name} {len(each)}" for name, each in tasks.items())
        raise InputError(f"partitions differ: {found}; cut them alike, with repartition() or rechunk()")
    nothing = [None] * len(tasks["X"])
    return list(zip(*(tasks.get(name, nothing) for name in parts), strict=True))


def _partitions(part: Any) -> list[Any]:
    if hasattr(part, "map_partitions"):
        return list(part.to_delayed())
    tasks: list[Any] = _whole_rows(part).to_delayed().ravel().tolist()
    return tasks


def _whole_rows(X: Any) -> Any:
    """An array that is not cut between columns."""
    return X.rechunk({1: -1}) if X.ndim == 2 and len(X.chunks[1]) > 1 else X


# What workers do.


def _first(n: int, *parts: Any) -> Chunk:
    X, y, weight = (part.iloc[:n] if hasattr(part, "iloc") else None if part is None else part[:n] for part in parts)
    return X, y, weight


def _counted(counter: Counter, place: int, X: Any, y: Any, weight: Any) -> Part:
    return Part(counter.count(some([(X, y, weight)])), frozenset([place]))


def _right(model: Answerer, X: Any, y: Any, weight: Any) -> tuple[float, float]:
    """Weight of the rows that are predicted right, and of all."""
    whole = len(y) if weight is None else float(np.sum(weight))
    return (model.score(X, y, weight) * whole if whole else 0.0), whole


def _beside(frame: Any, model: Answerer, verb: str) -> Any:
    roles = model.roles_among(list(frame.columns))
    cells = frame[roles.text if roles.text is not None else list(roles.columns)]
    return frame.assign(**columns(model, verb, cells, len(frame)))


def _instead(series: Any, model: Answerer, verb: str) -> Any:
    made = columns(model, verb, series, len(series))
    frame = series.to_frame("text").assign(**made)[list(made)]
    return frame["prediction"] if verb == "predict" else frame


def _block(block: Any, model: Answerer, verb: str) -> Any:
    made = columns(model, verb, block, len(block))
    return made["prediction"] if verb == "predict" else np.column_stack(list(made.values()))
