"""The sums that a database makes are those of memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from properties.compare import assert_alike
from properties.models import KINDS, Kind, assert_same_model, by_name
from tiers import late

from candide import BernoulliNB, GaussianNB, MultinomialNB, NaiveBayes, TextNB, fit_sql
from candide.sources.databases import source

from . import tables
from .stores import Put, assert_same_sums, in_memory

duckdb = late("duckdb")

# Nothing is chosen or judged by looking at rows again.
PLAIN = {"stacking": None, "calibrate": None, "compute_loo": False}
WEIGHTS = pytest.mark.parametrize("weight", [None, "w"], ids=["alike", "weighted"])


@WEIGHTS
@pytest.mark.parametrize("kind", KINDS, ids=by_name)
def test_classifiers(put: Put, kind: Kind, weight: str | None) -> None:
    table = tables.numbers()
    columns = ["a_word", "b_word"] if kind.name == "categorical-texts" else ["a", "b"]
    here = in_memory(kind.make(), table, columns, weight=weight)
    there = fit_sql(kind.make(), put(table), "t", label="y", columns=columns, weight=weight)
    assert_same_model(there, here)
    assert there.feature_names_in_.tolist() == columns


@pytest.mark.parametrize("binarize", [None, 0.1, 2.5], ids=str)
def test_bernoulli_with_other_thresholds(put: Put, binarize: float | None) -> None:
    table = tables.numbers()
    if binarize is None:
        table = table.set_column(0, "a", pa.array(table["a"].to_numpy() > 2))
    here = in_memory(BernoulliNB(binarize=binarize), table, ["a"])
    assert_same_model(fit_sql(BernoulliNB(binarize=binarize), put(table), "t", label="y", columns=["a"]), here)


def test_fractional_weights(put: Put) -> None:
    table = tables.numbers()
    table = table.set_column(table.schema.get_field_index("w"), "w", pa.array(np.linspace(0.1, 2, len(table))))
    connection = put(table)
    for make in (MultinomialNB, GaussianNB):
        there = fit_sql(
            make(), connection, "t", label="y", columns=["a"], weight="w"
        ).model_.classifier.state.statistics
        here = in_memory(make(), table, ["a"], weight="w").model_.classifier.state.statistics
        assert_alike(there, here, rtol=1e-12)


@WEIGHTS
def test_tables(put: Put, weight: str | None) -> None:
    table, columns = tables.plain(), ["age", "visits", "job", "nothing"]
    there = fit_sql(NaiveBayes(**PLAIN), put(table), "SELECT * FROM t", label="y", columns=columns, weight=weight)
    here = in_memory(NaiveBayes(**PLAIN), table, columns, weight=weight)
    assert there.model_.classifier.state.statistics.kinds == ("number", "number", "category", "missing")
    assert_same_sums(there, here)
    np.testing.assert_allclose(there.predict_proba(table.select(columns)), here.predict_proba(table.select(columns)))


@WEIGHTS
def test_tables_of_many_types(put_typed: Put, weight: str | None) -> None:
    table, columns = tables.typed(), ["member", "day", "moment", "price", "short"]
    connection = put_typed(table)
    there = fit_sql(NaiveBayes(**PLAIN), connection, "t", label="y", columns=columns, weight=weight)
    if not isinstance(connection, duckdb.DuckDBPyConnection):  # Arrow is up to a unit in the last place off
        nearest = [None if price is None else float(price) for price in table["price"].to_pylist()]
        table = table.set_column(3, "price", pa.array(nearest))
    here = in_memory(NaiveBayes(**PLAIN), table, columns, weight=weight)
    assert "moment.hour" in there.model_.classifier.state.statistics.names
    assert_same_sums(there, here)


@WEIGHTS
def test_columns_of_many_numbers(put: Put, weight: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tables.continuous()
    columns = [name for name in table.column_names if name not in "yw"]
    monkeypatch.setattr(source, "MOST_VALUES", 1000)
    there = fit_sql(NaiveBayes(**PLAIN), put(table), "t", label="y", columns=columns, weight=weight)
    assert_same_sums(there, in_memory(NaiveBayes(**PLAIN), table, columns, weight=weight))


def test_numbers_that_first_rows_do_not_tell(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few different ones at first, then more than are fetched; or none at all at first."""
    rng = np.random.default_rng(0)
    late = np.concatenate([np.ones(10_000), rng.normal(size=2000)])
    new = np.where(np.arange(12_000) < 11_000, None, np.round(late, 1)).tolist()
    table = pa.table({"late": late, "new": pa.array(new, pa.float64()), "y": rng.choice(["u", "v"], 12_000).tolist()})
    monkeypatch.setattr(source, "MOST_VALUES", 1000)
    there = fit_sql(NaiveBayes(**PLAIN), put(table), "t", label="y")
    assert_same_sums(there, in_memory(NaiveBayes(**PLAIN), table, ["late", "new"]))


