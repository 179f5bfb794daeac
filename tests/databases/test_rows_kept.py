"""Which rows leave a database."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from candide import GaussianNB, NaiveBayes, fit_sql
from candide.sources.databases.dialects import DuckDB, MySQL, Postgres
from candide.specs.table import TableSpec

from . import tables
from .stores import Put, assert_same_sums, in_memory

COLUMNS = ["age", "visits", "job"]


@pytest.mark.parametrize("weight", [None, "w"], ids=["alike", "weighted"])
def test_rows_that_are_kept_are_those_of_memory(put: Put, weight: str | None) -> None:
    table = tables.plain()
    there = fit_sql(NaiveBayes(order=0), put(table), "t", label="y", columns=COLUMNS, weight=weight)
    here = in_memory(NaiveBayes(order=0), table, COLUMNS, weight=weight)
    assert_same_sums(there, here)
    assert there.model_.classifier.state.sample is not None
    np.testing.assert_allclose(there.loo_.log_loss, here.loo_.log_loss, rtol=1e-6)


def test_beyond_the_budget_a_database_gives_the_rows_of_memory(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TableSpec, "sample_bytes", 2000)
    table = tables.plain(2000)
    there = fit_sql(NaiveBayes(order=0), put(table), "t", label="y", columns=COLUMNS, weight="w")
    assert len(there.model_.classifier.state.sample.weight) < 300
    assert_same_sums(there, in_memory(NaiveBayes(order=0), table, COLUMNS, weight="w"))


PUT = {DuckDB: "put_duck", Postgres: "put_server", MySQL: "put_maria"}


@pytest.mark.parametrize(
    "kind",
    [DuckDB, pytest.param(Postgres, marks=pytest.mark.postgres), pytest.param(MySQL, marks=pytest.mark.mysql)],
)
def test_no_row_but_the_first_leaves_unless_it_is_needed(
    kind: Any, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent, table = _sent(monkeypatch, kind), tables.plain(100)
    connection = request.getfixturevalue(PUT[kind])(table)
    fit_sql(NaiveBayes(stacking=None, calibrate=None, compute_loo=False), connection, "t", label="y", columns=COLUMNS)
    fit_sql(GaussianNB(), connection, "t", label="y", columns=["age"])
    assert sent == []
    fit_sql(GaussianNB(compute_loo=True), connection, "t", label="y", columns=["age"])
    assert sum(sent) == 100


def _sent(monkeypatch: pytest.MonkeyPatch, kind: Any) -> list[int]:
    """Rows of each batch of rows that a database is going to send."""
    sent: list[int] = []
    answer = kind.answer

    def counting(self: Any, sql: str, schema: Any, *, many: bool) -> Any:
        for batch in answer(self, sql, schema, many=many):
            sent.extend([len(batch)] * many)
            yield batch

    monkeypatch.setattr(kind, "answer", counting)
    return sent
