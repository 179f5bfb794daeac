"""Tables of any columns, with and without views, as queries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties.tables import repeated_values
from sklearn.datasets import load_iris, load_wine
from tiers import fitted_once, tries

from candide import NaiveBayes
from candide.exceptions import ParameterError
from candide.export.sql.dialects import Dialect
from candide.model.classifier import Classifier
from candide.stacking.cell_regression import CellRegression

from .scoring import Score, assert_same_answers, score, scored_by, spark_sql

__all__ = ["score", "spark_sql"]


def table_of(seed: int, n_rows: int = 120) -> tuple[pd.DataFrame, Any]:
    """Columns of all kinds, and labels that hang on several of them together."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 9, n_rows).round(1),
            'income "net"': rng.lognormal(2, 1, n_rows),
            "visits": rng.poisson(3, n_rows),
            "job": rng.choice(["cook", "smith", "o'hara", None], n_rows),
            "member": rng.random(n_rows) > 0.5,
        }
    )
    odd = (frame["age"] > 40) ^ (frame['income "net"'] > 7) ^ (frame["job"] == "cook")
    y = np.array(["high", "low", "none"])[odd.astype(int) + (rng.random(n_rows) > 0.9)]
    frame.loc[rng.random(n_rows) < 0.1, "age"] = np.nan
    return frame, y