def test_huge_numbers(put: Put, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of squares that a database could not make."""
    monkeypatch.setattr(source, "MOST_VALUES", 3)
    table = pa.table({"x": [1e200, 2e200, 3e200, 1.0, -1e160, 5.0], "y": ["u", "v", "w", "w", "x", "x"]})
    there = fit_sql(NaiveBayes(**PLAIN), put(table), "t", label="y").model_.classifier.state.statistics
    here = in_memory(NaiveBayes(**PLAIN), table, ["x"]).model_.classifier.state.statistics
    assert_alike(there.grid, here.grid)
    np.testing.assert_array_equal(there.moments.mean, here.moments.mean)
    np.testing.assert_array_equal(there.moments.scatter, here.moments.scatter)


def test_columns_of_one_number_have_no_scatter(put: Put) -> None:
    table = pa.table({"x": [0.1] * 7 + [0.3] * 5, "y": ["u"] * 7 + ["v"] * 5})
    there = fit_sql(GaussianNB(), put(table), "t", label="y")
    assert there.model_.classifier.state.statistics.scatter.tolist() == [[0.0], [0.0]]
    assert there.theta_.tolist() == [[0.1], [0.3]]


def test_texts(put: Put) -> None:
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "round", "flat", "old", "new"])
    texts = [" ".join(rng.choice(words, 8)) + f" number {i}" for i in range(120)]
    table = pa.table({"text": texts, "other": range(120), "y": [("red" in text) * 1 for text in texts]})
    there = fit_sql(TextNB(), put(table), "t", label="y", text="text")
    here = TextNB().fit(texts, table["y"].to_numpy())
    np.testing.assert_allclose(there.predict_proba(texts), here.predict_proba(texts), atol=1e-12)
    there = fit_sql(NaiveBayes(**PLAIN), put(table), "t", label="y")
    here = in_memory(NaiveBayes(**PLAIN), table, ["text", "other"])
    assert there.model_.classifier.state.statistics.kinds == ("text", "number")
    assert_same_sums(there, here)
    rows = table.select(["text", "other"])
    np.testing.assert_allclose(there.predict_proba(rows), here.predict_proba(rows), atol=1e-12)


def test_columns_that_are_modelled_together(put: Put) -> None:
    settings = {"columns": {("a", "b"): "multivariate_normal"}, **PLAIN}
    table = tables.numbers()
    there = fit_sql(NaiveBayes(**settings), put(table), "t", label="y", columns=["a", "b"])
    here = in_memory(NaiveBayes(**settings), table, ["a", "b"])
    assert_same_sums(there, here)
    block, other = there.model_.classifier.state.statistics.blocks[0], here.model_.classifier.state.statistics.blocks[0]
    np.testing.assert_allclose(block.scatter, other.scatter, atol=1e-9)


def test_numbers_as_categories(put: Put) -> None:
    settings = {"columns": {"a": "categorical"}, **PLAIN}
    table = tables.numbers()
    there = fit_sql(NaiveBayes(**settings), put(table), "t", label="y", columns=["a", "b"])
    assert_same_sums(there, in_memory(NaiveBayes(**settings), table, ["a", "b"]))


def test_many_columns(put: Put) -> None:
    """More than are asked for in one query."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.integers(0, 3, 30) for j in range(220)}
    table = pa.table({**columns, "y": rng.choice(["u", "v"], 30).tolist()})
    connection = put(table)
    for make in (GaussianNB, MultinomialNB):
        assert_same_model(fit_sql(make(), connection, "t", label="y"), in_memory(make(), table, list(columns)))
