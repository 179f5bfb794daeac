"""Other dialects than those that queries are written in, by way of sqlglot."""

from __future__ import annotations

from ...exceptions import MissingPackage, ParameterError
from .dialects import BigQuery, Dialect, Other, Postgres, Spark, SQLite

_WRITTEN: dict[str, type[Dialect]] = {"duckdb": Dialect, "postgres": Postgres, "postgresql": Postgres, "sqlite": SQLite}
_BY_DUCKDB: dict[str, type[Dialect]] = {"spark": Spark, "databricks": Spark, "bigquery": BigQuery}


def dialect_named(name: str) -> Dialect:
    """How to write for a database."""
    if name in _WRITTEN:
        return _WRITTEN[name]()
    _refuse_unknown(name)
    return _BY_DUCKDB[name]() if name in _BY_DUCKDB else Other(name)


def transpiled(query: str, name: str) -> str:
    """A query, written in the way of DuckDB unless its dialect is written as it is."""
    if name in _WRITTEN:
        return query
    import sqlglot

    return f"{sqlglot.transpile(query, read='duckdb', write=name, pretty=True)[0]}\n"


def _refuse_unknown(name: str) -> None:
    try:
        from sqlglot.dialects.dialect import Dialect as Known
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"dialect {name!r} is translated by sqlglot, which is not installed; install it with "
            "pip install 'candide[sql]', or choose duckdb, postgres or sqlite"
        ) from error
    if not name or Known.get(name) is None:
        known = sorted({*_WRITTEN, *(each for each in Known.classes if each)})
        raise ParameterError(f"dialect is {name!r}; it must be one of {', '.join(known)}")
