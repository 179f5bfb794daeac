"""Means and variances by hand, with every estimate, and rows left out against models without them."""

import numpy as np
import pytest
from scipy.stats import norm, t
from tiers import every

from candide.families import Batch, Gaussian, gaussian_likelihood
from candide.kernels import Kernels
from candide.kernels.layouts import Dense
from candide.priors import Normal, NormalInverseGamma

KERNELS = Kernels(1)
# Class 1 has one value in column 1, class 2 none; class 3 has a row of weight 0.5.
X = np.array([
    [1.0, 4.0], [2.0, 6.0], [6.0, 5.0], [0.0, np.nan], [1.0, 8.0], [5.0, np.nan], [7.0, np.nan], [3.0, 1.0],
])  # fmt: skip
Y = np.array([0, 0, 0, 1, 1, 2, 2, 3], dtype=np.int32)
WEIGHT = np.array([1.0, 2.0, 1.0, 1.0, 1.5, 1.0, 1.0, 0.5])
OFFSET = np.log([0.4, 0.3, 0.2, 0.1])
PRIOR = NormalInverseGamma(2.0, 0.5, 1.5, 3.0)


def batch(x=X, weight=WEIGHT):
    return Batch(Dense.of(x), Y[: len(x)], weight, 4)


def moments(x, y, weight, n_classes=4):
    """Weight, mean and scatter, ``(classes, columns)``, by loops."""
    out = np.zeros((3, n_classes, x.shape[1]))
    for c in range(n_classes):
        for j in range(x.shape[1]):
            own = (y == c) & ~np.isnan(x[:, j]) & (weight > 0)
            if own.any():
                mean = np.average(x[own, j], weights=weight[own])
                out[:, c, j] = weight[own].sum(), mean, (weight[own] * (x[own, j] - mean) ** 2).sum()
    return out


W, M, S = moments(X, Y, WEIGHT)
TOTAL, MEAN, SCATTER = moments(X, np.zeros_like(Y), WEIGHT, 1)[:, 0]
VARIANCE = SCATTER / TOTAL


def fitted(x=X, weight=WEIGHT, **settings):
    family = Gaussian(**settings)
    return family.likelihood(family.observe(batch(x, weight), KERNELS))


@every("ddof,smoothing", [(0.0, 0.0), (0.0, 0.1), (0.5, 0.1), (1.0, 0.0)])
def test_maximum_likelihood(ddof, smoothing):
    """A class without degrees of freedom takes the column's overall variance, one without values also its mean."""
    found = fitted(ddof=ddof, var_smoothing=smoothing)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where((W > 0) & (W - ddof > 0), S / (W - ddof), VARIANCE)
    np.testing.assert_allclose(found.mean, np.where(W > 0, M, MEAN), rtol=1e-14)
    np.testing.assert_allclose(found.variance, variance + smoothing * VARIANCE.max(), rtol=1e-14, atol=1e-15)


@every("ddof", [0.0, 0.25])
def test_maximum_likelihood_with_a_shared_variance(ddof):
    found = fitted(ddof=ddof, shared=True, var_smoothing=0.1)
    rows = np.where(W > 0, W - ddof, 0.0).sum(axis=0)
    expected = np.broadcast_to(S.sum(axis=0) / rows + 0.1 * VARIANCE.max(), W.shape)
    np.testing.assert_allclose(found.variance, expected, rtol=1e-14)


def posterior(shared):
    strength = PRIOR.strength + W
    location = (PRIOR.strength * PRIOR.location + W * M) / strength
    shape = PRIOR.shape + W / 2
    scale = PRIOR.scale + (S + PRIOR.strength * W / strength * (M - PRIOR.location) ** 2) / 2
    if shared:
        shape = np.broadcast_to(PRIOR.shape + W.sum(axis=0) / 2, W.shape)
        scale = np.broadcast_to(PRIOR.scale + (scale - PRIOR.scale).sum(axis=0), W.shape)
    return strength, location, shape, scale


@every("estimate,more", [("mean", -1.0), ("map", 1.5)])
@every("shared", [False, True])
def test_posterior_means_and_modes(estimate, more, shared):
    """Of the variance with a mean for each class: the mode of a shared variance counts all means."""
    _, location, shape, scale = posterior(shared)
    found = fitted(prior=PRIOR, estimate=estimate, shared=shared)
    extra = 1.0 + 0.5 * 4 if shared and estimate == "map" else more
    np.testing.assert_allclose(found.mean, location, rtol=1e-14)
    np.testing.assert_allclose(found.variance, scale / (shape + extra), rtol=1e-14)


