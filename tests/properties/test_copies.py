"""A row seen three times is the same as three equal rows, in whatever looks at rows again."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from candide import BernoulliNB, MultinomialNB
from candide.kernels.layouts import Array, Floats, Positions
from candide.model.decisions import conformal_threshold
from candide.model.evaluation import Evaluation
from candide.stacking.calibration import METHODS, calibrate, cross_fitted, log_softmax
from candide.stacking.training_rows import N_FOLDS, stratified_folds

LABELS = np.array(["ant", "bee", "cat"])


class Entries(NamedTuple):
    """Distinct rows with their log probabilities; ``weight`` is that of one copy."""

    scores: Floats
    classes: Positions
    weight: Floats
    amount: Floats
    multiplicity: Array

    def one_by_one(self) -> Entries:
        return Entries(*(np.repeat(part, self.multiplicity, axis=0) for part in self[:-1]), np.ones(self.n, dtype=int))

    @property
    def n(self) -> int:
        return int(self.multiplicity.sum())

    @property
    def total(self) -> Floats:
        return self.weight * self.multiplicity


@st.composite
def entries(draw: Any) -> Entries:
    n_rows, seed = draw(st.integers(2, 30)), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 3, n_rows).astype(np.int32)
    scores = log_softmax(2.0 * rng.normal(size=(n_rows, 3)) + 1.5 * np.eye(3)[classes])
    multiplicity = np.array(draw(st.lists(st.integers(1, 12), min_size=n_rows, max_size=n_rows)))
    weight = rng.choice([0.5, 1.0, 2.0], n_rows)
    return Entries(scores, classes, weight, rng.integers(1, 50, n_rows).astype(float), multiplicity)


@given(entries())
def test_reports(merged: Entries) -> None:
    split = merged.one_by_one()
    one = Evaluation.of(merged.scores, merged.classes, merged.total, LABELS, merged.multiplicity).as_dict()
    other = Evaluation.of(split.scores, split.classes, split.total, LABELS).as_dict()
    assert one["n_rows"] == other["n_rows"] == merged.n
    for name in ("accuracy", "accuracy_error", "log_loss", "log_loss_error", "brier", "ece", "aurc"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-9, atol=1e-12, err_msg=name)
    np.testing.assert_allclose(one["confusion"], other["confusion"])


@given(merged=entries(), coverage=st.sampled_from([0.5, 0.8, 0.9, 0.95]), by_class=st.booleans())
def test_thresholds_of_label_sets(merged: Entries, coverage: float, by_class: bool) -> None:
    def thresholds(rows: Entries, multiplicity: Array | None) -> Floats:
        own = rows.scores[np.arange(len(rows.classes)), rows.classes]
        return conformal_threshold(own, rows.classes, rows.total, coverage, by_class, 3, multiplicity)

    np.testing.assert_array_equal(thresholds(merged, merged.multiplicity), thresholds(merged.one_by_one(), None))


@pytest.mark.parametrize("method", METHODS)
@given(merged=entries(), by_amount=st.booleans())
def test_calibrations(method: str, merged: Entries, by_amount: bool) -> None:
    def fitted(rows: Entries, multiplicity: Array | None) -> Floats:
        amount = rows.amount if by_amount else None
        found = calibrate(method, rows.scores, rows.classes, rows.total, amount, multiplicity)
        return np.exp(found.apply(merged.scores, merged.amount if by_amount else None))

    np.testing.assert_allclose(
        fitted(merged, merged.multiplicity), fitted(merged.one_by_one(), None), rtol=1e-3, atol=1e-5
    )


@given(entries())
def test_folds(merged: Entries) -> None:
    """Copies are dealt out one by one, as if they were rows."""
    pieces, split = stratified_folds(merged.classes, merged.multiplicity), merged.one_by_one()
    rows = stratified_folds(split.classes, split.multiplicity)
    np.testing.assert_array_equal(rows.row, np.arange(merged.n))
    place = np.repeat(np.arange(len(merged.classes)), merged.multiplicity)
    for fold in range(N_FOLDS):
        here = pieces.fold == fold
        expected = np.bincount(place[rows.fold == fold], minlength=len(merged.classes))
        found = np.bincount(pieces.row[here], pieces.copies[here], minlength=len(merged.classes))
        np.testing.assert_array_equal(found, expected)


@given(entries())
def test_cross_fitted_calibrations(merged: Entries) -> None:
    row, folds, copies = stratified_folds(merged.classes, merged.multiplicity)
    parts = merged.scores[row], merged.classes[row], merged.weight[row] * copies
    found = cross_fitted("platt", *parts, multiplicity=copies, folds=folds)[np.arange(len(row)), parts[1]]
    split = merged.one_by_one()
    expected = cross_fitted("platt", *split[:3])[np.arange(merged.n), split.classes]
    assert found @ parts[2] == pytest.approx(expected @ split.weight, rel=1e-3)


@pytest.mark.parametrize("settings", [{}, {"alpha": "loo"}, {"calibrate": "isotonic"}], ids=str)
def test_reports_of_few_distinct_rows(settings: dict[str, Any]) -> None:
    """Ten thousand rows of three columns are sixteen distinct ones, and ten thousand all the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 10_000)
    X = (rng.random((10_000, 3)) < np.array([[0.2, 0.5, 0.4], [0.6, 0.3, 0.7]])[y]).astype(float)
    report = BernoulliNB(compute_loo=True, **settings).fit(X, y).loo_
    assert report.n_rows == 10_000
    assert report.accuracy_error == pytest.approx(np.sqrt(report.accuracy * (1 - report.accuracy) / 10_000), rel=1e-3)
    assert report.log_loss == pytest.approx(report.optimistic.log_loss, abs=1e-3)


def test_label_sets_of_few_distinct_rows() -> None:
    """Weights a little apart keep equal rows from being merged, and must change nothing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = rng.poisson(1.0 + 2.0 * np.eye(3)[y])
    apart = 1.0 + 1e-6 * rng.random(300)
    merged = MultinomialNB(subsample=100_000).fit(X, y)
    split = MultinomialNB(subsample=100_000).fit(X, y, sample_weight=apart)
    assert len(merged.model_.classifier.state.sample.weight) < len(split.model_.classifier.state.sample.weight) == 300
    for coverage in (0.7, 0.8, 0.9, 0.95):
        np.testing.assert_array_equal(merged.predict_set(X, coverage).mean(), split.predict_set(X, coverage).mean())
