"""Rows that pictures are drawn of, and models of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from candide import NaiveBayes, TextNB

WORDS = ["win", "cash", "free", "prize", "lunch", "noon", "meeting", "invoice", "garden", "parcel", "$5 or $6", "_x"]


def names(n_classes: int) -> list[str]:
    """Short names of few classes, names of 40 characters of many."""
    short = ["ham", "spam", "news"]
    return (
        short[:n_classes]
        if n_classes <= 3
        else [f"department {i:02} of a firm with a long name" for i in range(n_classes)]
    )


@cache
def numbers(n_classes: int, n_columns: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n_classes)
    middle = rng.normal(size=(n_classes, n_columns)) * 2
    n_rows = 30 if n_classes <= 3 else 12
    X = np.concatenate([rng.normal(center, 1.0, (n_rows, n_columns)) for center in middle]).round(3)
    return X, np.repeat(names(n_classes), n_rows)


@cache
def table(n_classes: int) -> dict[str, Any]:
    X, y = numbers(n_classes)
    rng = np.random.default_rng(1)
    which = np.unique(y, return_inverse=True)[1]
    return {
        "size": X[:, 0],
        "a column with a name of forty characters": np.where(
            X[:, 1] > 0, "a value with a name of forty characters", "b"
        ),
        "count": rng.poisson(1 + which % 3),
        "class": y,
    }


@cache
def table_model(n_classes: int, **settings: Any) -> NaiveBayes:
    return NaiveBayes(**settings).fit(table(n_classes), y="class")


@cache
def texts(n_classes: int) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(2)
    found, labels = [], []
    for label in names(n_classes):
        share = rng.dirichlet(np.ones(len(WORDS)) * 0.5)
        found += [" ".join(rng.choice(WORDS, 8, p=share)) for _ in range(10)]
        labels += [label] * 10
    return found, labels


@cache
def text_model(n_classes: int, model: str = "multinomial") -> TextNB:
    settings = {} if model == "auto" else {"pattern": r"\S+"}
    return TextNB(model, **settings).fit(*texts(n_classes))
