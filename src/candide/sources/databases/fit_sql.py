"""Learning from the rows of a database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ...data.column_selection import Roles
from ...exceptions import InputError, ParameterError
from ...model.source import RequestedRoles
from .connecting import connected
from .dialects import Database
from .query import Query
from .source import DatabaseSource

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
    """Learn from the rows of a database, whose sums the database makes: ``fit`` without fetching the rows.

    The model is that of ``fit`` on the same rows: counts and grids to the last one, means and variances to rounding.
    The query is asked several times, within one transaction, and must give the same rows each time.

    Parameters
    ----------
    estimator : BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, NaiveBayes, PoissonNB or TextNB
        What was learned before is forgotten.
    connection : connection, str or None
        A connection of duckdb, sqlite3 or psycopg; an address, ``sqlite:shop.db``, ``duckdb:…`` or ``postgres:…``; or
        None, for DuckDB on files. It is only read from, and left as it was.
    query : str, relation or lazy table
        SQL or the name of a table. A relation of DuckDB, a table of Ibis or a lazy frame of narwhals over one of these
        knows its connection, which is then None.
    label : str
        Name of the column of classes. Rows without a label are left out.
    text, columns, weight : str, sequence of str, str, optional
        Names of the column of texts or of the columns that are learned from, by default all others, and of the column
        of weights.
    dialect : {"duckdb", "postgres", "sqlite"}, optional
        What is spoken, where the type of the connection does not tell.
    extensions : bool, default=False
        Whether a DuckDB that is opened here may install extensions, which it fetches from the network, and load those
        that are installed. A connection that you pass keeps its own settings.

    Returns
    -------
    estimator
        The same, fitted.

    Examples
    --------
    >>> import duckdb
    >>> from candide import NaiveBayes, fit_sql
    >>> shop = duckdb.connect()
    >>> _ = shop.execute("CREATE TABLE visits (minutes INT, page VARCHAR, bought BOOLEAN)")
    >>> _ = shop.execute(\"\"\"INSERT INTO visits VALUES
    ...     (2, 'home', false), (9, 'cart', true), (3, 'home', false), (8, 'cart', true), (1, 'cart', false)\"\"\")
    >>> model = fit_sql(NaiveBayes(keep_sample=False), shop, "visits", label="bought")
    >>> model.predict({"minutes": [9, 1], "page": ["cart", "home"]}).tolist()
    [True, False]
    """
    if not hasattr(type(estimator), "_spec_type"):
        raise ParameterError(f"estimator is {estimator!r:.60}; pass a model of candide, such as NaiveBayes()")
    if isinstance(columns, str):
        raise ParameterError(f"columns is the text {columns!r}; pass a list of names: columns=[{columns!r}]")
    requested = RequestedRoles(label, text, None if columns is None else tuple(columns), weight)
    with connected(connection, query, dialect, extensions) as (database, source), database.snapshot():
        fitted: Estimator = estimator.fit(DatabaseSource(_query(database, source, requested)))
        return fitted


def _query(database: Database, source: str, requested: RequestedRoles) -> Query:
    schema = database.schema(source)
    if len(set(schema.names)) < len(schema.names):
        twice = next(name for name in schema.names if schema.names.count(name) > 1)
        raise InputError(f"two columns have the name {twice!r}; give each a name of its own: SELECT a.x AS a_x, …")
    requested.check(schema.names)
    found = Query(database, source, schema, _roles(requested, schema.names))
    if requested.weight is not None and not found.is_number(requested.weight):
        kind = schema.field(requested.weight).type
        raise InputError(
            f"weight={requested.weight!r} is a column of type {kind}; weights are numbers; name another column"
        )
    return found


def _roles(requested: RequestedRoles, names: list[str]) -> Roles:
    others = tuple(name for name in names if name not in (requested.label, requested.weight))
    columns = requested.columns or ((requested.text,) if requested.text else others)
    if not columns:
        raise InputError(f"{requested.label!r} is the only column; a model learns from others; select some")
    return Roles(str(requested.label), requested.text, columns, requested.weight)
