"""The views of waves: least squares on cosines, rows left out, and what the waves run through."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import candide
from candide.kernels import Kernels
from candide.kernels.layouts import Floats
from candide.stacking import fourier_regression as module
from candide.stacking.fourier_features import Inputs, draw_features
from candide.stacking.fourier_regression import FeatureSums, FourierRegression, fit_fourier_regressions
from candide.stacking.views import BinnedRows, LabeledRows

from .cases import KINDS, SIZES, make_cases, unseen_rows, without

KERNELS = Kernels(1)
IS_NUMBER = [True, False, True, False, True]
RELEVANCE = np.array([1.0, 0.3, 0.8, 0.2, 0.5])
PENALTIES = (1e-3, 1.0, 1e3)
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def fewer_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WIDTH", 60)


def n_classes_of(kind: str) -> int:
    return int(KINDS[kind].get("n_classes", 3))


def counts_of(cases: LabeledRows, sizes: Floats = SIZES) -> list[Floats]:
    codes, weight = cases.binned.codes, cases.case_weight
    return [np.bincount(codes[:, j], weight, minlength=size)[:size] for j, size in enumerate(sizes)]


def views(cases: LabeledRows, n_classes: int = 3) -> list[FourierRegression]:
    return list(fit_fourier_regressions(counts_of(cases), IS_NUMBER, cases, n_classes, RELEVANCE))


def inputs_of(cases: LabeledRows) -> Inputs:
    return Inputs.of(np.arange(5), counts_of(cases), IS_NUMBER, cases)


def ridge_scores(
    heights: Floats, cases: LabeledRows, n_classes: int, penalty: float, new: Floats | None = None
) -> Floats:
    """Least squares with an intercept that is not penalised, less the shares of the classes; ``new``: of other rows."""
    design = np.column_stack([np.ones(len(heights)), heights])
    indicators = np.eye(n_classes)[cases.classes]
    weighted = design * cases.case_weight[:, None]
    pull = np.diag(np.append(0.0, np.full(heights.shape[1], penalty)))
    slopes = np.linalg.solve(weighted.T @ design + pull, weighted.T @ indicators)
    design = design if new is None else np.column_stack([np.ones(len(new)), new])
    return np.asarray(design @ slopes - np.average(indicators, axis=0, weights=cases.case_weight))


def with_absent(binned: BinnedRows, share: float) -> BinnedRows:
    """Rows from which such a share of the cells is taken away, and all cells of the first."""
    absent = np.random.default_rng(7).random(binned.codes.shape) < share
    absent[0] = True
    return binned._replace(codes=np.where(absent, np.int32(-1), binned.codes), known=binned.codes)


@every_kind
def test_scores_are_of_ridge_regression(kind: str) -> None:
    cases, n_classes = make_cases(**KINDS[kind]), n_classes_of(kind)
    for view in views(cases, n_classes):
        meant = ridge_scores(view.features.transform(cases.binned), cases, n_classes, view.penalty)
        np.testing.assert_allclose(view.scores(cases.binned, KERNELS), meant, rtol=1e-9, atol=1e-9)


@every_kind
@pytest.mark.parametrize("penalty", PENALTIES)
def test_left_out_is_ridge_regression_without_the_row(kind: str, penalty: float) -> None:
    cases, n_classes = make_cases(**KINDS[kind]), n_classes_of(kind)
    for view in (replace(view, penalty=penalty) for view in views(cases, n_classes)):
        got = view.left_out(cases.binned, cases.classes, cases.weight, KERNELS)
        heights = view.features.transform(cases.binned)
        for row in range(len(cases.classes)):
            meant = ridge_scores(heights, without(cases, row), n_classes, penalty)[row]
            np.testing.assert_allclose(got[row], meant, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["plain", "copies", "a class of one row"])
@pytest.mark.parametrize("most_rows", [25, 40])
def test_left_out_without_some_columns(kind: str, most_rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row as it was learned leaves, and is scored by the columns that are left."""
    monkeypatch.setattr(module, "MOST_ROWS", most_rows)
    cases = make_cases(**KINDS[kind])
    binned = with_absent(cases.binned, 0.4)
    for view in views(cases):
        learned = np.flatnonzero(cases.binned.hashes() < view.hash_bound)
        assert len(learned) == most_rows
        some = cases.take(learned)
        heights, fewer = (view.features.transform(rows.take(learned)) for rows in (cases.binned, binned))
        got = view.left_out(binned, cases.classes, cases.weight, KERNELS)
        assert not got[0].any()
        for i, row in enumerate(learned):
            if (binned.codes[row] >= 0).any():
                meant = ridge_scores(heights, without(some, i), 3, view.penalty, fewer[i : i + 1])[0]
                np.testing.assert_allclose(got[row], meant, rtol=1e-9, atol=1e-9)
        others = np.setdiff1d(np.arange(40), learned)
        np.testing.assert_allclose(got[others], view.scores(binned, KERNELS)[others], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("absent", [[0], [1], [3], [0, 2], [0, 1, 2, 3], [0, 2, 4], [0, 1, 2, 3, 4]])
def test_columns_not_given_are_averaged_over(absent: list[int]) -> None:
    """Levels by their shares, ranks as jointly normal ones given the others: beside a great number of draws."""
    cases, rng, n_draws = make_cases(200), np.random.default_rng(0), 20_000
    binned = cases.binned.take(slice(0, 3))
    codes = binned.codes.copy()
    codes[:, absent] = -1
    for view in views(cases):
        inputs, cosines = view.features.inputs, view.features
        columns, n_ranks = inputs.column, len(inputs.ranks.columns)
        found = cosines.transform(BinnedRows(codes, binned.numbers))
        own = inputs.times(binned, np.eye(len(columns)))
        gone = np.isin(inputs.ranks.columns, absent)
        covariance = np.cov(inputs.ranks.points(cases.binned).T, ddof=0) + 0.01 * np.eye(n_ranks)
        across = covariance[np.ix_(gone, ~gone)] @ np.linalg.inv(covariance[np.ix_(~gone, ~gone)])
        left = covariance[np.ix_(gone, gone)] - across @ covariance[np.ix_(~gone, gone)]
        for row in range(3):
            drawn = np.tile(own[row], (n_draws, 1))
            mean = across @ own[row, :n_ranks][~gone]
            if gone.any():
                drawn[:, :n_ranks][:, gone] = rng.multivariate_normal(mean, left, n_draws)
            for j in np.intersect1d(absent, inputs.levels.columns):
                # A row of training for each draw: its levels of this column alone.
                slots = np.flatnonzero((columns == j) & (np.arange(len(columns)) >= n_ranks))
                levels = inputs.times(cases.binned, np.eye(len(columns)))[:, slots]
                drawn[:, slots] = levels[rng.integers(0, len(levels), n_draws)]
            heights = np.cos(drawn @ cosines.frequencies + cosines.phases).mean(axis=0)
            np.testing.assert_allclose(found[row], heights, atol=0.03)


@pytest.mark.parametrize("kind", ["plain", "copies"])
def test_the_penalty_predicts_rows_left_out_best(kind: str) -> None:
    cases = make_cases(80, **KINDS[kind])
    indicators = np.eye(3)[cases.classes]
    for view in views(cases):
        heights, errors = view.features.transform(cases.binned), []
        for penalty in module._PENALTIES:
            error = 0.0
            for row in range(80):
                rest = without(cases, row)
                share = np.average(indicators, axis=0, weights=rest.case_weight)
                predicted = ridge_scores(heights, rest, 3, penalty)[row] + share
                error += cases.case_weight[row] * float(((indicators[row] - predicted) ** 2).sum())
            errors.append(error)
        assert view.penalty == module._PENALTIES[int(np.argmin(errors))]


def test_sums_add() -> None:
    cases = make_cases(weighted=True)
    cosines = views(cases)[0].features
    parts = [FeatureSums.of(cosines, cases.take(rows), 3) for rows in (slice(0, 15), slice(15, 40))]
    for whole, one, other in zip(FeatureSums.of(cosines, cases, 3), *parts, strict=True):
        np.testing.assert_allclose(whole, one + other, rtol=1e-12, atol=1e-12)


def test_a_weight_is_repeated_rows() -> None:
    cases = make_cases(50)
    copies = np.arange(50) % 4
    repeated = np.repeat(np.arange(50), copies)
    weighted = views(cases._replace(case_weight=copies.astype(float)))
    for one, other in zip(weighted, views(cases.take(repeated)), strict=True):
        assert one.penalty == other.penalty
        got, meant = (view.scores(cases.binned, KERNELS) for view in (one, other))
        np.testing.assert_allclose(got, meant, atol=1e-5)  # angles may round to either of two single-precision numbers


def test_smooth_functions_of_several_columns_are_learned() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, (600, 4)).astype(np.int32)
    classes = (((codes[:, :3] - 9.5) ** 2).sum(axis=1) > 95).astype(np.int32)
    cases = LabeledRows(BinnedRows(codes, codes.astype(float)), classes, np.ones(600), np.ones(600))
    for view in fit_fourier_regressions(
        counts_of(cases, np.full(4, 20)), [True] * 4, cases, 2, np.array([1.0, 1.0, 1.0, 0.1])
    ):
        left_out = view.left_out(cases.binned, classes, cases.weight, KERNELS)
        assert (left_out.argmax(axis=1) == classes).mean() > 0.85


