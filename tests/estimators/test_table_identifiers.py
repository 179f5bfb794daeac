"""Columns that number the rows tell nothing about others; days that follow each other may."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from tiers import every

from candide import NaiveBayes

N = 300
RNG = np.random.default_rng(7)


def note(column: Any) -> str:
    """What the summary remarks on a column."""
    return remark(column, np.arange(len(column)) % 2)


def remark(column: Any, y: Any, weight: Any = None) -> str:
    table = NaiveBayes(order=0, compute_loo=False).fit({"column": column}, y, sample_weight=weight).summary()
    return str(table["note"][list(table["column"]).index("column")])


NUMBERINGS = {
    "from 1": np.arange(1, N + 1),
    "in any order": RNG.permutation(N) + 5000,
    "a split": RNG.choice(N, N * 7 // 10, replace=False),
    "half of it": RNG.choice(10_000, 5000, replace=False) + 100_000,
}
OTHERS = {
    "twice each": np.repeat(np.arange(N // 2), 2),
    "drawn at random": RNG.integers(0, N, N),
    "far between": RNG.choice(10 * N, N, replace=False),
    "squares": np.arange(N) ** 2,
    "halves": np.arange(N) / 2,
    "measurements": RNG.uniform(0, N, N),
    "dense in the middle": np.unique(np.round(RNG.normal(0, N / 5, N))),
    "few rows": np.arange(20),
}


@every("column", NUMBERINGS.values())
def test_numbered_rows_are_set_aside(column: Any) -> None:
    assert note(column) == "an identifier: the rows are numbered"


@pytest.mark.parametrize("weight", [0.1, 7.0])
def test_rows_are_counted_whatever_they_weigh(weight: float) -> None:
    labels = np.arange(N) % 2
    assert remark(np.arange(N), labels, np.full(N, weight)) == "an identifier: the rows are numbered"
    names = np.array([f"n{i}" for i in np.random.default_rng(0).integers(0, N // 2, N)])
    assert remark(names, labels, np.full(N, weight)) == ""
    assert "unique" in remark(np.array([f"n{i}" for i in range(N)]), labels, np.full(N, weight))


def test_a_numbering_that_tells_the_class_is_remarked() -> None:
    """It may be the order of the file, or ranks: both look the same."""
    ranks = np.arange(N)
    assert remark(ranks, ranks > N // 2).endswith(
        "bits of information about the class; if the numbers are ranks, choose a family"
    )
    named = NaiveBayes(columns={"column": "bins"}).fit({"column": ranks}, ranks > N // 2)
    assert named.score({"column": ranks}, ranks > N // 2) > 0.95


@every("column", OTHERS.values())
def test_other_whole_numbers_are_not(column: Any) -> None:
    assert note(column) == ""


def test_days_one_after_the_other_are_no_numbering() -> None:
    assert note(pd.date_range("2024-01-01", periods=N)) == ""
