"""Tables of answers into files: aside first, under their name only when they are whole; or to stdout."""

from __future__ import annotations

import errno
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from ..exceptions import ParameterError, naming
from ..printable import printable
from ..remote import Place, RemotePath, check_writable
from .session import as_json

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa


class Writer(ABC):
    """Takes one table after the other, all of the same columns."""

    # Whether texts that a spreadsheet would run as formulas are written unchanged (CSV and TSV).
    keep_formulas = False
    n_formulas = 0  # number of cells that were escaped

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.is_terminal = file.isatty()

    @abstractmethod
    def write(self, table: pa.Table) -> None:
        """Write more rows."""

    @abstractmethod
    def close(self) -> None:
        """Finish writing."""


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


# What makes a spreadsheet take a cell for a formula, unless the cell is a number.
_FORMULA = r"^[=+\-@\t\r]"
_NUMBER = r"^[+-]?[0-9.,]*[0-9][0-9.,]*([eE][+-]?[0-9]+)?%?$"


class _Csv(_Arrow):
    """Lists and the like, for which it has no form, as JSON; texts so that no spreadsheet or terminal runs them."""

    delimiter = ","
    _names: list[str] | None = None

    def write(self, table: pa.Table) -> None:
        import pyarrow as pa

        for place, field in enumerate(table.schema):
            column = table.column(place)
            if pa.types.is_nested(field.type):
                cells = [None if cell is None else as_json(cell) for cell in column.to_pylist()]
                column = pa.chunked_array([pa.array(cells, pa.string())])
            column = self._safe(column)
            if column is not table.column(place):
                table = table.set_column(place, field.name, column)
        if self._names is None:
            self._names = self._safe(pa.chunked_array([pa.array(table.schema.names, pa.string())])).to_pylist()
        super().write(table.rename_columns(self._names))

    def _safe(self, column: Any) -> Any:
        """Return a column of strings in the form in which it is written; other columns unchanged."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if column.type in (pa.binary(), pa.large_binary()):
            texts = [None if cell is None else cell.decode(errors="replace") for cell in column.to_pylist()]
            column = pa.chunked_array([pa.array(texts, pa.string())])
        if column.type not in (pa.string(), pa.large_string()):
            return column
        if not self.keep_formulas:
            runs = pc.and_not(pc.match_substring_regex(column, _FORMULA), pc.match_substring_regex(column, _NUMBER))
            found = pc.sum(runs).as_py()
            if found:
                self.n_formulas += found
                apostrophe, nothing = pa.scalar("'", column.type), pa.scalar("", column.type)
                column = pc.if_else(runs, pc.binary_join_element_wise(apostrophe, column, nothing), column)
        if self.is_terminal:
            cells = [None if text is None else printable(text) for text in column.to_pylist()]
            column = pa.chunked_array([pa.array(cells, pa.string())])
        return column

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


# Names of the standard output of a process.
_STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stdout(path: Place | None) -> bool:
    """Whether the output is standard output."""
    return path is None or str(path) in _STDOUT


def checked_path(path: Place) -> Place:
    """Return a path after checking that its folder exists and is writable, so that errors occur before the work."""
    from ..storage.atomic_write import target_of

    if isinstance(path, RemotePath):
        check_writable(path)
        return path
    if str(path) == "-":
        raise ParameterError(
            "the output is -, but only predict and dump can write to standard output; pass a file name"
        )
    target = target_of(path)
    with naming(path):
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, "is a folder")
        if target.exists() and not target.is_file():
            _check_access(target)  # a device or a pipe is written to itself
            return path
    with naming(path.parent):
        if not target.parent.exists():
            raise FileNotFoundError(errno.ENOENT, "no such folder")
        if not target.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "not a folder")
        _check_access(target.parent)
    return path


def _check_access(path: Path) -> None:
    if os.access(path, os.W_OK):
        return
    if hasattr(os, "statvfs") and os.statvfs(path).f_flag & os.ST_RDONLY:
        raise OSError(errno.EROFS, "read-only file system")
    raise PermissionError(errno.EACCES, "no permission")


@contextmanager
def open_writer(path: Place | None, on_stdout: str, keep_formulas: bool = False) -> Iterator[Writer]:
    """Return a writer for a file, chosen by its extension, or for standard output."""
    if path is None or is_stdout(path):
        writer = _WRITERS[on_stdout](sys.stdout.buffer)
        writer.keep_formulas = keep_formulas
        yield writer
        writer.close()
        return
    kind = path.suffix.lstrip(".").lower()
    if kind not in _WRITERS:
        raise ParameterError(f"--output is {path}; expected a name that ends in .{', .'.join(_WRITERS)}")
    from ..storage.atomic_write import atomic_writer, discard

    with atomic_writer(checked_path(path)) as file:
        writer = _WRITERS[kind](file)
        writer.keep_formulas = keep_formulas
        try:
            yield writer
            writer.close()
        except BaseException:
            # Some writers complete their output when they are deleted, after the file is closed.
            discard(file)
            with suppress(Exception):
                writer.close()
            raise
