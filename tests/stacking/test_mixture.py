"""Weights of a blend are the solution of the problem that ``mixture`` states, to many digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from candide.kernels.layouts import Array, Floats
from candide.stacking.weights import TIE, StackingWeights, fit_weights


def problem(n_classes: int, n_views: int = 7, n_rows: int = 150) -> tuple[Floats, Array, Floats, Floats, Floats]:
    """Views of different sizes, some of them noise, and ridges that differ by orders of magnitude."""
    rng = np.random.default_rng(n_classes)
    classes = rng.integers(0, n_classes, n_rows).astype(np.int32)
    right = np.eye(n_classes)[classes] * np.linspace(-0.5, 2.0, n_views)[:, None, None]
    views = (right + rng.normal(size=(n_views, n_rows, n_classes))) * 10.0 ** rng.integers(-1, 3, (n_views, 1, 1))
    return views, classes, rng.uniform(0.5, 2.0, n_rows), np.geomspace(0.1, 1e4, n_views), np.zeros(n_views)


def slopes(
    found: StackingWeights, views: Floats, classes: Array, weight: Floats, ridge: Floats
) -> tuple[Floats, Floats]:
    """Of what is to be least, by weights ``(views, classes)`` and by biases, from the formula as it is written."""
    n_classes = views.shape[2]
    shown = (views - views.mean(axis=2, keepdims=True)) / found.scale[:, None, None]
    share = np.exp(log_softmax(found.bias + np.einsum("vik,vk->ik", shown, found.weight), axis=1))
    error = weight[:, None] * (share - np.eye(n_classes)[classes])
    mean = found.weight.mean(axis=1, keepdims=True)
    held = ridge[:, None] * (mean / n_classes + TIE * (found.weight - mean))
    log_share = np.log(np.bincount(classes, weight) / weight.sum())
    return np.einsum("vik,ik->vk", shown, error) + held, error.sum(axis=0) + found.bias - log_share


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_weights_solve_the_problem(n_classes: int) -> None:
    """No slope where a weight is above 0, and none that a negative weight would follow where it is 0."""
    views, classes, weight, ridge, least = problem(n_classes)
    found = fit_weights(views, classes, weight, ridge, least)
    by_weight, by_bias = slopes(found, views, classes, weight, ridge)
    if n_classes == 2:  # one weight for both classes
        np.testing.assert_array_equal(found.weight[:, 0], found.weight[:, 1])
        by_weight = by_weight.sum(axis=1, keepdims=True)
    at_zero = found.weight[:, : by_weight.shape[1]] == 0.0
    assert at_zero.any()
    assert (by_weight[at_zero] > -1e-5).all()
    np.testing.assert_allclose(by_weight[~at_zero], 0.0, atol=1e-4)
    np.testing.assert_allclose(by_bias, 0.0, atol=1e-4)


def test_what_was_seen_is_left_as_it_was() -> None:
    views, *how = problem(3)
    before = views.copy()
    found = fit_weights(views, *how)
    np.testing.assert_array_equal(views, before)
    shown = (views - views.mean(axis=2, keepdims=True)) / found.scale[:, None, None]
    np.testing.assert_allclose(found.limit, np.abs(shown).max(axis=(1, 2)))


def test_parts_have_the_size_of_their_sum() -> None:
    """However little there is in one of them."""
    views, *how = problem(3, n_views=6)
    views[1] *= 1e-9
    found = fit_weights(views, *how, n_parts=3)
    whole = fit_weights(views.reshape(2, 3, *views.shape[1:]).sum(axis=1), *how[:2], *(part[:2] for part in how[2:]))
    np.testing.assert_allclose(found.scale, np.repeat(whole.scale, 3))
    assert found.limit[1] < 1e-7


def test_a_row_of_weight_two_is_two_rows() -> None:
    views, classes, _, ridge, least = problem(4)
    rows = np.repeat(np.arange(150), 1 + np.arange(150) % 2)
    one = fit_weights(views, classes, 1.0 + np.arange(150) % 2, ridge, least)
    other = fit_weights(views[:, rows], classes[rows], np.ones(len(rows)), ridge, least)
    np.testing.assert_allclose(one.weight, other.weight, atol=1e-7)
    np.testing.assert_allclose(one.bias, other.bias, atol=1e-7)
