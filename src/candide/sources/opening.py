"""From what a user names to the parts of a source."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..exceptions import ParameterError, warn
from .bad_rows import OnBadRow
from .columnar import ArrowFile, Parquet
from .database import EngineQuery, database, is_address
from .delimited import Delimited
from .documents import Document
from .folders import documents_of, is_documents
from .json_lines import JsonArray, JsonLines
from .kinds import Kind, checked_format, kind_of
from .lines import Lines
from .mailbox import Mailbox
from .part import Part
from .places import expanded, files_below
from .roles import Asked
from .source import Source
from .streams import Spool, compression_of, opened, readable, spooled

# Their readers want a plain file.
_BINARY = ("parquet", "arrow", "sqlite", "duckdb")


def read(
    *paths: str | os.PathLike[str],
    label: str | None = None,
    text: str | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    sql: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] = (),
    on_bad_row: OnBadRow = "error",
    extensions: bool = False,
) -> Source:
    """Rows from files, folders, mailboxes or databases of any size, a few megabytes at a time.

    Parameters
    ----------
    *paths : str or path
        Files (CSV, TSV, JSON, JSON Lines, Parquet, Arrow, texts line by line, mbox, .eml; also compressed by gzip,
        zstd, bz2 or xz), globs, folders (one sub-folder for each class, Maildirs, tables in pieces), "-" for standard
        input, or a database: ``sqlite:shop.db?table=orders``, ``duckdb:…``, ``postgres:…``. Several are read one after
        the other, in this order, those of a glob in sorted order; they must have the same columns.
    label, text, columns, weight : str, str, sequence of str, str, optional
        Names of the column of classes, the column of texts or the columns that are learned from, and the column of
        weights. What is not named is found on the first rows; see ``roles``.
    sql : str, optional
        A query, to the database that is named or, without one, to the embedded engine, DuckDB:
        ``"SELECT * FROM 'mail.parquet' WHERE year > 2020"``.
    format : str, optional
        What the files are, where their names and first bytes do not tell: csv, jsonl, json, parquet, arrow, text,
        mbox, eml, sqlite or duckdb.
    encoding : str, optional
        Of texts. By default it is told from the first megabyte.
    missing : sequence of str, default=()
        What stands for a missing cell in CSV, besides nothing: ``["NA", "?"]``.
    on_bad_row : "error", "skip", path or callable, default="error"
        What becomes of a row that cannot be read: an error that says where it is, or it is left out, written to a file
        of JSON Lines, or passed to a function. ``source.bad_rows`` tells of them after a pass.
    extensions : bool, default=False
        Whether a query may make DuckDB install extensions, which it fetches from the network, and load those that are
        installed: to read from https:// or s3://, spreadsheets and more.

    Returns
    -------
    Source

    Examples
    --------
    >>> import candide, tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "mail.csv")
    ...     _ = path.write_text("text,label\\nfree entry,spam\\nsee you at noon,ham\\n")
    ...     source = candide.read(path)
    ...     source.roles
    ...     source.to_table().to_pylist()[0]
    Roles(label='label', text='text', columns=('text',), weight=None)
    {'text': 'free entry', 'label': 'spam'}
    """
    if isinstance(columns, str):
        raise ParameterError(f"columns is the text {columns!r}; pass a list of names: columns=[{columns!r}]")
    asked = Asked(label, text, None if columns is None else tuple(columns), weight)
    how = How(checked_format(format), encoding, tuple(missing), extensions)
    return Source(_parts([os.fspath(path) for path in paths], sql, how), asked, on_bad_row)


@dataclass(frozen=True)
class How:
    """What the user says of files."""

    format: str | None
    encoding: str | None
    missing: tuple[str, ...]
    extensions: bool


def _parts(paths: list[str], sql: str | None, how: How) -> list[Part]:
    if sql is not None:
        return [_query(paths, sql, how.extensions)]
    if not paths:
        raise ParameterError("no source is named; pass a file, a folder, '-' for standard input, or sql='SELECT …'")
    if "-" in paths or any(map(is_address, paths)):
        return [part for path in paths for part in _special(path, how)]
    places = [place for path in paths for place in expanded(path)]
    if all(is_documents(place, how.format) for place in places):
        return [documents_of(places, how.encoding)]
    return _files(places, how)


def _query(paths: list[str], sql: str, extensions: bool) -> Part:
    if not paths:
        return EngineQuery("the query", sql, extensions=extensions)
    if len(paths) == 1 and is_address(paths[0]):
        return database(paths[0], sql, extensions)
    raise ParameterError(
        f"sql= is given together with {', '.join(map(repr, paths))}; a query names its files itself, as in "
        "sql=\"SELECT * FROM 'mail.csv'\"; beside it only a database such as 'sqlite:shop.db' is allowed"
    )


def _special(path: str, how: How) -> list[Part]:
    if path == "-":
        return [_of_copy(spooled(sys.stdin.buffer), "standard input", how)]
    return [database(path, None, how.extensions)] if is_address(path) else _files(expanded(path), how)


def _files(places: list[Path], how: How) -> list[Part]:
    pieces = [file for place in places for file in (files_below(place) if place.is_dir() else [place])]
    return [_file(path, str(path), how) for path in pieces]


def _of_copy(spool: Spool, name: str, how: How) -> Part:
    part = _file(spool.path, name, how)
    part.copies += (spool,)
    return part


def _file(path: Path, name: str, how: How) -> Part:
    if not path.is_file():  # a pipe, which can be read once
        with readable(path) as stream:
            return _of_copy(spooled(stream), name, how)
    kind = kind_of(path, name, how.format, how.encoding)
    if kind.encoding in ("cp1252", "latin-1") and how.encoding is None:
        warn(
            f"{name} is no UTF-8, and is read as {kind.encoding} (Western European); pass encoding={kind.encoding!r} "
            "if that is right, or the one it has"
        )
    if kind.format in _BINARY and compression_of(path):
        with opened(path) as stream:
            return _of_copy(spooled(stream), name, how)
    return _of_kind(path, name, kind, how)


def _of_kind(path: Path, name: str, kind: Kind, how: How) -> Part:
    match kind.format:
        case "csv":
            return Delimited(path, name, kind, how.missing)
        case "jsonl":
            return JsonLines(path, name, kind)
        case "json":
            return JsonArray(path, name, kind)
        case "parquet":
            return Parquet(path, name)
        case "arrow":
            return ArrowFile(path, name)
        case "text":
            return Lines(path, name, kind)
        case "mbox" | "eml":
            return Mailbox([Document(path, None)], name)
        case _:
            return database(f"{kind.format}:{path}", None)
