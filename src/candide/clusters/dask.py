"""Dask's arrays and data frames: a task for each partition, and a tree of tasks that add."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..data.arrays import is_sparse
from ..data.arrow_batches import needed
from ..data.column_selection import Roles, quote_names
from ..exceptions import InputError
from ..model.accumulator import PartialState, merge_partial_states
from . import dask_tasks as tasks
from .dask_tasks import n_labels
from .rows import Answerer, Casting, Chunk, Counter, SpreadRows, check_name
from .work import share_right

# Sums that one task adds.
_FAN_IN = 8
# How many more partitions are looked at where the ones before had too few rows.
_FURTHER = 4


class DaskRows(SpreadRows):
    """Rows with labels, partition by partition. ``within``: what the columns of a data frame are for."""

    def __init__(self, X: Any, y: Any, weight: Any, within: Roles | None) -> None:
        self.roles = within if within is not None and within.label else None
        self._within = within
        self._frame = X if within is not None else None
        if within is not None:
            # What lies in the frame itself comes with it, so that a file is read once.
            X = X[needed(within)]
            y, weight = None if within.label else y, None if within.weight else weight
        self._parts = _cut_alike({"X": X, "y": y, "sample_weight": weight})

    def _first(self, n: int, having: list[str]) -> Chunk | None:
        from dask import delayed

        firsts = [delayed(tasks.few)(n, having, self._within, *part) for part in self._parts]
        with self._columns_checked():
            found = [chunk for chunk in _of_first(firsts, n, n_labels) if n_labels(chunk)]
        if not found:
            return None
        # Sparse matrices hold numbers, of which few tell as much as many.
        return found[0] if is_sparse(found[0][0]) else self._joined(found)

    def _empty(self, X: Any) -> list[str]:
        return X.columns[X.isna().all()].tolist() if self._within is not None and X.ndim == 2 else []

    def _joined(self, chunks: Sequence[Chunk]) -> Chunk:
        X, y, weight = (_concatenate_labeled([chunk[i] for chunk in chunks]) for i in range(3))
        return X, y, weight

    def count(self, counter: Counter) -> PartialState:
        from dask import compute, delayed

        sent = delayed(counter, traverse=False)
        parts = [delayed(tasks.count)(sent, place, self._within, *part) for place, part in enumerate(self._parts)]
        while len(parts) > 1:
            parts = [delayed(merge_partial_states)(parts[i : i + _FAN_IN]) for i in range(0, len(parts), _FAN_IN)]
        with self._columns_checked():
            found: tuple[PartialState] = compute(parts[0])
        return found[0]

    def score(self, model: Answerer) -> float:
        from dask import compute, delayed

        sent = delayed(model, traverse=False)
        with self._columns_checked():
            return share_right(compute(*(delayed(tasks.score)(sent, self._within, *part) for part in self._parts)))

    @contextmanager
    def _columns_checked(self) -> Iterator[None]:
        """A partition may lack a column that the frame says it has: Dask looks at the first partition, or at none."""
        try:
            yield
        except KeyError as error:
            if self._frame is not None and self._within is not None:
                _refuse_lacking(self._frame, needed(self._within), error)
            raise


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
        beside = tasks.beside if _is_frame(X) else tasks.instead
        return X.map_partitions(beside, sent, verb, meta=beside(X._meta, model, verb))

    def head(self, X: Any, n: int) -> Any:
        import pyarrow as pa

        found = _of_first(X.to_delayed(), n, len)
        return pa.Table.from_pandas(_concatenate_labeled(found).iloc[:n], preserve_index=False)

    def selected(self, X: Any, names: list[str]) -> Any:
        return X[names]


CLUSTER = Dask()


def _refuse_lacking(frame: Any, names: list[str], error: KeyError) -> None:
    """Names the first partition that lacks one of the columns, if there is one."""
    from dask import delayed

    for place, part in enumerate(frame.to_delayed()):
        columns = list(delayed(getattr)(part, "columns").compute())
        lacking = [name for name in names if name not in columns]
        if lacking:
            raise InputError(
                f"partition {place} has no column {quote_names(lacking)}; it has {quote_names(columns)}, and the data "
                "frame says that all partitions have the same columns; write the partitions with the same columns"
            ) from error


def _has_partitions(X: Any) -> bool:
    """Whether it is a data frame or a series, not an array."""
    return hasattr(X, "map_partitions")


def _is_frame(X: Any) -> bool:
    return _has_partitions(X) and X.ndim == 2


def _is_spread(part: Any) -> bool:
    """Whether it is a data frame, a series or an array of Dask; a Delayed says that it has any attribute."""
    return type(part).__module__.startswith(("dask.dataframe", "dask.array"))


def _refuse_others(X: Any) -> None:
    if not _is_spread(X):
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
        if part is not None and not _is_spread(part):
            raise InputError(
                f"X is Dask's, and {name} is {part!r:.60}; pass Dask's too, cut as X is, or the name of a column of X"
            )
    cut = {name: _partitions(part) for name, part in parts.items() if part is not None}
    if len({len(each) for each in cut.values()}) > 1:
        found = ", ".join(f"{name} has {len(each)}" for name, each in cut.items())
        raise InputError(f"the partitions differ: {found}; cut all alike, with repartition() or rechunk()")
    nothing = [None] * len(cut["X"])
    return list(zip(*(cut.get(name, nothing) for name in parts), strict=True))


def _partitions(part: Any) -> list[Any]:
    if _has_partitions(part):
        return list(part.to_delayed())
    blocks: list[Any] = _whole_rows(part).to_delayed().ravel().tolist()
    return blocks


def _whole_rows(X: Any) -> Any:
    """An array that is not cut between columns."""
    return X.rechunk({1: -1}) if X.ndim == 2 and len(X.chunks[1]) > 1 else X


def _of_first(waiting: Sequence[Any], n: int, size: Callable[[Any], int]) -> list[Any]:
    """What the first tasks give, as many of them as it takes to have so many rows."""
    from dask import compute

    found: list[Any] = []
    step = 1
    while waiting and sum(map(size, found)) < n:
        found += compute(*waiting[:step])
        waiting, step = waiting[step:], step * _FURTHER
    return found


def _concatenate_labeled(pieces: list[Any]) -> Any:
    if len(pieces) == 1 or pieces[0] is None:
        return pieces[0]
    if isinstance(pieces[0], np.ndarray):
        return np.concatenate(pieces)
    import pandas as pd

    return pd.concat(pieces)


def _block_answers(model: Answerer, sent: Any, verb: str, X: Any) -> Any:
    """An array of answers: one to each row, or one to each row and class."""
    n_axes = 1 if verb == "predict" else 2
    dtype = model.classes.dtype if n_axes == 1 else np.dtype(np.float64)
    chunks = (X.chunks[0],) if n_axes == 1 else (X.chunks[0], (len(model.classes),))
    axes = {"drop_axis": 1} if X.ndim > n_axes else {"new_axis": 1} if X.ndim < n_axes else {}
    nothing = np.zeros((0,) * n_axes, dtype)
    return X.map_blocks(tasks.block, sent, verb, chunks=chunks, dtype=dtype, meta=nothing, **axes)
