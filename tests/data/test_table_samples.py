"""A sample of a table is that of its cells: in any container, in any parts; and the table can be read from it again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tiers import every

from candide.data.columns import Columns
from candide.data.table import read_table, table_of
from candide.kernels.layouts import Array, Dense
from candide.statistics import Sample
from candide.statistics.base import Budget
from candide.statistics.hashing import row_hashes

from .containers import CELLS, CONTAINERS, N_ROWS, plain

ROOMY = 1 << 20
CLASSES = np.array([0, 1, 1, 0, 0, 1], dtype=np.int32)


def sample_of(table: Columns, classes: Array = CLASSES, budget: int = ROOMY) -> Sample:
    return Sample.of(table, classes, None, 2, Budget(budget))


def assert_alike(a: Sample, b: Sample) -> None:
    for mine, other in zip(a.entries, b.entries, strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(a.threshold, b.threshold)
    assert isinstance(a.data, Dense)
    assert isinstance(b.data, Dense)
    for j in range(a.data.n_columns):
        assert a.data.column(j).dtype == b.data.column(j).dtype
        np.testing.assert_array_equal(a.data.column(j), b.data.column(j))


def some_rows(cells: dict[str, list[Any]], rows: Array) -> dict[str, list[Any]]:
    return {name: [column[row] for row in rows] for name, column in cells.items()}


@every("container", CONTAINERS)
def test_rows_hash_as_their_cells(container: str) -> None:
    table = read_table(CONTAINERS[container]())
    np.testing.assert_array_equal(row_hashes(table), row_hashes(table.dense()))
    np.testing.assert_array_equal(row_hashes(table), row_hashes(read_table(CELLS)))


@pytest.mark.parametrize("budget", [ROOMY, 300])
@every("container", CONTAINERS)
def test_every_container_leaves_the_same_sample(container: str, budget: int) -> None:
    assert_alike(
        sample_of(read_table(CONTAINERS[container]()), budget=budget), sample_of(read_table(CELLS), budget=budget)
    )


@pytest.mark.parametrize("budget", [ROOMY, 300])
@every("seed", range(8))
def test_parts_of_any_containers_leave_the_same_sample(seed: int, budget: int) -> None:
    """Read apart, each by itself or as the whole was read, in any order; categories may be in one part alone."""
    whole = read_table(CELLS)
    kinds = dict(zip(whole.names, whole.kinds, strict=True))
    rng = np.random.default_rng(seed)
    deal, merged = rng.integers(0, 3, N_ROWS), None
    for part in rng.permutation(3):
        rows = rng.permutation(np.flatnonzero(deal == part))
        if len(rows):
            X = some_rows(CELLS, rows)
            table = read_table(pd.DataFrame(X) if rng.random() < 0.5 else X, kinds)
            one = sample_of(table, CLASSES[rows], budget)
            merged = one if merged is None else merged.merge(one)
    assert merged is not None
    assert_alike(merged, sample_of(whole, budget=budget))


def test_columns_of_holes_join_either_kind() -> None:
    """A part in which nothing is known of a column agrees with one where something is."""
    whole = read_table({"x": [1.5, None], "t": ["a", None]})
    first, second = (read_table({"x": [x], "t": [t]}) for x, t in ((1.5, "a"), (None, None)))
    assert second.kinds == ("missing", "missing")
    one = np.zeros(1, dtype=np.int32)
    merged = sample_of(first, one).merge(sample_of(second, one))
    assert_alike(merged, sample_of(whole, np.zeros(2, dtype=np.int32)))
    assert_alike(merged.forget(sample_of(second, one)), sample_of(first, one))


@every("container", CONTAINERS)
def test_a_table_is_read_again(container: str) -> None:
    table = read_table(CONTAINERS[container]())
    sample = sample_of(table)
    assert isinstance(sample.data, Dense)
    again = table_of(sample.data, table.kinds, table.names)
    assert (again.kinds, again.names) == (table.kinds, table.names)
    order = [int(np.flatnonzero(row_hashes(table) == row)[0]) for row in sample.entries.hashes]
    assert plain(again) == plain(table.take(np.array(order)))
    np.testing.assert_array_equal(row_hashes(again), sample.entries.hashes)


def test_numbers_as_categories_are_read_again() -> None:
    """Also those beyond doubles, beside texts, and all of one table."""
    cells: dict[str, list[Any]] = {"code": [3, -1, None], "id": [2**60 + 1, 2**60, 5], "mix": ["a", 1, 2.5]}
    kinds = dict.fromkeys(cells, "category")
    table = read_table(cells, kinds)  # type: ignore[arg-type]
    sample = sample_of(table, np.zeros(3, dtype=np.int32))
    assert isinstance(sample.data, Dense)
    again = table_of(sample.data, table.kinds, table.names)
    for mine, other in zip(again.columns, table.columns, strict=True):
        assert mine.labels is not None
        assert other.labels is not None
        assert [(type(label), label) for label in mine.labels] == [(type(label), label) for label in other.labels]
    np.testing.assert_array_equal(np.sort(row_hashes(again)), np.sort(row_hashes(table)))


def test_labels_that_do_not_occur_leave_no_trace() -> None:
    frame = pd.DataFrame({"c": pd.Categorical([1, 2, None], categories=[1, 2, "unused"])})
    data = sample_of(read_table(frame), np.zeros(3, dtype=np.int32)).data
    assert isinstance(data, Dense)
    assert not isinstance(data.values, tuple)
    assert data.values.dtype == np.float64


def test_rows_that_are_there_twice_are_counted() -> None:
    table = read_table({"x": [1, 1, 1], "t": ["a", "a", None]})
    sample = sample_of(table, np.zeros(3, dtype=np.int32))
    assert sorted(sample.multiplicity.tolist()) == [1, 2]
