"""Rows that come in chunks, of which few are in memory at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from ..data.column_selection import split_label
from ..data.labeled_rows import is_unlabeled
from ..exceptions import InputError
from ..model.labels import NoLabels
from ..model.source import Chunk, Source


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
    # No enumerate, which would hold each item until it has the next.
    for item in items:
        chunk = _chunk(item, number)
        del item
        yield chunk
        del chunk
        number += 1  # noqa: SIM113


def _chunk(item: Any, number: int) -> Chunk:
    if isinstance(item, tuple) and len(item) in (2, 3, 4):
        return Chunk(*item)._replace(name=f"chunk {number}")
    what = f"tuple of {len(item)}" if isinstance(item, tuple) else type(item).__name__
    raise InputError(
        f"chunk {number} is a {what}; without y, X must yield chunks, each a tuple (X, y), (X, y, sample_weight) or "
        "(X, y, sample_weight, groups); yield such tuples, or pass the labels of all rows as y"
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