def test_waves_are_the_same_every_time() -> None:
    for one, other in zip(views(make_cases()), views(make_cases()), strict=True):
        np.testing.assert_array_equal(one.features.frequencies, other.features.frequencies)
        np.testing.assert_array_equal(one.features.phases, other.features.phases)


def test_waves_through_all_columns_and_through_few() -> None:
    every, few = views(make_cases())
    assert [every.name, few.name] == [
        "random Fourier features of all columns",
        "random Fourier features of 2 to 4 columns",
    ]

    def columns_of(view: FourierRegression) -> list[int]:
        moved = view.features.frequencies != 0
        return [len(np.unique(view.features.inputs.column[wave])) for wave in moved.T]

    assert set(columns_of(every)) == {5}
    assert columns_of(few) == [2, 3, 4] * 20


def test_columns_count_by_their_relevance() -> None:
    cases = make_cases(400)
    cosines = draw_features(inputs_of(cases), cases, RELEVANCE, None, 4000, 0)
    few = draw_features(inputs_of(cases), cases, RELEVANCE, (1,), 4000, 0)
    assert cosines is not None
    assert few is not None
    variance, column = cosines.inputs.variance(cases), cosines.inputs.column
    turned = np.bincount(column, variance * (cosines.frequencies**2).mean(axis=1))
    np.testing.assert_allclose(turned / turned.sum(), RELEVANCE**2 / (RELEVANCE**2).sum(), atol=0.02)
    drawn = [(few.frequencies[column == j] != 0).any(axis=0).mean() for j in range(5)]
    np.testing.assert_allclose(drawn, RELEVANCE / RELEVANCE.sum(), atol=0.03)


