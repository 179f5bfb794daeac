"""What the numbers mean: traps 29 to 31."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from tiers import every

import candide
from candide import diagnostics
from candide.exceptions import NotADensity

NAMES = ["GaussianNB", "BernoulliNB", "MultinomialNB", "ComplementNB", "CategoricalNB", "PoissonNB"]
RANDOM = np.random.default_rng(0)
X = RANDOM.integers(0, 4, (60, 3)).astype(float)
y = RANDOM.integers(0, 3, 60)


def same(a: Any, b: Any) -> None:
    """Two models that learned the same rows."""
    assert a.classes_.tolist() == b.classes_.tolist()
    np.testing.assert_allclose(a.class_count_, b.class_count_, rtol=1e-12)
    np.testing.assert_allclose(a.predict_joint_log_proba(X), b.predict_joint_log_proba(X), rtol=1e-10)


def test_complement_is_marked_as_no_density() -> None:
    """Trap 29: complement scores are no log p(x, y)."""
    assert not hasattr(candide.ComplementNB(), "sample")
    assert all(hasattr(getattr(candide, name)(), "sample") for name in NAMES if name != "ComplementNB")
    counts = abs(X).round()
    for verb, more in (("log_density", ()), ("log_likelihood", (y,))):
        for name in NAMES:
            model = getattr(candide, name)().fit(counts, y)
            if name == "ComplementNB":
                with pytest.raises(NotADensity):
                    getattr(candide.diagnostics, verb)(model, counts, *more)
            else:
                assert np.isfinite(getattr(candide.diagnostics, verb)(model, counts, *more)).all()


def test_gaussian_scores_have_units() -> None:
    """Trap 30: without its 2π term a Gaussian score is no evidence."""
    model = candide.GaussianNB().fit(X, y)
    density = stats.norm.logpdf(X[:, None, :], model.theta_, np.sqrt(model.var_)).sum(axis=2)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), density + model.class_log_prior_, rtol=1e-12)


def test_gaussian_density_integrates_to_one() -> None:
    """Trap 30: p(x) is a density."""
    model = candide.GaussianNB().fit(X[:, :1], y)
    grid = np.linspace(-15, 18, 20_001)
    assert np.trapezoid(np.exp(diagnostics.log_density(model, grid[:, None])), grid) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@every("size", [1, 7, 59])
def test_chunks_equal_the_whole(name: str, size: int) -> None:
    """Trap 31: fit equals any sequence of partial_fit."""
    model = getattr(candide, name)()
    for begin in range(0, 60, size):
        model.partial_fit(X[begin : begin + size], y[begin : begin + size])
    same(model, getattr(candide, name)().fit(X, y))


@pytest.mark.parametrize("name", NAMES)
def test_parts_equal_the_whole(name: str) -> None:
    """Trap 31: fit equals any merge."""
    parts = [getattr(candide, name)().fit(X[i::5], y[i::5]) for i in range(5)]
    same(candide.merge(parts), getattr(candide, name)().fit(X, y))


@pytest.mark.parametrize("name", NAMES)
def test_weights_equal_copies(name: str) -> None:
    """Trap 31: weight k equals k copies, also for the floor of the variance."""
    weight = np.arange(60) % 4
    kind = getattr(candide, name)
    options = {"var_smoothing": 1e-2} if name == "GaussianNB" else {}
    copies = kind(**options).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    same(kind(**options).fit(X, y, sample_weight=weight), copies)


@pytest.mark.parametrize("name", NAMES)
def test_forgetting_inverts_learning(name: str) -> None:
    """Trap 31: unlearn must invert learn."""
    model = getattr(candide, name)().fit(X, y).forget(X[40:], y[40:])
    same(model, getattr(candide, name)().fit(X[:40], y[:40]))
