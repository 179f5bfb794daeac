"""A table is what its cells are, in whatever container it comes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy.sparse import coo_array, csr_array, csr_matrix
from tiers import every, late

from candide.data.columns import Columns
from candide.data.table import read_table, table_of
from candide.kernels.layouts import Dense

from .containers import CELLS, CONTAINERS, N_ROWS, plain

pl = late("polars")

EXPECTED: dict[str, tuple[str, list[Any]]] = {
    "measure": ("number", [1.5, None, -2.0, 1e300, 0.0, 3.25]),
    "count": ("number", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    "count with holes": ("number", [1.0, None, 3.0, 4.0, 5.0, 6.0]),
    "flag": ("number", [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]),
    "flag with holes": ("number", [1.0, None, 0.0, 1.0, None, 1.0]),
    "text": ("category", ["x", "y", None, "x", "Ärger", "1"]),
    "digits": ("category", ["10", "9", "10", None, "8", "9"]),
    "day": ("number", [19782.0, None, -1.0, 10957.0, -7121.0, 19783.0]),
    "day.month": ("category", [2.0, None, 12.0, 1.0, 7.0, 3.0]),
    "day.weekday": ("category", ["Thursday", None, "Wednesday", "Saturday", "Tuesday", "Friday"]),
    "moment": ("number", [19782.0, None, -0.5 / 86400, 10957.5625, -7121 * 1.0 + 3600 / 86400, 19783.0]),
    "moment.month": ("category", [2.0, None, 12.0, 1.0, 7.0, 3.0]),
    "moment.weekday": ("category", ["Thursday", None, "Wednesday", "Saturday", "Tuesday", "Friday"]),
    "moment.hour": ("category", [0.0, None, 23.0, 13.0, 1.0, 0.0]),
    "duration": ("number", [3600.0, None, 0.0, -172800.0, 0.5, None]),
    "clock": ("number", [0.0, None, 86399.5, 48600.0, 3600.0, 0.0]),
    "nothing": ("missing", [None] * N_ROWS),
    "decimal": ("number", [0.25, None, 1.5, -3.75, 0.25, 0.0]),
}


def only(values: Any, **options: Any) -> tuple[str, list[Any]]:
    """Kind and cells of a table's single column."""
    ((_, kind, found),) = plain(read_table({"c": values}, **options))
    return kind, found


def labels(table: Columns, j: int = 0) -> list[Any]:
    found = table.columns[j].labels
    assert found is not None
    return found.tolist()


@every("container", CONTAINERS)
def test_every_container_holds_the_same_table(container: str) -> None:
    table = read_table(CONTAINERS[container]())
    assert (table.n_rows, table.n_columns) == (N_ROWS, len(EXPECTED))
    assert plain(table) == [(name, *column) for name, column in EXPECTED.items()]


def test_rows_of_objects_hold_the_same_table() -> None:
    rows = list(map(list, zip(*CELLS.values(), strict=True)))
    objects = np.array(rows, dtype=object)
    for X in (rows, objects, objects[::-1][::-1], np.asfortranarray(objects)):
        found = plain(read_table(X))
        assert [column[1:] for column in found] == list(EXPECTED.values())
        assert found[0][0] == 0
        assert found[8][0] == "7.month"


@every("container", CONTAINERS)
def test_codes_and_labels_fit_together(container: str) -> None:
    """Codes are int32, labels distinct and in order; numbers are of types that kernels read."""
    for column in read_table(CONTAINERS[container]()).columns:
        if column.labels is None:
            assert column.values.dtype.kind in "biuf"
            continue
        known = column.labels.tolist()
        assert (column.values.dtype, column.labels.dtype) == (np.int32, object)
        assert known == sorted(set(known))
        assert -1 <= column.values.min() <= column.values.max() < len(known)


