"""Any small table gives the sums of memory, whatever numbers and names it holds."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties.models import assert_same_model

from candide import CategoricalNB, NaiveBayes, fit_sql
from candide.sources.databases import source

from .stores import Put, assert_same_sums, in_memory, put_duckdb, put_mysql, put_postgres, put_sqlite

PLAIN = {"stacking": None, "calibrate": None, "compute_loo": False}
_ODD = [0.0, -0.0, 5e-324, -5e-324, 2.0**-1022, 1.0, 1.0 + 2.0**-52, 1e100, -1e100, 0.1, 3.0, 2.0**53]
_numbers = st.one_of(
    st.none(), st.sampled_from(_ODD), st.floats(1, 2), st.floats(-1e100, 1e100), st.integers(-5, 5).map(float)
)
_words = st.one_of(st.none(), st.sampled_from(["", "a", "A", "a ", "ä", "'", '"', "NULL", "1"]))


@st.composite
def small_tables(draw: Any) -> pa.Table:
    n = draw(st.integers(1, 40))

    def column(cell: Any) -> list[Any]:
        return list(draw(st.lists(cell, min_size=n, max_size=n)))

    weight = [1, *column(st.integers(0, 3))[1:]]
    columns = {"x": pa.array(column(_numbers), pa.float64()), "word": pa.array(column(_words), pa.string())}
    return pa.table({**columns, "y": column(st.sampled_from(["u", "v", "w"])), "w": weight})


@pytest.mark.parametrize("put", [put_duckdb, put_sqlite], ids=["duckdb", "sqlite"])
@given(table=small_tables())
def test_any_table(put: Put, table: pa.Table) -> None:
    assert_same(put, table)


@pytest.mark.postgres
@given(table=small_tables())
def test_any_table_of_a_server(postgres: str, table: pa.Table) -> None:
    assert_same(partial(put_postgres, address=postgres), table)


@pytest.mark.mysql
@given(table=small_tables())
def test_any_table_of_mysql(mysql: str, table: pa.Table) -> None:
    assert_same(partial(put_mysql, socket=mysql), table)


def assert_same(put: Put, table: pa.Table) -> None:
    heavy = table.filter(pc.greater(table["w"], 0))  # other rows tell memory the kinds of columns
    with closing(put(table)) as connection, pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "MOST_VALUES", 4)
        there = fit_sql(NaiveBayes(**PLAIN), connection, "t", label="y", columns=["x", "word"], weight="w")
        assert_same_sums(there, in_memory(NaiveBayes(**PLAIN), heavy, ["x", "word"], weight="w"))
        there = fit_sql(CategoricalNB(), connection, "t", label="y", columns=["word"], weight="w")
        assert_same_model(there, in_memory(CategoricalNB(), heavy, ["word"], weight="w"))
