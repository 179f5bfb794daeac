"""From what a user passes to a database, and to what stands after FROM."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ...exceptions import InputError, MissingPackage, ParameterError
from ..database_reader import DatabaseUri, is_database_uri, parse_database_uri
from ..duckdb_engine import extension_settings, identifier
from .dialects import ROWS, Database, DuckDB, Postgres, Sqlite, explained

# Dialects by name, and by the package of a connection.
DIALECTS: dict[str, Callable[[Any], Database]] = {"duckdb": DuckDB, "postgres": Postgres, "sqlite": Sqlite}
_PACKAGES = {
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "sqlite3": "sqlite",
    "psycopg": "postgres",
    "psycopg2": "postgres",
}
# How a query begins; all else is the name of a table.
_QUERY = re.compile(r"\s*(\(|(select|with|values|table|from|pivot|unpivot)\s)", re.IGNORECASE)
_PLAIN_NAME = re.compile(r'(\w+|"[^"]+")(\.(\w+|"[^"]+"))*')


@contextmanager
def connected(
    connection: Any, query: Any, dialect: str | None, extensions: bool = False
) -> Iterator[tuple[Database, str]]:
    """Return a database and a FROM clause; ``extensions``: whether a DuckDB that is opened may install some."""
    connection, query, relation = _unwrapped(connection, query)
    if relation is not None:
        yield DuckDB(None, relation), ROWS
    elif connection is None or isinstance(connection, str):
        with _opened(connection, extensions) as (found, table):
            yield found, _source(table if query is None else query)
    else:
        yield _recognized(connection, dialect), _source(query)


def _unwrapped(connection: Any, query: Any) -> tuple[Any, Any, Any]:
    """Return connection, SQL and relation of a lazy table, which knows its connection."""
    if hasattr(query, "to_native"):  # of narwhals
        query = query.to_native()
    if hasattr(query, "sql_query") and hasattr(query, "query"):
        return None, None, query
    if hasattr(query, "get_backend"):  # of Ibis
        backend = query.get_backend()
        return backend.con, str(backend.compile(query)), None
    if query is not None and not isinstance(query, str):
        raise InputError(
            f"query is a {type(query).__module__}.{type(query).__name__}; pass SQL, the name of a table, a relation of "
            "DuckDB, a table of Ibis, or a lazy frame of narwhals over one of these; a frame in memory goes to fit"
        )
    return connection, query, None


def _source(query: str | None) -> str:
    """Return a FROM clause."""
    if query is None or not query.strip():
        raise ParameterError("query is empty; pass SQL such as 'SELECT * FROM orders', or the name of a table")
    if _QUERY.match(query):
        return f"(\n{query.strip().rstrip(';')}\n)"
    return query.strip() if _PLAIN_NAME.fullmatch(query.strip()) else identifier(query)


def _recognized(connection: Any, dialect: str | None) -> Database:
    package = type(connection).__module__.partition(".")[0]
    name = dialect or _PACKAGES.get(package)
    if name not in DIALECTS:
        known = ", ".join(DIALECTS)
        what = f"dialect is {dialect!r}" if dialect else f"connection is a {package}.{type(connection).__name__}"
        raise ParameterError(
            f"{what}; databases of the dialects {known} are known: pass a connection of duckdb, sqlite3 or psycopg, an "
            "address such as 'sqlite:shop.db', or dialect= for a connection of another driver to one of these"
        )
    return DIALECTS[name](connection)


@contextmanager
def _opened(address: str | None, extensions: bool) -> Iterator[tuple[Database, str | None]]:
    """Return the database of an address and the table that it names; without an address, DuckDB to read files."""
    if address is not None and not is_database_uri(address):
        raise ParameterError(
            f"connection is {address!r}; an address begins with sqlite:, duckdb: or postgres:, as in 'sqlite:shop.db'"
        )
    found = DatabaseUri("duckdb", ":memory:", None) if address is None else parse_database_uri(address)
    with closing(_connect(found, extensions)) as connection:
        yield DIALECTS["postgres" if found.kind == "postgresql" else found.kind](connection), found.table


def _connect(address: DatabaseUri, extensions: bool) -> Any:
    with explained(f"{address.kind}: to be opened"):
        if address.kind == "sqlite":
            return sqlite3.connect(f"{Path(address.place).resolve().as_uri()}?mode=ro", uri=True)
        if address.kind == "duckdb":
            import duckdb

            is_file = address.place != ":memory:"
            return duckdb.connect(address.place, read_only=is_file, config=extension_settings(extensions))
        return _connect_postgres(address.place)


def _connect_postgres(place: str) -> Any:
    try:
        import psycopg
    except ModuleNotFoundError as error:
        raise MissingPackage(
            "PostgreSQL is asked through psycopg, which is not installed; install it with pip install 'psycopg[binary]'"
        ) from error
    return psycopg.connect(f"postgresql:{place}" if place.startswith("//") else place)
