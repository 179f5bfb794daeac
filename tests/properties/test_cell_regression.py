"""Corrections of cells are the same on every path to the same rows, in files and in explanations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiers import late

import candide
from candide import NaiveBayes
from candide.stacking.cell_regression import CellRegression
from candide.storage.errors import InvalidContent
from candide.storage.validation.tables import check_stacked_views, check_view

from .tables import repeated_values

dd = late("dask.dataframe")
X, Y = repeated_values()
NEW = repeated_values(300, seed=8)[0]
NEW.loc[0, "job"] = "pilot"
NEW.loc[1, ["age", "gain"]] = 1e6, -1e6
HALF = len(X) // 2


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    return NaiveBayes().fit(X, Y)


def view_of(model: Any) -> CellRegression:
    (view,) = (v for v in model.model_.classifier.fitted.views.views if isinstance(v, CellRegression))
    return view


def assert_same(model: NaiveBayes, other: NaiveBayes) -> None:
    np.testing.assert_allclose(view_of(other).tables, view_of(model).tables, rtol=0, atol=1e-9)
    np.testing.assert_allclose(other.predict_proba(NEW), model.predict_proba(NEW), rtol=0, atol=1e-9)


def test_order_merge_and_stream(model: NaiveBayes) -> None:
    order = np.random.default_rng(1).permutation(len(X))
    assert_same(model, NaiveBayes().fit(X.iloc[order], Y[order]))
    parts = [NaiveBayes().fit(X[:HALF], Y[:HALF]), NaiveBayes().fit(X[HALF:], Y[HALF:])]
    assert_same(model, candide.merge(parts).refit())
    assert_same(model, NaiveBayes().partial_fit(X[:HALF], Y[:HALF]).partial_fit(X[HALF:], Y[HALF:]).refit())


def test_learned_and_forgotten(model: NaiveBayes) -> None:
    more, labels = repeated_values(100, seed=3)
    changed = NaiveBayes().fit(X, Y).partial_fit(more, labels)
    np.testing.assert_array_equal(view_of(changed).tables, view_of(model).tables)  # as weights, until the next refit
    assert_same(model, changed.forget(more, labels).refit())


@pytest.mark.dask
def test_partitions(model: NaiveBayes) -> None:
    frame = dd.from_pandas(X.assign(label=Y), npartitions=3)
    assert_same(model, NaiveBayes().fit(frame, "label"))


def test_terms_of_explanations_add_up(model: NaiveBayes) -> None:
    for one, answer in zip(model.explain(NEW[:10]), model.predict_log_proba(NEW[:10]), strict=True):
        np.testing.assert_allclose(one.total, answer, rtol=1e-9, atol=1e-9)
        table = one.contributions(by="view")
        assert table["bits"].sum() == pytest.approx(one.log_odds(), rel=1e-9, abs=1e-9)


def test_columns_that_are_not_given() -> None:
    """As by a model that was trained without the column; no row is then a copy of another."""
    some, whole = NEW.drop(columns="gain"), X.assign(x=np.random.default_rng(2).normal(size=len(X)))
    asked, other = NaiveBayes(absent="missing").fit(whole, Y), NaiveBayes().fit(whole.drop(columns="gain"), Y)
    view_of(other)
    np.testing.assert_allclose(asked.predict_proba(some), other.predict_proba(some), rtol=0, atol=1e-9)


def test_files(model: NaiveBayes, tmp_path: Path) -> None:
    model.save(tmp_path / "model.candide", sample=True)
    again = candide.load(tmp_path / "model.candide")
    np.testing.assert_array_equal(again.predict_proba(NEW), model.predict_proba(NEW))
    np.testing.assert_allclose(again.leave_one_out(X[:50], Y[:50]), model.leave_one_out(X[:50], Y[:50]), rtol=1e-12)
    views = model.model_.classifier.fitted.views
    check_stacked_views(views, model.model_.classifier.family, model.model_.classifier.state.statistics)
    wrong = [replace(view_of(model), tables=view_of(model).tables[:, 1:])]
    wrong.append(replace(view_of(model), tables=np.full_like(view_of(model).tables, np.nan)))
    wrong.append(
        replace(view_of(model), cells=replace(view_of(model).cells, columns=view_of(model).cells.columns[::-1]))
    )
    for view in wrong:
        with pytest.raises(InvalidContent):
            check_view(view, views.binning, len(model.classes_))
