"""Tables of answers into files: aside first, under their name only when they are whole; or to stdout."""

from __future__ import annotations

import errno
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ..exceptions import ParameterError
from .session import as_json

if TYPE_CHECKING:
    import pyarrow as pa


class Writer(ABC):
    """Takes one table after the other, all of the same columns."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Some rows more."""

    @abstractmethod
    def close(self) -> None:
        """No more rows come."""


class _Arrow(Writer):
    """Formats that need the columns before the first row."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self.inner: Any = None

    @abstractmethod
    def _open(self, schema: pa.Schema) -> Any: ...

    def write(self, table: pa.Table) -> None:
        if self.inner is None:
            self.inner = self._open(table.schema)
        self.inner.write_table(table)

    def close(self) -> None:
        if self.inner is not None:
            self.inner.close()


class _Parquet(_Arrow):
    def _open(self, schema: pa.Schema) -> Any:
        import pyarrow.parquet as pq

        return pq.ParquetWriter(self.file, schema, compression="zstd")


class _Feather(_Arrow):
    def _open(self, schema: pa.Schema) -> Any:
        import pyarrow as pa

        return pa.ipc.new_file(self.file, schema)


class _Csv(_Arrow):
    """Lists and the like, for which it has no form, as JSON."""

    delimiter = ","

    def write(self, table: pa.Table) -> None:
        import pyarrow as pa

        for place, field in enumerate(table.schema):
            if pa.types.is_nested(field.type):
                cells = [None if cell is None else as_json(cell) for cell in table.column(place).to_pylist()]
                table = table.set_column(place, field.name, pa.array(cells, pa.string()))
        super().write(table)

    def _open(self, schema: pa.Schema) -> Any:
        import pyarrow.csv as csv

        return csv.CSVWriter(self.file, schema, write_options=csv.WriteOptions(delimiter=self.delimiter))


class _Tsv(_Csv):
    delimiter = "\t"


class _JsonLines(Writer):
    def write(self, table: pa.Table) -> None:
        self.file.writelines(f"{as_json(row)}\n".encode() for row in table.to_pylist())

    def close(self) -> None:
        pass


_WRITERS: dict[str, type[Writer]] = {
    "parquet": _Parquet,
    "csv": _Csv,
    "tsv": _Tsv,
    "jsonl": _JsonLines,
    "ndjson": _JsonLines,
    "arrow": _Feather,
    "feather": _Feather,
}


def checked_place(path: Path) -> Path:
    """A path whose folder is there and may be written to: better to know before the work than after it."""
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder", str(path))
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "no permission", str(path.parent))
    return path


@contextmanager
def open_writer(path: Path | None, on_stdout: str) -> Iterator[Writer]:
    """A writer for a file by its ending, or for stdout."""
    if path is None or str(path) == "-":
        writer = _WRITERS[on_stdout](sys.stdout.buffer)
        yield writer
        writer.close()
        return
    kind = path.suffix.lstrip(".").lower()
    if kind not in _WRITERS:
        raise ParameterError(f"--output is {path}; its ending must be one of .{', .'.join(_WRITERS)}")
    from ..storage.aside import written_aside

    with written_aside(path) as file:
        writer = _WRITERS[kind](file)
        yield writer
        writer.close()
