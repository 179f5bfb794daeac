"""Calibrations: laws for any scores, numbers of scipy and scikit-learn where they exist."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from tiers import tries

from candide.exceptions import ParameterError
from candide.kernels.layouts import Floats, Positions
from candide.stacking import calibration, calibration_curves, newton
from candide.stacking.calibration import (
    METHODS,
    Calibration,
    calibrate,
    cross_fitted,
    from_log_odds,
    log_odds,
    log_softmax,
)

LAWFUL = METHODS[:3]
SCORE = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-50, 50),
    st.floats(-1e5, 1e5),
    st.sampled_from([-np.inf, 0.0, 1e5, -1e5]),
)


class Scored(NamedTuple):
    scores: Floats
    classes: Positions
    weight: Floats
    amount: Floats | None


@st.composite
def scored_rows(draw: Any) -> Scored:
    n_rows, n_classes = draw(st.integers(0, 12)), draw(st.integers(1, 4))

    def rows(cell: Any, dtype: Any = np.float64) -> Any:
        return np.array(draw(st.lists(cell, min_size=n_rows, max_size=n_rows)), dtype=dtype)

    scores = rows(st.lists(SCORE, min_size=n_classes, max_size=n_classes)).reshape(n_rows, n_classes)
    amount = rows(st.integers(0, 1000)) if draw(st.booleans()) else None
    weight = rows(st.sampled_from([0.0, 1e-6, 0.5, 1.0, 3.0]))
    return Scored(scores, rows(st.integers(0, n_classes - 1), np.int32), weight, amount)


def overconfident(n_rows: int, n_classes: int, factor: float = 4.0, seed: int = 0) -> Scored:
    """Posteriors that are right, raised to a power; classes differ in their shares."""
    rng = np.random.default_rng(seed)
    posterior = log_softmax(2.0 * rng.normal(size=(n_rows, n_classes)) + 0.5 * np.arange(n_classes))
    classes = (posterior + rng.gumbel(size=posterior.shape)).argmax(axis=1).astype(np.int32)
    return Scored(factor * posterior, classes, rng.integers(1, 4, n_rows).astype(float), None)


def mean_loss(log_probability: Floats, rows: Scored) -> float:
    kept = rows.weight > 0
    own = log_probability[np.arange(len(kept)), rows.classes]
    return float(-np.average(own[kept], weights=rows.weight[kept])) if kept.any() else 0.0


def assert_probabilities(log_probability: Floats, shape: tuple[int, ...]) -> None:
    assert log_probability.shape == shape
    assert not np.isnan(log_probability).any()
    np.testing.assert_allclose(np.exp(log_probability).sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@given(rows=scored_rows(), others=scored_rows())
def test_any_scores_become_probabilities(method: str, rows: Scored, others: Scored) -> None:
    fitted = calibrate(method, *rows)
    assert_probabilities(fitted.apply(rows.scores, rows.amount), rows.scores.shape)
    assert_probabilities(fitted.apply(rows.scores), rows.scores.shape)
    assert all(np.isfinite(number).all() for number in fitted.describe().values())
    if others.scores.shape[1] == rows.scores.shape[1]:
        assert_probabilities(fitted.apply(others.scores, others.amount), others.scores.shape)


@pytest.mark.parametrize("method", LAWFUL)
@given(rows=scored_rows())
def test_calibrating_does_no_harm_to_the_rows_it_was_fitted_on(method: str, rows: Scored) -> None:
    fitted = calibrate(method, *rows)
    before = mean_loss(log_softmax(rows.scores), rows)
    assert mean_loss(fitted.apply(rows.scores, rows.amount), rows) <= before * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("method", ["temperature", "platt"])
@given(rows=scored_rows())
def test_impossible_classes_stay_impossible(method: str, rows: Scored) -> None:
    impossible = np.isneginf(rows.scores) & ~np.isneginf(rows.scores).all(axis=1, keepdims=True)
    assert np.isneginf(calibrate(method, *rows).apply(rows.scores, rows.amount)[impossible]).all()


@given(rows=scored_rows())
def test_temperature_keeps_the_order_of_classes(rows: Scored) -> None:
    calibrated = calibrate("temperature", *rows).apply(rows.scores, rows.amount)
    first, second = np.triu_indices(rows.scores.shape[1], 1)
    above = rows.scores[:, first] > rows.scores[:, second]
    assert (calibrated[:, first] >= calibrated[:, second])[above].all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_overconfidence_is_repaired(method: str, n_classes: int) -> None:
    rows, fresh = overconfident(20_000, n_classes), overconfident(20_000, n_classes, seed=1)
    truth = mean_loss(log_softmax(fresh.scores / 4.0), fresh)
    calibrated = mean_loss(calibrate(method, *rows).apply(fresh.scores), fresh)
    assert calibrated < truth + 0.01 < mean_loss(log_softmax(fresh.scores), fresh)


def test_temperature_is_the_minimum() -> None:
    rows = overconfident(500, 3)

    def loss(log_temperature: Floats) -> float:
        return mean_loss(log_softmax(rows.scores / np.exp(log_temperature)), rows)

    best = minimize(loss, [1.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-12})
    found = calibrate("temperature", *rows).describe()["temperature"]
    np.testing.assert_allclose(np.log(found), best.x[0], atol=5e-3)


def test_temperature_follows_the_amount_of_evidence() -> None:
    right = overconfident(40_000, 3, factor=1.0)
    amount = np.random.default_rng(2).integers(1, 500, 40_000).astype(float)
    temperature = 0.5 * (1.0 + amount) ** 0.8
    fitted = calibrate("temperature", right.scores * temperature[:, None], right.classes, right.weight, amount)
    numbers = fitted.describe()
    np.testing.assert_allclose([numbers["growth"], numbers["temperature_at_0"]], [0.8, 0.5], rtol=0.1)
    assert mean_loss(fitted.apply(right.scores * temperature[:, None], amount), right) < mean_loss(
        log_softmax(right.scores), right
    )


@pytest.mark.parametrize("method", ["beta", "isotonic"])
def test_curves_too_follow_the_amount_of_evidence(method: str) -> None:
    right = overconfident(10_000, 3, factor=1.0)
    amount = np.random.default_rng(2).integers(1, 500, 10_000).astype(float)
    rows = right._replace(scores=right.scores * (1.0 + amount)[:, None], amount=amount)
    blind = calibrate(method, *rows._replace(amount=None)).apply(rows.scores)
    assert mean_loss(calibrate(method, *rows).apply(rows.scores, amount), rows) < mean_loss(blind, rows) - 0.02


def test_an_amount_that_does_not_vary_changes_nothing() -> None:
    rows = overconfident(200, 3)
    same = rows._replace(amount=np.full(200, 7.0))
    for method in METHODS:
        np.testing.assert_array_equal(
            calibrate(method, *rows).apply(rows.scores), calibrate(method, *same).apply(rows.scores, same.amount)
        )


def test_platt_is_the_logistic_regression_of_the_log_odds() -> None:
    rows = overconfident(2_000, 2)
    odds = rows.scores[:, 1:] - rows.scores[:, :1]
    expected = LogisticRegression(C=1e6, tol=1e-10).fit(odds, rows.classes, rows.weight).predict_log_proba(odds)
    np.testing.assert_allclose(calibrate("platt", *rows).apply(rows.scores), expected, atol=1e-2)


@pytest.mark.parametrize("factor", [0.01, 1.0, 1e5])
def test_beta_is_a_logistic_regression_on_two_logarithms(factor: float) -> None:
    rows = overconfident(2_000, 2, factor)
    log_probability = log_softmax(rows.scores)
    columns = log_probability[:, ::-1] * [1.0, -1.0]
    model = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence, at the largest factor
        expected = log_loss(
            rows.classes,
            model.fit(columns / factor, rows.classes, rows.weight).predict_proba(columns / factor),
            sample_weight=rows.weight,
        )
    fitted = calibrate("beta", *rows)
    assert (model.coef_ >= 0).all()
    np.testing.assert_allclose(mean_loss(fitted.apply(rows.scores), rows), expected, rtol=1e-4)


def test_beta_does_not_bend_backwards() -> None:
    """Scores that are wrong more often than not: a and b would be negative."""
    rows = overconfident(500, 2)
    numbers = calibrate("beta", -rows.scores, *rows[1:]).describe()
    assert (np.array([numbers["a"], numbers["b"]]) == 0.0).all()
    share = np.average(rows.classes, weights=rows.weight)
    np.testing.assert_allclose(np.log(share / (1 - share)), numbers["c"], rtol=1e-2)


def test_isotonic_is_pooling_with_a_share_of_a_row_at_both_ends() -> None:
    rows = overconfident(500, 2)
    odds = np.r_[-1e9, rows.scores[:, 1] - rows.scores[:, 0], 1e9]
    weight = np.r_[0.5, rows.weight / rows.weight.mean(), 0.5]
    pooled = IsotonicRegression().fit(odds, np.r_[1, rows.classes, 0], weight)
    probability = np.exp(calibrate("isotonic", *rows).apply(rows.scores)[:, 1])
    np.testing.assert_allclose(probability, pooled.predict(odds[1:-1]), rtol=1e-9)
    assert (np.diff(probability[np.argsort(odds[1:-1])]) >= 0).all()


@pytest.mark.parametrize("method", METHODS)
def test_perfect_separation_stays_finite(method: str) -> None:
    classes = np.repeat(np.arange(3, dtype=np.int32), 20)
    fitted = calibrate(method, np.eye(3)[classes], classes, np.ones(60))
    own = np.exp(fitted.apply(np.eye(3)))[np.arange(3), np.arange(3)]
    assert ((own > 0.95) & (own < 1.0)).all()


@pytest.mark.parametrize("method", METHODS)
def test_only_how_weights_compare_matters(method: str) -> None:
    rows = overconfident(300, 3)
    heavy = rows._replace(weight=1000.0 * rows.weight)
    np.testing.assert_allclose(
        calibrate(method, *rows).apply(rows.scores), calibrate(method, *heavy).apply(rows.scores), rtol=1e-6
    )


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_weight_0_are_not_there(method: str) -> None:
    rows = overconfident(300, 3)
    weight = rows.weight * (np.arange(300) % 3 > 0)
    kept = weight > 0
    np.testing.assert_array_equal(
        calibrate(method, rows.scores, rows.classes, weight).apply(rows.scores),
        calibrate(method, rows.scores[kept], rows.classes[kept], weight[kept]).apply(rows.scores),
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_class_without_rows_becomes_rare(method: str) -> None:
    rows = overconfident(3_000, 4)
    kept = rows.classes != 2
    fitted = calibrate(method, rows.scores[kept], rows.classes[kept], rows.weight[kept])
    share = np.exp(fitted.apply(rows.scores[kept])[:, 2]).mean()
    assert 0 < share < (0.15 if method == "temperature" else 0.001)


@pytest.mark.parametrize(
    ("method", "by_amount"),
    [
        ("platt", True),
        ("beta", False),
        pytest.param("platt", False, marks=pytest.mark.slow),
        pytest.param("beta", True, marks=pytest.mark.slow),
    ],
)
def test_many_classes_come_out_as_few_would(method: str, by_amount: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a matrix of classes by classes, and with rows that hardly differ taken for one."""
    rows = overconfident(2_000, 120)
    if by_amount:
        rows = rows._replace(amount=np.random.default_rng(1).integers(1, 100, 2_000).astype(float))
    short = calibrate(method, *rows).apply(rows.scores, rows.amount)
    for module in (newton, calibration, calibration_curves):
        monkeypatch.setattr(module, "MANY", 1_000)
    full = calibrate(method, *rows).apply(rows.scores, rows.amount)
    assert mean_loss(short, rows) == pytest.approx(mean_loss(full, rows), abs=1e-5)
    np.testing.assert_allclose(np.exp(short), np.exp(full), atol=5e-3)