@every("dtype", ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"])
def test_numbers_are_not_copied(dtype: str) -> None:
    values = np.arange(12).reshape(4, 3).astype(dtype)
    for X in (values, np.asfortranarray(values), values[::2], values[:, ::-1]):
        for column in read_table(X).columns:
            assert column.values.dtype == dtype
            assert np.shares_memory(column.values, X)
    assert np.shares_memory(read_table({"a": values[:, 1]}).columns[0].values, values)
    frame = pd.DataFrame({"a": values[:, 0], "b": ["x"] * 4})
    assert np.shares_memory(read_table(frame).columns[0].values, frame["a"].to_numpy())
    series = pl.DataFrame({"a": np.ascontiguousarray(values[:, 0]), "b": ["x"] * 4})
    if dtype != "?":  # polars keeps bits
        assert np.shares_memory(read_table(series).columns[0].values, series["a"].to_numpy())


@every("dtype", ["f2", "g", ">f8", ">i4", ">u2"])
def test_other_numbers_are_converted(dtype: str) -> None:
    values = np.array([[1, 2], [3, 4]]).astype(dtype)
    assert plain(read_table(values)) == [(0, "number", [1.0, 3.0]), (1, "number", [2.0, 4.0])]


def test_many_number_columns_come_as_one() -> None:
    values = np.random.default_rng(0).normal(size=(5, 100))
    names = [f"x{j}" for j in range(100)]
    for frame in (pd.DataFrame(values, columns=names), pl.DataFrame(values, schema=names)):
        table = read_table(frame)
        assert table.names == tuple(names)
        np.testing.assert_array_equal(table.dense().floats(), values)


def test_whole_numbers_beyond_doubles_are_doubles() -> None:
    """What kernels cannot tell apart is one number in every container, with holes or without."""
    values = [2**60 + 1, 2**60, 5]
    for column in (values, pd.array(values, dtype="Int64"), pl.Series(values), np.array(values, dtype=np.uint64)):
        assert only(column) == ("number", [2.0**60, 2.0**60, 5.0])
    assert only([*values, None]) == ("number", [2.0**60, 2.0**60, 5.0, None])
    assert only(pl.Series([2**100, None], dtype=pl.Int128)) == ("number", [2.0**100, None])


@every("form", [csr_array, csr_matrix, coo_array])
def test_sparse_columns_are_numbers(form: Any) -> None:
    values = np.array([[0.0, 1.5], [2.0, np.nan], [0.0, 0.0]])
    assert plain(read_table(form(values))) == [(0, "number", [0.0, 2.0, 0.0]), (1, "number", [1.5, None, 0.0])]


@every(
    "cells,expected",
    [
        ([1, 2.5, None], [1.0, 2.5, None]),
        ([np.int8(1), Decimal("0.5"), Fraction(1, 4), True], [1.0, 0.5, 0.25, 1.0]),
        ([np.float32(0.5), pd.NA, pd.NaT, np.nan], [0.5, None, None, None]),
        ([True, False, None], [1.0, 0.0, None]),
        ([10**300, 1, 2], [1e300, 1.0, 2.0]),
    ],
)
def test_objects_that_are_numbers(cells: Any, expected: list[Any]) -> None:
    assert only(cells) == ("number", expected)
    assert only(pd.Series(cells, dtype=object)) == ("number", expected)


def test_masked_cells_are_missing() -> None:
    values = np.ma.masked_array([[1, 2], [3, 4]], [[False, True], [False, False]])
    assert plain(read_table(values)) == [(0, "number", [1.0, 3.0]), (1, "number", [None, 4.0])]


@every("empty", [None, np.nan, pd.NA, pd.NaT, np.datetime64("NaT")])
def test_columns_of_holes_are_missing(empty: Any) -> None:
    column = np.empty(3, dtype=object)
    column[:] = [empty] * 3
    for X in (column, pd.Series(column), pd.Series(column, dtype=object)):
        table = read_table({"c": X, "d": [1, 2, 3]})
        assert table.kinds[0] == "missing"
        assert table.columns[0].values.dtype == np.float64


def test_columns_of_holes_with_a_type_are_missing() -> None:
    frames = [
        pl.DataFrame({"t": pl.Series([None], dtype=kind)}) for kind in (pl.String, pl.Categorical, pl.Int8, pl.Boolean)
    ]
    kinds = [pd.CategoricalDtype(["a"]), "string", "str", "Int64", "boolean", "float32"]
    frames += [pd.DataFrame({"t": pd.Series([None], dtype=kind)}) for kind in kinds]
    frames += [pa.table({"t": pa.array([None], kind)}) for kind in (pa.string(), pa.int8(), pa.null(), pa.bool_())]
    assert [read_table(frame).kinds for frame in frames] == [("missing",)] * len(frames)


class Colour(Enum):
    RED = 1


class Tree(str, Enum):  # noqa: UP042
    ASH = "ash"


def test_labels_are_plain() -> None:
    """As those of CategoricalNB: whole numbers are int, texts str; equal ones are one."""
    mixed: list[Any] = ["b", 2, 2.0, True, 1, 0.5, np.str_("a"), Tree.ASH, Decimal(7), np.float64(-0.0), None, b"z"]
    table = read_table({"c": np.array([*mixed, None], dtype=object)})
    assert labels(table) == [0, 0.5, 1, 2, 7, b"z", "a", "ash", "b"]
    assert [type(label) for label in labels(table)] == [int, float, int, int, int, bytes, str, str, str]
    assert table.columns[0].values.tolist() == [8, 3, 3, 2, 2, 1, 6, 7, 4, 0, -1, 5, -1]


def test_categoricals_of_numbers_are_categories() -> None:
    for cells in ([1, 2, None, 1], [True, False, None, True]):
        table = read_table(pd.DataFrame({"c": pd.Categorical(cells)}))
        assert table.kinds == ("category",)
        assert [type(label) for label in labels(table)] == [int, int]
    dictionary = pa.table({"c": pa.array([1.5, 2.0, None]).dictionary_encode()})
    assert plain(read_table(dictionary)) == [("c", "category", [1.5, 2.0, None])]


def test_dictionaries_may_hold_holes_and_repeats() -> None:
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None, 3]), pa.array(["b", None, "b", "a"]))
    table = read_table(pa.table({"c": column}))
    assert labels(table) == ["a", "b"]
    assert table.columns[0].values.tolist() == [1, -1, 1, -1, 0]


