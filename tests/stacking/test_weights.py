"""The objective of stacking weights: values, derivatives and scales, and solutions that depend on no shortcut."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize
from scipy.special import log_softmax
from tiers import every

from candide.stacking import weights
from candide.stacking.weights import TIE, _Common, _Loss, fit_weights, fit_weights_from

N_CLASSES, N_VIEWS, N_ROWS = 3, 4, 40
RNG = np.random.default_rng(5)
CLASSES = RNG.integers(0, N_CLASSES, N_ROWS)
WEIGHT = RNG.uniform(0.5, 2.0, N_ROWS)
VIEWS = (np.eye(N_CLASSES)[CLASSES] + RNG.normal(size=(N_VIEWS, N_ROWS, N_CLASSES))) * np.array([0.1, 1, 5, 50])[
    :, None, None
]
RIDGE = np.array([0.1, 1.0, 10.0, 100.0])
NONE = np.zeros(N_VIEWS)
SHOWN = np.ascontiguousarray(RNG.normal(size=(N_CLASSES, N_VIEWS, N_ROWS)))


def objective(found, scores=VIEWS, ridge=RIDGE, bias=None, weight=None):
    """As it is written in the module."""
    w = found.weight if weight is None else weight
    b = found.bias if bias is None else bias
    shown = (scores - scores.mean(axis=2, keepdims=True)) / found.scale[:, None, None]
    log_share = np.log(np.bincount(CLASSES, WEIGHT, minlength=scores.shape[2]) / WEIGHT.sum())
    log_proba = log_softmax(b + np.einsum("vik,vk->ik", shown, w), axis=1)
    mean = w.mean(axis=1, keepdims=True)
    penalty = ridge @ (mean[:, 0] ** 2 + TIE * ((w - mean) ** 2).sum(axis=1)) + ((b - log_share) ** 2).sum()
    return -WEIGHT @ log_proba[np.arange(len(CLASSES)), CLASSES] + penalty / 2


def common():
    return _Common(SHOWN, _Loss(CLASSES, WEIGHT, np.log([0.5, 0.3, 0.2])), RIDGE)


def test_value_of_the_common_problem():
    w, b = np.array([0.5, 0.0, 1.5, 0.25]), np.array([0.1, -0.2, 0.3])
    scores = np.einsum("v,kvi->ik", w, SHOWN) + b + np.log([0.5, 0.3, 0.2])
    loss = -WEIGHT @ log_softmax(scores, axis=1)[np.arange(N_ROWS), CLASSES]
    expected = loss + (RIDGE @ w**2 + b @ b) / 2
    assert common().value(np.append(w, b))[0] == pytest.approx(expected, rel=1e-13)


def test_derivatives_of_the_common_problem():
    problem, point = common(), np.array([0.5, 0.0, 1.5, 0.25, 0.1, -0.2, 0.3])
    gradient = approx_fprime(point, lambda p: problem.value(p)[0], 1e-6)
    np.testing.assert_allclose(problem.value(point)[1], gradient, rtol=1e-4, atol=1e-3)
    step = 1e-5 * np.eye(len(point))
    hessian = [(problem.value(point + h)[1] - problem.value(point - h)[1]) / 2e-5 for h in step]
    np.testing.assert_allclose(problem.curvature(point), hessian, rtol=1e-6, atol=1e-6)


@every("by_class", [True, False])
def test_no_other_weights_are_better(by_class):
    found = fit_weights(VIEWS, CLASSES, WEIGHT, RIDGE, NONE, by_class=by_class)
    assert found.weight.shape == (N_VIEWS, N_CLASSES)
    assert (found.weight >= 0).all()
    assert (found.weight == found.weight[:, :1]).all() == (not by_class)
    least, rng = objective(found), np.random.default_rng(0)
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            step = rng.normal(size=found.weight.shape) * size
            other = np.maximum(found.weight + (step if by_class else step[:, :1]), 0.0)
            assert objective(found, weight=other) > least
            assert objective(found, bias=found.bias + size * rng.normal(size=N_CLASSES)) > least


def test_two_classes_have_one_weight_per_view():
    found = fit_weights(VIEWS[:, :, :2], CLASSES % 2, WEIGHT, RIDGE, NONE)
    assert (found.weight[:, 0] == found.weight[:, 1]).all()


def test_scales_and_limits():
    least = np.array([0.0, 3.0, 0.0, 0.0])
    found = fit_weights(VIEWS, CLASSES, WEIGHT, RIDGE, least)
    centered = VIEWS - VIEWS.mean(axis=2, keepdims=True)
    size = np.sqrt((WEIGHT / WEIGHT.sum()) @ (centered**2).mean(axis=2).T)
    assert size[1] < 3.0
    np.testing.assert_allclose(found.scale, np.maximum(size, least), rtol=1e-13)
    np.testing.assert_allclose(found.limit, np.abs(centered).max(axis=(1, 2)) / found.scale, rtol=1e-13)
    # Parts of one sum have the scale of the sum.
    parts = fit_weights(VIEWS, CLASSES, WEIGHT, RIDGE, NONE, n_parts=2)
    sums = centered.reshape(2, 2, N_ROWS, N_CLASSES).sum(axis=1)
    size = np.sqrt((WEIGHT / WEIGHT.sum()) @ (sums**2).mean(axis=2).T)
    np.testing.assert_allclose(parts.scale, np.repeat(size, 2), rtol=1e-13)
    # Views without any score are not divided by 0.
    nothing = fit_weights(np.zeros_like(VIEWS), CLASSES, WEIGHT, RIDGE, NONE)
    assert nothing.scale.tolist() == [1e-9] * N_VIEWS


@every("by_class", [True, False])
def test_the_bias_of_useless_views_is_the_share_of_a_class(by_class):
    """A class without rows counts as half a row."""
    rows, weight = np.array([0, 0, 2, 2, 2]), np.ones(5)
    found = fit_weights(np.zeros((1, 5, 3)), rows, weight, np.ones(1), np.zeros(1), by_class=by_class)
    prior = np.log([2 / 5, 0.5 / 5, 3 / 5])

    def value(bias):
        return -log_softmax(bias)[rows].sum() + ((bias - prior) ** 2).sum() / 2

    np.testing.assert_allclose(found.bias, minimize(value, prior).x, atol=1e-4)


def test_shortcuts_find_the_same_weights(monkeypatch):
    """Newton's method, L-BFGS, and a search that starts at the solution for every eighth row."""
    expected = fit_weights(VIEWS, CLASSES, WEIGHT, RIDGE, NONE, by_class=False)
    for name, number in (("_ENOUGH_ROWS", 1), ("_FEW_VIEWS", 0), ("_FEW_CLASSES", 0)):
        with monkeypatch.context() as patch:
            patch.setattr(weights, name, number)
            found = fit_weights(VIEWS, CLASSES, WEIGHT, RIDGE, NONE, by_class=False)
        np.testing.assert_allclose(found.weight, expected.weight, atol=1e-5)
        np.testing.assert_allclose(found.bias, expected.bias, atol=1e-5)


