"""Dask's arrays and data frames: a task for each partition, and a tree of tasks that add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..encoding.columns import is_sparse
from ..encoding.roles import Roles
from ..encoding.rows import without_label
from ..engines.batches import needed
from ..engines.parts import Part, merged
from ..exceptions import InputError
from .answers import columns
from .rows import Answerer, Casting, Chunk, Counter, SpreadRows, check_name
from .work import Labelled, Share, counted, scored, share_right

# Sums that one task adds.
_FAN_IN = 8
# How many more partitions are looked at where the ones before had too few rows.
_FURTHER = 4


class DaskRows(SpreadRows):
    """Rows with labels, partition by partition. ``within``: what the columns of a data frame are for."""

    def __init__(self, X: Any, y: Any, weight: Any, within: Roles | None) -> None:
        self.roles = within if within is not None and within.label else None
        self._within = within
        if within is not None:
            # What lies in the frame itself comes with it, so that a file is read once.
            X = X[needed(within)]
            y, weight = None if within.label else y, None if within.weight else weight
        self._parts = _cut_alike({"X": X, "y": y, "sample_weight": weight})

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        from dask import delayed

        tasks = [delayed(_few)(n, having, self._within, *part) for part in self._parts]
        found = [chunk for chunk in _of_first(tasks, n, _n_labels) if _n_labels(chunk)]
        if not found:
            return None
        # Sparse matrices hold numbers, of which few tell as much as many.
        return found[0] if is_sparse(found[0][0]) else self._joined(found)

    def _empty(self, X: Any) -> list[str]:
        return X.columns[X.isna().all()].tolist() if self._within is not None and X.ndim == 2 else []

    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        X, y, weight = (_end_to_end([chunk[i] for chunk in chunks]) for i in range(3))
        return X, y, weight

    def count(self, counter: Counter) -> Part:
        from dask import compute, delayed

        sent = delayed(counter, traverse=False)
        parts = [delayed(_counted)(sent, place, self._within, *part) for place, part in enumerate(self._parts)]
        while len(parts) > 1:
            parts = [delayed(merged)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        found: tuple[Part] = compute(parts[0])
        return found[0]

    def score(self, model: Answerer) -> float:
        from dask import compute, delayed

        sent = delayed(model, traverse=False)
        return share_right(compute(*(delayed(_scored)(sent, self._within, *part) for part in self._parts)))


class Dask:
    """Rows of Dask."""

    def rows(self, X: Any, y: Any, sample_weight: Any, casting: Casting) -> SpreadRows:
        _refuse_others(X)
        if y is None:
            raise InputError("y is None; pass the labels, or the name of the column of X that holds them")
        if not _is_frame(X):
            return DaskRows(X, y, sample_weight, None)
        names = list(X.columns)
        label, weight = _name(y, "y", names), _name(sample_weight, "sample_weight", names)
        return DaskRows(X, y, sample_weight, casting(names, label, weight))

    def answers(self, model: Answerer, verb: str, X: Any) -> Any:
        """Arrays become arrays, series series; data frames keep their columns, and get those of the answer."""
        from dask import delayed

        _refuse_others(X)
        # As one task of its own it travels to each worker once, not with every partition.
        sent = delayed(model, traverse=False)
        if not _has_partitions(X):
            return _block_answers(model, sent, verb, _whole_rows(X))
        beside = _beside if _is_frame(X) else _instead
        return X.map_partitions(beside, sent, verb, meta=beside(X._meta, model, verb))

    def head(self, X: Any, n: int) -> Any:
        import pyarrow as pa

        found = _of_first(X.to_delayed(), n, len)
        return pa.Table.from_pandas(_end_to_end(found).iloc[:n], preserve_index=False)

    def selected(self, X: Any, names: list[str]) -> Any:
        return X[names]


CLUSTER = Dask()


def _has_partitions(X: Any) -> bool:
    """Whether it is a data frame or a series, not an array."""
    return hasattr(X, "map_partitions")


def _is_frame(X: Any) -> bool:
    return _has_partitions(X) and X.ndim == 2


def _refuse_others(X: Any) -> None:
    if type(X).__module__.startswith("dask.bag") or not hasattr(X, "to_delayed"):
        raise InputError(
            f"X is a {type(X).__name__} of Dask; pass a data frame, a series of texts or an array; a bag makes a data "
            "frame with to_dataframe()"
        )


def _name(part: Any, what: str, names: list[Any]) -> str | None:
    """That of a column of X, if one is meant."""
    if not isinstance(part, str):
        return None
    check_name(part, what, names)
    return part


def _cut_alike(parts: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Tasks of each partition; None for what is not given, or comes with X."""
    for name, part in parts.items():
        if part is not None and not hasattr(part, "to_delayed"):
            raise InputError(
                f"X is Dask's, and {name} is {part!r:.60}; pass Dask's too, cut as X is, or the name of a column of X"
            )
    tasks = {name: _partitions(part) for name, part in parts.items() if part is not None}
    if len({len(each) for each in tasks.values()}) > 1:
        found = ", ".join(f"{name} has {len(each)}" for name, each in tasks.items())
        raise InputError(f"the partitions differ: {found}; cut all alike, with repartition() or rechunk()")
    nothing = [None] * len(tasks["X"])
    return list(zip(*(tasks.get(name, nothing) for name in parts), strict=True))