def test_texts_of_numpy() -> None:
    for dtype in ("U3", "O"):
        found = plain(read_table(np.array([["a", "1"], ["b", "2"]], dtype=dtype)))
        assert found == [(0, "category", ["a", "b"]), (1, "category", ["1", "2"])]
    assert only(np.array([b"a", b"b"])) == ("category", [b"a", b"b"])


def test_mixed_objects_are_categories() -> None:
    assert only([1, "a", 2.0, "b", None, False]) == ("category", ["1", "a", "2", "b", None, "false"])
    assert only([dt.date(2020, 1, 1), "soon"]) == ("category", [dt.date(2020, 1, 1), "soon"])
    assert only(pd.Series([(1, 2), (0, 1)])) == ("category", [(1, 2), (0, 1)])


def test_intervals_are_categories() -> None:
    column = pd.cut(pd.Series([1.0, 5.0, 9.0, np.nan]), [0, 4, 10])
    assert read_table(pd.DataFrame({"c": column})).columns[0].values.tolist() == [0, 1, 1, -1]


class TestKinds:
    def test_numbers_as_categories(self) -> None:
        for cells in ([3, -1, 3], np.array([3, -1, 3], np.int8), pl.Series([3.0, -1.0, 3.0]), ["3", "-1", "3"]):
            table = read_table({"c": cells}, {"c": "category"})
            assert labels(table) == (["-1", "3"] if isinstance(cells[0], str) else [-1, 3])
            assert table.columns[0].values.tolist() == [1, 0, 1]
        assert only([0.5, None, 0.5], kinds={"c": "category"}) == ("category", [0.5, None, 0.5])
        assert only([True, None], kinds={"c": "category"}) == ("category", [1.0, None])

    def test_identifiers_as_categories_stay_apart(self) -> None:
        big = [2**60, 2**60 + 1, 7]
        for cells in (big, pl.Series(big), np.array(big, np.uint64), np.array(big, ">i8"), pd.array(big, "Int64")):
            assert labels(read_table({"c": cells}, {"c": "category"})) == [7, 2**60, 2**60 + 1]
        for cells in (
            [*big, None],
            pl.Series([*big, None]),
            pd.Series([*big, None], dtype="Int64"),
            pa.chunked_array([[*big, None]]),
        ):
            assert labels(read_table({"c": cells}, {"c": "category"})) == [7, 2**60, 2**60 + 1]

    def test_texts_as_numbers(self) -> None:
        for cells in (["1.5", None, "-2"], pl.Series(["1.5", None, "-2"]), pd.Categorical(["1.5", None, "-2"])):
            assert only(cells, kinds={"c": "number"}) == ("number", [1.5, None, -2.0])
        assert only(pd.Series([4, None, 2], dtype="category"), kinds={"c": "number"}) == ("number", [4.0, None, 2.0])

    def test_holes_take_any_kind(self) -> None:
        assert only([None, np.nan], kinds={"c": "number"}) == ("number", [None, None])
        for cells in ([None, None], np.full(2, np.nan), pl.Series([None, None])):
            assert only(cells, kinds={"c": "category"}) == ("category", [None, None])
            assert only(cells, kinds={"c": "missing"}) == ("missing", [None, None])
        assert only([1.0, None], kinds={"c": "missing"}) == ("number", [1.0, None])
        assert only(["a", None], kinds={"c": "missing"}) == ("category", ["a", None])

    def test_mostly_numbers_as_categories(self) -> None:
        cells = [*range(20), "n/a"]
        assert only(cells, kinds={"c": "category"}) == ("category", [*map(str, range(20)), "n/a"])

    def test_names_that_are_not_there_do_no_harm(self) -> None:
        assert only([1.0], kinds={"d": "category"}) == ("number", [1.0])


class TestColumns:
    table = read_table({"x": [1.5, None, 3.0], "t": ["b", "a", None], "e": [None, None, None]})

    def test_stretches_share_memory(self) -> None:
        part = self.table.rows(1, 3)
        assert (part.n_rows, part.first_row, part.rows(1, 2).first_row) == (2, 1, 2)
        assert all(np.shares_memory(a.values, b.values) for a, b in zip(part.columns, self.table.columns, strict=True))
        assert plain(part) == [
            ("x", "number", [None, 3.0]),
            ("t", "category", ["a", None]),
            ("e", "missing", [None, None]),
        ]

    def test_rows_taken(self) -> None:
        assert plain(self.table.take(np.array([2, 0, 0])))[:2] == [
            ("x", "number", [3.0, 1.5, 1.5]),
            ("t", "category", [None, "b", "b"]),
        ]

    def test_names_for_messages(self) -> None:
        assert [self.table.name(j) for j in range(3)] == ["column 'x'", "column 't'", "column 'e'"]

    def test_dense_and_back(self) -> None:
        dense = self.table.dense()
        assert isinstance(dense, Dense)
        assert dense.names == ("x", "t", "e")
        assert dense.column(1).tolist() == ["b", "a", None]
        assert plain(table_of(dense, self.table.kinds, self.table.names)) == plain(self.table)
