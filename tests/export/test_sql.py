"""Classifiers of one family as queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from tiers import every, tries

from candide import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB, PoissonNB
from candide.exceptions import MissingPackage, ParameterError

from .scoring import Score, assert_same_answers, score, scored_by

__all__ = ["score"]

LABELS = np.array(["no", "it's", "öh"])


def rows_of(seed: int, low: int, high: int, n_classes: int = 3) -> tuple[Any, Any]:
    """Whole numbers that tell the class a little, some of them missing, and labels."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, n_classes, 60)
    X = np.minimum(rng.integers(low, high, (60, 4)) + classes[:, None] * (rng.random((60, 4)) < 0.4), high).astype(
        float
    )
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, LABELS[classes]


NUMBERS = [
    GaussianNB(),
    GaussianNB(variance="shared"),
    GaussianNB(estimate="predictive"),
    GaussianNB(estimate="mean"),
    BernoulliNB(binarize=1.5),
    BernoulliNB(binarize=1.5, alpha=0, force_alpha=True),
    MultinomialNB(),
    MultinomialNB(alpha=0, force_alpha=True),
    MultinomialNB(fit_prior=False),
    ComplementNB(),
    ComplementNB(norm=True),
    PoissonNB(),
    PoissonNB(alpha=0),
    CategoricalNB(),
    CategoricalNB(unseen="smooth"),
    CategoricalNB(categories="seen"),
    CategoricalNB(alpha=0, force_alpha=True),
    CategoricalNB(min_categories=7),
]


@every("model", NUMBERS)
def test_answers_are_those_of_the_model(model: Any, score: Score) -> None:
    X, y = rows_of(0, 0, 4)
    model.fit(X[:40], y[:40])
    assert_same_answers(model, X, score)


@every("calibrate", ["temperature", "platt", "beta", "isotonic"])
@every("n_classes", [2, 3])
@every("make", [GaussianNB, MultinomialNB])
def test_calibrated_answers(make: Any, n_classes: int, calibrate: str, score: Score) -> None:
    X, y = rows_of(1, 0, 5, n_classes)
    X[0, :2] *= 40 if make is MultinomialNB else 1
    assert_same_answers(make(calibrate=calibrate).fit(X, y), X, score)


@every("calibrate", ["platt", "beta", "isotonic"])
@every("n_classes", [2, 3])
def test_classes_that_cells_rule_out_stay_so_calibrated(n_classes: int, calibrate: str, score: Score) -> None:
    X, y = rows_of(2, 0, 6, n_classes)
    model = CategoricalNB(alpha=0, force_alpha=True, calibrate=calibrate).fit(X[:45], y[:45])
    assert (model.predict_proba(X) == 0).any()
    assert_same_answers(model, X, score)


@tries(25)
@given(
    cells=st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, 7.0, np.nan]), min_size=3, max_size=3), min_size=4, max_size=9
    ),
    classes=st.lists(st.integers(0, 2), min_size=9, max_size=9),
    place=st.integers(0, len(NUMBERS) - 1),
)
def test_any_small_numbers(cells: list[tuple[float, ...]], classes: list[int], place: int) -> None:
    model = clone(NUMBERS[place]).fit(cells[:-1], LABELS[classes][: len(cells) - 1])
    for dialect in ("duckdb", "sqlite"):
        assert_same_answers(model, np.array(cells), scored_by(dialect))


def test_columns_without_variance(score: Score) -> None:
    X = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0], [4.0, 6.0], [2.0, 7.0], [3.0, 8.0]])
    model = GaussianNB(var_smoothing=0).fit(X, ["a", "a", "b", "b", "c", "c"])
    rows = np.vstack([X, [[2.0, 5.5], [2.0, np.nan], [np.nan, np.nan], [9.0, 6.0]]])
    assert_same_answers(model, rows, score)


def test_scores_far_apart_do_not_underflow(score: Score) -> None:
    model = GaussianNB(calibrate="platt").fit([[0.0], [0.1], [1000.0], [1000.1]], ["a", "a", "b", "b"])
    assert_same_answers(model, np.array([[0.0], [500.2], [1e4]]), score)


@every("prior", [[0.2, 0.3, 0.5], [0.0, 0.4, 0.6]])
@every("calibrate", [None, "platt", "isotonic"])
def test_other_class_priors(prior: list[float], calibrate: str | None, score: Score) -> None:
    X, y = rows_of(3, 0, 4)
    assert_same_answers(GaussianNB(calibrate=calibrate).fit(X, y).with_class_prior(prior), X, score)


def test_a_class_without_rows_cannot_be(score: Score) -> None:
    model = GaussianNB().partial_fit([[1.0], [2.0], [5.0]], ["a", "a", "c"], classes=["a", "b", "c"])
    assert_same_answers(model, np.array([[1.0], [4.0]]), score)


def test_when_nothing_can_be_all_share(score: Score) -> None:
    """The shares of training leave one class, those of the place where the model is used the other."""
    model = GaussianNB(calibrate="temperature").partial_fit([[1.0], [2.0]], ["a", "a"], classes=["a", "b"])
    assert_same_answers(model.with_class_prior([0.0, 1.0]), np.array([[1.0]]), score)


def test_ties_go_to_the_first_class(score: Score) -> None:
    model = GaussianNB().fit([[0.0], [1.0], [0.0], [1.0]], ["b", "b", "a", "a"])
    rows = np.array([[0.5], [np.nan], [7.0]])
    assert model.predict(rows).tolist() == ["a", "a", "a"]
    frame = pd.DataFrame(rows, columns=["x0"])
    assert score(model.to_sql(score.keywords["dialect"]), frame)["prediction"].tolist() == ["a", "a", "a"]


