"""Toy tables: what each promises, and that they come in every form that models take."""

from __future__ import annotations

import numpy as np
import pytest
from tiers import every

from candide import NaiveBayes, datasets
from candide.exceptions import ParameterError

TOYS = ["bird_table", "ferry", "mails", "orchard", "pebbles", "switches"]


@every("name", TOYS)
def test_rows_labels_and_table_agree(name: str) -> None:
    toy = getattr(datasets, name)()
    X, y = toy
    assert X.shape == (len(y), len(toy.feature_names))
    assert list(toy.table) == [*toy.feature_names, toy.label]
    assert toy.table.to_pandas().shape == (len(y), X.shape[1] + 1)
    assert NaiveBayes(stacking=None).fit(toy.table, y=toy.label).classes_.tolist() == sorted(set(y))
    assert repr(toy) == repr(toy.table)


@every("name", TOYS)
def test_nobody_can_spoil_them_for_others(name: str) -> None:
    getattr(datasets, name)().table.clear()
    assert getattr(datasets, name)().table


def test_all_of_them_are_listed() -> None:
    assert datasets.__all__ == ["Toy", *TOYS]


def test_ferry_has_the_counts_of_the_exercise() -> None:
    X, y = datasets.ferry()
    pairs = [(wind, sight, label) for (wind, sight), label in zip(X.tolist(), y.tolist(), strict=True)]
    winds = {(w, c): sum(p[0] == w and p[2] == c for p in pairs) for w, _, c in pairs}
    assert winds == {("calm", "sailed"): 4, ("breeze", "sailed"): 4, ("breeze", "stayed"): 1, ("storm", "stayed"): 3}
    assert [sum(p[1:] == (s, c) for p in pairs) for s in ("clear", "fog") for c in ("sailed", "stayed")] == [6, 1, 2, 3]


def test_switches_are_an_exclusive_or() -> None:
    X, y = datasets.switches(3)
    assert len(y) == 12
    np.testing.assert_array_equal(y == "lit", (X[:, 0] == "up") ^ (X[:, 1] == "up"))


@every("copies", [0, 2.5, "two"])
def test_copies_are_a_whole_number(copies: object) -> None:
    with pytest.raises(ParameterError, match="positive integer"):
        datasets.switches(copies)
