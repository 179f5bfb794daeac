"""Where columns are separate, a family reduced to one of them says of it what the whole family says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from candide.families import FAMILIES, Batch
from candide.families.bernoulli import Bernoulli
from candide.families.categorical import Categorical
from candide.families.gaussian import Gaussian
from candide.families.poisson import Poisson
from candide.kernels import Kernels
from candide.kernels.layouts import Dense
from candide.priors import Beta, Dirichlet, Gamma, Normal, NormalInverseGamma

KERNELS = Kernels(1)
RANDOM = np.random.default_rng(5)
X = RANDOM.integers(0, 4, (30, 3)).astype(float)
X[2, 1] = np.nan
CLASSES = (np.arange(30) % 2).astype(np.int32)
COLUMNS, CELLS = np.array([0.3, 1.7, 4.0]), RANDOM.random((2, 3)) + 0.2
SEPARATE: list[Any] = [
    Bernoulli(),
    Bernoulli(Beta(COLUMNS, CELLS)),
    Poisson(Gamma(COLUMNS, CELLS)),
    Poisson(estimate="mle"),
    Categorical(Dirichlet(CELLS)),
    Categorical((Dirichlet(0.3), Dirichlet([0.2, 1.0, 2.0, 1.0]), Dirichlet(4.0)), min_categories=np.array([4, 4, 6])),
    Gaussian(var_smoothing=0.1),
    Gaussian(estimate="map"),
    Gaussian(NormalInverseGamma(COLUMNS, 0.5, CELLS, 2.0), "mean"),
    Gaussian(Normal(CELLS, 2.0, COLUMNS), "predictive"),
]


@pytest.mark.parametrize("family", SEPARATE, ids=lambda family: type(family).__name__)
def test_columns_add_up(family: Any) -> None:
    batch = Batch(Dense.of(X), CLASSES, None, 2)
    statistics = family.observe(batch, KERNELS)
    resolved, none = family.resolve(statistics), np.zeros(2)
    parts = [
        resolved.only(j).likelihood(statistics.only(j)).scores(Dense.of(X[:, [j]].copy()), none, KERNELS)
        for j in range(X.shape[1])
    ]
    whole = resolved.likelihood(statistics).scores(batch.data, none, KERNELS)
    np.testing.assert_allclose(np.sum(parts, axis=0), whole, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if not family.separate])
def test_others_have_no_single_columns(name: str) -> None:
    with pytest.raises(TypeError, match="share their parameters"):
        FAMILIES[name]().only(0)


def test_all_separate_families_are_here() -> None:
    assert {type(family) for family in SEPARATE} == {family for family in FAMILIES.values() if family.separate}
