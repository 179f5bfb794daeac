"""Open files, folders, mailboxes and databases by name."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..data.column_types import check_declared
from ..exceptions import ParameterError, SourceError, warn
from ..model.source import RequestedRoles
from ..remote import download, is_remote, local_path
from .csv_reader import CsvReader
from .database_reader import DuckDBQuery, is_database_uri, open_database
from .file_formats import FORMATS, FileFormat, check_format, detect_format, format_from_suffix
from .files import (
    TemporaryCopy,
    TemporaryFolder,
    copy_stream,
    detect_compression,
    expand_path,
    list_files,
    list_visible,
    open_decompressed,
    open_raw,
)
from .json_reader import JsonArrayReader, JsonLinesReader
from .mailbox import MailboxReader, is_email
from .parquet import ArrowReader, ParquetReader
from .reader import OnBadRow, Reader
from .source import ArrowSource
from .text_files import Document, DocumentsReader, LinesReader

# Formats whose readers require an uncompressed local file.
_NEED_PLAIN_FILE = ("parquet", "arrow", "sqlite", "duckdb")


def read(
    *paths: str | os.PathLike[str],
    label: str | None = None,
    text: str | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    groups: str | None = None,
    schema: Mapping[str, str] | None = None,
    sql: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    on_bad_row: OnBadRow = "error",
    extensions: bool = False,
) -> ArrowSource:
    """Open files, folders, mailboxes or databases of any size as a source of rows, which is read in batches.


    Parameters
    ----------
    *paths : str or path
        Files (CSV, TSV, JSON, JSON Lines, Parquet, Arrow, text files with one text per line, mbox, .eml; also
        compressed with gzip, zstd, bz2 or xz), globs, folders (one subfolder per class, Maildirs, or a table in
        several files), "-" for standard input, a database: ``sqlite:shop.db?table=orders``, ``duckdb:…``,
        ``postgres:…``, or an address such as ``s3://bucket/mail/*.parquet`` (``pip install 'candide[remote]'``), whose
        files are copied to a temporary folder. Several paths are read in the given order, those of a glob in sorted
        order; they must have the same columns.
    label, text, columns, weight, groups : str, str, sequence of str, str, str, optional
        Names of the label column, the text column or the feature columns, and the columns with the weights and with the
        groups of the rows, as in ``fit``. By default label and features are detected from the first rows; see
        ``roles``.
    schema : dict, optional
        Types of columns by name: "number", "category", "boolean", "date", "text" or "str" (a category or free text).
        "date:%m/%d/%Y" also declares the format of dates that are not in ISO format. Other types are inferred from the
        first rows. ``NaiveBayes(schema=…)`` declares the types of the files that it is fitted to in the same way.
    sql : str, optional
        A query of the database in ``paths`` or, without one, of DuckDB:
        ``"SELECT * FROM 'mail.parquet' WHERE year > 2020"``.
    format : str, optional
        Format of the files, if it cannot be detected from their names and first bytes: "csv", "jsonl", "json",
        "parquet", "arrow", "text", "mbox", "eml", "sqlite" or "duckdb".
    encoding : str, optional
        Text encoding. By default it is detected from the first megabyte.
    missing : sequence of str, default=()
        Strings that mark a missing cell of a CSV file, in addition to the empty string: ``["?"]``. In columns of
        numbers, dates and booleans, NA, N/A, n/a, <NA>, #N/A, NULL, null, None, NaN and nan are missing too. A model
        that is fitted to the source reads later CSV files with the same strings.
    on_bad_row : "error", "skip", path or callable, default="error"
        What to do with rows that cannot be read: raise an error that names the file and the line, skip them, write them
        to a JSON Lines file, or call a function with each. After a pass, ``source.bad_rows`` lists them.
    extensions : bool, default=False
        Whether DuckDB may download, install and load extensions that a query needs, for example to read spreadsheets.

    Returns
    -------
    ArrowSource
        Pass it to ``fit``, ``predict`` or ``evaluate``, or iterate over its Arrow record batches.

    Examples
    --------
    >>> import candide, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mail.csv")
    ...     _ = path.write_text("text,label\\nfree entry,spam\\nsee you at noon,ham\\n")
    ...     source = candide.read(path)
    ...     source.roles
    ...     source.to_table().to_pylist()[0]
    Roles(label='label', text='text', columns=('text',), weight=None, groups=None)
    {'text': 'free entry', 'label': 'spam'}
    """
    if isinstance(columns, str):
        raise ParameterError(f"columns is the string {columns!r}; expected a list of names: columns=[{columns!r}]")
    requested = RequestedRoles(label, text, None if columns is None else tuple(columns), weight, groups)
    how = ReadOptions(check_format(format), encoding, tuple(missing), extensions, RemoteCopies())
    parts = _open_all([os.fspath(path) for path in paths], sql, how)
    for part in parts:
        part.temporary_files += how.copies.files
    return ArrowSource(parts, requested, on_bad_row, check_declared(schema), how.missing)


@dataclass(frozen=True)
class ReadOptions:
    """Options for opening files."""

    format: str | None
    encoding: str | None
    missing: tuple[str, ...]
    extensions: bool
    copies: RemoteCopies


def _open_all(paths: list[str], sql: str | None, how: ReadOptions) -> list[Reader]:
    if sql is not None:
        if how.missing:
            raise ParameterError(
                f"missing={list(how.missing)} applies to CSV files, but the rows are those of a query; replace such "
                f"cells in the query, as in NULLIF(column, {how.missing[0]!r}), or read_csv(…, nullstr = …)"
            )
        return [_open_query(paths, sql, how.extensions)]
    if not paths:
        raise ParameterError("no source was given; pass a file, a folder, '-' for standard input, or sql='SELECT …'")
    if "-" in paths or any(map(is_database_uri, paths)):
        return [part for path in paths for part in _open_special(path, how)]
    places = [place for path in paths for place in how.copies.expand(path)]
    if all(is_documents(place, how.format) for place in places):
        return [open_documents(places, how.encoding, how.copies)]
    return _open_files(places, how)


def _open_query(paths: list[str], sql: str, extensions: bool) -> Reader:
    if not paths:
        return DuckDBQuery("the query", sql, extensions=extensions)
    if len(paths) == 1 and is_database_uri(paths[0]):
        return open_database(paths[0], sql, extensions)
    raise ParameterError(
        f"sql= is given together with {', '.join(map(repr, paths))}, but a query names its own files, as in "
        "sql=\"SELECT * FROM 'mail.csv'\"; only a database such as 'sqlite:shop.db' can be combined with sql="
    )


def _open_special(path: str, how: ReadOptions) -> list[Reader]:
    if path == "-":
        return [_open_copy(copy_stream(sys.stdin.buffer), "standard input", how)]
    if is_database_uri(path):
        return [open_database(path, None, how.extensions)]
    return _open_files(how.copies.expand(path), how)


def _open_files(places: list[Path], how: ReadOptions) -> list[Reader]:
    pieces = [file for place in places for file in (list_files(place) if place.is_dir() else [place])]
    parts: list[Reader] = []
    alike: list[CsvReader] = []
    for path in pieces:
        name = how.copies.name(path)
        other = _open_like(parts[0], path, name, how) if parts else None
        alike += [other] if other is not None else []
        parts.append(other or _open_file(path, name, how))
    if isinstance(parts[0], CsvReader) and alike and not parts[0].fits(alike):
        return [_open_file(path, how.copies.name(path), how) for path in pieces]
    return parts


def _open_like(first: Reader, path: Path, name: str, how: ReadOptions) -> CsvReader | None:
    """Return a small CSV file as one like the first, because detecting a dialect takes longer than reading it."""
    is_csv = path.is_file() and (how.format or format_from_suffix(path)) == "csv"
    if not isinstance(first, CsvReader) or not is_csv or how.encoding is not None:
        return None
    return first.like(path, name)


def _open_copy(spool: TemporaryCopy, name: str, how: ReadOptions) -> Reader:
    part = _open_file(spool.path, name, how)
    part.temporary_files += (spool,)
    return part


def _open_file(path: Path, name: str, how: ReadOptions) -> Reader:
    if not path.is_file():  # a pipe, which can be read once
        with open_raw(path) as stream:
            return _open_copy(copy_stream(stream), name, how)
    kind = detect_format(path, name, how.format, how.encoding)
    if kind.encoding in ("cp1252", "latin-1") and how.encoding is None:
        warn(
            f"{name} is not UTF-8 and is read as {kind.encoding} (Western European); pass encoding={kind.encoding!r} "
            "to confirm, or another encoding"
        )
    if kind.format in _NEED_PLAIN_FILE and detect_compression(path):
        with open_decompressed(path) as stream:
            return _open_copy(copy_stream(stream), name, how)
    return _make_reader(path, name, kind, how)


def _make_reader(path: Path, name: str, kind: FileFormat, how: ReadOptions) -> Reader:
    match kind.format:
        case "csv":
            return CsvReader(path, name, kind, how.missing)
        case "jsonl":
            return JsonLinesReader(path, name, kind)
        case "json":
            return JsonArrayReader(path, name, kind)
        case "parquet":
            return ParquetReader(path, name)
        case "arrow":
            return ArrowReader(path, name)
        case "text":
            return LinesReader(path, name, kind)
        case "mbox" | "eml":
            return MailboxReader([Document(path, None, name)], name)
        case _:
            return open_database(f"{kind.format}:{path}", None)


# The files of a folder are parts of one table if all of them have these formats.
_TABLE_FORMATS = ("csv", "jsonl", "json", "parquet", "arrow")


def is_documents(place: Path, format: str | None) -> bool:
    """Return whether a path is a folder of texts or messages, or a mailbox, and not a table."""
    if place.is_dir():
        files = list_files(place)
        return not files or any(format_from_suffix(file) not in _TABLE_FORMATS for file in files)
    format = format or format_from_suffix(place)
    return format in ("mbox", "eml") or (format is None and place.is_file() and is_email(place))


def open_documents(places: Sequence[Path], encoding: str | None, copies: RemoteCopies) -> Reader:
    """Return all documents; each path is a class, or each folder within a single path."""
    classes = _class_paths(places[0]) if len(places) == 1 else list(places)
    labels = [_class_name(place) for place in classes] if len(classes) > 1 else [None]
    if len(set(labels)) == 1:
        labels = [None] * len(classes)
    found = [
        Document(file, label, copies.name(file))
        for place, label in zip(classes, labels, strict=True)
        for file in _document_files(place)
    ]
    if not found:
        raise SourceError(
            f"the folder {copies.name(places[0])} contains no files; pass a folder with one subfolder of texts per "
            f"class, or with files of the formats {', '.join(FORMATS)}"
        )
    name = copies.name(places[0]) if len(places) == 1 else "the folders"
    is_mailbox = any(map(_is_maildir, classes)) or is_email(found[0].path)
    return MailboxReader(found, name) if is_mailbox else DocumentsReader(found, name, encoding)


def _class_paths(place: Path) -> list[Path]:
    """Return the folders and mailboxes in a folder; else the path itself."""
    entries = list_visible(place) if place.is_dir() and not _is_maildir(place) else []
    return [entry for entry in entries if entry.is_dir() or format_from_suffix(entry) == "mbox"] or [place]


def _class_name(place: Path) -> str | None:
    """Return the class of a path: the name of its folder, or of a mailbox without extension."""
    if place.is_dir():
        return place.name
    return place.parent.name if format_from_suffix(place) == "eml" else place.name.partition(".mbox")[0]


def _document_files(place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    folders = [place / "cur", place / "new"] if _is_maildir(place) else [place]
    return [file for folder in folders for file in list_files(folder)]


def _is_maildir(folder: Path) -> bool:
    return (folder / "cur").is_dir() and (folder / "new").is_dir()


class RemoteCopies:
    """Temporary copies of files elsewhere, deleted with their readers: rows are read several times."""

    def __init__(self) -> None:
        self._addresses: dict[Path, str] = {}
        #: What the readers keep.
        self.files: tuple[TemporaryFolder, ...] = ()

    def expand(self, path: str) -> list[Path]:
        """Return the files of a path; those of an address are copied."""
        if not is_remote(path):
            return expand_path(local_path(path))
        folder = TemporaryFolder()
        try:
            copies = download(path, folder.path)
        except FileNotFoundError:
            raise SourceError(f"there is no file {path!r}; check the address") from None
        except OSError as error:
            raise SourceError(f"cannot copy {path!r} to {str(folder.path.parent)!r}: {_problem(error)}") from error
        self.files += (folder,)
        self._addresses.update(copies)
        return [copy for copy, _ in copies]

    def name(self, path: Path) -> str:
        """Return what messages call a path: an address, if it is the copy of a file elsewhere."""
        for copy, address in self._addresses.items():
            if path == copy:
                return address
            if copy in path.parents:
                return f"{address.rstrip('/')}/{path.relative_to(copy).as_posix()}"
        return str(path)


def _problem(error: OSError) -> str:
    return str(error) if error.strerror is None else error.strerror
