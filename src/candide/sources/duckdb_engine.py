"""The embedded engine, DuckDB: connections with little memory, its errors, and SQL literals."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..exceptions import SourceError

# Because rows are read in order, one thread reads CSV as fast as two, with less memory. Queries use more threads.
_SETTINGS: dict[str, Any] = {
    "threads": 2,
    "memory_limit": "300MB",
    "temp_directory": tempfile.gettempdir(),
}
_NEEDS_EXTENSION = re.compile(r"requires the extension|exists in the \w+ extension|load the required extension")


def extension_settings(extensions: bool) -> dict[str, Any]:
    """Whether a query may make DuckDB install extensions from the network, and load those that are installed."""
    return {"autoinstall_known_extensions": extensions, "autoload_known_extensions": extensions}


@contextmanager
def connect(*, extensions: bool = False, **settings: Any) -> Iterator[Any]:
    """Return a new connection to an empty database."""
    import duckdb

    with duckdb.connect(config={**_SETTINGS, **extension_settings(extensions), **settings}) as connection:
        # Without these settings, DuckDB does not report the progress of a query.
        connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        yield connection


@contextmanager
def translate_errors(what: str, advice: str) -> Iterator[None]:
    """Convert errors of the engine. (Those of a reader in use are OSErrors of Arrow.)"""
    import duckdb

    try:
        yield
    except (duckdb.Error, OSError, pa.ArrowInvalid) as error:
        if needs_extension(error):
            advice = EXTENSIONS_ADVICE
        raise SourceError(f"{what}: {first_line(error)}; {advice}") from None


EXTENSIONS_ADVICE = (
    "DuckDB needs an extension, which it downloads from the network; to allow this, pass extensions=True"
)


def needs_extension(error: Exception) -> bool:
    """Return whether the engine lacks an extension."""
    return _NEEDS_EXTENSION.search(str(error)) is not None


def check_query(connection: Any, sql: str) -> None:
    """Raise an error unless this is a single query: a second statement could install extensions, or write."""
    import duckdb

    kinds = [statement.type for statement in connection.extract_statements(sql)]
    # PIVOT statements have the type MULTI.
    if len(kinds) != 1 or kinds[0] not in (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI):
        found = ", ".join(str(kind).rpartition(".")[2] for kind in kinds) or "nothing"
        raise SourceError(f"the query {sql!r:.200} contains {found}; expected a single SELECT statement")


def first_line(error: Exception) -> str:
    """Return the message of the engine, without its hints on SQL."""
    return str(error).partition("\n")[0].rstrip(". ")


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """Return a value as an SQL literal.

    >>> literal({"it's": ["a", 1, True]})
    "{'it''s': ['a', 1, true]}"
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{literal(key)}: {literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(literal, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"


def table_function(function: str, path: str | list[str], options: dict[str, Any]) -> str:
    """Return a call of a table function with named options."""
    named = "".join(f", {name}={literal(value)}" for name, value in options.items())
    return f"{function}({literal(path)}{named})"


def escape_glob(path: Path) -> str:
    """Return a path with its wildcards escaped."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
