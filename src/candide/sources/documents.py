"""Folders of texts: each file is one text, each folder may be one class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from .bad_rows import BadRow
from .kinds import encoding_of
from .part import Part, Reading
from .records import encodable, record_batches
from .streams import opened

LABEL = ("label", pa.string())


class Document(NamedTuple):
    """A file, and the class that it is in."""

    path: Path
    label: str | None


class Documents(Part):
    """Texts of files: columns text and file, and label where there are classes."""

    is_texts = True

    def __init__(self, documents: Sequence[Document], name: str, encoding: str | None) -> None:
        self.name = name
        self.n_bytes = sum(document.path.stat().st_size for document in documents)
        self._documents, self._encoding = documents, encoding

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([("text", pa.string()), ("file", pa.string()), *self._label()])

    def _label(self) -> list[tuple[str, pa.DataType]]:
        return [LABEL] if any(document.label is not None for document in self._documents) else []

    def batches(self, reading: Reading, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return record_batches(self._records(reading), self.schema)

    def _records(self, reading: Reading) -> Iterator[dict[str, Any]]:
        for path, label in self._documents:
            with opened(path) as stream:
                content = stream.read()
            reading.bytes_here += path.stat().st_size
            encoding = self._encoding or encoding_of(content)
            if encoding is None:
                reading.bad_rows.add(
                    BadRow(str(path), 1, "bytes that are no text", repr(content[:40]), "remove the file")
                )
            else:
                text = content.decode(encoding, errors="replace").removeprefix("\ufeff")
                yield {"text": encodable(text), "file": str(path), "label": label}
