"""Tables that cannot be read as they are: every error says what was found, where, and what to do."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import csr_array
from tiers import every, late

from candide.data.table import read_table
from candide.exceptions import InputError

pl = late("polars")

AGES: list[Any] = [*range(17), "n/a", *range(20), "?", None, *range(20), "n/a"]
Colour = Enum("Colour", ["RED", "BLUE"])


def refused(X: Any, *words: str, kinds: Any = None) -> None:
    with pytest.raises(InputError, match=".*".join(map(re.escape, words))):
        read_table(X, kinds)


def test_a_few_texts_among_numbers() -> None:
    found = "column 'age' contains 3 text values (first: 'n/a' at row 17) among numbers"
    words = f"{found}; pass columns={{'age': 'categorical'}}"
    for column in (AGES, pd.Series(AGES), pd.Series(AGES, dtype=object), np.array(AGES, dtype=object)):
        refused({"age": column}, words)
    refused(pd.DataFrame({"age": AGES}), words)
    refused([[age] for age in AGES], "column 0 contains 3 text values (first: 'n/a' at row 17)")


def test_nine_in_ten_are_numbers() -> None:
    numbers = [1.5] * 9
    refused({"c": [*numbers, "x"]}, "1 text value (first: 'x' at row 9)")
    assert read_table({"c": [*numbers[:8], "x", None, None]}).kinds == ("category",)


def test_texts_that_are_no_numbers() -> None:
    for column in (
        ["1", None, "many", "few"],
        pl.Series(["1", None, "many", "few"]),
        pd.Categorical(["1", None, "many", "few"]),
    ):
        refused({"c": column}, "column 'c' contains 2 text values (first: 'many' at row 2)", kinds={"c": "number"})


@every("cell", [["a"], {"a": 1}, {1, 2}, np.array([1, 2])])
def test_cells_that_hold_several_things(cell: Any) -> None:
    column = np.empty(3, dtype=object)
    column[:] = ["x", None, "y"]
    column[1] = cell
    words = f"column 'tags' contains a {type(cell).__name__} at row 1"
    refused({"tags": column}, words, "split the values into several columns")
    refused(pd.DataFrame({"tags": column}), words)
    refused({"tags": column}, words, kinds={"tags": "category"})


def test_columns_of_lists_and_records() -> None:
    for X in (pl.DataFrame({"tags": [["a"], ["b", "c"]]}), pa.table({"tags": [["a"], ["b", "c"]]})):
        refused(X, "column 'tags' contains lists or records (List", "split the values into several columns")
    refused(pl.DataFrame({"at": [{"x": 1}]}), "column 'at' contains lists or records (Struct")


def test_cells_without_an_order() -> None:
    refused(
        {"c": np.array([Colour.RED, Colour.BLUE], dtype=object)}, "column 'c' contains values of type Colour", "sorted"
    )


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinities(value: float) -> None:
    values = np.zeros((20_000, 2))
    values[12_345, 1] = value
    words = "Input X contains infinity: column 'b' is infinite at row 12345"
    frame = pd.DataFrame(values, columns=["a", "b"])
    for X in (frame, frame.astype("float32"), pl.from_pandas(frame), pa.Table.from_pandas(frame), dict(frame)):
        refused(X, words)
    refused(values, "column 1 is infinite at row 12345")
    refused(csr_array(values), "column 1 is infinite at row 12345")
    refused({"c": np.array([1, value], dtype=object)}, "column 'c' is infinite at row 1")
    refused({"c": ["1", "inf"]}, "column 'c' is infinite at row 1", kinds={"c": "number"})


def test_large_numbers() -> None:
    assert read_table({"c": [1e300, -1.7e308, 5e-324]}).columns[0].values.tolist() == [1e300, -1.7e308, 5e-324]
    refused({"c": np.array([1, 10**400], dtype=object)}, "column 'c' contains a number beyond 1.8e308", "row 1")
    assert read_table({"c": np.array([1, 10**400], dtype=object)}, {"c": "category"}).kinds == ("category",)


def test_names_that_are_there_twice() -> None:
    refused(pd.DataFrame([[1, 2]], columns=["a", "a"]), "a unique name")
    refused(pa.table([[1], [2]], names=["a", "a"]), "a unique name")
    frame = pd.DataFrame({"w": pd.to_datetime(["2020-01-01"]), "w.month": ["January"]})
    refused(frame, "two columns have the name 'w.month' (a date column", "a unique name")


def test_no_rows() -> None:
    for X in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), {"a": []}, np.empty((0, 2)), csr_array((0, 2))):
        refused(X, "0 sample(s)")


def test_no_columns() -> None:
    for X in (pd.DataFrame(index=[1, 2]), pl.DataFrame(), {}, np.empty((2, 0)), csr_array((2, 0))):
        refused(X, "while a minimum of 1 is required")


def test_columns_of_different_lengths() -> None:
    refused({"a": [1, 2], "b": ["x"]}, "column 'b' has 1 cells, column 'a' has 2; pass columns of the same length")


def test_columns_that_are_none() -> None:
    refused({"a": 3}, "column 'a' is a single value")
    refused({"a": "text"}, "column 'a' is a single value")
    refused({"a": np.eye(2)}, "column 'a' is an array of shape (2, 2)")
    refused({"a": [[1, 2], [3]]}, "column 'a'")
    refused({"a": np.array([1j])}, "Complex data not supported: column 'a'")


@every("X", [None, "text", 3, [1, 2], pd.Series([1, 2]), np.zeros((2, 2, 2)), [[1, 2], [3]], [{"a": 1}]])
def test_no_table_at_all(X: Any) -> None:
    with pytest.raises(InputError):
        read_table(X)


def test_sparse_and_wide() -> None:
    refused(csr_array((3, 4097)), "X is sparse and has 4097 columns", "MultinomialNB")
    assert read_table(csr_array((3, 4096))).n_columns == 4096


def test_lazy_frames() -> None:
    refused(pl.LazyFrame({"a": [1]}), "X is a polars LazyFrame", "pass X.collect()")
