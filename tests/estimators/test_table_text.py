"""Tables with columns of texts: found or named, in one model with numbers and categories, with all verbs."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from storage.storing import decoded
from tiers import every, fitted_once, late

from candide import NaiveBayes, TextNB, diagnostics, merge
from candide.exceptions import InputError, MergeError, ParameterError
from candide.specs.table import TableSpec

from .test_text import corpus

pl = late("polars")
pytestmark = pytest.mark.usefixtures("few_buckets")


def table(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Texts of three classes, some of them missing, beside a number and a category that tell a little."""
    texts, labels = corpus(n, seed)
    rng = np.random.default_rng(seed + 100)
    size = (labels == "sport") + rng.normal(size=n)
    kind = np.where(rng.random(n) < 0.3, "letter", np.where(labels == "food", "menu", "bill"))
    note = np.array(texts, dtype=object)
    note[rng.random(n) < 0.1] = None
    return pd.DataFrame({"size": size, "note": note, "kind": kind}), labels


X, Y = table()
Z, Y_NEW = table(300, seed=1)
NAMED = {"note": "text"}
SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {"stacking": None, "calibrate": None},
    "calibrated": {"stacking": None},
    "columns": {"order": 0},
    "all": {},
}
# All views stand for some of them.
ALL = pytest.mark.parametrize(
    "how",
    [pytest.param(how, marks=pytest.mark.slow if name == "columns" else (), id=name) for name, how in SETTINGS.items()],
)


@fitted_once
def fit(frame: Any, y: Any, weight: Any = None, **how: Any) -> NaiveBayes:
    return NaiveBayes(columns=NAMED, n_threads=1, **how).fit(frame, y, weight)


def assert_alike(a: NaiveBayes, b: NaiveBayes, atol: float = 1e-7) -> None:
    np.testing.assert_allclose(a.predict_proba(Z), b.predict_proba(Z), rtol=0, atol=atol)


# Which columns are texts.

REVIEWS = [f"the {a} was {b} and we {c} it" for a in ("room", "soup", "bed") for b in ("cold", "fine", "old", "warm")
           for c in ("liked", "hated", "left")]  # fmt: skip
FIRST, LAST = ("Al", "Bo", "Cy", "Di", "Ed", "Flo"), ("Ray", "Poe", "Orr", "Kay", "Fox", "Day")
OTHERS = {
    "codes": [f"A-{i} {i * 7} XY-{i}" for i in range(36)],
    "people": [f"{a} {b}" for a in FIRST for b in LAST],
    "said again": REVIEWS[:12] * 3,
    "few": REVIEWS[:20] + [None] * 16,
    "declared": pd.Series(REVIEWS, dtype="category"),
    "numbers": [f"{i} {i} {i} {i}" for i in range(36)],
}  # fmt: skip


def kind_of(column: Any, **how: Any) -> str:
    model = NaiveBayes(order=0, compute_loo=False, **how).fit({"column": column}, np.arange(36) % 2)
    return str(model.model_.classifier.state.statistics.kinds[0])


def test_texts_are_found() -> None:
    assert kind_of(REVIEWS) == "text"
    assert kind_of([*REVIEWS[:30], *[None] * 6]) == "text"
    assert kind_of(REVIEWS, columns={"texts": "text"}) == "text"


@every("column", OTHERS.values())
def test_names_and_codes_are_no_texts(column: Any) -> None:
    assert kind_of(column) == "category"


@pytest.mark.parametrize("family", ["categorical", "ignore"])
def test_texts_may_be_something_else_by_request(family: str) -> None:
    assert kind_of(REVIEWS, columns={"column": family}) == "category"
    assert kind_of(REVIEWS, columns={"texts": family}) == "category"


