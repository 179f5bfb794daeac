"""The databases, one after the other; what is put into them is closed at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from typing import Any

import pyarrow as pa
import pytest

from .stores import Put, put_duckdb, put_mysql, put_postgres, put_sqlite

SERVER = pytest.param("put_server", marks=pytest.mark.postgres, id="postgres")
MARIA = pytest.param("put_maria", marks=pytest.mark.mysql, id="mysql")
DUCK, LITE = pytest.param("put_duck", id="duckdb"), pytest.param("put_lite", id="sqlite")


def closed_at_the_end(put: Put) -> Iterator[Put]:
    with ExitStack() as stack:

        def opened(table: pa.Table) -> Any:
            return stack.enter_context(closing(put(table)))

        yield opened


@pytest.fixture
def put_duck() -> Iterator[Put]:
    yield from closed_at_the_end(put_duckdb)


@pytest.fixture
def put_lite() -> Iterator[Put]:
    yield from closed_at_the_end(put_sqlite)


@pytest.fixture
def put_server(postgres: str) -> Iterator[Put]:
    yield from closed_at_the_end(partial(put_postgres, address=postgres))


@pytest.fixture
def put_maria(mysql: str) -> Iterator[Put]:
    yield from closed_at_the_end(partial(put_mysql, socket=mysql))


@pytest.fixture(params=[DUCK, LITE, SERVER, MARIA])
def put(request: pytest.FixtureRequest) -> Put:
    """Puts a table into a database, where it is called t."""
    return request.getfixturevalue(request.param)


@pytest.fixture(params=[DUCK, SERVER, MARIA])
def put_typed(request: pytest.FixtureRequest) -> Put:
    """The same for those that have more types than numbers and texts."""
    return request.getfixturevalue(request.param)
