"""What Dask's workers do with a partition: a data frame of pandas, a series, or a block of an array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..data.arrays import is_sparse
from ..data.column_selection import Roles
from ..data.labeled_rows import is_unlabeled
from ..exceptions import InputError
from ..model.accumulator import PartialState
from .rows import Answerer, Chunk, Counter, columns
from .work import Labelled, Share, counted, scored


def n_labels(chunk: Chunk) -> int:
    """How many rows there are; sparse matrices have no length."""
    return len(chunk[1])


def _chunk(within: Roles | None, X: Any, y: Any, weight: Any) -> Chunk:
    """A partition, taken apart."""
    if within is None:
        return X, y, weight
    cells = X[within.text if within.text is not None else list(within.columns)]
    return cells, X[within.label] if within.label else y, X[within.weight] if within.weight else weight


def _labelled(within: Roles | None, *part: Any) -> Labelled:
    """The rows that have a label."""
    chunk = _chunk(within, *part)
    missing = is_unlabeled(chunk[1])
    if len(missing) != chunk[0].shape[0]:
        raise InputError(
            f"a partition of X has {chunk[0].shape[0]} rows, and that of y {len(missing)}; cut both at the same rows"
        )
    n_missing = int(np.count_nonzero(missing))
    return Labelled(_taken(chunk, np.flatnonzero(~missing)) if n_missing else chunk, n_missing)


def _taken(chunk: Chunk, rows: Any) -> Chunk:
    X, y, weight = (_rows(part, rows) for part in chunk)
    return X, y, weight


def _rows(part: Any, rows: Any) -> Any:
    return None if part is None else part.iloc[rows] if hasattr(part, "iloc") else part[rows]


def few(n: int, having: list[str], within: Roles | None, *part: Any) -> Chunk:
    """Some first rows that have a weight, and a value in any of these columns."""
    chunk = _labelled(within, *part).chunk
    wanted = np.ones(n_labels(chunk), dtype=bool)
    if chunk[2] is not None:
        wanted &= np.asarray(chunk[2]) != 0
    if having:
        wanted &= chunk[0][having].notna().any(axis=1).to_numpy()
    return _taken(chunk, np.flatnonzero(wanted)[:n])


def count(counter: Counter, place: int, within: Roles | None, *part: Any) -> PartialState:
    """The sums of a partition."""
    return counted(counter, place, _groups(_labelled(within, *part), counter.group_bytes))


def _groups(whole: Labelled, n_bytes: int) -> Iterator[Labelled]:
    """A partition is in memory at once, but what counting takes beside it need not be."""
    n_rows = n_labels(whole.chunk)
    step = max(1, n_bytes * n_rows // max(1, _n_bytes(whole.chunk[0])))
    yield Labelled(_taken(whole.chunk, slice(0, step)), whole.n_unlabeled)
    for begin in range(step, n_rows, step):
        yield Labelled(_taken(whole.chunk, slice(begin, begin + step)), 0)


def _n_bytes(X: Any) -> int:
    if hasattr(X, "memory_usage"):
        return int(np.sum(X.memory_usage(deep=True)))
    return int(X.data.nbytes) if is_sparse(X) else int(X.nbytes)


def score(model: Answerer, within: Roles | None, *part: Any) -> Share:
    """How many rows of a partition are predicted right."""
    return scored(model, [_labelled(within, *part)])


def beside(frame: Any, model: Answerer, verb: str) -> Any:
    """A data frame with the columns of the answer."""
    roles = model.roles_in(list(frame.columns))
    cells = frame[roles.text if roles.text is not None else list(roles.columns)]
    return frame.assign(**_series(model, verb, cells, frame.index))


def instead(series: Any, model: Answerer, verb: str) -> Any:
    """The answers to a series of texts."""
    import pandas as pd

    frame = pd.DataFrame(_series(model, verb, series, series.index))
    return frame["prediction"] if verb == "predict" else frame


def _series(model: Answerer, verb: str, X: Any, index: Any) -> dict[str, Any]:
    """By name, of the same types whether there are rows or not."""
    import pandas as pd

    made = columns(model, verb, X, len(index))
    kind = pd.Series(model.classes).dtype if verb == "predict" else np.dtype(np.float64)
    return {name: pd.Series(column, index, kind) for name, column in made.items()}


def block(rows: Any, model: Answerer, verb: str) -> Any:
    """The answers to a block of an array."""
    made = columns(model, verb, rows, rows.shape[0])
    return made["prediction"] if verb == "predict" else np.column_stack(list(made.values()))
