"""Texts, one per line or one per file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .file_formats import FileFormat, detect_encoding
from .files import decode_blocks, open_decompressed
from .reader import BadRow, Reader, ReadProgress, record_batches, replace_surrogates

_NEWLINE = 10


class LinesReader(Reader):
    """A file with a text in each line; the column is called text."""

    is_texts = True

    schema = pa.schema([("text", pa.large_string())])

    def __init__(self, path: Path, name: str, kind: FileFormat) -> None:
        super().__init__(name, path)
        self._path, self._kind = path, kind

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for lines in line_arrays(self._path, self._kind, progress):
            yield pa.RecordBatch.from_arrays([lines], schema=self.schema)


def line_arrays(path: Path, kind: FileFormat, progress: ReadProgress) -> Iterator[pa.Array]:
    """Yield lists of lines without line ends. Invalid bytes become U+FFFD."""
    rest: list[bytes] = []
    with open_decompressed(path) as stream:
        for text in decode_blocks(stream, kind.encoding):
            progress.bytes_current = stream.tell_raw()
            whole, newline, cut_off = text.encode("utf-8", errors="replace").rpartition(b"\n")
            if newline:
                yield _split_lines(b"".join([*rest, whole, newline]))
                rest = []
            rest.append(cut_off)
    if any(rest):
        yield _split_lines(b"".join([*rest, b"\n"]))


def _split_lines(block: bytes) -> pa.Array:
    """Return the lines of a block that ends with a complete line."""
    block = block.replace(b"\r\n", b"\n")
    ends = np.flatnonzero(np.frombuffer(block, dtype=np.uint8) == _NEWLINE).astype(np.int64)
    lengths = np.diff(ends, prepend=-1) - 1
    letters = block.replace(b"\n", b"")
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
    return pa.Array.from_buffers(pa.large_string(), len(ends), buffers)


class Document(NamedTuple):
    """A file, its class, and what messages call it."""

    path: Path
    label: str | None
    name: str


def document_schema(fields: list[tuple[str, pa.DataType]], documents: Sequence[Document]) -> pa.Schema:
    """Return these columns, and the label where there are classes."""
    labeled = any(document.label is not None for document in documents)
    return pa.schema([*fields, ("label", pa.string())] if labeled else fields)


class DocumentsReader(Reader):
    """Texts of files: columns text and file, and label where there are classes."""

    is_texts = True

    def __init__(self, documents: Sequence[Document], name: str, encoding: str | None) -> None:
        super().__init__(name, *(document.path for document in documents))
        self._documents, self._encoding = documents, encoding
        self.schema = document_schema([("text", pa.string()), ("file", pa.string())], documents)

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return record_batches(self._records(progress), self.schema)

    def _records(self, progress: ReadProgress) -> Iterator[dict[str, Any]]:
        for path, label, name in self._documents:
            with open_decompressed(path) as stream:
                content = stream.read()
            progress.bytes_current += path.stat().st_size
            encoding = self._encoding or detect_encoding(content)
            if encoding is None:
                is_model = path.suffix == ".candide"
                what, advice = ("a model file", "move the file") if is_model else ("binary data", "remove the file")
                begin = content[:40].decode("ascii", "replace")
                progress.bad_rows.add(BadRow(name, 1, f"{what} instead of text", begin, advice))
            else:
                text = content.decode(encoding, errors="replace").removeprefix("\ufeff")
                yield {"text": replace_surrogates(text), "file": name, "label": label}