def with_unseen_values(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows, some with unseen categories, missing cells, and numbers outside of the range of training."""
    out = frame.copy()
    out.loc[0, "job"] = "pilot"
    out.loc[1, ['income "net"', "job"]] = np.nan, None
    out.loc[2, ["age", 'income "net"']] = -3.0, 1e6
    return out


@fitted_once
def fit(seed: int, **settings: Any) -> NaiveBayes:
    """Fit a table of positive numbers; every database asks the same model."""
    frame, y = table_of(seed)
    return NaiveBayes(**settings).fit(frame.assign(age=frame["age"].clip(lower=1.0)), y)


FAMILIES = ["gaussian", "student", "lognormal", "power", "kernel", "bins", ("bins", {"method": "mdlp"}), "categorical"]


@pytest.mark.parametrize("missing", ["ignore", "category"])
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_families_of_columns(family: Any, missing: str, score: Score) -> None:
    columns = {("age", 'income "net"'): family, "visits": "poisson"}
    model = fit(0, columns=columns, stacking=None, missing=missing, unseen="smooth")
    rows = with_unseen_values(table_of(0)[0])[:60]
    rows.loc[3, 'income "net"'] = -1.0  # no logarithm
    assert_same_answers(model, rows, score)


def test_powers_of_numbers_of_both_signs(score: Score) -> None:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=80) ** 3})
    model = NaiveBayes({"x": "power"}, stacking=None).fit(frame, rng.choice(["a", "b"], 80))
    frame.loc[0, "x"] = np.nan
    assert_same_answers(model, frame, score)


def test_columns_together(score: Score) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.integers(0, 9, (60, 4)), columns=list("abcd"))
    y = np.where(frame["a"] + frame["d"] > 8, "p", "q")
    for stacking in (None, "auto"):
        assert_same_answers(
            NaiveBayes({("a", "b", "c"): "multinomial"}, stacking=stacking, order="auto").fit(frame, y), frame, score
        )


@pytest.mark.parametrize("calibrate", ["temperature", "isotonic"])
def test_calibrated_blend_for_other_shares(calibrate: str, score: Score) -> None:
    model = fit(3, order=0, calibrate=calibrate).with_class_prior([0.1, 0.2, 0.7])
    assert_same_answers(model, with_unseen_values(table_of(3)[0])[:60], score)


@pytest.mark.parametrize("order", [0, 1, 2])
def test_blend(order: int, score: Score) -> None:
    assert_same_answers(fit(4, order=order), with_unseen_values(table_of(4)[0])[:60], score)


def weighing_all(model: Any, seed: int) -> Any:
    """The model with some weight on every column and view."""
    own, rng = model.model_.classifier, np.random.default_rng(seed)
    mixture = own.fitted.views.weights
    weighed = replace(mixture, weight=rng.uniform(0.1, 0.5, mixture.weight.shape))
    fitted = replace(own.fitted, views=replace(own.fitted.views, weights=weighed))
    model._model = Classifier(own.bound_spec, own.state, fitted)
    return model


@pytest.mark.parametrize("family", ["auto", "student"])
def test_every_view_has_its_part(family: str, score: Score) -> None:
    frame, y = table_of(5)
    frame = frame.drop(columns="member")  # shorter queries
    model = weighing_all(NaiveBayes({"numbers": family}).fit(frame, y), 5)
    assert {
        "triples of columns",
        "covariance of numeric columns",
        "random Fourier features of all columns",
        "random Fourier features of 2 to 4 columns",
    } <= set(model.model_.classifier.fitted.views.names)
    assert_same_answers(model, with_unseen_values(frame)[:40], score)


def test_many_categories_in_views(score: Score) -> None:
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"x": rng.normal(size=300), "id_": [f"n{i}" for i in rng.integers(0, 90, 300)]})
    y = np.where((frame["x"] > 0) ^ (frame["id_"] < "n5"), "a", "b")
    model = weighing_all(NaiveBayes(order=1).fit(frame, y), 6)
    frame.loc[0, "id_"] = "new"
    assert_same_answers(model, frame[:50], score)


def test_dates(score: Score) -> None:
    rng = np.random.default_rng(7)
    when = pd.Timestamp("1969-11-03 05:00") + pd.to_timedelta(rng.integers(0, 90_000, 150), unit="min")
    frame = pd.DataFrame({"when": when, "day": when.normalize()})
    y = np.where((when.day_of_week < 5) & (when.hour > 9), "work", "rest")
    model = NaiveBayes(order=0).fit(frame, y)
    frame.loc[0, "when"] = pd.NaT
    assert_same_answers(model, frame, score)


def test_durations_where_there_are_such() -> None:
    rng = np.random.default_rng(8)
    frame = pd.DataFrame({"took": pd.to_timedelta(rng.integers(1, 9000, 80), unit="s")})
    model = NaiveBayes({"took": "gaussian"}, stacking=None).fit(
        frame, np.where(frame["took"].dt.seconds > 4000, "slow", "fast")
    )
    assert_same_answers(model, frame, scored_by("duckdb"))
    with pytest.raises(ParameterError, match="seconds"):
        model.to_sql("sqlite")


def test_booleans_in_place_of_strings_are_refused() -> None:
    """As DuckDB reads yes and no from a CSV file."""
    frame = pd.DataFrame({"member": ["yes", "no", "yes", None] * 5, "age": np.arange(20.0)})
    model = NaiveBayes().fit(frame, ["a", "b", "a", "b"] * 5)
    with duckdb.connect() as database:
        database.register("rows", frame.assign(member=[True, False, True, None] * 5))
        with pytest.raises(duckdb.InvalidInputException, match=r"'member' contains booleans, .* strings such as 'no'"):
            database.sql(model.to_sql("duckdb", "rows")).fetchall()


def test_categories_that_are_neither_strings_nor_numbers() -> None:
    model = NaiveBayes(stacking=None).fit(pd.DataFrame({"code": [b"a", b"b"] * 4}), [0, 1] * 4)
    with pytest.raises(ParameterError, match="column 'code' contains b'a', of type bytes, which SQL exports do not"):
        model.to_sql("duckdb", "rows")


def test_tables_without_names(score: Score) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(60, 3))
    assert_same_answers(NaiveBayes(order=1).fit(X, np.where(X[:, 0] * X[:, 1] > 0, "a", "b")), X, score)


def test_numbers_as_names(score: Score) -> None:
    """Whole numbers that no double tells apart, too."""
    frame = pd.DataFrame({"code": [2**60, 2**60 + 1, 7, 2**60], "kind": [1, 2, 2, 1]})
    model = NaiveBayes({("code", "kind"): "categorical"}, stacking=None).fit(frame, ["a", "b", "b", "a"])
    assert_same_answers(model, frame, score)


def test_texts_and_covariances_of_blocks_are_refused() -> None:
    rng = np.random.default_rng(10)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"])
    frame["review"] = [f"quite a good thing number {i}" for i in range(40)]
    y = rng.choice(["p", "q"], 40)
    with pytest.raises(ParameterError, match=r"columns=\{'review': 'ignore'\}"):
        NaiveBayes({"review": "text"}).fit(frame, y).to_sql()
    with pytest.raises(ParameterError, match="separately"):
        NaiveBayes({("a", "b"): "multivariate_normal"}).fit(frame[["a", "b"]], y).to_sql()


cells = st.one_of(st.none(), st.floats(-1e6, 1e6, width=32), st.integers(-3, 3))
labels = st.one_of(st.none(), st.sampled_from(["", "a", "b", "B", "ü'", "x y"]))


@st.composite
def small_tables(draw: st.DrawFn) -> tuple[pd.DataFrame, list[str], pd.DataFrame]:
    """A table with labels, and one to score."""
    n_rows, others = draw(st.integers(4, 12)), draw(st.integers(1, 5))
    y = ["p", "q", *draw(st.lists(st.sampled_from("pqr"), min_size=n_rows - 2, max_size=n_rows - 2))]

    def table(n: int) -> pd.DataFrame:
        columns = {"u": cells, "v": cells, "w": labels}
        made = {name: draw(st.lists(kind, min_size=n, max_size=n)) for name, kind in columns.items()}
        return pd.DataFrame(
            {name: pd.Series(part, dtype=object if name == "w" else float) for name, part in made.items()}
        )

    return table(n_rows), y, table(others)


def answers_agree(
    drawn: tuple[pd.DataFrame, list[str], pd.DataFrame], order: int | None, seed: int, databases: list[Score]
) -> None:
    frame, y, others = drawn
    model = NaiveBayes(stacking=None) if order is None else NaiveBayes(order=order)
    model.fit(frame, y)
    if order is not None:
        weighing_all(model, seed)
    rows = pd.concat([frame, others], ignore_index=True)
    for database in databases:
        assert_same_answers(model, rows, database)


small = {"drawn": small_tables(), "order": st.sampled_from([None, 0, 1, 2]), "seed": st.integers(0, 9)}


@pytest.mark.filterwarnings("ignore:.*none of them is a known")
@tries(15)
@given(**small)
def test_any_small_table(drawn: Any, order: int | None, seed: int) -> None:
    answers_agree(drawn, order, seed, [scored_by("duckdb"), scored_by("sqlite")])


@pytest.mark.postgres
@pytest.mark.filterwarnings("ignore:.*none of them is a known")
@tries(10)
@given(**small)
def test_any_small_table_in_postgres(postgres: str, drawn: Any, order: int | None, seed: int) -> None:
    answers_agree(drawn, order, seed, [scored_by("postgres", postgres)])


@fitted_once
def fit_cells() -> NaiveBayes:
    """A model with corrections of cells."""
    model = NaiveBayes().fit(*repeated_values())
    assert isinstance(model.model_.classifier.fitted.views.views[-1], CellRegression)
    return model


def test_corrections_of_cells(score: Score) -> None:
    rows = repeated_values(60, seed=2)[0]
    rows.loc[0, "job"] = "pilot"
    rows.loc[1, ["age", "gain"]] = 1e6, -1e6
    assert_same_answers(fit_cells(), rows, score)


def test_several_numbers_that_are_not_given(score: Score) -> None:
    """Each with its distribution beside the others, in covariances and Fourier features."""
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes().fit(X[::2], y[::2])
    rows = X[:64].copy()
    rows[np.arange(64)[:, None] >> np.arange(4) & 1 == 1] = np.nan
    assert_same_answers(model, rows, score)


def test_numbers_of_views_are_tables() -> None:
    """A formula for each set of absent columns, or for each code, would take twice as much."""
    model = NaiveBayes().fit(*load_wine(return_X_y=True))
    query = model.to_sql("duckdb")
    assert len(query) < 700_000
    assert query.count("CASE") < 1_500


@pytest.mark.spark
def test_spark_gives_the_same_answers(spark_sql: Score) -> None:
    frame, y = table_of(11)
    model = NaiveBayes(order=0, calibrate=None).fit(frame, y)
    assert_same_answers(model, with_unseen_values(frame)[:20], spark_sql)
    X, labels = load_iris(return_X_y=True)
    assert_same_answers(NaiveBayes(calibrate=None).fit(X[:, 2:], labels), X[:, 2:], spark_sql)


def test_arrays() -> None:
    values = np.array([0.5, -2.0, 1e-300])
    entries = ", ".join(Dialect().entry(values, str(place)) for place in range(3))
    with duckdb.connect() as database:
        assert database.execute(f"SELECT {entries}").fetchall() == [tuple(values.tolist())]
