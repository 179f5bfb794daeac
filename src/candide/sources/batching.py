"""Batches of about the same size, whatever rows come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

from .part import BATCH_BYTES, MOST_ROWS

_ENOUGH_BYTES = BATCH_BYTES // 8


def evened(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same rows in the same order, in batches that are neither small nor of more than ``BATCH_BYTES``.

    A row that is larger is a batch of its own. What is large enough is not copied, which would cost a third of the
    time that it takes to read it.
    """
    gathered: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in batches:
        for piece in _cut(batch):
            if gathered and (n_bytes + piece.nbytes > BATCH_BYTES or n_rows + len(piece) > MOST_ROWS):
                yield _ready(gathered)
                gathered, n_rows, n_bytes = [], 0, 0
            gathered.append(piece)
            n_rows, n_bytes = n_rows + len(piece), n_bytes + piece.nbytes
            if n_bytes >= _ENOUGH_BYTES:
                yield _ready(gathered)
                gathered, n_rows, n_bytes = [], 0, 0
        del batch  # not held while the next is made
    if gathered:
        yield _ready(gathered)


def _cut(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Halves of halves, for rows may be of very different sizes."""
    if len(batch) < 2 or (batch.nbytes <= BATCH_BYTES and len(batch) <= MOST_ROWS):
        yield batch
        return
    middle = len(batch) // 2
    yield from _cut(batch.slice(0, middle))
    yield from _cut(batch.slice(middle))


def _ready(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    joined = batches[0] if len(batches) == 1 else pa.concat_batches(batches)
    # Arrow would hold on to what reading took, which is many times the batch, while somebody counts.
    pa.default_memory_pool().release_unused()
    return joined
