"""The label's column by its name, and columns as settings speak of them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import every, late

from candide.data.column_selection import select_columns, split_groups, split_label
from candide.data.table import read_table
from candide.exceptions import InputError, ParameterError

pl = late("polars")

CELLS = {"age": [31.0, 58.0], "job": ["cook", "smith"], "income": ["low", "high"]}
TABLES: dict[str, Any] = {
    "dict": lambda: CELLS,
    "pandas": lambda: pd.DataFrame(CELLS, index=[5, 3]),
    "polars": lambda: pl.DataFrame(CELLS),
    "pyarrow": lambda: pa.table(CELLS),
}


class TestLabel:
    @every("container", TABLES)
    def test_the_column_is_split_off(self, container: str) -> None:
        table = TABLES[container]()
        X, y = split_label(table, "income")
        assert type(X) is type(table)
        assert read_table(X).names == ("age", "job")
        assert np.asarray(y).tolist() == CELLS["income"]
        assert "income" in read_table(table).names

    @pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 copies what a column is dropped from")
    def test_nothing_is_copied(self) -> None:
        frame = TABLES["pandas"]()
        X, y = split_label(frame, "income")
        assert np.shares_memory(X["age"].to_numpy(), frame["age"].to_numpy())
        assert y.index.tolist() == [5, 3]

    def test_labels_are_left_alone(self) -> None:
        for y in (["low", "high"], np.array([0, 1]), pd.Series([0, 1]), None, ("a", "b")):
            X, same = split_label(CELLS, y)
            assert X is CELLS
            assert same is y

    def test_columns_named_by_numbers(self) -> None:
        X, y = split_label(pd.DataFrame([[1.5, "a"], [2.5, "b"]]), 1)
        assert (list(X.columns), y.tolist()) == ([0], ["a", "b"])

    @every("container", TABLES)
    def test_a_name_that_is_not_there(self, container: str) -> None:
        with pytest.raises(
            InputError,
            match=r"y is 'wage', .* its columns are 'age', 'job', 'income'; did you mean 'age'",
        ):
            split_label(TABLES[container](), "wage")

    @every("container", TABLES)
    def test_groups_too(self, container: str) -> None:
        X, groups = split_groups(TABLES[container](), "job")
        assert (read_table(X).names, np.asarray(groups).tolist()) == (("age", "income"), CELLS["job"])
        with pytest.raises(InputError, match=r"groups is 'jub', .*; did you mean 'job'"):
            split_groups(TABLES[container](), "jub")

    def test_wide_tables_are_not_listed_whole(self) -> None:
        with pytest.raises(InputError, match=r"'19' and 80 more; pass"):
            split_label({str(j): [0] for j in range(100)}, "y")

    def test_tables_without_names(self) -> None:
        with pytest.raises(InputError, match=r"y is 'income', a column name, but X is a ndarray"):
            split_label(np.eye(2), "income")


TABLE = read_table({"age": [31, 58], "x1": [0.5, 1.5], "x2": [2, 1], "job": ["cook", "smith"], "hole": [None, None]})


class TestSelection:
    @every(
        "key,names",
        [
            ("age", ["age"]),
            (("x2", "age"), ["age", "x2"]),
            (re.compile(r"^x\d$"), ["x1", "x2"]),
            (re.compile("o"), ["job", "hole"]),
            (lambda name, kind: kind == "number" and name != "age", ["x1", "x2"]),
            (lambda name, kind: False, []),
            ("numbers", ["age", "x1", "x2"]),
            ("categories", ["job"]),
        ],
    )
    def test_keys(self, key: Any, names: list[str]) -> None:
        assert select_columns({key: "bins"}, TABLE) == [(names, "bins")]

    def test_pairs_may_have_lists(self) -> None:
        assert select_columns([(["age", "job"], 1), ("x1", 2)], TABLE) == [(["age", "job"], 1), (["x1"], 2)]

    def test_nothing(self) -> None:
        assert select_columns({}, TABLE) == []

    def test_a_name_comes_before_other_readings(self) -> None:
        table = read_table(
            pd.DataFrame([[1, 2, 3]], columns=pd.Index(["numbers", ("a", "b"), "a"], tupleize_cols=False))
        )
        assert select_columns({"numbers": 1, ("a", "b"): 2}, table) == [(["numbers"], 1), ([("a", "b")], 2)]

    @every("key", ["wage", ("age", "wage"), 3])
    def test_names_that_are_not_there(self, key: Any) -> None:
        with pytest.raises(
            ParameterError, match=r"columns has the key ('wage'|3), but X has no such column; its columns are 'age'"
        ):
            select_columns({key: "bins"}, TABLE)

    def test_patterns_without_a_match(self) -> None:
        with pytest.raises(ParameterError, match=r"the pattern '\^z', which matches no column; X has 'age'"):
            select_columns({re.compile("^z"): "bins"}, TABLE)

    def test_the_most_precise_key_has_a_column(self) -> None:
        settings = {"numbers": 1, re.compile("^x"): 2, "x1": 3, "categories": 4}
        groups = [(["age"], 1), (["x2"], 2), (["x1"], 3), (["job"], 4)]
        assert select_columns(settings, TABLE) == groups
        backwards = dict(reversed(settings.items()))
        assert select_columns(backwards, TABLE) == groups[::-1]
        assert select_columns({lambda name, kind: True: 1, ("age", "job"): 2}, TABLE)[0] == (["x1", "x2", "hole"], 1)

    def test_columns_meant_twice(self) -> None:
        words = r"column 'x1' matches two keys of columns, 'x1' and \('age', 'x1'\); name each column once"
        with pytest.raises(ParameterError, match=words):
            select_columns({"x1": "bins", ("age", "x1"): "kernel"}, TABLE)
        with pytest.raises(ParameterError, match="column 'x1' matches two keys of columns, the pattern '1'"):
            select_columns({re.compile("1"): "bins", re.compile("^x"): "kernel"}, TABLE)
        with pytest.raises(ParameterError, match="column 'age' matches two keys"):
            select_columns({("age", "age"): "bins"}, TABLE)

    def test_keys_that_are_overruled_may_meet(self) -> None:
        settings = {re.compile("1"): 1, re.compile("^x"): 2, "x1": 3}
        assert select_columns(settings, TABLE) == [([], 1), (["x2"], 2), (["x1"], 3)]

    def test_keys_that_are_none(self) -> None:
        with pytest.raises(ParameterError, match=r"columns has the key \{'age'\}, a set; expected a name"):
            select_columns([({"age"}, "bins")], TABLE)
