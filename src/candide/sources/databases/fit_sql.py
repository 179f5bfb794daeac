"""Learn from the rows of a database, given a connection, a URL or a file, and a table or a query."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from ...data.column_selection import Roles
from ...exceptions import InputError, MissingPackage, ParameterError
from ...model.source import RequestedRoles
from ..database_reader import DatabaseUri, is_database_uri, parse_database_uri
from ..duckdb_engine import extension_settings
from .dialects import ROWS, Database, DuckDB, MySQL, Postgres, Sqlite, UnexpectedTypeError, explained
from .query import Query
from .source import DatabaseSource

# Dialects by name, and by the package of a connection.
DIALECTS: dict[str, Callable[[Any], Database]] = {
    "duckdb": DuckDB,
    "mysql": MySQL,
    "postgres": Postgres,
    "sqlite": Sqlite,
}
_PACKAGES = {
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "sqlite3": "sqlite",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mysql": "mysql",
    "mariadb": "mysql",
}
# Beginnings of queries; anything else is the name of a table.
_QUERY = re.compile(r"\s*(\(|(select|with|values|table|from|pivot|unpivot)\s)", re.IGNORECASE)


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
            yield found, _source(found, table if query is None else query)
    else:
        found = _recognized(connection, dialect)
        yield found, _source(found, query)


def _unwrapped(connection: Any, query: Any) -> tuple[Any, Any, Any]:
    """Return the connection, SQL and relation of a lazy table, which contains its connection."""
    if hasattr(query, "to_native"):  # of narwhals
        query = query.to_native()
    if hasattr(query, "sql_query") and hasattr(query, "query"):
        return None, None, query
    if hasattr(query, "get_backend"):  # of Ibis
        backend = query.get_backend()
        return backend.con, str(backend.compile(query)), None
    if query is not None and not isinstance(query, str):
        raise InputError(
            f"query is a {type(query).__module__}.{type(query).__name__}; expected SQL, a table name, a DuckDB "
            "relation, an Ibis table, or a narwhals lazy frame over one of these; pass data frames in memory to fit"
        )
    return connection, query, None


def _source(database: Database, query: str | None) -> str:
    """Return a FROM clause."""
    if query is None or not query.strip():
        raise ParameterError("query is empty; pass SQL such as 'SELECT * FROM orders', or a table name")
    if _QUERY.match(query):
        return f"(\n{query.strip().rstrip(';')}\n)"
    quote = database.quote
    part = rf"(\w+|{quote}[^{quote}]+{quote})"
    is_name = re.fullmatch(rf"{part}(\.{part})*", query.strip())
    return query.strip() if is_name else database.quoted(query)


def _recognized(connection: Any, dialect: str | None) -> Database:
    package = type(connection).__module__.partition(".")[0]
    name = dialect or _PACKAGES.get(package)
    if name not in DIALECTS:
        known = ", ".join(DIALECTS)
        what = f"dialect is {dialect!r}" if dialect else f"connection is a {package}.{type(connection).__name__}"
        raise ParameterError(
            f"{what}; expected one of the dialects {known}; pass a connection of duckdb, sqlite3, psycopg or PyMySQL, "
            "an address such as 'sqlite:shop.db', or dialect= for a connection of another driver"
        )
    return DIALECTS[name](connection)


@contextmanager
def _opened(address: str | None, extensions: bool) -> Iterator[tuple[Database, str | None]]:
    """Return the database of an address and the table that it names; without an address, DuckDB to read files."""
    if address is not None and not is_database_uri(address):
        raise ParameterError(
            f"connection is {address!r}; expected an address that begins with sqlite:, duckdb: or postgres:, such as "
            "'sqlite:shop.db', or a connection, such as pymysql.connect(…) for MySQL and MariaDB"
        )
    found = DatabaseUri("duckdb", ":memory:", None) if address is None else parse_database_uri(address)
    with closing(_connect(found, extensions)) as connection:
        yield DIALECTS["postgres" if found.kind == "postgresql" else found.kind](connection), found.table


def _connect(address: DatabaseUri, extensions: bool) -> Any:
    with explained(None):
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
            "PostgreSQL requires the package psycopg, which is not installed; install it with pip install "
            "'psycopg[binary]'"
        ) from error
    return psycopg.connect(f"postgresql:{place}" if place.startswith("//") else place)


Estimator = TypeVar("Estimator", bound=Any)


def fit_sql(
    estimator: Estimator,
    connection: Any,
    query: Any,
    *,
    label: str,
    text: str | None = None,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    dialect: str | None = None,
    extensions: bool = False,
) -> Estimator:
    """Fit an estimator to a database table or query, whose rows are never all in memory.

    The database computes the sums of models that keep no training rows. All rows are fetched, in batches, for models
    that keep some (by default ``NaiveBayes`` and ``TextNB``), and from SQLite, where this is faster. The model equals
    that of ``fit`` on the same rows: counts and grids are identical, means and variances agree up to rounding. The
    query may run several times, in one transaction, and must return the same rows each time.

    Parameters
    ----------
    estimator : BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB or TextNB
        The estimator to fit. An earlier fit is discarded.
    connection : connection, str or None
        A connection of duckdb, sqlite3, psycopg, PyMySQL, mysqlclient, MySQL Connector or MariaDB Connector; an
        address, ``sqlite:shop.db``, ``duckdb:…`` or ``postgres:…``; or None, for DuckDB on files. Nothing is written
        to the database.
    query : str, relation or lazy table
        SQL, or the name of a table. A DuckDB relation, an Ibis table or a narwhals lazy frame over one of these
        contains its connection; pass ``connection=None`` with it.
    label : str
        Name of the label column. Rows without a label are dropped with a warning.
    text, columns, weight : str, sequence of str, str, optional
        Name of the text column of a ``TextNB``, names of the feature columns (by default all others), and name of the
        column with the weights of the rows.
    dialect : {"duckdb", "mysql", "postgres", "sqlite"}, optional
        SQL dialect, if it cannot be determined from the type of the connection.
    extensions : bool, default=False
        Whether DuckDB may download, install and load extensions. A connection that you pass keeps its own settings.

    Returns
    -------
        estimator
        The fitted estimator.

    Examples
    --------
    >>> import duckdb
    >>> from candide import NaiveBayes, fit_sql
    >>> shop = duckdb.connect()
    >>> _ = shop.execute("CREATE TABLE visits (minutes INT, page VARCHAR, bought BOOLEAN)")
    >>> _ = shop.execute(\"\"\"INSERT INTO visits VALUES
    ...     (2, 'home', false), (9, 'cart', true), (3, 'home', false), (8, 'cart', true), (1, 'cart', false)\"\"\")
    >>> model = fit_sql(NaiveBayes(subsample=0), shop, "visits", label="bought")
    >>> model.predict({"minutes": [9, 1], "page": ["cart", "home"]}).tolist()
    [True, False]
    """
    if not hasattr(type(estimator), "_spec_type"):
        raise ParameterError(f"estimator is {estimator!r:.60}; expected a candide estimator, such as NaiveBayes()")
    if isinstance(columns, str):
        raise ParameterError(f"columns is the string {columns!r}; expected a list of names: columns=[{columns!r}]")
    requested = RequestedRoles(label, text, None if columns is None else tuple(columns), weight)
    with connected(connection, query, dialect, extensions) as (database, source), database.snapshot():
        schema = database.schema(source)
        try:
            fitted: Estimator = estimator.fit(DatabaseSource(_query(database, source, requested, schema)))
        except UnexpectedTypeError:
            of_every_row = database.schema(source, every_row=True) if isinstance(database, Sqlite) else schema
            if of_every_row.equals(schema):
                raise
            fitted = estimator.fit(DatabaseSource(_query(database, source, requested, of_every_row)))
        return fitted


def _query(database: Database, source: str, requested: RequestedRoles, schema: pa.Schema) -> Query:
    if len(set(schema.names)) < len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise InputError(f"two columns have the name {twice!r}; give each a unique name: SELECT a.x AS a_x, …")
    requested.check(schema.names)
    found = Query(database, source, schema, _roles(requested, schema.names))
    if requested.weight is not None and not found.is_number(requested.weight):
        kind = schema.field(requested.weight).type
        raise InputError(
            f"weight={requested.weight!r} is a column of type {kind}; expected numbers; choose another column"
        )
    return found


def _roles(requested: RequestedRoles, names: list[str]) -> Roles:
    others = tuple(name for name in names if name not in (requested.label, requested.weight))
    columns = requested.columns or ((requested.text,) if requested.text else others)
    if not columns:
        raise InputError(
            f"{requested.label!r} is the only column; a model needs at least one other column; select more columns"
        )
    return Roles(str(requested.label), requested.text, columns, requested.weight)