def test_a_posterior_without_a_mean_takes_the_overall_variance():
    """The mean of the variance is infinite for a shape of at most 1."""
    weak = NormalInverseGamma(2.0, 0.5, 0.5, 3.0)
    found = fitted(prior=weak, estimate="mean").variance
    shape = 0.5 + W / 2
    overall = np.broadcast_to(VARIANCE, W.shape)
    assert (shape <= 1).any()
    np.testing.assert_allclose(found[shape <= 1], overall[shape <= 1], rtol=1e-14)
    assert not np.isclose(found[shape > 1], overall[shape > 1]).any()


def test_a_column_without_values_has_the_prior_precision():
    nothing = np.column_stack([X[:, 0], np.full(len(X), np.nan)])
    found = fitted(x=nothing, prior=NormalInverseGamma(2.0, 0.5, 0.75, 3.0), estimate="mean")
    np.testing.assert_allclose(found.variance[:, 1], 3.0 / 0.75, rtol=1e-15)
    assert np.isnan(fitted(x=nothing, estimate="mean").mean[:, 1]).all()


@every("shared", [False, True])
def test_predictive_scores_are_students(shared):
    strength, location, shape, scale = posterior(shared)
    found = fitted(prior=PRIOR, estimate="predictive", shared=shared)
    cells = t.logpdf(X[:, None], 2 * shape, location, np.sqrt(scale * (strength + 1) / (shape * strength)))
    expected = OFFSET + np.nansum(cells, axis=2)
    np.testing.assert_allclose(found.scores(Dense.of(X), OFFSET, KERNELS), expected, rtol=1e-12)


@every("estimate", ["mean", "map", "predictive"])
def test_known_variance(estimate):
    prior = Normal(1.0, 4.0, 2.0)
    precision = 1 / 4.0 + W / 2.0
    location = (1.0 / 4.0 + W * M / 2.0) / precision
    variance = 2.0 + (1 / precision if estimate == "predictive" else 0.0)
    found = fitted(prior=prior, estimate=estimate)
    np.testing.assert_allclose(found.mean, location, rtol=1e-14)
    np.testing.assert_allclose(found.variance, np.broadcast_to(variance, W.shape), rtol=1e-14)
    expected = OFFSET + np.nansum(norm.logpdf(X[:, None], location, np.sqrt(variance)), axis=2)
    np.testing.assert_allclose(found.scores(Dense.of(X), OFFSET, KERNELS), expected, rtol=1e-12)


def test_what_is_taken_from_all_classes_is_taken_once():
    family = Gaussian(var_smoothing=0.1)
    statistics = family.observe(batch(), KERNELS)
    resolved = family.resolve(statistics)
    assert resolved.resolve(statistics.discount(0.5)) is resolved
    assert resolved.overall.floor == pytest.approx(0.1 * VARIANCE.max(), rel=1e-14)
    assert resolved.prior is None
    np.testing.assert_allclose(resolved.overall.mean, MEAN, rtol=1e-14)
    other = Gaussian(estimate="mean").resolve(statistics)
    assert other.overall.floor == 0.0
    np.testing.assert_allclose(other.prior.scale, 0.5 * VARIANCE, rtol=1e-14)
    assert Gaussian(estimate="mean", prior=PRIOR).resolve(statistics).prior is PRIOR


ROWS = np.array([[1.0, 4.0], [2.0, 6.0], [6.0, 5.0], [0.0, 2.0], [1.0, 8.0], [5.0, np.nan], [7.0, 3.0], [3.0, 1.0]])
CLASSES = np.array([0, 0, 0, 1, 1, 1, 1, 0], dtype=np.int32)
SETTINGS = [
    {"var_smoothing": 0.1}, {"ddof": 0.5, "var_smoothing": 0.1}, {"estimate": "mean", "prior": PRIOR},
    {"estimate": "map"}, {"estimate": "predictive"}, {"estimate": "predictive", "prior": PRIOR},
    {"estimate": "predictive", "prior": Normal(1.0, 4.0, 2.0)}, {"estimate": "mean", "prior": Normal(1.0, 4.0, 2.0)},
]  # fmt: skip


def left_out(family, x, y, weight, offset=OFFSET[:2]):
    rows = Batch(Dense.of(x), y, weight, 2)
    statistics = family.observe(rows, KERNELS)
    resolved = family.resolve(statistics)
    return resolved.left_out(rows, statistics, resolved.likelihood(statistics), offset, KERNELS)


