"""Families of distributions, one likelihood per module. CONTRIBUTING.md describes how to add one."""

from .base import Batch, Family, Likelihood
from .bernoulli import Bernoulli
from .categorical import Categorical
from .complement import Complement
from .gaussian import Gaussian
from .multinomial import Multinomial
from .multivariate_normal import MultivariateNormal
from .poisson import Poisson

FAMILIES: dict[str, type[Family]] = {
    "bernoulli": Bernoulli,
    "categorical": Categorical,
    "complement": Complement,
    "gaussian": Gaussian,
    "multinomial": Multinomial,
    "multivariate_normal": MultivariateNormal,
    "poisson": Poisson,
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
