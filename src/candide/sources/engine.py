"""The embedded engine, DuckDB: a connection that takes little memory, and its SQL."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from ..exceptions import SourceError

# One thread reads CSV as fast as two, for the rows are to come in order; it needs less memory. Queries take more.
_SETTINGS: dict[str, Any] = {
    "threads": 2,
    "memory_limit": "300MB",
    "temp_directory": tempfile.gettempdir(),
    "autoinstall_known_extensions": False,
}


@contextmanager
def connected(**settings: Any) -> Iterator[Any]:
    """A connection of its own, to nothing yet."""
    import duckdb

    with duckdb.connect(config={**_SETTINGS, **settings}) as connection:
        # Settings of a session, without which nothing is known of how far a query is.
        connection.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
        yield connection


@contextmanager
def explained(what: str, advice: str) -> Iterator[None]:
    """Errors of the engine as ours. (Those of a reader under way are OSErrors of Arrow.)"""
    import duckdb

    try:
        yield
    except (duckdb.Error, OSError, pa.ArrowInvalid) as error:
        raise SourceError(f"{what}: {first_line(error)}; {advice}") from None


def first_line(error: Exception) -> str:
    """What the engine says, without its hints, which are for those who write SQL."""
    return str(error).partition("\n")[0].rstrip(". ")


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any) -> str:
    """A value as SQL says it.

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


def call(function: str, path: str, options: dict[str, Any]) -> str:
    """A table function with named options."""
    named = "".join(f", {name}={literal(value)}" for name, value in options.items())
    return f"{function}({literal(path)}{named})"


def plain_path(path: Path) -> str:
    """A path in which nothing stands for other paths."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
