"""Parquet and Arrow files, read by pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..exceptions import SourceError
from .files import open_raw
from .reader import MAX_ROWS, Reader, ReadProgress, cast_batch, rows_per_batch

# Bytes of a column read at once, so that large row groups take little memory.
_BUFFER_BYTES = 1 << 20


class ParquetReader(Reader):
    """A Parquet file. One thread is as fast as two, in less memory; the engine's reader needs more of both."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(name, path)
        self._path = path
        with self._opened() as file:
            self.schema = file.schema_arrow.remove_metadata()
            self.n_rows = file.metadata.num_rows
            groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
            self._row_bytes = sum(group.total_byte_size for group in groups) / max(self.n_rows, 1)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        import pyarrow.parquet as pq

        settings = {"buffer_size": _BUFFER_BYTES, "pre_buffer": False}
        with (
            open_raw(self._path),
            _translate_errors(self.name, "Parquet"),
            pq.ParquetFile(self._path, **settings) as file,
        ):
            yield file

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        n_done = 0
        with self._opened() as file:
            for batch in file.iter_batches(rows_per_batch(self._row_bytes), columns=list(names), use_threads=False):
                n_done += len(batch)
                progress.bytes_current = int((self.n_bytes or 0) * n_done / max(self.n_rows or 0, 1))
                yield batch


class ArrowReader(Reader):
    """An Arrow file (Feather) or stream."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(name, path)
        self._path = path
        with self._opened() as (reader, _):
            self.schema = pa.schema([(field.name, _without_views(field.type)) for field in reader.schema])

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with open_raw(self._path), _translate_errors(self.name, "Arrow"), pa.OSFile(str(self._path)) as file:
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            yield (pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)), file

    def batches(self, progress: ReadProgress, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        with self._opened() as (reader, file):
            for batch in _stored_batches(reader):
                progress.bytes_current = min(file.tell(), self.n_bytes or 0)
                # Slices, so that a large batch is not cast as a whole.
                for begin in range(0, len(batch), MAX_ROWS):
                    yield cast_batch(batch.slice(begin, MAX_ROWS), self.schema, self.name)


def _without_views(kind: pa.DataType) -> pa.DataType:
    """Convert string views, which polars writes, to strings, because pyarrow 19 cannot compute the size of views."""
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.large_string() if str(values) == "string_view" else kind


def _stored_batches(reader: Any) -> Iterator[pa.RecordBatch]:
    if isinstance(reader, pa.RecordBatchFileReader):
        return (reader.get_batch(i) for i in range(reader.num_record_batches))
    return iter(reader)


@contextmanager
def _translate_errors(name: str, format: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        said = str(error).partition("\n")[0].rstrip(". ")
        raise SourceError(f"{name} cannot be read as {format}: {said}; write or download it again") from None
