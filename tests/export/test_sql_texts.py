"""Models of texts as queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import every

from candide import NaiveBayes, TextNB
from candide.exceptions import ParameterError

from .scoring import CLOSE, Score, scored_by
from .scripts import ASKED, SETTINGS, fitted


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def score(request: pytest.FixtureRequest) -> Score:
    return scored_by(request.param, request.getfixturevalue("postgres") if request.param == "postgres" else "")


def assert_same_texts(model: TextNB, texts: list[str | None], score: Score) -> None:
    rows = pd.DataFrame({"id": np.arange(len(texts)), "text": pd.Series(texts, dtype=object)})
    found = score(model.to_sql(score.keywords["dialect"]), rows)
    assert found["id"].tolist() == rows["id"].tolist()
    expected = model.predict_proba(texts)
    titles = [f"p({label})" for label in model.classes_]
    np.testing.assert_allclose(found[titles].to_numpy(np.float64), expected, rtol=0, atol=CLOSE)
    clear = np.ptp(np.sort(expected, axis=1)[:, -2:], axis=1) > 10 * CLOSE
    assert (found["prediction"].to_numpy() == model.predict(texts))[clear].all()


@every("settings", SETTINGS)
def test_texts_in_many_scripts(settings: dict[str, Any], score: Score) -> None:
    assert_same_texts(fitted(settings), ASKED, score)


@given(st.lists(st.text(st.sampled_from("aΑσΣς.' İiı\u0301kKK_²٣0\u1c89")), min_size=6))
def test_lower_case_depends_on_neighbors(texts: list[str]) -> None:
    model = TextNB("multinomial", min_length=1).fit([*texts, "α σας ας"], [f"{i % 2}" for i in range(len(texts) + 1)])
    assert_same_texts(model, texts, scored_by("duckdb"))


def test_repeated_texts_and_columns_to_keep(score: Score) -> None:
    model = TextNB("multinomial").fit(["win a prize", "lunch at noon"], ["spam", "ham"])
    rows = pd.DataFrame({"id": [1, 2, 3], "body": ["a prize", "lunch", "a prize"]})
    query = model.to_sql(score.keywords["dialect"], "(SELECT id, body AS text FROM rows)", keep=["id"], proba=False)
    assert score(query, rows).to_dict("list") == {"id": [1, 2, 3], "prediction": ["spam", "ham", "spam"]}


def test_classes_without_a_prior_or_a_text(score: Score) -> None:
    model = TextNB("multinomial", alpha=0).fit(["aa bb", "bb cc", "dd"], ["x", "y", "z"])
    texts = ["aa bb", "bb cc", "", None, "zz"]
    for prior in ([0.0, 1.0, 0.0], [0.5, 0.5, 0.0]):
        assert_same_texts(model.with_class_prior(prior), texts, score)
    assert_same_texts(TextNB("bernoulli").fit(["aa bb"], [7]), texts, score)


def test_a_query_that_is_read_twice() -> None:
    """Numbers of texts must be the same each time."""
    model = fitted({"family": "multinomial"})
    query = model.to_sql(keep=["id"])
    twice = f'SELECT a.id, a."p(one)" - b."p(one)" AS difference FROM ({query}) AS a JOIN ({query}) AS b USING (id)'
    rows = pd.DataFrame({"text": ASKED * 30}).assign(id=np.arange(len(ASKED) * 30))
    assert (scored_by("duckdb")(twice, rows)["difference"] == 0).all()


@every(
    "settings,problem",
    [
        ({"feature_sets": ["words", "places"]}, r"TextNB\(feature_sets=\['words'\]\)"),
        ({"feature_sets": ["words"], "refine": True}, "refine=True"),
        ({"family": "polya"}, r"TextNB\('multinomial'\)"),
        ({"family": "multinomial", "analyzer": "char_wb"}, "analyzer='word'"),
        ({"family": "multinomial", "strip_accents": "unicode"}, "strip_accents=None"),
        ({"family": "multinomial", "pattern": r"\w+"}, "pattern=None"),
        ({"family": "multinomial", "tokenizer": str.split}, "tokenizer=None"),
        ({"family": "multinomial", "buckets": 10}, "buckets=None"),
        ({"family": "multinomial", "vocabulary": ["a b", "c"]}, "no tokens"),
    ],
)
def test_what_databases_cannot_do_exactly_is_refused(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        fitted(settings).to_sql()


def test_dialects_and_columns_that_are_refused() -> None:
    model = fitted({"family": "multinomial"})
    with pytest.raises(ParameterError, match="duckdb, postgres, spark"):
        model.to_sql("sqlite", keep=["id"])
    with pytest.raises(ParameterError, match="duckdb, postgres, spark"):
        model.to_sql("bigquery")
    table = pd.DataFrame({"review": ["a long text that is read", "another text of words"] * 8, "x": range(16)})
    mixed = NaiveBayes(schema={"review": "text"}).fit(table, ["a", "b"] * 8)
    with pytest.raises(ParameterError, match="'review': 'ignore'"):
        mixed.to_sql()


def test_models_with_too_many_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("candide.export.sql.texts._MOST_WEIGHTS", 10)
    with pytest.raises(ParameterError, match="max_features"):
        fitted({"family": "multinomial"}).to_sql()
    assert "'lunch'" not in fitted({"family": "multinomial", "max_features": 3}).to_sql()
