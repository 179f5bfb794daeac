"""What cannot be learned from is explained, and leaves everything as it was."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tiers import every

from candide import CategoricalNB, GaussianNB, MultinomialNB, NaiveBayes, TextNB, fit_sql
from candide.exceptions import InputError, ParameterError, SourceError
from candide.sources.databases import source

from .stores import Put

TABLE = pa.table({"x": [1.0, None, 2.0], "word": ["a", "b", "c"], "w": [1.0, -1.0, 2.0], "y": ["u", "v", None]})


@pytest.mark.parametrize(
    ("query", "options", "error", "match"),
    [
        ("SELECT nonsense FROM t", {}, SourceError, "reported an error.*nonsense.*check the names"),
        ("nowhere", {}, SourceError, "nowhere"),
        ("SELECT 1; DROP TABLE t", {}, SourceError, "reported an error"),
        ("t; DROP TABLE t", {}, SourceError, "reported an error"),
        (
            "t",
            {"label": "z"},
            InputError,
            "label= refers to 'z', but the source has no such column; its columns are 'x', 'word', 'w', 'y'",
        ),
        ("t", {"columns": ["X"]}, InputError, "did you mean 'x'"),
        ("t", {"columns": "x"}, ParameterError, r"expected a list of names: columns=\['x'\]"),
        ("t", {"columns": ["y"]}, ParameterError, "label='y' is also passed"),
        ("t", {"weight": "w"}, InputError, "weight='w' contains a weight that is -1.0"),
        ("t", {"weight": "word"}, InputError, "weight='word' is a column of type string"),
        ("SELECT x, y, x AS w FROM t", {"weight": "w", "columns": ["x"]}, InputError, "a weight that is missing"),
        ("SELECT y FROM t", {}, InputError, "'y' is the only column"),
        ("SELECT x, y, 0.0 AS w FROM t", {"weight": "w"}, InputError, "no rows with a label and a positive weight"),
        ("SELECT * FROM t WHERE x > 9", {}, InputError, "no rows with a label and a positive weight"),
        ("t", {"columns": ["word"]}, InputError, "contains 2 text values"),
        ("", {}, ParameterError, "query is empty"),
        (None, {}, ParameterError, "query is empty"),
        (TABLE, {}, InputError, "pass data frames in memory to fit"),
        ("t", {"dialect": "oracle"}, ParameterError, "dialect is 'oracle'.*duckdb, mysql, postgres, sqlite"),
    ],
)
def test_errors(put: Put, query: Any, options: dict[str, Any], error: type[Exception], match: str) -> None:
    connection = put(TABLE)
    with pytest.raises(error, match=f"(?s){match}"):
        fit_sql(GaussianNB(), connection, query, **{"label": "y", **options})
    with pytest.warns(UserWarning, match="skipped 1 row without a label"):
        model = fit_sql(GaussianNB(), connection, "t", label="y", columns=["x"])
    assert model.class_count_.tolist() == [1.0, 1.0]


@every("connection", [3, "shop.db", "mysql:shop"])
def test_odd_connections(connection: Any) -> None:
    with pytest.raises(ParameterError, match=r"sqlite:shop\.db"):
        fit_sql(GaussianNB(), connection, "t", label="y")


def test_odd_estimators() -> None:
    with pytest.raises(ParameterError, match="expected a candide estimator"):
        fit_sql("GaussianNB", None, "t", label="y")


@pytest.mark.postgres
def test_two_columns_of_one_name(put_server: Put) -> None:
    with pytest.raises(InputError, match="two columns have the name 'x'"):
        fit_sql(GaussianNB(), put_server(TABLE), "SELECT x, x, y FROM t", label="y")


def test_texts_need_one_column(put_duck: Put) -> None:
    with pytest.raises(InputError, match="TextNB needs a single text column, but the source has x, word"):
        fit_sql(TextNB(), put_duck(TABLE), "SELECT x, word, y FROM t", label="y")


@pytest.mark.parametrize(
    ("model", "cell", "match"),
    [
        (GaussianNB(), "inf", "infinit"),
        (GaussianNB(), "1e200", "squares overflow"),
        (MultinomialNB(), "-1.0", "Negative values.*'x' is -1.*result of the query"),
        (MultinomialNB(), "inf", "infinit"),
        (CategoricalNB(), "-1.0", "Negative values.*result of the query"),
        (NaiveBayes(stacking=None, calibrate=None, compute_loo=False), "inf", "infinit"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else value,
)
def test_what_memory_refuses(put: Put, model: Any, cell: str, match: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In rows that come late."""
    monkeypatch.setattr(source, "MOST_VALUES", 3)
    monkeypatch.setattr("candide.model.train._HEAD", 5)
    table = pa.table({"x": [*range(9), float(cell)], "y": ["u", "v"] * 5})
    model.fit([[1.0], [2.0]], ["u", "v"])
    with pytest.raises(InputError, match=f"(?s){match}"):
        fit_sql(model, put(table), "t", label="y")
    assert model.n_features_in_ == 1
    assert not hasattr(model, "feature_names_in_")
