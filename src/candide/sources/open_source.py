"""Anything that ``fit`` takes as a source of rows; rows that come in chunks, of which few are in memory at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import chain
from typing import Any

from ..data.arrays import is_in_memory
from ..data.column_selection import split_groups, split_label
from ..data.labeled_rows import is_unlabeled
from ..exceptions import InputError
from ..model.labels import NoLabels
from ..model.source import Chunk, MemorySource, Source


def are_chunks(X: Any) -> bool:
    """Return whether ``X`` is an iterable to go through once: no list, array or table."""
    return isinstance(X, Iterable) and not hasattr(X, "__len__") and not hasattr(X, "shape")


class ChunkSource(Source):
    """An iterable of tuples ``(X, y)``, ``(X, y, sample_weight)`` or ``(X, y, sample_weight, groups)``."""

    def __init__(self, chunks: Iterable[Any]) -> None:
        self._chunks = _read(chunks)

    def head(self, n: int) -> Chunk:
        """Return the first chunk that has a labeled row. It and those before it are read again by ``batches``."""
        read, n_unlabeled = [], 0
        for chunk in self._chunks:
            read.append(chunk)
            if not _is_unlabeled(chunk):
                self._chunks = chain(_emptied(read), self._chunks)
                return chunk
            n_unlabeled += len(chunk.y)
        if n_unlabeled:
            raise NoLabels(n_unlabeled)
        raise InputError("found no chunks; expected at least one; yield at least one (X, y)")

    def batches(self, n_bytes: int, start: int = 0) -> Iterator[Chunk]:
        return self._chunks


def _read(items: Iterable[Any]) -> Iterator[Chunk]:
    """Yield chunks without keeping them."""
    number = 0
    # Not enumerate, which would keep each item in memory until it has the next.
    for item in items:
        chunk = _chunk(item, number)
        del item
        yield chunk
        del chunk
        number += 1  # noqa: SIM113


def _chunk(item: Any, number: int) -> Chunk:
    if isinstance(item, tuple) and len(item) in (2, 3, 4):
        chunk = Chunk(*item)
        X, groups = split_groups(chunk.X, chunk.groups)
        return chunk._replace(X=X, groups=groups, name=f"chunk {number}")
    what = f"tuple of {len(item)}" if isinstance(item, tuple) else type(item).__name__
    raise InputError(
        f"chunk {number} is a {what}; without y, expected an iterable of chunks (X, y), (X, y, sample_weight) or (X, "
        "y, sample_weight, groups); yield such tuples, or pass the labels of all rows as y"
    )


def _is_unlabeled(chunk: Chunk) -> bool:
    """Return whether a chunk has rows, and none of them a label."""
    if chunk.y is None:
        return False
    missing = is_unlabeled(split_label(chunk.X, chunk.y)[1] if isinstance(chunk.y, (str, int)) else chunk.y)
    return bool(len(missing) and missing.all())


def _emptied(chunks: list[Chunk]) -> Iterator[Chunk]:
    """Yield chunks without keeping them."""
    while chunks:
        yield chunks.pop(0)


# Modules of sources on clusters, by the package of the object that is passed.
_ENGINES = {"dask": ".dask", "pyspark": ".spark"}
_LAZY = ".lazy_tables"
# Packages whose tables are in memory, although they can be read as a stream too, and their lazy tables.
_LAZY_NAMES = {
    "narwhals": ("LazyFrame",),
    "pandas": (),
    "polars": ("LazyFrame",),
    "pyarrow": ("RecordBatchReader", "Dataset", "FileSystemDataset", "InMemoryDataset", "UnionDataset"),
}


def open_source(
    X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, *, chunks: bool = False
) -> Source:
    """Return rows, labels, weights and groups as a source.

    Parameters
    ----------
    X : array, data frame, list, source of ``candide.read``, lazy table, Arrow stream, or data of Dask or Spark
        The rows.
    y, sample_weight, groups
        As in ``fit``.
    chunks : bool, default False
        Whether an iterator without ``y`` yields chunks.
    """
    if isinstance(X, Source):
        if y is not None or sample_weight is not None or groups is not None:
            raise InputError(
                "labels, weights and groups cannot be passed with a source from candide.read, which defines its own; "
                "omit them, and pass the column names to candide.read(…, label=…, weight=…, groups=…)"
            )
        return X
    engine = _engine(X)
    if engine is not None:
        if groups is not None and engine != _LAZY:
            raise InputError(
                "groups is not supported for rows on a cluster; expected rows in memory, chunks, files or lazy tables; "
                "collect the rows, or omit groups"
            )
        own = {} if groups is None else {"groups": groups}
        source: Source = import_module(engine, __package__).open_frame(X, y, sample_weight, **own)
        return source
    if chunks and y is None and are_chunks(X):
        if sample_weight is not None or groups is not None:
            raise InputError(
                "sample_weight and groups cannot be passed with chunks; yield (X, y, sample_weight) or (X, y, "
                "sample_weight, groups) instead"
            )
        return ChunkSource(X)
    return MemorySource(X, y, sample_weight, groups)


def take_groups(X: Any, groups: Any) -> tuple[Any, Any]:
    """Return rows and groups, where ``groups`` may be the name of a column of a table in memory."""
    if groups is None or is_elsewhere(X) or are_chunks(X):
        return X, groups
    return split_groups(X, groups)


def is_elsewhere(X: Any) -> bool:
    """Return whether rows are not in memory: a source, a lazy table, an Arrow stream, or data of Dask or Spark."""
    return isinstance(X, Source) or _engine(X) is not None


def _engine(X: Any) -> str | None:
    """Return the module for rows that are elsewhere, without importing anything for rows in memory."""
    kind = type(X)
    module, has_stream = kind.__module__, hasattr(kind, "__arrow_c_stream__")
    # Most objects are from NumPy or built in: a test of the first letters is enough.
    if not has_stream and module[:2] not in ("da", "na", "po", "py"):
        return None
    package = module.partition(".")[0]
    if package in _ENGINES:
        return _ENGINES[package]
    if package in _LAZY_NAMES:
        return _LAZY if kind.__name__ in _LAZY_NAMES[package] else None
    return _LAZY if has_stream and not is_in_memory(X) else None