def test_texts_and_values_never_seen(score: Score) -> None:
    frame = pd.DataFrame({"job": ["cook", "smith", None, "cook", "o'hara"], "town": ["x", "y", "y", "", "x"]})
    for unseen in ("smooth", "ignore"):
        model = CategoricalNB(unseen=unseen).fit(frame, [1, 2, 2, 1, 1])
        rows = pd.concat([frame, pd.DataFrame({"job": ["new", "cook"], "town": ["x", "new"]})], ignore_index=True)
        assert_same_answers(model, rows, score)


def test_many_labels_are_looked_up(score: Score) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({f"c{j}": [f"label {i}" for i in rng.integers(0, 200, 300)] for j in range(3)})
    model = CategoricalNB().fit(frame[:200], rng.choice(["a", "b"], 200))
    assert_same_answers(model, frame, score)


def test_codes_outside_of_all_ranges(score: Score) -> None:
    model = CategoricalNB(unseen="smooth").fit([[0, 5000], [1, 9000], [2, 5000]], ["a", "b", "b"])
    assert_same_answers(model, np.array([[3.0, 4.0], [0.5, 9001.0], [np.nan, 8999.0], [1.0, 5000.5]]), score)


def test_booleans(score: Score) -> None:
    frame = pd.DataFrame({"hot": [True, False, True, True], "wet": [False, False, True, True]})
    for model in (BernoulliNB(), CategoricalNB()):
        assert_same_answers(model.fit(frame, ["a", "b", "a", "b"]), frame, score)


@pytest.mark.parametrize("labels", [[0, 1, 7], ["a'b", 'c"d', "e\\f"]], ids=["int", "text"])
def test_labels_of_any_type(labels: list[Any], score: Score) -> None:
    assert_same_answers(GaussianNB().fit([[0.0], [1.0], [2.0]], labels), np.array([[0.2], [1.8]]), score)


def test_boolean_labels() -> None:
    model = GaussianNB().fit([[0.0], [1.0]], [False, True])
    assert "THEN TRUE" in model.to_sql()
    assert "THEN 1" in model.to_sql("sqlite")


def test_names_of_any_kind(score: Score) -> None:
    """Also such as the query uses itself."""
    names = ['a "b"', "it's", "größe", "own", "x0", "s0", "total", "label", "select", "a;b--"]
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(rng.normal(size=(20, len(names))), columns=names)
    assert_same_answers(GaussianNB().fit(frame, rng.choice(["a", "b"], 20)), frame, score)


def test_own_columns_are_kept_or_not(score: Score) -> None:
    frame = pd.DataFrame({"id": [2, 1], "x0": [1.0, 9.0], "note": ["p", "q"]})
    model, dialect = (
        GaussianNB().fit([[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]),
        score.keywords["dialect"],
    )
    some = score(model.to_sql(dialect, keep=["note", "id"], proba=False), frame)
    assert some.columns.tolist() == ["note", "id", "prediction"]
    assert some["prediction"].tolist() == ["high", "low"]
    none = score(model.to_sql(dialect, keep=False), frame)
    assert none.columns.tolist() == ["prediction", "p(high)", "p(low)"]
    made = score(model.to_sql(dialect, "(SELECT id + 1 AS id, x0 FROM rows)", keep=["id"]), frame)
    assert made["id"].tolist() == [2, 3]


@every("dialect", ["duckdb", "postgres", "sqlite"])
def test_names_of_tables(dialect: str) -> None:
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    assert 'FROM "main"."my rows" AS' in model.to_sql(dialect, "main.my rows")
    assert 'FROM "a.b" AS' in model.to_sql(dialect, '"a.b"')


@every(
    "model,dialect",
    [(GaussianNB(calibrate="beta"), dialect) for dialect in ("spark", "bigquery", "snowflake", "mysql", "clickhouse")]
    + [(CategoricalNB(alpha=0, force_alpha=True), dialect) for dialect in ("bigquery", "mysql")],
)
def test_other_dialects_read_what_is_translated(model: Any, dialect: str) -> None:
    import sqlglot

    X, y = rows_of(6, 0, 4)
    query = model.fit(X, y).to_sql(dialect, "a.rows", keep=["id"])
    parsed = sqlglot.parse_one(query, read=dialect)
    assert parsed.named_selects == ["id", "prediction", *(f"p({label})" for label in sorted(LABELS))]


def test_all_columns_are_kept_where_there_are_records() -> None:
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    assert "own.*" in model.to_sql("bigquery")
    assert "STRUCT(scored_rows.*)" in model.to_sql("spark")
    with pytest.raises(ParameterError, match="list the columns to keep"):
        model.to_sql("snowflake")


def test_what_cannot_be_a_query_says_so() -> None:
    counts = [[1, 0], [0, 2], [3, 1]]
    with pytest.raises(ParameterError, match="estimate='mean'"):
        MultinomialNB(estimate="predictive").fit(counts, ["a", "b", "b"]).to_sql()
    with pytest.raises(ParameterError, match="estimate='mean'"):
        PoissonNB(estimate="predictive").fit(counts, ["a", "b", "b"]).to_sql()


def test_settings_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    model = GaussianNB().fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(ParameterError, match="expected one of"):
        model.to_sql("oracel")
    with pytest.raises(ParameterError, match=r"\['id'\]"):
        model.to_sql(keep="id")
    monkeypatch.setitem(__import__("sys").modules, "sqlglot.dialects.dialect", None)
    with pytest.raises(MissingPackage, match=r"candide\[sql\]"):
        model.to_sql("spark")
