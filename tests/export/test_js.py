"""Models as modules of JavaScript, run by Node."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from properties.tables import repeated_values
from storage.example_models import PROSE, TOPICS
from tiers import every, fast

import candide
from candide import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    PoissonNB,
    TextNB,
)
from candide.exceptions import ParameterError
from candide.kernels import Kernels
from candide.stacking.cell_regression import CellRegression

from .javascript import NODE, assert_same, run

pytestmark = pytest.mark.skipif(NODE is None, reason="node is not installed")

TEXTS = [f"{text} {'again ' * (i % 4)}{i % 7}" for i, text in enumerate(PROSE * 4)]
LABELS = TOPICS * 4
SCRIPTS = (
    "abcXYZ 019_'-.,!?\t\n", "àÉîõÜßŸÅéñİıſK", "ΑΒΣσςάΏ΅ὈΔΥΣΣΕΎΣ’", "АБВЁЖябйѝ", "العربيةًٌَّ٠١٢٣", "עברית־״",
    "हिन्दीकि्१२", "ไทยกำ๑๒", "日本語テスト中文漢字々〆゛㍿①", "한국어각힣가",
    "😀👩‍👩‍👧🏽🇩🇪\ufe0f", "e\u0301a\u030a\u0345n\u0303\u00ad\u200d·",
    "ＡＢＣ１２３ﬁﬃǄǅǆⅣ½²", "\u00a0\u2003\u2028\u3000\u001c\x85", "𝒜𝟘𝐀𐐀𞤀𐊀", "ᲐაꭰᏣẞŉǰΐ",
)  # fmt: skip
PLAIN: list[dict[str, Any]] = [
    {"family": "multinomial"},
    {"family": "multinomial", "ngrams": 2, "strip_accents": "unicode", "fold_numbers": True},
    {"family": "multinomial", "weighting": "binary", "lowercase": False, "min_length": 1},
    {"family": "multinomial", "weighting": "log", "calibrate": "platt", "strip_accents": "ascii"},
    {"family": "multinomial", "weighting": "tfidf", "min_df": 2, "max_features": 20},
    {"family": "multinomial", "alpha": 0},
    {"family": "multinomial", "buckets": 12, "analyzer": "char", "ngrams": (1, 3)},
    {"family": "bernoulli", "stop_words": ["the", "again"]},
    {"family": "bernoulli", "buckets": 8},
    {"family": "complement", "analyzer": "char_wb", "ngrams": (2, 9)},
    {"family": "complement", "calibrate": "isotonic"},
    {"family": "polya", "weighting": "tfidf"},
    {"family": "polya", "buckets": 20, "calibrate": "beta"},
]


def texts_of(scripts: tuple[str, ...], n: int, seed: int) -> list[str]:
    """Random texts, each mostly of one script with characters of others between."""
    rng = np.random.default_rng(seed)
    every = "".join(scripts)
    out = []
    for i in range(n):
        own = scripts[i % len(scripts)] + " "
        size = int(rng.integers(0, 60))
        picks = [(own if rng.random() < 0.8 else every) for _ in range(size)]
        out.append("".join(pick[int(rng.integers(len(pick)))] for pick in picks))
    return out


FOREIGN = texts_of(SCRIPTS, 120, seed=1)
ASKED = [
    *TEXTS[:20],
    "",
    "quux",
    "win quux lunch lunch lunch",
    "ΟΔΟΣ ΟΔΟΣ. Σ AΣ\u0301 AΣ\u0301B",
    *texts_of(SCRIPTS, 120, 2),
]


def data_of(source: str) -> Any:
    """The model within a module."""
    found = re.search(r"^const MODEL = (.*);$", source, re.MULTILINE)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize("settings", PLAIN, ids=lambda own: "-".join(map(str, own.values())))
def test_plain_texts(settings: dict[str, Any]) -> None:
    labels = [*LABELS, *(LABELS * 20)[: len(FOREIGN)]]
    # candide's differences of log Γ of a million, the pseudo-counts of all buckets, have nine digits.
    close = 1e-7 if settings.get("buckets") == 20 else 1e-9
    assert_same(TextNB(**settings).fit([*TEXTS, *FOREIGN], labels), ASKED, close=close)


def test_default_texts() -> None:
    labels = [*LABELS, *(LABELS * 20)[: len(FOREIGN)]]
    for settings in ({}, {"buckets": None}, {"buckets": 9, "calibrate": "temperature"}):
        found = assert_same(TextNB(**settings).fit([*TEXTS, *FOREIGN], labels), ASKED)
        assert found.exports == ["classes", "classify"]
    two = [label == LABELS[0] for label in labels]
    assert_same(TextNB().fit([*TEXTS, *FOREIGN], two), ASKED)


def test_refined_and_weighted_texts() -> None:
    labels = [*LABELS, *(LABELS * 20)[: len(FOREIGN)]]
    assert_same(TextNB(refine=True).fit([*TEXTS, *FOREIGN], labels), ASKED)
    weight = np.linspace(0.1, 2.0, len(labels))
    assert_same(TextNB().fit([*TEXTS, *FOREIGN], labels, sample_weight=weight), ASKED)
    adapted = TextNB("multinomial", calibrate="platt").fit(TEXTS, LABELS)
    share = np.linspace(1, 3, len(adapted.classes_))
    assert_same(adapted.with_class_prior(share / share.sum()), ASKED)


def test_contributions_are_those_of_explain() -> None:
    for model in (TextNB("multinomial"), TextNB()):
        model.fit(TEXTS, LABELS)
        (found,), (explained,) = run(model, TEXTS[:1]).answers, model.explain(TEXTS[:1])
        ours = {(one["kind"], one["view"], one["value"]): one["scores"] for one in found["contributions"]}
        theirs = {(one.kind, one.view or None, " / ".join(one.value) if isinstance(one.value, tuple) else one.value):
                  one.scores for one in explained.terms}  # fmt: skip
        tokens = {key for key in theirs if key[0] == "token"}
        assert tokens
        for _, view, value in tokens & {key for key in ours if key[0] == "token"}:
            np.testing.assert_allclose(ours["token", view, value], theirs["token", view, value], atol=1e-9)


def test_characters_are_those_of_python() -> None:
    """Every character of Unicode: in a word, in lower case, and without accents."""
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    texts = ["".join(f"A{chr(code)}Σ " for code in codes[i : i + 4096]) for i in range(0, len(codes), 4096)]
    for accents in (None, "unicode"):
        settings: dict[str, Any] = {"strip_accents": accents, "min_length": 1, "fold_numbers": True, "alpha": 1.0}
        model = TextNB("multinomial", **settings).fit([*texts, "other words"], [*([0] * len(texts)), 1])
        found = run(model, texts[:: len(texts) // 12])
        counts = [sum(term.count for term in one.terms if term.kind == "token")
                  for one in model.explain(texts[:: len(texts) // 12])]  # fmt: skip
        ours = [sum(term.get("count", 0) for term in one["contributions"]) for one in found.answers]
        assert ours == counts


def test_lone_surrogates_are_replaced() -> None:
    model = TextNB("multinomial", analyzer="char", ngrams=1).fit(["a\ufffd", "b"], ["x", "y"])
    found = run(model, ["\ud83d a", "a \ufffd"])
    assert found.answers[0]["label"] == "x"


X = np.array([[1.0, 0, 3], [2, 1, 0], [0, 4, 1], [3, 0, 2], [1, 5, 0], [0, 3, 0]])
Y = np.array(["a", "b", "b", "a", "b", "b"])
ROWS = [[1, 0, 3], [0, 0, 0], [7.5, 2, 100], [2, 1, 0]]
GAPS = [[None, 1, 0], [None, None, None], [0, None, 5]]


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(), GaussianNB(estimate="predictive"), GaussianNB(calibrate="platt"), GaussianNB(var_smoothing=0),
        BernoulliNB(), BernoulliNB(binarize=1.5, alpha=0), MultinomialNB(), MultinomialNB(alpha=0),
        MultinomialNB(estimate="predictive", calibrate="temperature"), ComplementNB(), ComplementNB(norm=True),
        PoissonNB(), PoissonNB(estimate="predictive"),
    ],
    ids=str,
)  # fmt: skip
def test_numbers(model: Any) -> None:
    model.fit(X, Y)
    rows = ROWS
    try:
        model.predict_proba(np.array(GAPS, dtype=float))
        rows = [*ROWS, *GAPS]
    except candide.exceptions.InputError:
        pass
    found = assert_same(model, rows, np.array(rows, dtype=float))
    assert found.exports == ["classes", "predict"]
    objects = [dict(zip(["x0", "x1", "x2"], row, strict=True)) for row in rows]
    np.testing.assert_array_equal(run(model, objects).probabilities, found.probabilities)


def test_categories() -> None:
    frame = pd.DataFrame(
        {"color": ["red", "blue", None, "red"] * 5, "n": [0, 1, 7, 9000] * 5, "on": [True, False] * 10}
    )
    y = ["a", "b", "b", "a"] * 5
    rows = [
        {"color": "red", "n": 1, "on": True}, {"color": "green", "n": 3, "on": False},
        {"color": None, "n": 9000, "on": None}, {"color": "blue", "n": 4, "on": True},
    ]  # fmt: skip
    asked = pd.DataFrame(rows).astype({"n": "int64", "on": object})
    for settings in ({}, {"unseen": "ignore"}, {"alpha": 0.0}):
        assert_same(CategoricalNB(**settings).fit(frame, y), rows, asked)
    strict = run(CategoricalNB(unseen="error").fit(frame, y), rows[1:2]).answers[0]["error"]
    assert "not seen in training" in strict
    assert_same(CategoricalNB().fit([[0, 2], [1, 1], [1, 0]], [0, 1, 1]), [[0, 2], [1, 7], [None, 1]],
                np.array([[0, 2], [1, 7], [np.nan, 1]]))  # fmt: skip


def mixed(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "size": np.exp(rng.normal(y, 1.0)),
            "age": rng.normal(30 + 5 * y, 8).round(),
            "visits": rng.poisson(1 + y).astype(float),
            "city": rng.choice(["Köln", "東京", "النيل"], n).astype(object),
            "member": rng.random(n) < 0.3 + 0.2 * y,
            "zero": np.where(rng.random(n) < 0.5, 0.0, rng.normal(y, 1)),
        }
    )
    for column in ("size", "age", "city"):
        frame.loc[rng.random(n) < 0.15, column] = None
    return frame, np.array(["low", "mid", "high"])[y]


def objects_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    missing = frame.isna()
    return [
        {name: None if missing.at[i, name] else getattr(cell, "item", lambda cell=cell: cell)()
         for name, cell in row.items()}
        for i, row in frame.iterrows()
    ]  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    [{}, {"columns": {"size": "gaussian", "visits": "poisson", "age": "kernel"}}, {"calibrate": None}],
    ids=str,
)
def test_tables_without_stacking(settings: dict[str, Any]) -> None:
    frame, y = mixed(300, 0)
    settings = {"stacking": None, "calibrate": None, **settings}
    model = NaiveBayes(**settings).fit(frame, y)
    asked = mixed(60, 1)[0]
    asked.loc[0, "city"] = "nowhere"
    asked.loc[1, "age"] = 1000.0
    assert_same(model, objects_of(asked), asked)


def stacked(*tables: Any, **settings: Any) -> Any:
    """A model as a file holds it: without training rows."""
    return candide.from_json(NaiveBayes(compute_loo=False, **settings).fit(*tables).to_json())


def rows_with_gaps(n: int, share: float) -> pd.DataFrame:
    rng = np.random.default_rng(7)
    rows = mixed(n, 1)[0].astype({"member": object})
    for column in rows:
        rows.loc[rng.random(n) < share, column] = None
    rows.loc[0, "city"], rows.loc[1, "age"], rows.loc[2, "size"] = "nowhere", 1000.0, 1e9
    rows.loc[3] = None
    return rows


STACKED: list[dict[str, Any]] = [
    {},
    {"calibrate": "beta"},
    {"columns": {"city": "ignore", "size": "gaussian", "visits": "poisson"}},
    {"order": 0, "class_prior": [0.5, 0.5, 0.0]},
]


@pytest.mark.parametrize("settings", fast(STACKED[1:2], STACKED), ids=str)
def test_stacked_tables(settings: dict[str, Any]) -> None:
    """Rows with missing cells, in columns that had some in training and in others, where they are not given."""
    frame, y = mixed(400, 0)
    complete, asked = frame.notna().all(axis=1), rows_with_gaps(80, 0.3)
    assert_same(stacked(frame[complete], y[complete], **settings), objects_of(asked), asked)
    if settings != STACKED[1]:
        assert_same(stacked(frame, y, **settings), objects_of(asked), asked)


def test_stacked_numbers() -> None:
    frame, y = mixed(200, 0)
    numbers = frame[["age", "size", "zero"]].to_numpy(float)
    rows = [[None if np.isnan(cell) else cell for cell in row] for row in numbers.tolist()]
    assert_same(stacked(numbers, y == "low"), rows, numbers)


def test_corrections_of_cells() -> None:
    model, rows = stacked(*repeated_values()), repeated_values(60, seed=2)[0]
    assert isinstance(model.model_.classifier.fitted.views.views[-1], CellRegression)
    rows.loc[0, "job"] = "pilot"
    rows.loc[1, ["age", "gain"]] = 1e6, -1e6
    rows.loc[2:20, "age"], rows.loc[10:30, "job"] = np.nan, None
    assert_same(model, objects_of(rows), rows)


@pytest.mark.slow
def test_tables_of_many_rows() -> None:
    """Triples of columns and Fourier features; random grids are left out."""
    frame, y = mixed(5_000, 3)
    asked = rows_with_gaps(100, 0.2)
    model = stacked(frame, y, refine=False)
    names = {type(view).__name__ for view in model.model_.classifier.fitted.views.views}
    assert names == {"OneDependence", "TwoDependence", "Covariance", "FourierRegression"}
    assert_same(model, objects_of(asked), asked)
    whole = stacked(frame, y, refine=True)
    with pytest.raises(ParameterError, match="approximate=True"):
        whole.to_js()
    with pytest.warns(UserWarning, match="omits the random grids"):
        found = run(whole, objects_of(asked), approximate=True)
    with pytest.warns(UserWarning, match="omits the random grids"):
        left = whole.model_.classifier.for_export(approximate=True)
    data = whole.model_.spec.read(asked, whole.model_.schema, whole.model_.classifier)
    expected = left.posterior(data, Kernels(), logarithm=False)
    np.testing.assert_allclose(found.probabilities, expected, rtol=0, atol=1e-9)


NUMBERS = ["gaussian", "student", "lognormal", "power", "kernel", "bins", "poisson",
           ("bins", {"method": "mdlp"}), ("categorical", {"unseen": "smooth"}), "categorical"]  # fmt: skip


@every("missing", ["ignore", "category"])
@pytest.mark.parametrize("family", fast(["student", "power", "poisson", "categorical"], NUMBERS), ids=str)
def test_families_of_numbers(family: Any, missing: str) -> None:
    rng = np.random.default_rng(3)
    y = np.arange(150) % 3
    x = rng.poisson(3 + 2 * y).astype(float) + (0.0 if family == "poisson" else 1.0)
    x[::9] = np.nan
    plain: dict[str, Any] = {"stacking": None, "calibrate": None}
    model = NaiveBayes(family, missing=missing, **plain).fit({"x": x, "z": rng.poisson(3, 150) + 1.0}, y)
    asked = pd.DataFrame({"x": np.r_[x[:50], -3.0, 0.0, 0.5, 2.0, 100.0], "z": np.r_[np.arange(50) + 1, [np.nan] * 5]})
    assert_same(model, objects_of(asked), asked)


def test_rows_are_checked() -> None:
    model = MultinomialNB().fit(X, Y)
    rows = [{"x0": 1}, {"x0": "1", "x1": 0, "x2": 0}, {"x0": -1, "x1": 0, "x2": 0}, ["#inf", 0, 0], 5, None]
    errors = [one["error"] for one in run(model, rows).answers]
    for error, expected in zip(errors, ['no column "x1"', "string; expected a number", "at least 0", "finite", "object",
                                        "object"], strict=True):  # fmt: skip
        assert expected in error
    text = run(TextNB("multinomial").fit(TEXTS, LABELS), [5, None]).answers
    assert [one["error"] for one in text] == ["TypeError: expected a string, got number",
                                              "TypeError: expected a string, got null"]  # fmt: skip


def test_many_classes_and_smaller_models() -> None:
    texts = [f"{text} class{i} common" for i, text in enumerate(texts_of(SCRIPTS, 160, 3))]
    labels = [f"</script><!-- {i % 80}" for i in range(160)]
    for model in (TextNB("multinomial"), TextNB("complement", alpha=0.0), TextNB("multinomial", buckets=18), TextNB()):
        assert_same(model.fit(texts, labels), texts[:20])
        assert "</script>" not in model.to_js()
    small = TextNB().fit(TEXTS, LABELS).prune(max_tokens=50)
    assert_same(small, ASKED[:40])
    assert_same(small.compact(), ASKED[:40])
    assert_same(TextNB("multinomial").fit(TEXTS, LABELS).partial_fit(FOREIGN[:4], LABELS[:4]), ASKED[:40])


def test_numbers_are_exact() -> None:
    model = TextNB("multinomial").fit(TEXTS, LABELS)
    weights = data_of(model.to_js())["plain"]["terms"][0]["weights"]
    values = np.frombuffer(base64.b64decode(weights["values"]["f8"]), dtype="<f8")
    codes = np.frombuffer(base64.b64decode(weights["codes"]["u1"]), dtype=np.uint8)
    expected = model.model_.classifier.likelihood.inner.finite.dense()[0].T.ravel()
    np.testing.assert_array_equal(values[codes], expected)


def test_what_cannot_be_exported_is_refused() -> None:
    frame, y = mixed(300, 0)
    plain: dict[str, Any] = {"stacking": None, "calibrate": None}
    with pytest.raises(ParameterError, match="dates or times"):
        NaiveBayes(**plain).fit(frame.assign(day=pd.Timestamp("2024-01-01")), y).to_js()
    with pytest.raises(ParameterError, match="'ignore'"):
        NaiveBayes({"city": "text"}, **plain).fit(frame.fillna({"city": ""}), y).to_js()
    with pytest.raises(ParameterError, match="columns separately"):
        NaiveBayes({("age", "size"): "multivariate_normal"}, **plain).fit(frame, y).to_js()
    with pytest.raises(ParameterError, match="without pattern"):
        TextNB("multinomial", pattern=r"\w+").fit(TEXTS, LABELS).to_js()
    with pytest.raises(ParameterError, match=r"2\^53"):
        TextNB("multinomial").fit(["a b", "c d"], [2**60, 1]).to_js()
