"""Whatever way rows come and go, a refit gives the model of one fit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import tries

import candide
from candide import NaiveBayes

from .test_refit import CASES, N, Y, rows

# Rows of the model, and others that may come and must go again.
OWN, OTHERS = 48, 12
assert OWN + OTHERS <= N
WAYS = "fit", "chunks", "learn", "merge", "forget", "correct"


class Tree:
    """Models of rows, made in ways that are drawn."""

    def __init__(self, case: str, data: Any) -> None:
        self.make, self.X = CASES[case]
        self.data = data

    def draw(self, strategy: Any) -> Any:
        return self.data.draw(strategy)

    def of(self, which: list[int], depth: int = 0) -> Any:
        """The model of these rows, before a refit."""
        ways = WAYS if depth < 3 and len(which) >= 12 else WAYS[:2]
        model = getattr(self, f"by_{self.draw(st.sampled_from(ways))}")(which, depth + 1)
        if self.draw(st.booleans()):
            model.predict_proba(rows(self.X, which[:2]))
        return model

    def by_fit(self, which: list[int], _: int) -> Any:
        return self.make().fit(rows(self.X, which), Y[which])

    def by_chunks(self, which: list[int], _: int) -> Any:
        size = self.draw(st.integers(1, len(which)))

        def parts() -> Iterator[Any]:
            for begin in range(0, len(which), size):
                some = which[begin : begin + size]
                yield rows(self.X, some), Y[some]

        return self.make().fit(parts())

    def by_learn(self, which: list[int], depth: int) -> Any:
        cut = self.draw(st.integers(len(which) // 2, len(which) - 1))
        return self.of(which[:cut], depth).partial_fit(rows(self.X, which[cut:]), Y[which[cut:]])

    def by_merge(self, which: list[int], depth: int) -> Any:
        cut = self.draw(st.integers(4, len(which) - 4))
        return candide.merge([self.of(which[:cut], depth), self.of(which[cut:], depth)])

    def by_forget(self, which: list[int], depth: int) -> Any:
        """Of rows that come too, some of them copies of those that stay."""
        anywhere = st.integers(0, OWN + OTHERS - 1)
        more = self.draw(st.lists(anywhere, min_size=1, max_size=8))
        at = self.draw(st.integers(0, len(which)))
        model = self.of([*which[:at], *more, *which[at:]], depth)
        return model.forget(rows(self.X, more), Y[more])

    def by_correct(self, which: list[int], depth: int) -> Any:
        """A row with a wrong label among the others is forgotten, and learned with the right one."""
        row, rest = which[:1], which[1:]
        wrong = np.roll(np.unique(Y), 1)[np.searchsorted(np.unique(Y), Y[row])]
        model = self.of(rest, depth).partial_fit(rows(self.X, row), wrong)
        return model.forget(rows(self.X, row), wrong).partial_fit(rows(self.X, row), Y[row])


@cache
def one_fit(case: str) -> Any:
    make, X = CASES[case]
    return make().fit(rows(X, range(OWN)), Y[:OWN])


def check(case: str, data: Any) -> None:
    which = np.random.default_rng(data.draw(st.integers(0, 1000))).permutation(OWN)
    model = Tree(case, data).of(which.tolist()).refit()
    X, whole = CASES[case][1], one_fit(case)
    np.testing.assert_array_equal(model.classes_, whole.classes_)
    np.testing.assert_array_equal(model.class_count_, whole.class_count_)
    if hasattr(model, "feature_count_"):
        np.testing.assert_array_equal(model.feature_count_, whole.feature_count_)
    if hasattr(model, "token_count_"):
        assert tokens(model) == tokens(whole)
    asked = rows(X, range(OWN + OTHERS))
    np.testing.assert_allclose(model.predict_proba(asked), whole.predict_proba(asked), rtol=0, atol=1e-9)
    assert model.staleness_ == 0.0


def tokens(model: Any) -> dict[str, list[float]]:
    """Sums by token; those that no text holds any more are not told."""
    counts = model.token_count_
    table = counts if isinstance(counts, np.ndarray) else counts.toarray()
    return {word: sums for word, sums in zip(model.vocabulary_, table.T.tolist(), strict=True) if any(sums)}


@pytest.mark.parametrize("case", [name for name in CASES if "NaiveBayes" not in name])
@tries(18)
@given(data=st.data())
def test_every_tree_of_changes_is_one_fit_after_a_refit(case: str, data: Any) -> None:
    check(case, data)


@tries(12)
@given(data=st.data())
def test_every_tree_of_changes_of_a_table_is_one_fit_after_a_refit(data: Any) -> None:
    check("NaiveBayes", data)


def test_cells_of_numbers_are_fine_again_when_rows_are_forgotten() -> None:
    """With 1,060 numbers between 1 and 2 cells are combined, and with 1,000 of them they are not."""
    rng = np.random.default_rng(0)
    X = rng.uniform(1.0, 2.0, (1_060, 2))
    y = (X.sum(axis=1) + rng.normal(0.0, 0.2, len(X)) > 3.0).astype(int)
    once = NaiveBayes().fit(X[:1_000], y[:1_000])
    forgot = NaiveBayes().fit(X, y).forget(X[1_000:], y[1_000:]).refit()
    np.testing.assert_allclose(forgot.predict_proba(X), once.predict_proba(X), rtol=0, atol=1e-9)
