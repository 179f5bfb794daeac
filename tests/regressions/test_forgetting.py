"""Rows that were never learned are not forgotten, where that can be known."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import candide
from candide.exceptions import ForgetError

RNG = np.random.default_rng(0)
Y = np.array(["a", "b"])[np.arange(60) % 2]
NUMBERS, COUNTS = RNG.normal(size=(60, 3)).round(3), RNG.integers(0, 50, size=(60, 3))
TEXTS = [" ".join(RNG.choice(["red", "green", "blue", "cat", "dog", "sun", "moon", "sea"], 6)) for _ in range(60)]
# Each cell of a row that was never learned is one that its class has.
MIXED = {"GaussianNB": NUMBERS, "MultinomialNB": COUNTS, "PoissonNB": COUNTS, "BernoulliNB": COUNTS,
         "ComplementNB": COUNTS, "CategoricalNB": COUNTS, "NaiveBayes": NUMBERS}  # fmt: skip


def never_learned(rows: Any) -> Any:
    return rows[[0, 2, 4], [0, 1, 2]][None]


@pytest.mark.parametrize("name", MIXED)
def test_rows_kept_tell_what_was_never_learned(name: str) -> None:
    rows = MIXED[name]
    model = getattr(candide, name)(subsample=100_000).fit(rows, Y)
    before = model.predict_proba(rows)
    with pytest.raises(ForgetError, match="not in the training data"):
        model.forget(never_learned(rows), ["a"])
    with pytest.raises(ForgetError, match="not in the training data"):
        model.forget(rows[:1], ["b"])
    assert model.predict_proba(rows).tolist() == before.tolist()
    model.forget(rows[:1], ["a"])
    assert model.class_count_.sum() == 59


def test_texts_kept_tell_what_was_never_learned() -> None:
    model = candide.TextNB().fit(TEXTS, Y)
    with pytest.raises(ForgetError, match="not in the training data"):
        model.forget([TEXTS[0] + " red"], ["a"])
    assert model.forget(TEXTS[:1], ["a"]).class_count_.sum() == 59


@pytest.mark.parametrize("setting", [100, "auto"])
def test_a_part_of_the_rows_tells_of_those_that_it_would_hold(setting: Any) -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(2_000, 3)).round(3)
    labels = np.array(["a", "b"])[np.arange(2_000) % 2]
    model = candide.GaussianNB(subsample=200).fit(rows, labels).set_params(subsample=setting)
    kept = model.model_.classifier.state.sample
    n_kept = len(kept.classes)
    assert n_kept == 200
    # Each cell is one that its class has; a row that the sample would hold if it had been learned is known to be new.
    strange = np.column_stack([rng.permutation(rows[::2, j])[:300] for j in range(3)])
    refused = []
    for row in strange:
        try:
            candide.GaussianNB.forget(copy.copy(model), row[None], ["a"])
            refused.append(False)
        except ForgetError as error:
            refused.append("not in the training data" in str(error))
    would_hold = n_kept / len(rows)
    assert np.mean(refused) == pytest.approx(would_hold, rel=0.5)
    for row, label in zip(rows[:60], labels[:60], strict=True):
        model.forget(row[None], [label])


@pytest.mark.parametrize("name", MIXED)
def test_rows_kept_tell_it_also_when_a_setting_asks_for_them_no_more(name: str) -> None:
    rows = MIXED[name]
    setting = {"stacking": None} if name == "NaiveBayes" else {}
    model = getattr(candide, name)(subsample=100_000, **setting).fit(rows, Y).set_params(subsample="auto")
    with pytest.raises(ForgetError, match="not in the training data"):
        model.forget(never_learned(rows), ["a"])
    model.forget(rows[:1], ["a"])
    with pytest.raises(ForgetError, match="not in the training data"):
        model.forget(rows[:1], ["a"])


@pytest.mark.parametrize("far", [50.0, -1e6, 1e150])
def test_a_row_that_has_more_scatter_than_all_rows_was_never_learned(far: float) -> None:
    model = candide.GaussianNB().fit(NUMBERS, Y)
    before = model.var_.copy()
    with pytest.raises(ForgetError, match="variance of a column"):
        model.forget([[0.0, far, 0.0]], ["a"])
    assert model.var_.tolist() == before.tolist()


def test_a_block_of_columns_tells_it_too() -> None:
    model = candide.NaiveBayes(columns={(0, 1): "multivariate_normal"}, stacking=None, subsample=0).fit(NUMBERS, Y)
    with pytest.raises(ForgetError):
        model.forget([[0.0, 1e4, NUMBERS[0, 2]]], ["a"])


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e7])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_rows_that_were_learned_are_always_forgotten(outlier: float, offset: float) -> None:
    rows = np.vstack([NUMBERS + offset, [[outlier, 0.0, -outlier]]])
    labels = np.append(Y, "a")
    model = candide.GaussianNB().fit(rows, labels)
    model.forget(rows[-1:], labels[-1:])  # leaves rounding in the scatter of the others
    for row in range(0, 58, 2):
        model.forget(rows[row : row + 1], labels[row : row + 1])
    model.forget(rows[58:59], labels[58:59])
    assert model.classes_.tolist() == ["b"]
