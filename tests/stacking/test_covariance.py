"""The view of number columns together: its density, rows left out, coordinates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_t

from candide.kernels import Kernels
from candide.kernels.layouts import Floats
from candide.stacking import covariance as module
from candide.stacking.covariance import Covariance, covariances, fit_coordinates
from candide.stacking.views import BinnedRows, LabeledRows
from candide.statistics import BlockMoments

from .cases import KINDS, SIZES, make_cases, unseen_rows, without

KERNELS = Kernels(1)
NUMBERS = [0, 2, 4]  # columns of the codes that stand for the numbers
every_kind = pytest.mark.parametrize("kind", KINDS)


def n_classes_of(kind: str) -> int:
    return int(KINDS[kind].get("n_classes", 3))


def counts_of(cases: LabeledRows) -> list[Floats]:
    codes, weight = cases.binned.codes, cases.case_weight
    return [np.bincount(codes[:, j], weight, minlength=SIZES[j])[: SIZES[j]] for j in NUMBERS]


def views(cases: LabeledRows, n_classes: int) -> list[Covariance]:
    both = fit_coordinates(NUMBERS, counts_of(cases), cases, n_classes)
    return [view for coordinates in both for view in covariances("covariance", coordinates, cases, n_classes)]


@every_kind
def test_left_out_is_a_view_without_the_row(kind: str) -> None:
    cases, n_classes = make_cases(**KINDS[kind]), n_classes_of(kind)
    for view in views(cases, n_classes):
        got = view.left_out(cases.binned, cases.classes, cases.weight, KERNELS)
        for row in range(len(cases.classes)):
            rest = without(cases, row)
            points = view.coordinates.points(cases.binned)
            moments = BlockMoments.observe(points, rest.classes, rest.case_weight, n_classes)
            meant = replace(view, moments=moments).scores(cases.binned.take(np.array([row])), KERNELS)[0]
            np.testing.assert_allclose(got[row], meant, rtol=1e-9, atol=1e-9)


@every_kind
def test_scores_are_of_a_student_distribution(kind: str) -> None:
    cases, n_classes = make_cases(**KINDS[kind]), n_classes_of(kind)
    for view in views(cases, n_classes):
        moments, n = view.moments, view.moments.weight
        scores = view.scores(cases.binned, KERNELS)
        points = view.coordinates.points(cases.binned)
        for k in np.flatnonzero(n > 0):
            scale = moments.scatter[k] + view.share * moments.scatter.sum(axis=0) + 0.01 * view.strength * np.eye(3)
            sure = max(n[k], 1.0)
            freedom = 2 + view.strength + n[k]
            student = multivariate_t(moments.mean[k], scale * (sure + 1) / sure / freedom, freedom)
            np.testing.assert_allclose(scores[:, k], student.logpdf(points) + 1.5 * np.log(np.pi), rtol=1e-9)


def test_two_shrinkages_in_two_coordinates() -> None:
    assert [view.strength for view in views(make_cases(), 3)] == [2.5, 40.0] * 2


def test_a_row_with_nothing_known_is_in_the_middle() -> None:
    cases = make_cases()
    for view in views(cases, 3):
        np.testing.assert_array_equal(view.coordinates.points(unseen_rows())[0], 0.0)
        assert np.isfinite(view.scores(unseen_rows(), KERNELS)).all()


def test_coordinates_have_mean_0_and_variance_1() -> None:
    cases = make_cases(300, weighted=True)
    whole = cases._replace(binned=BinnedRows(cases.binned.codes % SIZES, np.nan_to_num(cases.binned.numbers)))
    for coordinates in fit_coordinates(NUMBERS, counts_of(whole), whole, 3):
        moments = BlockMoments.observe(coordinates.points(whole.binned), np.zeros(300, np.int32), whole.case_weight, 1)
        np.testing.assert_allclose(moments.mean, 0.0, atol=1e-12)
        np.testing.assert_allclose(np.diagonal(moments.scatter[0]) / moments.weight, 1.0)


def test_weights_are_repeated_rows_to_clipped_coordinates() -> None:
    numbers = np.random.default_rng(0).standard_cauchy((50, 3))
    copies = np.arange(50) % 5
    cases = make_cases(50)._replace(binned=BinnedRows(make_cases(50).binned.codes, numbers))
    repeated = np.repeat(np.arange(50), copies)
    weighted = cases._replace(case_weight=copies.astype(float))
    plain = LabeledRows(cases.binned.take(repeated), cases.classes[repeated], np.ones(100), np.ones(100))
    one, other = (fit_coordinates(NUMBERS, counts_of(part), part, 3) for part in (weighted, plain))
    for mine, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(mine.points(cases.binned), theirs.points(cases.binned), rtol=1e-12)


def test_outliers_are_moved_to_the_others() -> None:
    numbers = np.concatenate([np.linspace(0, 1, 999), [1e12]])[:, None]
    cases = make_cases(1000)._replace(binned=BinnedRows(np.zeros((1000, 1), np.int32), numbers))
    _, clipped = fit_coordinates([0], [np.ones(2)], cases, 3)
    assert np.abs(clipped.points(cases.binned)).max() < 2


def test_columns_that_say_nothing_are_left_out() -> None:
    cases = make_cases()
    counts = counts_of(cases)
    counts[1] = np.array([40.0])
    ranks, clipped = fit_coordinates(NUMBERS, counts, cases, 3)
    assert ranks.columns.tolist() == [0, 4]
    assert clipped.columns.tolist() == [0, 2]
    counts[2] = np.array([40.0])
    for coordinates in fit_coordinates(NUMBERS, counts, cases, 3):
        assert covariances("covariance", coordinates, cases, 3) == []


def test_the_first_in_order_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = make_cases()
    monkeypatch.setattr(module, "MOST_COLUMNS", 2)
    ranks, clipped = fit_coordinates(NUMBERS, counts_of(cases), cases, 3, np.array([2, 0, 1]))
    assert ranks.columns.tolist() == [0, 4]
    assert clipped.columns.tolist() == [0, 2]


def test_chunks_are_scored_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = make_cases(weighted=True)
    view = views(cases, 3)[0]
    scores = view.scores(cases.binned, KERNELS)
    left_out = view.left_out(cases.binned, cases.classes, cases.weight, KERNELS)
    monkeypatch.setattr(module, "CHUNK_ROWS", 7)
    np.testing.assert_allclose(view.scores(cases.binned, KERNELS), scores, rtol=1e-12)
    np.testing.assert_allclose(view.left_out(cases.binned, cases.classes, cases.weight, KERNELS), left_out, rtol=1e-12)