def _partitions(part: Any) -> list[Any]:
    if _has_partitions(part):
        return list(part.to_delayed())
    tasks: list[Any] = _whole_rows(part).to_delayed().ravel().tolist()
    return tasks


def _whole_rows(X: Any) -> Any:
    """An array that is not cut between columns."""
    return X.rechunk({1: -1}) if X.ndim == 2 and len(X.chunks[1]) > 1 else X


def _of_first(tasks: Sequence[Any], n: int, size: Callable[[Any], int]) -> list[Any]:
    """What the first tasks give, as many of them as it takes to have so many rows."""
    from dask import compute

    found: list[Any] = []
    step = 1
    while tasks and sum(map(size, found)) < n:
        found += compute(*tasks[:step])
        tasks, step = tasks[step:], step * _FURTHER
    return found


def _end_to_end(pieces: list[Any]) -> Any:
    if len(pieces) == 1 or pieces[0] is None:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    import pandas as pd

    return pd.concat(pieces)


def _n_labels(chunk: Chunk) -> int:
    return len(chunk[1])


def _block_answers(model: Answerer, sent: Any, verb: str, X: Any) -> Any:
    """An array of answers: one to each row, or one to each row and class."""
    n_axes = 1 if verb == "predict" else 2
    dtype = model.classes_.dtype if n_axes == 1 else np.dtype(np.float64)
    chunks = (X.chunks[0],) if n_axes == 1 else (X.chunks[0], (len(model.classes_),))
    axes = {"drop_axis": 1} if X.ndim > n_axes else {"new_axis": 1} if X.ndim < n_axes else {}
    nothing = np.zeros((0,) * n_axes, dtype)
    return X.map_blocks(_block, sent, verb, chunks=chunks, dtype=dtype, meta=nothing, **axes)


# What workers do.


def _chunk(within: Roles | None, X: Any, y: Any, weight: Any) -> Chunk:
    """A partition, taken apart."""
    if within is None:
        return X, y, weight
    cells = X[within.text if within.text is not None else list(within.columns)]
    return cells, X[within.label] if within.label else y, X[within.weight] if within.weight else weight


def _labelled(within: Roles | None, *part: Any) -> Labelled:
    """The rows that have a label."""
    chunk = _chunk(within, *part)
    missing = without_label(chunk[1])
    if len(missing) != chunk[0].shape[0]:
        raise InputError(
            f"a partition of X has {chunk[0].shape[0]} rows, and that of y {len(missing)}; cut both alike, at the same rows"
        )
    n_missing = int(np.count_nonzero(missing))
    return Labelled(_taken(chunk, ~missing) if n_missing else chunk, n_missing)


def _taken(chunk: Chunk, wanted: Any) -> Chunk:
    X, y, weight = (None if part is None else getattr(part, "iloc", part)[np.flatnonzero(wanted)] for part in chunk)
    return X, y, weight


def _few(n: int, having: list[str], within: Roles | None, *part: Any) -> Chunk:
    chunk = _labelled(within, *part).chunk
    wanted = np.ones(_n_labels(chunk), dtype=bool)
    if chunk[2] is not None:
        wanted &= np.asarray(chunk[2]) != 0
    if having:
        wanted &= chunk[0][having].notna().any(axis=1).to_numpy()
    return _taken(chunk, wanted & (np.cumsum(wanted) <= n))


def _counted(counter: Counter, place: int, within: Roles | None, *part: Any) -> Part:
    return counted(counter, place, [_labelled(within, *part)])


def _scored(model: Answerer, within: Roles | None, *part: Any) -> Share:
    return scored(model, [_labelled(within, *part)])


def _beside(frame: Any, model: Answerer, verb: str) -> Any:
    roles = model.roles_among(list(frame.columns))
    cells = frame[roles.text if roles.text is not None else list(roles.columns)]
    return frame.assign(**columns(model, verb, cells, len(frame)))


def _instead(series: Any, model: Answerer, verb: str) -> Any:
    made = columns(model, verb, series, len(series))
    frame = series.to_frame("text").assign(**made)[list(made)]
    return frame["prediction"] if verb == "predict" else frame


def _block(block: Any, model: Answerer, verb: str) -> Any:
    made = columns(model, verb, block, block.shape[0])
    return made["prediction"] if verb == "predict" else np.column_stack(list(made.values()))
