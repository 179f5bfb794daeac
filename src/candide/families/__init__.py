"""Families of distributions, one likelihood per module. CONTRIBUTING.md describes how to add one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names
from .base import Batch, Family, Likelihood

if TYPE_CHECKING:
    from .bernoulli import Bernoulli
    from .categorical import Categorical
    from .complement import Complement
    from .gaussian import Gaussian
    from .multinomial import Multinomial
    from .multivariate_normal import MultivariateNormal
    from .poisson import Poisson

# Families of columns by module. Each is imported when first used: a model has few.
FAMILIES = {
    "bernoulli": "Bernoulli",
    "categorical": "Categorical",
    "complement": "Complement",
    "gaussian": "Gaussian",
    "multinomial": "Multinomial",
    "multivariate_normal": "MultivariateNormal",
    "poisson": "Poisson",
}

__all__ = [
    "FAMILIES",
    "Batch",
    "Bernoulli",
    "Categorical",
    "Complement",
    "Family",
    "Gaussian",
    "Likelihood",
    "Multinomial",
    "MultivariateNormal",
    "Poisson",
]

__getattr__ = lazy_names(__name__, {family: module for module, family in FAMILIES.items()})
