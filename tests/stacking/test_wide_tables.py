"""Tables of hundreds of columns: views of several columns use some of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import candide
from candide import NaiveBayes
from candide.stacking import candidates
from candide.stacking.dependence import OneDependence, TwoDependence

N_COLUMNS, INFORMATIVE = 300, [7, 8, 130, 250, 251, 299]


def wide(n_rows: int = 240) -> tuple[pd.DataFrame, Any]:
    """Return a table in which six columns tell about the class: half of the columns are categories."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n_rows)
    cells = rng.normal(size=(n_rows, N_COLUMNS))
    cells[:, INFORMATIVE] += 1.5 * y[:, None]
    columns = {f"c{j}": np.where(x > 0.5, "a", "b") if j % 2 else x.round(1) for j, x in enumerate(cells.T)}
    return pd.DataFrame(columns), y


@cache
def fitted() -> NaiveBayes:
    return NaiveBayes().fit(*wide())


def columns_of(view: Any) -> Any:
    return view.merged.columns if isinstance(view, OneDependence) else view.one.merged.columns


def test_views_of_several_columns_use_some_of_the_columns() -> None:
    views: Any = fitted().model_.classifier.fitted.views
    binned = np.array([column.column for column in views.binning.columns])
    assert len(views.columns) == N_COLUMNS  # each has a weight of its own
    assert len(binned) == candidates.MOST_OTHERS
    assert set(INFORMATIVE) <= set(binned.tolist())
    paired = [columns_of(view) for view in views.views if isinstance(view, OneDependence | TwoDependence)]
    assert paired
    assert all(binned[places].tolist() == INFORMATIVE for places in paired)


def test_columns_of_views_are_the_informative_ones_and_the_first_others() -> None:
    gains = np.zeros(candidates.FEW_COLUMNS + 60)
    gains[[3, 100, 110]] = 0.1, 0.2, 0.2
    chosen, paired = candidates._columns_of_views(1.0 - gains, gains, 1_000.0)
    assert chosen.tolist() == sorted([*range(98), 100, 110])
    assert chosen[paired].tolist() == [100, 110, 3]
    many = np.full(500, 0.1)
    chosen, paired = candidates._columns_of_views(1.0 - many, many, 1_000.0)
    assert chosen.tolist() == list(range(candidates.MOST_INFORMATIVE))
    assert paired.tolist() == list(range(candidates.MOST_OTHERS))


def test_tables_of_few_columns_use_all() -> None:
    gains = np.linspace(-0.1, 0.1, candidates.FEW_COLUMNS)
    chosen, paired = candidates._columns_of_views(1.0 - gains, gains, 100.0)
    assert chosen.tolist() == list(range(len(gains)))
    assert paired.tolist() == chosen[::-1].tolist()


def test_any_path_to_the_same_rows_gives_the_same_model() -> None:
    X, y = wide()
    chunks = NaiveBayes().fit((X.iloc[i : i + 50], y[i : i + 50]) for i in range(0, len(y), 50))
    np.testing.assert_allclose(chunks.predict_proba(X), fitted().predict_proba(X), rtol=1e-9, atol=1e-12)


@pytest.mark.slow
def test_merged_and_forgotten_rows_give_the_same_model() -> None:
    X, y = wide()
    expected, half = fitted().predict_proba(X), len(y) // 2
    merged = candide.merge([NaiveBayes().fit(X[:half], y[:half]), NaiveBayes().fit(X[half:], y[half:])])
    more = NaiveBayes().fit(pd.concat([X, X[:9] + X[:9]]), np.append(y, y[:9])).forget(X[:9] + X[:9], y[:9])
    for model in (merged, more):
        np.testing.assert_allclose(model.refit().predict_proba(X), expected, rtol=1e-9, atol=1e-12)


def test_explanations_name_the_columns_of_views() -> None:
    model, (X, _) = fitted(), wide()
    views: Any = model.model_.classifier.fitted.views
    used = {view.name for i, view in enumerate(views.views, views.n_single + 1) if views.is_used(i)}
    binned = {f"c{column.column}" for column in views.binning.columns}
    for explanation in model.explain(X.iloc[:3]):
        of_views = {term.column for term in explanation.terms if term.view in used and term.kind == "cell"}
        of_pairs = {term.column for term in explanation.terms if term.view.startswith("pairs") and term.kind == "cell"}
        assert of_views <= binned
        assert of_pairs == {f"c{j}" for j in INFORMATIVE}