def test_log_odds_of_sure_classes_are_exact() -> None:
    posterior = log_softmax(np.array([[0.0, -100.0, -101.0], [0.0, -np.inf, -np.inf], [-3.0, -3.0, -3.0]]))
    odds = log_odds(posterior)
    np.testing.assert_allclose(odds[0], [100.0 - np.log1p(np.exp(-1.0)), -100.0, -101.0], rtol=1e-14)
    np.testing.assert_allclose(odds[2], -np.log(2.0))
    assert np.isfinite(odds).all()
    np.testing.assert_allclose(np.exp(from_log_odds(odds)), np.exp(posterior), atol=1e-15)


def test_cross_fitting_leaves_each_fold_out() -> None:
    rows = overconfident(103, 3)
    found = cross_fitted("platt", *rows)
    place = np.argsort(np.argsort(rows.classes, kind="stable"))
    for k in range(5):
        here, rest = place % 5 == k, place % 5 != k
        fitted: Calibration = calibrate("platt", rows.scores[rest], rows.classes[rest], rows.weight[rest])
        np.testing.assert_allclose(found[here], fitted.apply(rows.scores[here]), rtol=1e-9)


@pytest.mark.parametrize("method", [None, *METHODS])
@tries(12)
@given(rows=scored_rows())
def test_cross_fitting_takes_any_scores(method: str | None, rows: Scored) -> None:
    assert_probabilities(cross_fitted(method, *rows), rows.scores.shape)


def test_unknown_methods_are_refused() -> None:
    with pytest.raises(ParameterError, match="calibrate is 'magic'; expected None or one of 'temperature', 'platt'"):
        calibrate("magic", *overconfident(5, 2))
