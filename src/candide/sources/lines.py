"""Lines of a file, as one Arrow array for each block, and the source of one text in each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from .kinds import Kind
from .part import Part, Reading
from .streams import decoded, opened

_NEWLINE = 10


class Lines(Part):
    """A text in each line; the column is called text."""

    is_texts = True

    schema = pa.schema([("text", pa.large_string())])

    def __init__(self, path: Path, name: str, kind: Kind) -> None:
        self.name = name
        self.n_bytes = path.stat().st_size
        self._path, self._kind = path, kind

    def batches(self, reading: Reading, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for lines in line_arrays(self._path, self._kind, reading):
            yield pa.RecordBatch.from_arrays([lines], schema=self.schema)


def line_arrays(path: Path, kind: Kind, reading: Reading) -> Iterator[pa.Array]:
    """Lines without their ends, many at once. Bytes that are not of the encoding become U+FFFD."""
    rest: list[bytes] = []
    with opened(path) as stream:
        for text in decoded(stream, kind.encoding):
            reading.bytes_here = stream.tell_raw()
            whole, newline, cut_off = text.encode("utf-8", errors="replace").rpartition(b"\n")
            if newline:
                yield _cut(b"".join([*rest, whole, newline]))
                rest = []
            rest.append(cut_off)
    if any(rest):
        yield _cut(b"".join([*rest, b"\n"]))


def _cut(block: bytes) -> pa.Array:
    """The lines of a block that ends with one."""
    block = block.replace(b"\r\n", b"\n")
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _NEWLINE).astype(np.int64)
    lengths = np.diff(ends, prepend=-1) - 1
    letters = block.replace(b"\n", b"")
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.large_string(), len(ends), buffers)
