"""Dask's arrays and data frames: a task for each partition, and a tree of tasks that merge states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..data.arrays import is_sparse
from ..data.arrow_batches import needed
from ..data.column_selection import Roles, quote_names
from ..data.labeled_rows import is_unlabeled
from ..exceptions import InputError
from ..model.accumulator import PartialState, merge_partial_states
from ..model.model import Model
from ..model.source import Chunk
from ..model.train import Summarize
from .engine_source import EngineSource, check_name, concatenate, predictions

# States that one task merges.
_FAN_IN = 8
# A partition is small below this fraction (1 / 8) of the bytes that are counted at once.
_SMALL = 8
# Factor by which the number of further partitions grows that are read if the first ones have too few rows.
_FURTHER = 4


def open_frame(X: Any, y: Any = None, sample_weight: Any = None) -> DaskSource:
    """Return a data frame, a series or an array of Dask as a source; labels and weights may be names of columns."""
    if not _is_collection(X):
        raise InputError(
            f"X is a Dask {type(X).__name__}; expected a data frame, a series of texts or an array; convert a bag "
            "with to_dataframe()"
        )
    if not _is_frame(X):
        return DaskSource(X, y, sample_weight, None)
    names = list(X.columns)
    label, weight = _column_name(y, "y", names), _column_name(sample_weight, "sample_weight", names)
    others = tuple(name for name in names if name not in (label, weight))
    return DaskSource(X, y, sample_weight, Roles(label or "", None, others, weight))


class DaskSource(EngineSource):
    """Rows with labels, partition by partition."""

    def __init__(self, X: Any, y: Any, weight: Any, roles: Roles | None) -> None:
        self.roles = roles
        self.names = None if roles is None else list(X.columns)
        self._given = X, y, weight

    def with_roles(self, roles: Roles) -> DaskSource:
        return DaskSource(*self._given, roles)

    @cached_property
    def _parts(self) -> list[tuple[Any, ...]]:
        """The partitions of rows, labels and weights, each as a task; None for what lies in the data frame."""
        X, y, weight = self._given
        roles = self.roles
        if y is None:
            raise InputError("y is None; pass the labels, or the name of the label column of X")
        if roles is not None:
            # What lies in the frame itself comes with it, so that a file is read once.
            X = X[needed(roles)]
            y, weight = None if roles.label else y, None if roles.weight else weight
        return _cut_alike({"X": X, "y": y, "sample_weight": weight})

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        from dask import delayed

        firsts = [delayed(_few)(n, having, self.roles, *part) for part in self._parts]
        with self._columns_checked():
            found = [chunk for chunk in _of_first(firsts, n, _n_labels) if _n_labels(chunk)]
        if not found:
            return None
        # Sparse matrices contain numbers, so a few rows are enough.
        return found[0] if is_sparse(found[0].X) else self._joined(found)

    def _empty(self, X: Any) -> list[str]:
        return X.columns[X.isna().all()].tolist() if self.roles is not None and X.ndim == 2 else []

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        from dask import delayed

        for partition, part in enumerate(self._parts):
            with self._columns_checked():
                rows = delayed(_labeled)(self.roles, *part).compute()
            yield from _groups(rows._replace(name=f"partition {partition}"), n_bytes)

    def summarize(self, task: Summarize, start: int = 0) -> Iterator[PartialState]:
        from dask import compute, delayed

        # Whatever is sent with each task takes time there, so that roles are sent with the task that all have.
        sent = delayed((task.for_workers(), self.roles), traverse=False)
        count, merge = delayed(_count), delayed(_merge)
        parts = [count(sent, number, *part) for number, part in enumerate(self._parts)]
        is_last = False
        while not is_last:
            groups = [parts[i : i + _FAN_IN] for i in range(0, len(parts), _FAN_IN)]
            is_last = len(groups) == 1
            parts = [merge(sent, is_last, group) for group in groups]
        with self._columns_checked():
            found: tuple[PartialState] = compute(parts[0])
        yield found[0]

    def map(self, task: Any) -> Iterator[Any]:
        from dask import compute, delayed

        sent = delayed(task.for_workers(), traverse=False)
        with self._columns_checked():
            yield from compute(
                *(delayed(_apply)(sent, number, self.roles, *part) for number, part in enumerate(self._parts))
            )

    def predict(self, model: Model, method: str) -> Any:
        """Return arrays for arrays and series for series; data frames keep their columns, and get predictions."""
        from dask import delayed

        X, model = self._given[0], model.for_workers()
        # As a separate task, the model is sent to each worker once, not with every partition.
        sent = delayed(model, traverse=False)
        if not _has_partitions(X):
            return _predict_blocks(model, sent, method, _whole_rows(X))
        function = _with_predictions if _is_frame(X) else _predict_series
        return X.map_partitions(function, sent, method, meta=function(X._meta, model, method))

    @contextmanager
    def _columns_checked(self) -> Iterator[None]:
        """Check that each partition has the declared columns, because Dask inspects at most the first one."""
        try:
            yield
        except KeyError as error:
            if self.roles is not None:
                _refuse_lacking(self._given[0], needed(self.roles), error)
            raise


def first_rows(X: Any, n: int) -> Any:
    """Return the first rows of a data frame as a table of Arrow."""
    import pandas as pd
    import pyarrow as pa

    found = _of_first(X.to_delayed(), n, len)
    return pa.Table.from_pandas(pd.concat(found).iloc[:n], preserve_index=False)


def _refuse_lacking(frame: Any, names: list[str], error: KeyError) -> None:
    """Name the first partition that lacks one of the columns, if there is one."""
    from dask import delayed

    for number, part in enumerate(frame.to_delayed()):
        columns = list(delayed(getattr)(part, "columns").compute())
        lacking = [name for name in names if name not in columns]
        if lacking:
            raise InputError(
                f"partition {number} has no column {quote_names(lacking)}; its columns are {quote_names(columns)}, but "
                "all partitions must have the same columns; write the partitions again with the same columns"
            ) from error


def _has_partitions(X: Any) -> bool:
    """Return whether it is a data frame or a series, not an array."""
    return hasattr(X, "map_partitions")


def _is_frame(X: Any) -> bool:
    return _has_partitions(X) and X.ndim == 2


def _is_collection(part: Any) -> bool:
    """Return whether an object is a Dask data frame, series or array; a Delayed appears to have every attribute."""
    return type(part).__module__.startswith(("dask.dataframe", "dask.array"))


def _column_name(part: Any, what: str, names: list[Any]) -> str | None:
    """Return the name of a column of X, if one is meant."""
    if not isinstance(part, str):
        return None
    check_name(part, what, names)
    return part


def _cut_alike(parts: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return tasks of each partition; None for what is not given, or comes with X."""
    for name, part in parts.items():
        if part is not None and not _is_collection(part):
            raise InputError(
                f"X is a Dask collection, but {name} is {part!r:.60}; pass a Dask collection with the same "
                "partitions, or a column name"
            )
    cut = {name: _partitions(part) for name, part in parts.items() if part is not None}
    if len({len(each) for each in cut.values()}) > 1:
        found = ", ".join(f"{name} has {len(each)}" for name, each in cut.items())
        raise InputError(f"the numbers of partitions differ: {found}; align them with repartition() or rechunk()")
    nothing = [None] * len(cut["X"])
    return list(zip(*(cut.get(name, nothing) for name in parts), strict=True))