CONTAINERS: dict[str, Any] = {
    "dict": lambda frame: frame.to_dict("list"),
    "objects": lambda frame: frame,
    "strings": lambda frame: frame.astype({"note": "string"}),
    "polars": lambda frame: pl.from_pandas(frame),
    "arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
def test_containers(make: Any) -> None:
    plain = SETTINGS["plain"]
    model = NaiveBayes(n_threads=1, **plain).fit(make(X), Y)
    np.testing.assert_array_equal(model.predict_proba(make(Z)), fit(X, Y, **plain).predict_proba(Z))


# What a text adds.


def test_a_text_adds_its_words_once() -> None:
    """The plain model: log p(row, class) is that of the other columns and that of the text, added up."""
    both, words = fit(X, Y, **SETTINGS["plain"]), TextNB("multinomial", alpha=0.1, weighting="binary", min_length=1)
    rest = NaiveBayes(**SETTINGS["plain"]).fit(X.drop(columns="note"), Y)
    words.fit(X["note"], Y)
    expected = rest.predict_joint_log_proba(Z) + words.predict_joint_log_proba(Z["note"]) - rest.class_log_prior_
    np.testing.assert_allclose(both.predict_joint_log_proba(Z), expected, atol=1e-9)


def test_missing_texts_say_nothing() -> None:
    both, rest = (NaiveBayes(**SETTINGS["plain"]).fit(part, Y) for part in (X, X.drop(columns="note")))
    without = Z.assign(note=None)
    np.testing.assert_allclose(both.predict_proba(without), rest.predict_proba(without), atol=1e-12)
    absent = NaiveBayes(absent="missing").fit(X, Y)
    # A column that is not given has a model without it; a missing cell, weights by the share of cells that are there.
    np.testing.assert_allclose(
        absent.predict_proba(Z.drop(columns="note")),
        NaiveBayes().fit(X.drop(columns="note"), Y).predict_proba(Z),
        atol=1e-9,
    )
    np.testing.assert_allclose(absent.predict_proba(Z.drop(columns="note")), absent.predict_proba(without), atol=0.2)


def test_texts_without_a_word() -> None:
    """Nothing to learn from; nothing breaks."""
    model = NaiveBayes(columns=NAMED).fit({"note": ["", None] * 10, "size": np.arange(20)}, np.arange(20) < 10)
    assert model.predict({"note": ["a word", None], "size": [1, 18]}).tolist() == [True, False]
    once = NaiveBayes(columns=NAMED).fit({"note": ["a b", *[None] * 11], "size": np.arange(12)}, np.arange(12) % 2)
    assert np.isfinite(once.loo_.log_loss)


def test_better_than_its_parts() -> None:
    def loss(model: Any, rows: Any) -> float:
        return -float(model.predict_log_proba(rows)[np.arange(300), np.searchsorted(model.classes_, Y_NEW)].mean())

    both = fit(X, Y)
    rest = NaiveBayes().fit(X.drop(columns="note"), Y)
    alone = TextNB().fit(X["note"], Y)
    assert loss(both, Z) < min(loss(rest, Z.drop(columns="note")), loss(alone, Z["note"]))
    assert both.loo_.log_loss == pytest.approx(loss(both, Z), abs=0.1)
    assert both.loo_.accuracy == pytest.approx(both.score(Z, Y_NEW), abs=0.06)


def test_a_table_of_texts_alone_and_of_two() -> None:
    alone = NaiveBayes(columns=NAMED).fit(X[["note"]], Y)
    assert alone.score(Z[["note"]], Y_NEW) == pytest.approx(
        TextNB().fit(X["note"], Y).score(Z["note"], Y_NEW), abs=0.03
    )
    two = NaiveBayes().fit(X.assign(title=X["note"]), Y)
    assert two.score(Z.assign(title=Z["note"]), Y_NEW) > 0.7


# Verbs.


@ALL
def test_parts_add_up(how: dict[str, Any]) -> None:
    whole, deal = fit(X, Y, **how), np.random.default_rng(3).integers(0, 2, len(Y))
    first, second = (fit(X[deal == k], Y[deal == k], **how) for k in range(2))
    assert_alike(merge([first, second]), whole)
    assert_alike(first.partial_fit(X[deal == 1], Y[deal == 1]).refit(), whole)


@ALL
def test_forgotten_rows_were_never_there(how: dict[str, Any]) -> None:
    model = fit(X, Y, **how).forget(X[120:], Y[120:])
    assert_alike(model.refit(), fit(X[:120], Y[:120], **how))


@ALL
def test_weights_and_discounts(how: dict[str, Any]) -> None:
    assert_alike(fit(X, Y, **how).discount(0.5).refit(), fit(X, Y, np.full(len(Y), 0.5), **how))


def test_a_row_of_weight_2_is_there_twice() -> None:
    weight = np.random.default_rng(2).integers(0, 3, len(Y))
    rows, how = np.repeat(np.arange(len(Y)), weight), SETTINGS["plain"]
    copies, weighed = fit(X[["note"]].iloc[rows], Y[rows], **how), fit(X[["note"]], Y, weight.astype(float), **how)
    np.testing.assert_allclose(copies.predict_proba(Z[["note"]]), weighed.predict_proba(Z[["note"]]), atol=1e-12)


def test_a_small_sample_is_that_of_the_set_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts count by their length."""
    monkeypatch.setattr(TableSpec, "sample_bytes", 2_000)
    fit_now = fit.__wrapped__
    whole = fit_now(X, Y, order=0)
    sample: Any = whole.model_.classifier.state.sample
    assert 0 < len(sample.classes) < 150
    parts = merge([fit_now(X[k::3], Y[k::3], order=0) for k in (2, 0, 1)])
    mine: Any = parts.model_.classifier.state.sample
    np.testing.assert_array_equal(mine.entries.hashes, sample.entries.hashes)
    assert mine.data.texts[1].texts.strings() == sample.data.texts[1].texts.strings()
    assert_alike(parts, whole)
    again = decoded(sample)
    assert again.data.texts[1].texts.strings() == sample.data.texts[1].texts.strings()


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["auto", NAMED], ids=["found", "named"])
def test_texts_after_holes(columns: Any) -> None:
    """A column of nothing but holes becomes one of texts, whichever came first."""
    nothing = X[:50].assign(note=None)
    whole = fit(pd.concat([nothing, X[50:]]), Y)
    model = NaiveBayes(columns=columns, n_threads=1).partial_fit(nothing, Y[:50]).partial_fit(X[50:], Y[50:])
    assert_alike(model.refit(), whole)
    parts = [NaiveBayes(columns=columns, n_threads=1).fit(*part) for part in ((nothing, Y[:50]), (X[50:], Y[50:]))]
    assert_alike(merge(parts), whole)
    assert_alike(merge(parts[::-1]), whole)
    assert_alike(model.forget(nothing, Y[:50]).refit(), fit(X[50:], Y[50:]))


def test_leaving_out_is_forgetting() -> None:
    rows, asked = X[["note", "kind"]], {"note": "text", "kind": ("categorical", {"alpha": 1.0})}
    model = NaiveBayes(columns=asked, **SETTINGS["plain"]).fit(rows, Y)
    left = model.leave_one_out(rows, Y)
    for i in range(0, len(Y), 40):
        rest = copy.deepcopy(model).forget(rows[i : i + 1], Y[i : i + 1])
        np.testing.assert_allclose(left[i], rest.predict_log_proba(rows[i : i + 1])[0], atol=1e-9)


def test_blends_leave_rows_out() -> None:
    model = fit(X, Y)
    own = np.arange(len(Y)), np.searchsorted(model.classes_, Y)
    left, folds, seen = model.leave_one_out(X, Y), model.cross_val_log_proba(X, Y), model.predict_log_proba(X)
    assert left[own].mean() < seen[own].mean()
    assert folds[own].mean() == pytest.approx(left[own].mean(), abs=0.1)


@ALL
def test_copies_pickles_and_rows_that_go(how: dict[str, Any]) -> None:
    model = fit(X, Y, **how)
    assert_alike(pickle.loads(pickle.dumps(model)), model, 0.0)
    assert_alike(fit(X, Y, subsample=0, **how), model, 1e-12)
    new = copy.deepcopy(model).partial_fit(Z[:15], np.repeat("new", 15))
    assert "new" in new.classes_
    assert "new" not in model.classes_


def test_threads_and_order_change_nothing() -> None:
    two = NaiveBayes(columns=NAMED, n_threads=2).fit(X, Y)
    np.testing.assert_array_equal(two.predict_proba(Z), fit(X, Y).predict_proba(Z))
    order = np.random.default_rng(5).permutation(len(Y))
    assert_alike(fit(X.iloc[order], Y[order]), fit(X, Y))


# Answers.


def test_summary_shows_texts() -> None:
    shown = fit(X, Y).summary()
    place = list(shown["column"]).index("note")
    assert shown["family"][place] == "text"
    assert "words" in shown["parameters"][place]
    assert shown["own_weight"][place] > 0
    assert shown["bits"][place] > 0.5
    assert shown["missing"][place] == pytest.approx(X["note"].isna().mean())
    plain = fit(X, Y, **SETTINGS["plain"]).summary()
    assert plain["own_weight"][place] == 1.0


def test_rows_are_drawn_and_filled() -> None:
    model = fit(X, Y)
    rows, labels = model.sample(60, random_state=0)
    assert list(rows) == list(X)
    assert model.score(rows, labels) > 0.6
    filled = diagnostics.impute(model, Z.assign(size=np.nan))
    assert filled["size"].notna().all()
    assert filled["note"].isna().equals(Z["note"].isna())
    words = model.parameters()
    assert "goal" in set(words["value"][words["column"] == "note"])
    assert model.n_parameters_ > len(TextNB("multinomial").fit(X["note"], Y).vocabulary_)


def test_strange_texts_are_untypical() -> None:
    row = Z[:1].assign(size=0.5, kind="bill")
    usual, strange = (row.assign(note=text) for text in ("match goal team player", "bread tax goal coach loan soup"))
    assert diagnostics.typicality(fit(X, Y), usual) > diagnostics.typicality(fit(X, Y), strange)


# Refusals.


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match=r"'size' contains .* at row 0, but a text column needs strings"):
        NaiveBayes(columns={"size": "text"}).fit(X, Y)
    with pytest.raises(InputError, match="'note' contains 7 at row 3"):
        fit(X, Y).predict(X.assign(note=["a b c"] * 3 + [7] * (len(Y) - 3)))
    with pytest.raises(ParameterError, match="'text' has no option 'alpha'"):
        NaiveBayes(columns={"note": ("text", {"alpha": 1.0})}).fit(X, Y)
    with pytest.raises(InputError, match="'note' is missing at row"):
        fit(X, Y, missing="error")
    with pytest.raises(InputError, match="'note' contains texts, but is part of a block"):
        NaiveBayes(columns={("size", "note"): "multivariate_normal"}).fit(X, Y)


def test_texts_and_categories_are_not_one_column() -> None:
    texts, names = NaiveBayes().fit(X, Y), NaiveBayes().fit(X[:15], Y[:15])
    with pytest.raises(MergeError, match=r"type in the first fit: schema=\{'note': 'text'\}"):
        texts.merge(names)
    with pytest.raises(ParameterError, match="restore the old value"):
        names.set_params(columns=NAMED).partial_fit(X, Y)


def test_texts_that_began_as_categories_are_remarked() -> None:
    model = NaiveBayes(order=0, compute_loo=False).partial_fit({"column": REVIEWS[:5]}, np.arange(5) % 2)
    model.partial_fit({"column": REVIEWS[5:]}, np.arange(5, 36) % 2)
    assert "choose the family 'text'" in model.summary()["note"][0]