def refitted(family, x, y, weight, offset=OFFSET[:2]):
    """Scores of each row by a model of the other rows; what is taken from all classes stays."""
    w = np.ones(len(x)) if weight is None else weight
    resolved = family.resolve(family.observe(Batch(Dense.of(x), y, weight, 2), KERNELS))
    out = np.empty((len(x), 2))
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        statistics = family.observe(Batch(Dense.of(x[others]), y[others], w[others], 2), KERNELS)
        out[i] = resolved.likelihood(statistics).scores(Dense.of(x[[i]]), offset, KERNELS)[0]
    return out


@every("settings", SETTINGS)
@every("shared", [False, True])
@every("weight", [None, np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25, 1.0]), np.array([0.0, 2, 1, 1, 3, 0, 1, 1])])
def test_rows_left_out(settings, shared, weight):
    family = Gaussian(shared=shared, **settings)
    found = left_out(family, ROWS, CLASSES, weight)
    assert not found.limits
    np.testing.assert_allclose(found.finite, refitted(family, ROWS, CLASSES, weight), rtol=1e-9)


@every("settings", SETTINGS)
@every("shared", [False, True])
def test_rows_left_out_in_parts(monkeypatch, settings, shared):
    """Few cells at a time give the same scores."""
    family = Gaussian(shared=shared, **settings)
    whole = left_out(family, ROWS, CLASSES, None)
    for n_cells in (4, 8):
        monkeypatch.setattr(gaussian_likelihood, "CELLS", n_cells)
        parts = left_out(family, ROWS, CLASSES, None)
        np.testing.assert_allclose(parts.finite, whole.finite, rtol=1e-12)


@every("settings", SETTINGS)
@every("shared", [False, True])
def test_an_outlier_left_out_takes_no_digits_with_it(settings, shared):
    """Nearly all of the scatter is its own, so that what is left is computed from the other rows."""
    x = ROWS.copy()
    x[2, 0], x[5, 1] = 1e9, -1e9
    family = Gaussian(shared=shared, **settings)
    if "prior" not in settings:
        family = family.resolve(family.observe(Batch(Dense.of(ROWS), CLASSES, None, 2), KERNELS))
    found, expected = left_out(family, x, CLASSES, None), refitted(family, x, CLASSES, None)
    np.testing.assert_allclose(found.finite, expected, rtol=1e-6)


@every("shared", [False, True])
def test_a_column_without_values_changes_no_left_out_score(shared):
    wider = np.column_stack([ROWS, np.full(len(ROWS), np.nan)])
    for settings in SETTINGS:
        family = Gaussian(shared=shared, **settings)
        found = left_out(family, wider, CLASSES, None).finite
        np.testing.assert_allclose(found, left_out(family, ROWS, CLASSES, None).finite, rtol=1e-12)


@every("shared", [False, True])
def test_the_last_row_of_a_class_is_scored_by_the_overall_distribution(shared):
    y = np.array([0, 1, 1, 1, 1, 1, 1, 1], dtype=np.int32)
    for settings in SETTINGS:
        family = Gaussian(shared=shared, **settings)
        np.testing.assert_allclose(left_out(family, ROWS, y, None).finite, refitted(family, ROWS, y, None), rtol=1e-9)


@every("shared", [False, True])
def test_points_left_out(shared):
    """Without its one other value a class has no variance, which is a limit and no number."""
    x, y = np.array([[1.0], [1.0], [1.0], [2.0], [4.0], [9.0]]), np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    if shared:
        x[4:] = 2.0
        x[2] = 3.0
    family = Gaussian(shared=shared, var_smoothing=0.0)
    found = left_out(family, x, y, None)
    resolved = family.resolve(family.observe(Batch(Dense.of(x), y, None, 2), KERNELS))
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        likelihood = resolved.likelihood(family.observe(Batch(Dense.of(x[others]), y[others], None, 2), KERNELS))
        one = Dense.of(x[[i]])
        np.testing.assert_allclose(found.finite[i], likelihood.scores(one, OFFSET[:2], KERNELS)[0], rtol=1e-12)
        limits = likelihood.limits(one, KERNELS) or [np.zeros((1, 2)), np.zeros((1, 2))]
        for limit, expected in zip(found.limits, limits, strict=True):
            np.testing.assert_allclose(limit[i], expected[0], rtol=1e-12)