def _partitions(part: Any) -> list[Any]:
    if _has_partitions(part):
        return list(part.to_delayed())
    blocks: list[Any] = _whole_rows(part).to_delayed().ravel().tolist()
    return blocks


def _whole_rows(X: Any) -> Any:
    """Return an array that is not cut between columns."""
    return X.rechunk({1: -1}) if X.ndim == 2 and len(X.chunks[1]) > 1 else X


def _of_first(waiting: Sequence[Any], n: int, size: Callable[[Any], int]) -> list[Any]:
    """Return what the first tasks give, as many of them as it takes to have ``n`` rows."""
    from dask import compute

    found: list[Any] = []
    step = 1
    while waiting and sum(map(size, found)) < n:
        found += compute(*waiting[:step])
        waiting, n_found = waiting[step:], sum(map(size, found))
        missing = -(-(n - n_found) * len(found) // max(1, n_found))  # partitions, if they are like those found
        step = min(step * _FURTHER, max(1, missing))
    return found


# What workers do with a partition: a data frame of pandas, a series, or a block of an array.


def _n_labels(chunk: Chunk) -> int:
    """Return the number of rows; sparse matrices have no length."""
    return len(chunk.y)


def _labeled(roles: Roles | None, X: Any, y: Any, weight: Any) -> Chunk:
    """Return the rows of a partition that have a label."""
    if roles is not None:
        cells = X[roles.text if roles.text is not None else list(roles.columns)]
        y, weight = X[roles.label] if roles.label else y, X[roles.weight] if roles.weight else weight
        X = cells
    missing = is_unlabeled(y)
    if len(missing) != X.shape[0]:
        raise InputError(
            f"a partition of X has {X.shape[0]} rows, but the matching partition of y has {len(missing)}; align them "
            "with repartition() or rechunk()"
        )
    n_missing = int(np.count_nonzero(missing))
    chunk = Chunk(X, y, weight, may_be_empty=True)
    return _taken(chunk, np.flatnonzero(~missing))._replace(n_unlabeled=n_missing) if n_missing else chunk


def _taken(chunk: Chunk, rows: Any) -> Chunk:
    X, y, weight = (_rows(part, rows) for part in chunk[:3])
    return chunk._replace(X=X, y=y, weight=weight)


def _rows(part: Any, rows: Any) -> Any:
    return None if part is None else part.iloc[rows] if hasattr(part, "iloc") else part[rows]


def _few(n: int, having: list[str], roles: Roles | None, *part: Any) -> Chunk:
    """Return some first rows that have a weight, and a value in any of these columns."""
    chunk = _labeled(roles, *part)._replace(n_unlabeled=0)
    wanted = np.ones(_n_labels(chunk), dtype=bool)
    if chunk.weight is not None:
        wanted &= np.asarray(chunk.weight) != 0
    if having:
        wanted &= chunk.X[having].notna().any(axis=1).to_numpy()
    return _taken(chunk, np.flatnonzero(wanted)[:n])


def _count(sent: tuple[Summarize, Roles | None], number: int, *part: Any) -> PartialState:
    """Return the state of a partition; a small one itself, because a state costs more than a few rows."""
    (task, roles), n_bytes = sent, _n_bytes(part[0])
    are_aligned = len({each.shape[0] for each in part if each is not None}) == 1
    if are_aligned and n_bytes < task.group_bytes // _SMALL and not is_sparse(part[0]):
        return PartialState(None, frozenset([number]), rows=(_Small(number, n_bytes, part),))
    return task.whole(_groups(_labeled(roles, *part), task.group_bytes), number)


class _Small(NamedTuple):
    """A partition with few rows: data frame or array, labels, weights."""

    number: int
    n_bytes: int
    part: tuple[Any, ...]


def _merge(sent: tuple[Summarize, Roles | None], is_last: bool, parts: list[PartialState]) -> PartialState:
    """Merge partial states, and count the rows of small partitions if together they are not small, or the last."""
    merged = merge_partial_states(parts)
    if not is_last and sum(small.n_bytes for small in merged.rows) < sent[0].group_bytes // _SMALL:
        return merged
    numbers = frozenset(small.number for small in merged.rows)
    counted = [_count_together(*sent, group) for group in _alike(merged.rows)]
    return merge_partial_states([merged._replace(rows=(), partitions=merged.partitions - numbers), *counted])


def _alike(rows: Sequence[_Small]) -> list[list[_Small]]:
    """Return groups of partitions that can be concatenated."""
    groups: list[tuple[list[Any], list[_Small]]] = []
    for small in rows:
        layout = [_layout(each) for each in small.part]
        group = next((group for known, group in groups if known == layout), None)
        if group is None:
            groups.append((layout, [small]))
        else:
            group.append(small)
    return [group for _, group in groups]


def _layout(part: Any) -> Any:
    """Return what parts have in common that can be concatenated without changing a cell."""
    if hasattr(part, "dtypes"):
        return [part.dtypes] if part.ndim == 1 else [*part.columns, *part.dtypes]
    return None if part is None else (type(part), part.dtype, *part.shape[1:])


def _count_together(task: Summarize, roles: Roles | None, group: list[_Small]) -> PartialState:
    """Return the state of small partitions."""
    joined = [concatenate(list(parts)) for parts in zip(*(small.part for small in group), strict=True)]
    try:
        found = task.part(_labeled(roles, *joined))
    except (TypeError, ValueError):
        for small in group:  # to name the partition
            task.whole([_labeled(roles, *small.part)], small.number)
        raise
    return found._replace(partitions=frozenset(small.number for small in group))


def _apply(task: Callable[[Chunk], Any], number: int, roles: Roles | None, *part: Any) -> Any:
    return task(_labeled(roles, *part)._replace(name=f"partition {number}"))


def _groups(whole: Chunk, n_bytes: int) -> Iterator[Chunk]:
    """Yield pieces of a partition: it is in memory at once, but what counting takes beside it need not be."""
    n_rows = _n_labels(whole)
    step = max(1, n_bytes * n_rows // max(1, _n_bytes(whole.X)))
    yield _taken(whole, slice(0, step))
    for begin in range(step, n_rows, step):
        yield _taken(whole, slice(begin, begin + step))._replace(n_unlabeled=0)


def _n_bytes(X: Any) -> int:
    if hasattr(X, "memory_usage"):
        columns = [X] if X.ndim == 1 else (column for _, column in X.items())
        return sum(column.memory_usage(index=False, deep=True) for column in columns)
    return int(X.data.nbytes) if is_sparse(X) else int(X.nbytes)


def _with_predictions(frame: Any, model: Model, method: str) -> Any:
    """Return a data frame with the columns of predictions."""
    roles = model.roles_in(list(frame.columns))
    cells = frame[roles.text if roles.text is not None else list(roles.columns)]
    return frame.assign(**_series(model, method, cells, frame.index))


def _predict_series(series: Any, model: Model, method: str) -> Any:
    """Return the predictions for a series of texts."""
    import pandas as pd

    frame = pd.DataFrame(_series(model, method, series, series.index))
    return frame["prediction"] if method == "predict" else frame


def _series(model: Model, method: str, X: Any, index: Any) -> dict[str, Any]:
    """Return columns of predictions, of the same types whether there are rows or not."""
    import pandas as pd

    made = predictions(model, method, X, len(index))
    kind = pd.Series(model.classes).dtype if method == "predict" else np.dtype(np.float64)
    return {name: pd.Series(column, index, kind) for name, column in made.items()}


def _predict_blocks(model: Model, sent: Any, method: str, X: Any) -> Any:
    """Return an array of predictions: one for each row, or one for each row and class."""
    n_axes = 1 if method == "predict" else 2
    dtype = model.classes.dtype if n_axes == 1 else np.dtype(np.float64)
    chunks = (X.chunks[0],) if n_axes == 1 else (X.chunks[0], (len(model.classes),))
    axes = {"drop_axis": 1} if X.ndim > n_axes else {"new_axis": 1} if X.ndim < n_axes else {}
    nothing = np.zeros((0,) * n_axes, dtype)
    return X.map_blocks(_predict_block, sent, method, chunks=chunks, dtype=dtype, meta=nothing, **axes)


def _predict_block(rows: Any, model: Model, method: str) -> Any:
    """Return the predictions for a block of an array."""
    made = predictions(model, method, rows, rows.shape[0])
    return made["prediction"] if method == "predict" else np.column_stack(list(made.values()))
