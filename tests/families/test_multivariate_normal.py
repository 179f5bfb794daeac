"""The normal distribution of several columns: SciPy's densities, rows left out, missing cells, evidence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal, multivariate_t

from candide.exceptions import InputError, ParameterError
from candide.families import Batch, Gaussian, MultivariateNormal
from candide.kernels import Kernels
from candide.kernels.layouts import Array, Dense, Floats
from candide.priors import NormalInverseGamma, NormalInverseWishart
from candide.statistics import BlockMoments

KERNELS = Kernels(1)
PRIOR = NormalInverseWishart([0.5, -1.0, 0.0], 0.7, 4.5, [[2.0, 0.3, 0.0], [0.3, 1.0, 0.2], [0.0, 0.2, 1.5]])
SETTINGS: dict[str, dict[str, Any]] = {
    "mle": {"var_smoothing": 0.01},
    "mle, tiny floor": {},
    "mean": {"estimate": "mean"},
    "map": {"estimate": "map"},
    "predictive": {"estimate": "predictive"},
    "given": {"estimate": "predictive", "prior": PRIOR},
    "given map": {"estimate": "map", "prior": PRIOR},
}
every_setting = pytest.mark.parametrize("setting", SETTINGS)


def rows(n_rows: int = 30, *, missing: bool = False, weighted: bool = False, few: bool = False) -> Batch:
    """Rows of three classes; the last one has as few rows as columns."""
    rng = np.random.default_rng(n_rows)
    classes = np.sort(np.arange(n_rows) % 2).astype(np.int32)
    if few:
        classes[-3:] = 2
    x = rng.normal(size=(n_rows, 3)) @ rng.normal(size=(3, 3)) + classes[:, None]
    if missing:
        x[rng.random(x.shape) < 0.2] = np.nan
        x[0] = np.nan
    weight = rng.choice([0.0, 0.5, 1.0, 2.5], n_rows) if weighted else None
    return Batch(Dense.of(x), classes, weight, 3 if few else 2)


def resolved(setting: str, batch: Batch) -> tuple[MultivariateNormal, BlockMoments]:
    family = MultivariateNormal(**SETTINGS[setting])
    statistics = family.observe(batch, KERNELS)
    return family.resolve(statistics), statistics


def without(batch: Batch, row: int) -> Batch:
    return batch.take(np.delete(np.arange(len(batch.classes)), row))


def scores(family: MultivariateNormal, statistics: BlockMoments, data: Dense) -> Floats:
    n_classes = len(statistics.rows)
    return family.likelihood(statistics).scores(data, np.zeros(n_classes), KERNELS)


@every_setting
@pytest.mark.parametrize("kind", [{}, {"missing": True}, {"weighted": True}, {"few": True}], ids=str)
def test_left_out_is_a_fit_without_the_row(setting: str, kind: dict[str, bool]) -> None:
    batch = rows(**kind)
    family, statistics = resolved(setting, batch)
    offset = np.log(np.arange(1.0, batch.n_classes + 1))
    got = family.left_out(batch, statistics, family.likelihood(statistics), offset, KERNELS).finite
    for row in range(len(batch.classes)):
        rest = family.observe(without(batch, row), KERNELS)
        meant = scores(family, rest, batch.data.take(np.array([row])))[0] + offset
        np.testing.assert_allclose(got[row], meant, rtol=1e-9, atol=1e-9)


def test_left_out_of_a_larger_model() -> None:
    """Rows that are only a part of what was learned."""
    batch = rows(60)
    family, statistics = resolved("predictive", batch)
    part = batch.take(np.arange(0, 60, 7))
    whole = family.left_out(batch, statistics, family.likelihood(statistics), np.zeros(2), KERNELS).finite
    some = family.left_out(part, statistics, family.likelihood(statistics), np.zeros(2), KERNELS).finite
    np.testing.assert_allclose(some, whole[::7], rtol=1e-12)


def test_maximum_likelihood_is_scipys() -> None:
    batch = rows()
    family, statistics = resolved("mle", batch)
    x = batch.data.floats()
    for k in range(2):
        own = x[batch.classes == k]
        covariance = np.cov(own.T, bias=True) + 0.01 * np.var(x, axis=0).max() * np.eye(3)
        meant = multivariate_normal(own.mean(axis=0), covariance).logpdf(x)
        np.testing.assert_allclose(scores(family, statistics, batch.data)[:, k], meant, rtol=1e-9)


def test_the_predictive_is_scipys() -> None:
    batch = rows()
    family, statistics = resolved("given", batch)
    x = batch.data.floats()
    for k in range(2):
        meant = PRIOR.learn(x[batch.classes == k]).predictive().logpdf(x)
        np.testing.assert_allclose(scores(family, statistics, batch.data)[:, k], meant, rtol=1e-9)


@pytest.mark.parametrize("setting", ["mle", "predictive"])
def test_rows_with_holes_have_the_density_of_what_they_have(setting: str) -> None:
    batch = rows()
    family, statistics = resolved(setting, batch)
    likelihood = family.likelihood(statistics)
    x = batch.data.floats().copy()
    x[:, 1] = np.nan
    known = np.array([0, 2])
    for k in range(2):
        location, scale = likelihood.location[k, known], likelihood.scale[k][np.ix_(known, known)]
        freedom = likelihood.freedom[k]
        law = multivariate_normal(location, scale) if np.isinf(freedom) else multivariate_t(location, scale, freedom)
        np.testing.assert_allclose(scores(family, statistics, Dense.of(x))[:, k], law.logpdf(x[:, known]), rtol=1e-9)
    nothing = Dense.of(np.full((1, 3), np.nan))
    np.testing.assert_array_equal(scores(family, statistics, nothing), 0.0)


def test_rows_with_holes_teach_nothing_but_their_number() -> None:
    batch = rows(missing=True)
    complete = np.flatnonzero(~np.isnan(batch.data.floats()).any(axis=1))
    whole, part = (MultivariateNormal().observe(b, KERNELS) for b in (batch, batch.take(complete)))
    np.testing.assert_array_equal(whole.rows, np.bincount(batch.classes))
    for name in ("weight", "mean", "scatter"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(part, name))


@pytest.mark.parametrize("estimate", ["mle", "mean", "map", "predictive"])
def test_one_column_is_the_gaussian_family(estimate: Any) -> None:
    batch = rows()
    batch = batch._replace(data=Dense.of(batch.data.floats()[:, :1].copy()))
    many, one = MultivariateNormal(estimate=estimate), Gaussian(estimate=estimate)
    moments, sums = many.observe(batch, KERNELS), one.observe(batch, KERNELS)
    got = many.likelihood(moments).scores(batch.data, np.zeros(2), KERNELS)
    meant = one.likelihood(sums).scores(batch.data, np.zeros(2), KERNELS)
    np.testing.assert_allclose(got, meant, rtol=1e-9)
    if estimate != "mle":
        np.testing.assert_allclose(many.log_marginal_likelihood(moments), one.log_marginal_likelihood(sums), rtol=1e-9)
        assert many.total_log_marginal_likelihood(moments) == pytest.approx(
            one.total_log_marginal_likelihood(sums), rel=1e-9
        )
    got, meant = (family.score_variance(batch.data, s, KERNELS) for family, s in ((many, moments), (one, sums)))
    np.testing.assert_allclose(got, meant, rtol=1e-8)
    for mine, theirs in zip(many.intervals(moments, 0.9), one.intervals(sums, 0.9), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_evidence_is_a_product_of_predictions() -> None:
    batch = rows()
    family, statistics = resolved("given", batch)
    x, total = batch.data.floats(), 0.0
    for k in range(2):
        own = x[batch.classes == k]
        total += sum(PRIOR.learn(own[:i]).predictive().logpdf(row) for i, row in enumerate(own))
    assert family.total_log_marginal_likelihood(statistics) == pytest.approx(total, rel=1e-9)


def test_expected_is_the_conditional_mean() -> None:
    batch = rows()
    family, statistics = resolved("mle", batch)
    likelihood = family.likelihood(statistics)
    x = np.array([[1.0, np.nan, 2.0], [np.nan, np.nan, np.nan], [1.0, 2.0, 3.0]])
    posterior = np.array([[0.3, 0.7], [0.5, 0.5], [1.0, 0.0]])
    got = likelihood.expected(Dense.of(x), posterior)
    guess = []
    for k in range(2):
        m, s = likelihood.location[k], likelihood.scale[k]
        guess.append(m[1] + s[1, [0, 2]] @ np.linalg.solve(s[np.ix_([0, 2], [0, 2])], x[0, [0, 2]] - m[[0, 2]]))
    assert got[0, 1] == pytest.approx(posterior[0] @ guess)
    np.testing.assert_allclose(got[1], posterior[1] @ likelihood.location)
    np.testing.assert_array_equal(got[2], x[2])


@pytest.mark.parametrize("setting", ["mle", "given"])
def test_samples_have_the_moments_of_the_model(setting: str) -> None:
    batch = rows()
    family, statistics = resolved(setting, batch)
    likelihood = family.likelihood(statistics)
    drawn = likelihood.sample(np.repeat(np.arange(2, dtype=np.int32), 40_000), np.random.default_rng(0))
    for k in range(2):
        own, freedom = drawn[k * 40_000 : (k + 1) * 40_000], likelihood.freedom[k]
        wide = 1.0 if np.isinf(freedom) else freedom / (freedom - 2)
        np.testing.assert_allclose(own.mean(axis=0), likelihood.location[k], atol=0.1)
        np.testing.assert_allclose(np.cov(own.T), wide * likelihood.scale[k], atol=0.25)


def test_score_variance_is_that_of_drawn_parameters() -> None:
    batch = rows()
    family, statistics = resolved("given", batch)
    data = Dense.of(np.array([[0.5, 1.0, -0.5], [0.5, np.nan, -0.5]]))
    got = family.score_variance(data, statistics, KERNELS)
    posterior = PRIOR.posterior(statistics.mean[0], statistics.weight[0], statistics.scatter[0])
    means, covariances = posterior.sample(4000, 0)
    for row, known in enumerate(([0, 1, 2], [0, 2])):
        x = data.floats()[row, known]
        away, covariance = x - means[:, known], covariances[:, known][:, :, known]
        distance = np.einsum("ni,nij,nj->n", away, np.linalg.inv(covariance), away)
        drawn = -0.5 * (distance + np.linalg.slogdet(covariance).logabsdet)  # but for a constant
        assert got[row, 0] == pytest.approx(np.var(drawn), rel=0.1)


def test_a_class_without_rows_is_like_all() -> None:
    batch = rows()._replace(n_classes=3)
    for setting in SETTINGS:
        family, statistics = resolved(setting, batch)
        assert np.isfinite(scores(family, statistics, batch.data)).all()


def test_a_covariance_without_inverse_is_refused() -> None:
    batch = rows(few=True)
    family = MultivariateNormal(var_smoothing=0.0)
    with pytest.raises(ParameterError, match="is singular"):
        scores(family, family.observe(batch, KERNELS), batch.data)


def test_infinite_cells_are_refused_with_their_place() -> None:
    x = np.zeros((3, 2))
    x[2, 1] = np.inf
    with pytest.raises(InputError, match="column 1 is infinite at row 2"):
        MultivariateNormal().observe(Batch(Dense.of(x), np.zeros(3, np.int32), None, 1), KERNELS)


def test_far_rows_are_told_apart() -> None:
    batch = rows()
    for setting in ("mle", "predictive"):
        family, statistics = resolved(setting, batch)
        far = family.likelihood(statistics).shrunk(Dense.of(np.full((1, 3), 1e200)), KERNELS)
        assert np.isfinite(far).all()
        assert far[0, 0] != far[0, 1]


def test_parameters_are_listed_by_class_and_column() -> None:
    batch = rows()
    for setting in ("mle", "predictive"):
        family, statistics = resolved(setting, batch)
        table: dict[str, Array] = family.likelihood(statistics).parameters()
        assert {len(column) for column in table.values()} == {6}
    assert family.n_parameters(statistics) == 2 * (3 + 6)


def test_an_offset_costs_no_digits() -> None:
    batch = rows()
    moved = batch._replace(data=Dense.of(batch.data.floats() + 1e6))
    one, other = (MultivariateNormal().observe(b, KERNELS) for b in (batch, moved))
    np.testing.assert_allclose(other.scatter, one.scatter, rtol=1e-7, atol=1e-7)


def test_one_dimension_of_the_prior_is_normal_inverse_gamma() -> None:
    many = NormalInverseWishart([1.0], 0.5, 3.0, [[2.0]])
    one = NormalInverseGamma(1.0, 0.5, 1.5, 1.0)
    summary: tuple[Any, ...] = ([2.0], 4.0, [[3.0]])
    assert many.log_marginal_likelihood(*summary) == pytest.approx(one.log_marginal_likelihood(2.0, 4.0, 3.0))
    assert many.predictive().logpdf([0.3]) == pytest.approx(one.predictive().logpdf(0.3))
    after, meant = many.posterior(*summary), one.posterior(2.0, 4.0, 3.0)
    assert after.columns().location == pytest.approx(meant.location)
    assert after.mode().variance[0, 0] == pytest.approx(meant.mode().variance)
    assert after.mean().variance[0, 0] == pytest.approx(meant.mean().variance)


@pytest.mark.parametrize(
    "wrong",
    [
        {"location": 1.0, "scale": 1.0},
        {"location": [1.0, 2.0], "scale": np.eye(3)},
        {"location": [1.0, 2.0], "scale": [[1.0, 2.0], [0.0, 1.0]]},
        {"location": [1.0, 2.0], "scale": np.eye(2), "strength": -1.0},
    ],
    ids=str,
)
def test_priors_that_are_none_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        NormalInverseWishart(**wrong)


def test_learning_in_two_steps_is_learning_at_once() -> None:
    values = np.random.default_rng(0).normal(size=(9, 3))
    values[4, 1] = np.nan
    one, other = PRIOR.learn(values[:3]).learn(values[3:]), PRIOR.learn(values)
    for name in ("location", "strength", "degrees", "scale"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12, atol=1e-12)
    assert PRIOR.is_proper
    assert not NormalInverseWishart([0.0, 0.0], 1.0, 1.0, np.eye(2)).is_proper