def test_the_search_starts_at_the_solution_for_every_eighth_row(monkeypatch):
    starts = []

    def recorded(value, curvature, start, n_weights):
        starts.append((start, value.__self__.shown.shape[2], value.__self__.loss.weight.sum()))
        return start + 1.0

    monkeypatch.setattr(weights, "minimize_nonnegative", recorded)
    for n_rows, enough in ((N_ROWS, 5), (N_ROWS, 6)):
        monkeypatch.setattr(weights, "_ENOUGH_ROWS", enough)
        loss = _Loss(CLASSES[:n_rows], WEIGHT[:n_rows], np.zeros(N_CLASSES))
        weights._common(SHOWN, loss, RIDGE, approximate=False)
    few, whole, alone = starts
    assert (few[1], few[2], few[0].any()) == (5, 8 * WEIGHT[::8].sum(), False)
    assert (whole[1], whole[0].tolist()) == (N_ROWS, [1.0] * 7)
    assert (alone[1], alone[0].any()) == (N_ROWS, False)


def test_weights_near_given_ones():
    """Those that are least in the objective, with a ridge towards the start."""
    base, factor = RNG.normal(size=(N_CLASSES, N_ROWS)), RNG.uniform(0.5, 1.5, N_ROWS)
    start = RNG.uniform(0, 1, (N_VIEWS, N_CLASSES))

    def value(w, b):
        scores = np.einsum("vk,kvi->ik", w, SHOWN) + (base + b[:, None] * factor).T
        away = w - start
        mean = away.mean(axis=1, keepdims=True)
        penalty = RIDGE @ (mean[:, 0] ** 2 + TIE * ((away - mean) ** 2).sum(axis=1)) + b @ b
        return -WEIGHT @ log_softmax(scores, axis=1)[np.arange(N_ROWS), CLASSES] + penalty / 2

    w, b = fit_weights_from(SHOWN, base, factor, start, RIDGE, CLASSES, WEIGHT)
    least, rng = value(w, b), np.random.default_rng(0)
    assert (w >= 0).all()
    for size in (1e-3, 1e-2, 0.1):
        for _ in range(20):
            assert value(np.maximum(w + size * rng.normal(size=w.shape), 0.0), b) > least
            assert value(w, b + size * rng.normal(size=b.shape)) > least