def test_inputs_are_ranks_and_indicators() -> None:
    cases = make_cases(weighted=True)
    inputs = inputs_of(cases)
    matrix = inputs.times(cases.binned, np.eye(len(inputs.column)))
    mean = np.average(matrix, axis=0, weights=cases.case_weight)
    meant = np.average((matrix - mean) ** 2, axis=0, weights=cases.case_weight)
    np.testing.assert_allclose(inputs.variance(cases), meant, atol=1e-12)
    slots = matrix[:, len(inputs.ranks.columns) :]
    assert set(np.unique(slots)) == {0.0, 1.0}
    np.testing.assert_array_equal(slots.sum(axis=1), len(inputs.levels.columns))


def test_what_never_varied_does_not_matter() -> None:
    cases = make_cases()
    whole = cases._replace(binned=BinnedRows(cases.binned.codes % SIZES, cases.binned.numbers))
    missing, unseen = whole.binned.codes.copy(), whole.binned.codes.copy()
    missing[:, 1], unseen[:, 1] = SIZES[1], SIZES[1] + 1
    for view in views(whole):
        got, meant = (view.scores(BinnedRows(codes, whole.binned.numbers), KERNELS) for codes in (missing, unseen))
        np.testing.assert_array_equal(got, meant)
        assert np.isfinite(view.scores(unseen_rows(), KERNELS)).all()


