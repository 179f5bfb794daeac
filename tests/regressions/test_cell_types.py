"""Column types that depended on the container, or that models could not read or save."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from tiers import every, late

import candide
from candide import CategoricalNB, GaussianNB, NaiveBayes
from candide.data.conversion import to_text
from candide.data.table import read_table
from candide.exceptions import InputError, ModelFileError

duckdb = late("duckdb")

N = 60
PLAIN: dict[str, Any] = {"stacking": None, "calibrate": None, "compute_loo": False}
Y = np.arange(N) % 2
NUMBERS = np.random.default_rng(0).normal(size=N)


def _kind(column: Any) -> tuple[str, str]:
    model = NaiveBayes(**PLAIN).fit({"c": column, "x": NUMBERS}, Y)
    table = model.schema_
    return table["kind"].tolist()[0], table["decided"].tolist()[0]


@every(
    "column",
    [
        pd.Categorical(np.arange(N) % 5),
        pd.CategoricalIndex(np.arange(N) % 5),
        pa.array((np.arange(N) % 5).tolist()).dictionary_encode(),
    ],
)
def test_categoricals_of_integers_in_a_dict_are_categories(column: Any) -> None:
    kind, decided = _kind(column)
    assert kind == "category"
    assert "int64" not in decided or "dictionary" in decided
    X = {"c": column, "x": NUMBERS}
    in_series = {"c": pd.Series(pd.Categorical(np.arange(N) % 5)), "x": NUMBERS}
    model = NaiveBayes(**PLAIN).fit(X, Y)
    np.testing.assert_array_equal(model.predict_proba(X), model.predict_proba(in_series))


@every("blank", ["", "  ", "\n"])
def test_blank_strings_do_not_hide_a_column_of_texts(blank: str) -> None:
    texts = [blank if i % 4 == 0 else f"the room was clean and quiet, number {i}" for i in range(N)]
    assert _kind(texts)[0] == _kind(pd.Series(texts))[0] == _kind(pa.array(texts))[0] == "text"
    # Names that repeat are categories, whatever else is blank.
    names = [blank if i % 4 == 0 else f"house of the number {i % 30}" for i in range(N)]
    assert _kind(names)[0] == "category"


def test_a_list_of_dicts_is_a_table() -> None:
    """One dict for each row; keys that some of them omit are missing cells."""
    ages = [None if i % 9 == 0 else float(i % 7) for i in range(N)]
    records = [{"age": age, "job": "cs"[i % 2]} if age is not None else {"job": "cs"[i % 2]}
               for i, age in enumerate(ages)]  # fmt: skip
    columns = {"job": ["cs"[i % 2] for i in range(N)], "age": ages}
    expected, model = NaiveBayes(**PLAIN).fit(columns, Y), NaiveBayes(**PLAIN).fit(records, Y)
    named = NaiveBayes(**PLAIN).fit([{**row, "y": int(y)} for row, y in zip(records, Y, strict=True)], "y")
    for one in (model, named):
        np.testing.assert_array_equal(one.predict_proba(records), expected.predict_proba(columns))
        assert one.score(records, Y) == expected.score(columns, Y)
    assert model.partial_fit(records, Y).class_count_.sum() == 2 * N
    assert str(model.explain(records[:2])[0]) == str(model.explain({k: v[:2] for k, v in columns.items()})[0])
    assert model.what_if(records[1:2])
    assert model.evaluate(records, Y).accuracy == expected.score(columns, Y)
    with pytest.raises(InputError, match="column 'age' is missing"):
        model.predict([{"job": "c"}])
    with pytest.raises(InputError, match=r"X is a list of dicts, .* pandas.DataFrame\(X\)"):
        GaussianNB().fit([{"a": 1.0}, {"a": 2.0}], [0, 1])


_WAITS = "SELECT i % 7 * INTERVAL '90 min' + i % 2 * INTERVAL '3 days' AS wait, 'c' || i % 2 AS y FROM range(60) s(i)"


def test_intervals_of_duckdb_are_durations() -> None:
    con = duckdb.connect()
    con.execute(f"CREATE TABLE t AS {_WAITS}")
    seconds = np.array([i % 7 * 5400 + i % 2 * 3 * 86_400 for i in range(N)])
    y = [f"c{i % 2}" for i in range(N)]
    frame = pd.DataFrame({"wait": pd.to_timedelta(seconds, unit="s")})
    expected = NaiveBayes(**PLAIN).fit(frame, y)
    found = NaiveBayes(**PLAIN).fit(con.sql("FROM t"), "y")
    counted = candide.fit_sql(NaiveBayes(**PLAIN), con, "FROM t", label="y")
    for model in (found, counted):
        assert model.schema_["kind"].tolist()[0] == "number"
        np.testing.assert_allclose(model.predict_proba(frame), expected.predict_proba(frame), rtol=0, atol=1e-12)
    X = con.sql("SELECT wait FROM t")
    np.testing.assert_array_equal(expected.predict_proba(X), expected.predict_proba(frame))
    rows = con.sql(found.to_sql("duckdb", "t", keep=["wait"])).to_df()
    np.testing.assert_allclose(rows["p(c0)"], found.predict_proba(rows[["wait"]])[:, 0], rtol=0, atol=1e-12)


def test_intervals_that_are_null_or_contain_months() -> None:
    con = duckdb.connect()
    some = con.sql("SELECT CASE WHEN i <> 1 THEN i * INTERVAL '1 day' END AS wait FROM range(4) s(i)").to_arrow_table()
    table = read_table(some.slice(1))
    np.testing.assert_array_equal(table.columns[0].values, [np.nan, 172_800.0, 259_200.0])
    with pytest.raises(InputError, match=r"'wait' contains an interval of 2 months at row 1; .* convert the column"):
        read_table(con.sql("SELECT i * INTERVAL '2 months' AS wait FROM range(3) s(i)").to_arrow_table())


@every(
    "column",
    [
        [UUID(int=i % 3) for i in range(N)],
        pd.Series([UUID(int=i % 3) for i in range(N)]),
        pd.cut(NUMBERS, 3),
        pd.Series(pd.cut(NUMBERS, 3)).astype(pd.IntervalDtype()),
        pd.period_range("2024-01", periods=3, freq="M").repeat(20),
        pd.Categorical(pd.to_datetime(["2024-02-29", "2024-03-01"] * 30, utc=True)),
    ],
)
def test_models_of_objects_can_be_saved(column: Any) -> None:
    """Categories that model files cannot hold are kept as strings."""
    X = {"c": column, "x": NUMBERS}
    model = NaiveBayes(**PLAIN).fit(X, Y)
    loaded = candide.from_json(model.to_json())
    as_text = {"c": [to_text(cell) or str(cell) for cell in pd.Series(column)], "x": NUMBERS}
    if hasattr(column, "categories") and hasattr(column.categories, "tz"):
        as_text["c"] = [text.partition("+")[0] for text in as_text["c"]]
    for one in (model, loaded):
        np.testing.assert_array_equal(one.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(one.predict_proba(as_text), model.predict_proba(X))
    assert model.partial_fit(X, Y).class_count_.sum() == 2 * N


@every(
    "y",
    [
        pd.Series(pd.to_datetime(["2024-02-29", "2024-03-01"] * 30, utc=True)).dt.tz_convert("America/New_York"),
        [Decimal(i % 2) for i in range(N)],
    ],
)
def test_labels_of_timestamps_and_decimals_can_be_saved(y: Any) -> None:
    model = GaussianNB().fit(NUMBERS[:, None], y)
    loaded = candide.from_json(model.to_json())
    assert model.evaluate(NUMBERS[:, None], y).accuracy == loaded.evaluate(NUMBERS[:, None], y).accuracy > 0
    assert (loaded.classes_ == model.classes_).all()
    assert set(model.predict(NUMBERS[:, None]).tolist()) <= set(y)


def test_what_cannot_be_saved_is_named(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [UUID(int=i % 3) for i in range(N)], "x": NUMBERS})
    advice = r"model files support .*; convert the values to strings, for example with .astype\(str\), and fit again"
    with pytest.raises(ModelFileError, match=rf"the categories of column 'id' contain UUID\(.* {advice}"):
        CategoricalNB().fit(frame[["id"]], Y).save(tmp_path / "m.candide")
    with pytest.raises(ModelFileError, match=rf"the labels contain UUID\(.* {advice}"):
        GaussianNB().fit(frame[["x"]], frame["id"]).to_json()
    with pytest.raises(ModelFileError, match=rf"the column names contain UUID\(.* {advice}"):
        NaiveBayes(**PLAIN).fit({UUID(int=1): NUMBERS, "x": NUMBERS}, Y).to_json()
