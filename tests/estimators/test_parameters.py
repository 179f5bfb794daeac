"""Parameters that people can read, and how many there are."""

from __future__ import annotations

import numpy as np
import pandas as pd
from tiers import every, late

import candide

pl = late("polars")

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
MEASURES = {
    "GaussianNB": ["class", "column", "count", "mean", "variance"],
    "BernoulliNB": ["class", "column", "value", "count", "probability"],
    "MultinomialNB": ["class", "column", "count", "probability"],
    "ComplementNB": ["class", "column", "count", "weight"],
    "CategoricalNB": ["class", "column", "value", "count", "probability"],
    "PoissonNB": ["class", "column", "count", "total", "rate"],
}
X = np.array([[1, 0], [2, 1], [0, 1], [0, 3]])
y = np.array(["ham", "ham", "spam", "spam"])


@every("name", NAMES)
def test_columns_of_the_table(name: str) -> None:
    table = getattr(candide, name)().fit(X, y).parameters()
    assert list(table) == MEASURES[name]
    assert set(table["class"]) == {"ham", "spam"}
    assert set(table["column"]) == {"x0", "x1"}
    assert all(len(column) == table.n_rows for column in table.values())


@every("name", NAMES)
def test_names_of_columns(name: str) -> None:
    model = getattr(candide, name)().fit(pd.DataFrame(X, columns=["win", "hello"]), y)
    assert set(model.parameters()["column"]) == {"win", "hello"}


@every("name", NAMES)
def test_table_becomes_a_frame(name: str) -> None:
    table = getattr(candide, name)().fit(X, y).parameters()
    assert table.to_pandas().shape == (table.n_rows, len(table))
    assert pd.DataFrame(dict(table)).shape == (table.n_rows, len(table))
    assert table.to_polars().shape == (table.n_rows, len(table))
    assert isinstance(table.to_polars(), pl.DataFrame)
    assert repr(table).splitlines()[0].split() == MEASURES[name]
    assert table._repr_html_().startswith("<table>")


def test_gaussian() -> None:
    table = candide.GaussianNB(var_smoothing=0).fit(X, y).parameters()
    assert list(table.rows()) == [
        ("ham", "x0", 2.0, 1.5, 0.25),
        ("ham", "x1", 2.0, 0.5, 0.25),
        ("spam", "x0", 2.0, 0.0, 0.0),
        ("spam", "x1", 2.0, 2.0, 1.0),
    ]


def test_bernoulli() -> None:
    table = candide.BernoulliNB(alpha=0).fit(X, y).parameters()
    assert list(table.rows()) == [
        ("ham", "x0", 1, 2.0, 1.0),
        ("ham", "x1", 1, 1.0, 0.5),
        ("spam", "x0", 1, 0.0, 0.0),
        ("spam", "x1", 1, 2.0, 1.0),
    ]


def test_multinomial() -> None:
    table = candide.MultinomialNB(alpha=0).fit(X, y).parameters()
    np.testing.assert_allclose(table["probability"], [0.75, 0.25, 0, 1])
    assert table["count"].tolist() == [3, 1, 0, 4]


def test_categorical() -> None:
    table = candide.CategoricalNB(alpha=0).fit([["red"], ["blue"], ["red"], [None]], y).parameters()
    assert [tuple(row) for row in table.rows()] == [
        ("ham", "x0", "blue", 1.0, 0.5),
        ("ham", "x0", "red", 1.0, 0.5),
        ("spam", "x0", "blue", 0.0, 0.0),
        ("spam", "x0", "red", 1.0, 1.0),
    ]


def test_poisson() -> None:
    table = candide.PoissonNB(alpha=0, beta=0).fit(X, y).parameters()
    assert table["rate"].tolist() == [1.5, 0.5, 0, 2]
    assert table["total"].tolist() == [3, 1, 0, 4]


@every("name", ["BernoulliNB", "MultinomialNB", "CategoricalNB"])
def test_smoothed_probabilities(name: str) -> None:
    """The table shows what the model uses, smoothing included."""
    model = getattr(candide, name)(alpha=2.0).fit(X, y)
    shares = model.feature_log_prob_
    expected = np.concatenate([np.exp(s) for s in shares], axis=1) if isinstance(shares, list) else np.exp(shares)
    np.testing.assert_allclose(model.parameters()["probability"], expected.ravel())


@every("n_words", [1, 3, 50_000])
def test_two_classes_of_words_have_twice_the_words_and_one(n_words: int) -> None:
    rows = np.eye(2, n_words)
    assert candide.BernoulliNB().fit(rows, [0, 1]).n_parameters_ == 2 * n_words + 1


@every(
    "name,expected",
    [
        ("GaussianNB", 3 * 2 * 2 + 2),
        ("BernoulliNB", 3 * 2 + 2),
        ("MultinomialNB", 3 * (2 - 1) + 2),
        ("ComplementNB", 3 * (2 - 1)),
        ("CategoricalNB", 3 * ((3 - 1) + (4 - 1)) + 2),
        ("PoissonNB", 3 * 2 + 2),
    ],
)
def test_number_of_parameters(name: str, expected: int) -> None:
    """Three classes, two columns with values up to 2 and 3."""
    assert getattr(candide, name)().fit(X, [0, 1, 2, 2]).n_parameters_ == expected
