"""One row learned or forgotten: it enters and leaves sums, views and the rows kept at once, and costs one row."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from candide import NaiveBayes
from candide.kernels import Kernels
from candide.model.classifier import Classifier
from candide.model.fitted import seen_rows
from candide.stacking.covariance import Covariance
from candide.stacking.dependence import OneDependence, TwoDependence
from candide.stacking.fourier_regression import FeatureSums, FourierRegression
from candide.stacking.views import LabeledRows, View
from candide.statistics import BlockMoments, Sample
from candide.statistics.base import Budget

RNG = np.random.default_rng(3)
N = 400
KIND = RNG.integers(0, 3, N)
Y = np.array(["a", "b", "c"])[KIND]
X = {
    "size": RNG.normal(KIND, 1.0).round(2),
    "weight": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(KIND * 0.5, 1.0).round(1)),
    "count": RNG.poisson(1 + KIND),
    "color": [["red", "green", "blue"][i] for i in RNG.integers(0, 3, N)],
}


def rows(which: Any) -> dict[str, list[Any]]:
    return {name: [column[i] for i in which] for name, column in X.items()}


@pytest.fixture(scope="module")
def changed() -> NaiveBayes:
    """Of all rows but the first five, of which some were learned and some forgotten after the fit."""
    model = NaiveBayes().fit(rows(range(390)), Y[:390])
    model.partial_fit(rows(range(390, N)), Y[390:])
    for i in range(5):
        model.forget(rows([i]), Y[[i]])
    return model


def sums(view: View, cases: LabeledRows) -> tuple[list[Any], list[Any]]:
    """The sums of a view, and those of rows counted anew under its codes."""
    n_classes, kernels = 3, Kernels(1)
    if isinstance(view, FourierRegression):
        return list(view.sums), list(FeatureSums.of(view.features, cases, n_classes))
    if isinstance(view, Covariance):
        points = view.coordinates.points(cases.binned)
        anew = BlockMoments.observe(points, cases.classes, cases.case_weight, n_classes)
        return list(vars(view.moments).values()), list(vars(anew).values())
    assert isinstance(view, (OneDependence, TwoDependence))
    one = view if isinstance(view, OneDependence) else view.one
    slots = one.merged.slots(cases.binned.codes)
    parents = slots if isinstance(view, OneDependence) else view.joint.of(slots)
    anew = kernels.joint_counts(parents, slots, cases.classes, cases.case_weight, view.table.joint.shape)
    weight = np.bincount(cases.classes, cases.case_weight, minlength=n_classes)
    return [view.table.joint, one.table.rows], [anew, weight]


def test_views_hold_the_rows_of_now(changed: NaiveBayes) -> None:
    model = changed.model_.classifier
    assert changed.staleness_ == 15 / 390
    assert model.fitted is not None
    seen, views = seen_rows(model.bound_spec, model.state, "this test"), model.fitted.views
    assert len(seen.case_weight) == N - 5
    binned = views.binning.transform(seen.batch.data, Kernels(1))
    weight = seen.case_weight / views.row_weight
    cases = LabeledRows(binned, seen.batch.classes, weight, weight)
    kinds = {type(view) for view in views.views}
    assert kinds == {OneDependence, TwoDependence, Covariance, FourierRegression}
    for view in views.views:
        for mine, anew in zip(*sums(view, cases), strict=True):
            exact = isinstance(view, (OneDependence, TwoDependence))
            np.testing.assert_allclose(mine, anew, rtol=0, atol=0 if exact else 1e-9)


def test_scores_are_those_of_tables_made_anew(changed: NaiveBayes) -> None:
    model = changed.model_.classifier
    anew = Classifier(model.bound_spec, model.state, model.fitted, choices=model.latest_choices)
    data = changed.model_.read(rows(range(60)))
    one, other = (which.posterior(data, Kernels(1), logarithm=False) for which in (model, anew))
    np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


def test_views_count_rows_of_the_weight_they_have() -> None:
    """After a discount a further row weighs as many times more in the views as in the sums."""
    model = NaiveBayes(order=1).fit(rows(range(100)), Y[:100]).discount(0.5).partial_fit(rows([100]), Y[[100]])
    assert model.model_.classifier.fitted is not None
    views = model.model_.classifier.fitted.views
    weights = [view.table.rows for view in views.views if isinstance(view, OneDependence)]
    assert weights
    for weight in weights:
        np.testing.assert_allclose(weight * views.row_weight, model.class_count_, rtol=1e-12)


@pytest.mark.parametrize("budget", [10_000, 1_500])
def test_a_sample_changes_row_by_row(budget: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick way, and the one by which all rows are put in order again."""
    data, some = NaiveBayes(stacking=None).fit(X, Y).model_.read(rows(range(60))), KIND[:60].astype(np.int32)
    size = Budget(budget)
    whole = Sample.of(data, some, None, 3, size)
    quick: list[Sample] = []
    for few in (64, -1):
        monkeypatch.setattr("candide.statistics.sample._FEW", few)
        sample = Sample.of(data.take(np.arange(50)), some[:50], None, 3, size)
        for i in range(40, 60):
            at = np.array([i])
            sample = sample.merge(Sample.of(data.take(at), some[at], None, 3, size, sample.threshold))
        for i in range(40, 50):
            at = np.array([i])
            sample = sample.forget(Sample.of(data.take(at), some[at], None, 3, size))
        quick.append(sample)
    for sample in quick:
        np.testing.assert_array_equal(sample.entries.hashes, whole.entries.hashes)
        np.testing.assert_array_equal(sample.classes, whole.classes)
        np.testing.assert_array_equal(sample.multiplicity, whole.multiplicity)
        np.testing.assert_array_equal(sample.threshold, whole.threshold)
        for mine, theirs in zip(sample.data.values, whole.data.values, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_one_row_costs_no_refit() -> None:
    """A refit of this table takes half a second or more."""
    n = 3_000
    kind = np.arange(n) % 4
    numbers = np.random.default_rng(0).normal(kind[:, None], 1.0, (n, 8))
    model = NaiveBayes(n_threads=1).fit(numbers, kind)
    model.predict_proba(numbers[:1])
    seconds = []
    for i in range(5):
        began = time.process_time()
        model.forget(numbers[i : i + 1], kind[i : i + 1]).predict_proba(numbers[:1])
        model.partial_fit(numbers[i : i + 1], kind[i : i + 1]).predict_proba(numbers[:1])
        seconds.append(time.process_time() - began)
    assert min(seconds) < 0.15