def test_rows_that_were_not_learned_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 25)
    cases = make_cases(weighted=True)
    for view in views(cases):
        learned = cases.binned.hashes() < view.hash_bound
        assert learned.sum() == 25
        some = cases.take(np.flatnonzero(learned))
        np.testing.assert_allclose(view.sums.products, FeatureSums.of(view.features, some, 3).products, rtol=1e-12)
        got = view.left_out(cases.binned, cases.classes, cases.weight, KERNELS)
        np.testing.assert_allclose(got[~learned], view.scores(cases.binned, KERNELS)[~learned], atol=1e-12)
        heights = view.features.transform(some.binned)
        meant = [ridge_scores(heights, without(some, row), 3, view.penalty)[row] for row in range(25)]
        np.testing.assert_allclose(got[learned], meant, rtol=1e-9, atol=1e-9)


def test_chunks_are_scored_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    cases = make_cases(weighted=True)
    view = views(cases)[0]
    scores = view.scores(cases.binned, KERNELS)
    left_out = view.left_out(cases.binned, cases.classes, cases.weight, KERNELS)
    monkeypatch.setattr(module, "_CHUNK", 7)
    np.testing.assert_allclose(view.scores(cases.binned, KERNELS), scores, atol=1e-5)
    np.testing.assert_allclose(view.left_out(cases.binned, cases.classes, cases.weight, KERNELS), left_out, atol=1e-5)


def test_constants_make_no_waves() -> None:
    cases = make_cases()
    constant = cases._replace(binned=BinnedRows(np.zeros_like(cases.binned.codes), cases.binned.numbers))
    assert views(constant) == []
    assert views(cases._replace(case_weight=np.zeros(40))) == []


@pytest.mark.parametrize("is_number", [True, False])
@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_one_column_and_few_rows(is_number: bool, n_rows: int) -> None:
    codes = np.arange(n_rows, dtype=np.int32)[:, None]
    classes = (np.arange(n_rows) % 2).astype(np.int32)
    cases = LabeledRows(BinnedRows(codes, codes.astype(float)), classes, np.ones(n_rows), np.ones(n_rows))
    made = list(fit_fourier_regressions([np.ones(n_rows)], [is_number], cases, 2, np.ones(1)))
    assert len(made) == (0 if n_rows == 1 else 2)
    for view in made:
        assert np.isfinite(view.left_out(cases.binned, classes, cases.weight, KERNELS)).all()


def test_many_classes_share_one_matrix() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, SIZES, (2000, 5)).astype(np.int32)
    classes = (np.arange(2000) % 1000).astype(np.int32)
    cases = LabeledRows(BinnedRows(codes, codes[:, :3].astype(float)), classes, np.ones(2000), np.ones(2000))
    for view in views(cases, 1000):
        assert view.sums.products.shape == (60, 60)
        assert view.sums.sums.shape == (1000, 60)
        assert view.left_out(cases.binned, classes, cases.weight, KERNELS).shape == (2000, 1000)


@pytest.mark.parametrize(("order", "made"), [("auto", 2), (2, 2), (1, 0), (0, 0)])
def test_only_the_highest_order_has_waves(order: int | str, made: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = candide.NaiveBayes(order=order).fit(X, X[:, 0] * X[:, 1] > 0)
    names = [str(name) for name in model.summary()["column"]]
    assert sum(name.startswith("random Fourier features") for name in names) == made
