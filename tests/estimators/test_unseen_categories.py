"""Columns that come in another form than they were learned in."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from candide import NaiveBayes
from candide.exceptions import InputError

RNG = np.random.default_rng(11)
N = 40
Y = RNG.integers(0, 2, N)
X = pd.DataFrame(
    {
        "city": RNG.choice(["Rome", "Paris"], N),
        "when": pd.date_range("2024-01-01", periods=N),
        "age": RNG.normal(size=N),
    }
)


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    return NaiveBayes(order=0, compute_loo=False).fit(X, Y)


def test_numbers_where_texts_were_learned(model: NaiveBayes) -> None:
    with pytest.raises(
        InputError, match="'city' contains 3 at row 0, but it is a column of categories such as 'Paris'"
    ):
        model.predict(X.head(1).assign(city=3))


def test_texts_written_otherwise(model: NaiveBayes) -> None:
    with pytest.warns(UserWarning, match="'city' contains values such as 'rome'.*check the spelling of the values"):
        model.predict_proba(X.assign(city="rome"))


@pytest.mark.parametrize(
    "rows",
    [
        X.head(1).assign(city="Oslo"),  # a new one now and then
        X.assign(city=["Oslo"] * (N - 1) + ["Rome"]),
        X.assign(city=[None] * N),
        X.assign(when=X["when"] + pd.Timedelta(days=180)),
    ],
    ids=["one row", "some", "missing", "later months"],
)
def test_what_may_happen_goes_without_a_word(model: NaiveBayes, rows: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(rows)


def test_learning_new_categories_goes_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = NaiveBayes(order=0, compute_loo=False).fit(X, Y).partial_fit(X.assign(city="Oslo"), Y)
    assert model.predict(X.assign(city="Oslo")).shape == (N,)


def test_texts_where_dates_were_learned(model: NaiveBayes) -> None:
    expected = model.predict_proba(X)
    np.testing.assert_array_equal(model.predict_proba(X.assign(when=X["when"].dt.strftime("%Y-%m-%d"))), expected)
    with pytest.raises(InputError, match=r"'when' contains '01.01.2024' at row 0, .* of dates .*; pass dates"):
        model.predict(X.assign(when=X["when"].dt.strftime("%d.%m.%Y")))
